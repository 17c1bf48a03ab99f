//! Transactions: changes that the device keeps until they are committed, and then makes all at once or not at all
//! (F5, "iControl REST API User Guide", on transactions).

use std::time::Duration;

use devgate_schemas::Value;
use reqwest::header::HeaderValue;
use serde_json::{Value as Json, json};

use super::session::F5Session;
use crate::error::{Interrupted, Interruption, PartialOutput, Refused};
use crate::http::HttpResponse;
use crate::pauses::poll;
use crate::{Context, DataRequest, Document, Error, Result};

const TRANSACTIONS: &str = "tm/transaction";

/// How long the end of a commit is waited for.
const COMMIT_LIMIT: Duration = Duration::from_secs(120);

/// Makes changes in one transaction.
///
/// # Errors
/// Fails with [`Error::Refused`] when the device refuses a change or the commit; then it has made no change.
pub(super) async fn run(
    session: &F5Session,
    ctx: &Context<'_>,
    requests: &[DataRequest],
) -> Result<Document> {
    let begin = DataRequest {
        what: TRANSACTIONS.to_owned(),
        method: Some("POST".to_owned()),
        body: Some(Value::from(json!({}))),
    };
    let begun = session.change(ctx, &begin, None).await?.json();
    let id = begun.and_then(|answer| match &answer["transId"] {
        Json::Number(number) => Some(number.to_string()),
        Json::String(text) => Some(text.clone()),
        _ => None,
    });
    let header = id.as_ref().and_then(|id| HeaderValue::from_str(id).ok());
    let (Some(id), Some(header)) = (id, header) else {
        return Err(session.protocol_error("a transaction with `transId`"));
    };
    let path = format!("{TRANSACTIONS}/{id}");
    ctx.debug(format!("transaction {id} of {} changes", requests.len()));
    let committed = commit(session, ctx, requests, &header, &path).await;
    if matches!(committed, Err(Error::Refused(_))) {
        let abandon = DataRequest {
            what: path,
            method: Some("DELETE".to_owned()),
            body: None,
        };
        // A transaction that failed may be gone already, and the others expire.
        if let Err(error) = session.change(ctx, &abandon, None).await {
            ctx.debug(format!("transaction {id} is not abandoned: {error}"));
        }
    }
    committed
}

/// Adds the changes to a transaction, and commits it.
async fn commit(
    session: &F5Session,
    ctx: &Context<'_>,
    requests: &[DataRequest],
    id: &HeaderValue,
    path: &str,
) -> Result<Document> {
    for request in requests {
        session.change(ctx, request, Some(id)).await?;
    }
    let commit = DataRequest {
        what: path.to_owned(),
        method: Some("PATCH".to_owned()),
        body: Some(Value::from(json!({ "state": "VALIDATING" }))),
    };
    let answer = session.change(ctx, &commit, None).await?;
    let ended = match outcome(session, &answer)? {
        Some(outcome) => Some(outcome),
        // A large transaction is still validated after the answer.
        None => {
            poll(COMMIT_LIMIT, async || {
                outcome(session, &session.read(ctx, path).await?)
            })
            .await?
        }
    };
    match ended {
        Some(json) => Ok(Document::Data(Value::from(json))),
        None => Err(Error::Interrupted(Box::new(Interrupted {
            peer: session.peer().to_owned(),
            operation: "commit of a transaction".to_owned(),
            changing: true,
            why: Interruption::TooLong(COMMIT_LIMIT),
            partial: PartialOutput::default(),
        }))),
    }
}

/// Returns the transaction in an answer if it is committed, and `None` while it is validated.
fn outcome(session: &F5Session, answer: &HttpResponse) -> Result<Option<Json>> {
    let json = answer.json().unwrap_or_default();
    match json["state"].as_str() {
        Some("COMPLETED") => Ok(Some(json)),
        Some("FAILED") => Err(Error::Refused(Box::new(Refused {
            peer: session.peer().to_owned(),
            request: "transaction".to_owned(),
            status: "FAILED".to_owned(),
            message: json["failureReason"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
            hint: String::new(),
            details: Some(Value::from(json)),
            busy: false,
        }))),
        Some(_) => Ok(None),
        None => Err(session.protocol_error("the state of a transaction")),
    }
}
