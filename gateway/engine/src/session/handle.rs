//! A session to send requests to: one that another devgate lends, or our own.

use devgate_schemas::Value;
use devgate_transports::{self as transports, Document, Mode};
use serde_json::Value as Json;

use super::ConnectionSpec;
use super::borrowed::{BorrowedSession, OuterSession, cut};
use super::broker::{LentSession, RetryScope};
use super::connection_spec::not_by_proxy;
use super::pool::SessionPool;
use super::wire::{Answer, SessionRequest};
use crate::job::TargetJob;
use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;

/// A session that takes requests.
pub enum SessionHandle<'a> {
    /// Another devgate lends it.
    Lent(BorrowedSession),
    /// It is ours, and what it answers holds no secret of the job's target.
    Own(&'a LentSession<'a>, &'a TargetJob<'a>),
}

/// Does `work` with a session of our own with the job's target, and closes it behind it: also when
/// the run is to end before the work is done.
///
/// Where this process was itself lent a session with the very same target, that one is asked, and
/// what it must not do (`--noop`) is refused.
///
/// # Errors
/// Why there can be no session, or what the work failed with.
pub async fn with_handle<T>(
    pool: &SessionPool,
    job: &TargetJob<'_>,
    work: impl AsyncFnOnce(&mut SessionHandle<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let ctx = job.context();
    let spec = ConnectionSpec::of(job)?;
    let lending = LentSession::new(&ctx, pool.lease(&spec), Mode::Enforce, RetryScope::Request);
    let outer = OuterSession::find(&ctx).await;
    if let Some(outer) = outer.filter(|outer| outer.is_with_target_of(&lending)) {
        let mut lent = SessionHandle::Lent(BorrowedSession::at(&outer.socket).await?);
        return tokio::select! {
            outcome = work(&mut lent) => outcome,
            () = job.stop().reaches(Stage::End) => Err(job.interrupted(true)),
        };
    }
    not_by_proxy(job.target)?;
    let mut asked = SessionHandle::Own(&lending, job);
    let outcome = tokio::select! {
        outcome = work(&mut asked) => outcome,
        () = job.stop().reaches(Stage::End) => Err(job.interrupted(true)),
    };
    lending.end().await;
    outcome
}

impl SessionHandle<'_> {
    /// Runs a command, answers the questions that it asks, and gives its output.
    ///
    /// # Errors
    /// What the device or the gateway says.
    pub async fn exec(&mut self, command: &str, answers: &[String]) -> Result<String, Failure> {
        let request = SessionRequest::Exec(command.to_owned(), answers.to_vec());
        let mut answer = self.ask(request).await?;
        match answer.remove("output") {
            Some(Json::String(output)) => Ok(output),
            _ => Err(cut()),
        }
    }

    /// Types lines in configuration mode.
    ///
    /// # Errors
    /// Which line the device refuses, or what the gateway says.
    pub(crate) async fn configure(&mut self, lines: Vec<String>) -> Result<(), Failure> {
        self.ask(SessionRequest::Configure(lines)).await.map(drop)
    }

    /// Saves the running configuration.
    ///
    /// # Errors
    /// What the device or the gateway says.
    pub async fn save(&mut self) -> Result<(), Failure> {
        self.ask(SessionRequest::Save).await.map(drop)
    }

    /// Asks for data.
    ///
    /// # Errors
    /// What the device or the gateway says.
    pub async fn get(&mut self, what: String) -> Result<Document, Failure> {
        self.ask(SessionRequest::Get(what)).await.and_then(document)
    }

    /// Asks for what may change data.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn set(&mut self, change: transports::Request) -> Result<Document, Failure> {
        self.ask(SessionRequest::Set(change))
            .await
            .and_then(document)
    }

    /// What would be sent, as it can be shown: without the secrets of the job's target. Whose session is another's
    /// does not know them, and shows the size alone.
    pub fn shown(&self, body: Json) -> Json {
        match self {
            Self::Own(_, job) => job.without_secrets(body),
            Self::Lent(_) => {
                let size = match &body {
                    Json::String(text) => text.len(),
                    other => other.to_string().len(),
                };
                format!("({size} bytes, not shown: the secrets in it are not known here)").into()
            }
        }
    }

    async fn ask(&mut self, request: SessionRequest) -> Result<Answer, Failure> {
        match self {
            Self::Lent(borrowed) => borrowed.ask(&request).await,
            Self::Own(lending, job) => {
                let answer = lending.answer(request).await?;
                match job.without_secrets(answer) {
                    Json::Object(answer) => Ok(answer),
                    _ => Err(cut()),
                }
            }
        }
    }
}

fn document(mut answer: Answer) -> Result<Document, Failure> {
    match (answer.remove("text"), answer.remove("data")) {
        (Some(Json::String(text)), None) => Ok(Document::Text(text)),
        (None, Some(data)) => Ok(Document::Data(Value::from(data))),
        _ => Err(cut()),
    }
}
