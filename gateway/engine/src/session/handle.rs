//! A session that takes requests: one that another devgate lends, or our own.

use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;
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

/// A session that takes requests.
pub enum SessionHandle<'a> {
    /// A session that another devgate lends.
    Lent(BorrowedSession),
    /// Our own session. Its answers are free of the secrets of the job's target.
    Own(&'a LentSession<'a>, &'a TargetJob<'a>),
}

/// Performs `work` with a session of our own with the job's target and closes it afterwards, even when the run is
/// cancelled before the work is done.
///
/// If a session with the very same target was lent to this process, that one is used. It refuses what it must not do
/// (`--noop`).
///
/// # Errors
/// Fails when no session can be opened, or as the work fails.
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
    /// Runs a command, answers its questions, and returns its output.
    ///
    /// # Errors
    /// Fails when the device or the gateway reports an error.
    pub async fn exec(&mut self, command: &str, answers: &[String]) -> Result<String, Failure> {
        let request = SessionRequest::Exec(command.to_owned(), answers.to_vec());
        let mut answer = self.ask(request).await?;
        match answer.remove("output") {
            Some(Json::String(output)) => Ok(output),
            _ => Err(cut()),
        }
    }

    /// Sends lines in configuration mode.
    ///
    /// # Errors
    /// Fails when the device refuses a line, or when the gateway reports an error.
    pub(crate) async fn configure(&mut self, lines: Vec<String>) -> Result<(), Failure> {
        self.ask(SessionRequest::Configure(lines)).await.map(drop)
    }

    /// Saves the running configuration.
    ///
    /// # Errors
    /// Fails when the device or the gateway reports an error.
    pub async fn save(&mut self) -> Result<(), Failure> {
        self.ask(SessionRequest::Save).await.map(drop)
    }

    /// Requests data.
    ///
    /// # Errors
    /// Fails when the device or the gateway reports an error.
    pub async fn get(&mut self, what: String) -> Result<Document, Failure> {
        self.ask(SessionRequest::Get(what)).await.and_then(document)
    }

    /// Sends a request that may change data.
    ///
    /// # Errors
    /// Fails as [`get`](Self::get).
    pub async fn set(&mut self, change: transports::DataRequest) -> Result<Document, Failure> {
        self.ask(SessionRequest::Set(change))
            .await
            .and_then(document)
    }

    /// Returns a request as it can be shown: without the secrets of the job's target. A session that another devgate
    /// lends does not know them, so that only the size is shown.
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
