//! The datastore of a database: the arguments of `session get` and `set`.

use async_trait::async_trait;
use devgate_schemas::Value;
use serde_json::Value as Json;

use super::edit::Edits;
use super::query::Query;
use super::session::OvsdbSession;
use crate::{Context, Error, Result};
use crate::{DataRequest, DataStore, Document};

#[async_trait]
impl DataStore for OvsdbSession {
    /// `what` is a table, with a condition for its rows: `Bridge`, `Bridge/name=br0`.
    async fn get(&self, ctx: &Context<'_>, what: &str) -> Result<Document> {
        let schema = self.schema(ctx).await?;
        let query = Query::read(what, &schema).map_err(Error::Unsupported)?;
        let rows = self.rows(ctx, &query).await?;
        Ok(Document::Data(Json::from(rows).into()))
    }

    /// The body contains the operations of a transaction, or edits (`Edits`) with the method `edit`.
    /// `what` can name another database than the session's.
    async fn set(&self, ctx: &Context<'_>, request: &DataRequest) -> Result<Document> {
        match request.method.as_deref() {
            None | Some("transact") => {}
            Some("edit") => return self.edit(ctx, request).await,
            Some(method) => {
                return Err(Error::Unsupported(format!(
                    "`{method}` is no method that changes a database: leave it out, or use \
                     `transact` or `edit`"
                )));
            }
        }
        let operations = operations(request.body.as_ref())?;
        let database = match request.what.trim() {
            "" => self.settings.database.as_str(),
            other => other,
        };
        let results = self.transact_in(ctx, database, &operations, true).await?;
        Ok(Document::Data(Json::from(results).into()))
    }

    /// A transaction takes effect as a whole, or not at all (RFC 7047, 4.1.3).
    async fn all_or_nothing(&self, _: &Context<'_>) -> Result<bool> {
        Ok(true)
    }
}

impl OvsdbSession {
    async fn edit(&self, ctx: &Context<'_>, request: &DataRequest) -> Result<Document> {
        if !request.what.trim().is_empty() {
            let problem = "edits go to the session's own database: name no other";
            return Err(Error::Unsupported(problem.to_owned()));
        }
        let schema = self.schema(ctx).await?;
        let body = request.body.as_ref().map(|body| body.reveal_json());
        let edits = Edits::read(body, &schema).map_err(Error::Unsupported)?;
        let results = self.transact(ctx, &edits.operations).await;
        let results = results.map_err(|error| match error {
            Error::Refused(refused) => Error::Refused(Box::new(edits.refused(*refused))),
            other => other,
        })?;
        Ok(Document::Data(Json::from(edits.results(results)).into()))
    }
}

/// Returns the operations in a body: a list of objects, or one object, as data or as JSON text.
fn operations(body: Option<&Value>) -> Result<Vec<Json>> {
    let wrong = |problem: &str| {
        Error::Unsupported(format!(
            "the body {problem}: expected a list of operations (RFC 7047, 5.2), such as \
             [{{\"op\": \"insert\", \"table\": \"Bridge\", \"row\": {{\"name\": \"br0\"}}}}]"
        ))
    };
    let body = match body.map(|body| body.reveal_json()) {
        None | Some(Json::Null) => return Err(wrong("is missing")),
        // The parser's message gives the position and quotes nothing.
        Some(Json::String(text)) => {
            serde_json::from_str(&text).map_err(|error| wrong(&format!("is no JSON ({error})")))?
        }
        Some(body) => body,
    };
    let operations = match body {
        Json::Array(operations) => operations,
        operation => vec![operation],
    };
    if operations.is_empty() || !operations.iter().all(|op| op["op"].is_string()) {
        return Err(wrong("holds something without `op`"));
    }
    Ok(operations)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_body_is_operations_as_data_or_as_text() {
        let insert = json!({ "op": "insert", "table": "Bridge", "row": { "name": "br0" } });
        for body in [
            json!([insert]).into(),
            insert.clone().into(),
            Value::from(json!([insert]).to_string()),
            Value::from(json!([insert])).into_sensitive(),
        ] {
            assert_eq!(
                operations(Some(&body)).expect("operations"),
                std::slice::from_ref(&insert)
            );
        }
        for body in [
            "",
            "{",
            "[]",
            "3",
            "[{}]",
            "[\"canary\"]",
            "{\"op\": canary}",
        ] {
            let error = operations(Some(&Value::from(body)))
                .expect_err(body)
                .to_string();
            assert!(error.contains("expected a list of operations"), "{error}");
            assert!(!error.contains("canary"), "{error}");
        }
    }
}
