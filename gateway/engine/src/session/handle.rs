//! A session that takes requests: one that another devgate lends, or our own.

use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;
use devgate_schemas::Value;
use devgate_transports::{self as transports, Document, Mode};
use serde_json::Value as Json;

use super::ConnectionSpec;
use super::borrowed::{BorrowedSession, OuterSession, invalid_answer};
use super::broker::{LentSession, RetryScope};
use super::sessions::Sessions;
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
    sessions: Sessions<'_, '_>,
    job: &TargetJob<'_>,
    work: impl AsyncFnOnce(&mut SessionHandle<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let ctx = job.context();
    let spec = ConnectionSpec::for_job(job)?;
    let lent = LentSession::new(
        &ctx,
        sessions.pool.lease(&spec),
        Mode::Enforce,
        RetryScope::Request,
    );
    let outer = OuterSession::find(&ctx).await;
    if let Some(outer) = outer.filter(|outer| outer.has_target_of(&lent)) {
        let mut handle = SessionHandle::Lent(BorrowedSession::connect(&outer.socket).await?);
        return tokio::select! {
            outcome = work(&mut handle) => outcome,
            () = job.stop().reaches(Stage::End) => Err(job.interrupted(true)),
        };
    }
    let dialer = sessions.dialer(job).await?;
    let ctx = ctx.with_dialer(dialer.as_ref().map(|dialer| dialer as _));
    let lent = lent.in_context(&ctx);
    let mut own = SessionHandle::Own(&lent, job);
    let outcome = tokio::select! {
        outcome = work(&mut own) => outcome,
        () = job.stop().reaches(Stage::End) => Err(job.interrupted(true)),
    };
    lent.release().await;
    outcome
}

impl SessionHandle<'_> {
    /// Runs a command, answers its questions, and returns its output.
    ///
    /// # Errors
    /// Fails when the device or the gateway reports an error.
    pub async fn exec(&mut self, command: &str, answers: &[String]) -> Result<String, Failure> {
        let request = SessionRequest::Exec(command.to_owned(), answers.to_vec());
        let mut answer = self.send(request).await?;
        match answer.remove("output") {
            Some(Json::String(output)) => Ok(output),
            _ => Err(invalid_answer()),
        }
    }

    /// Runs commands that only read and ask nothing, and passes each output to `emit`.
    ///
    /// # Errors
    /// Fails as [`exec`](Self::exec) does. Earlier outputs have been passed to `emit`.
    pub async fn exec_all(
        &mut self,
        commands: &[String],
        emit: &mut impl FnMut(&str, String),
    ) -> Result<(), Failure> {
        if let Self::Own(lent, job) = self {
            let names: Vec<&str> = commands.iter().map(String::as_str).collect();
            for (command, output) in names.iter().zip(lent.read_all(&names).await?) {
                match job.without_secrets(Json::String(output?)) {
                    Json::String(output) => emit(command, output),
                    _ => return Err(invalid_answer()),
                }
            }
            return Ok(());
        }
        for command in commands {
            emit(command, self.exec(command, &[]).await?);
        }
        Ok(())
    }

    /// Sends lines in configuration mode.
    ///
    /// # Errors
    /// Fails when the device refuses a line, or when the gateway reports an error.
    pub(crate) async fn configure(&mut self, lines: Vec<String>) -> Result<(), Failure> {
        self.send(SessionRequest::Configure(lines)).await.map(drop)
    }

    /// Saves the running configuration.
    ///
    /// # Errors
    /// Fails when the device or the gateway reports an error.
    pub async fn save(&mut self) -> Result<(), Failure> {
        self.send(SessionRequest::Save).await.map(drop)
    }

    /// Requests data.
    ///
    /// # Errors
    /// Fails when the device or the gateway reports an error.
    pub async fn get(&mut self, what: String) -> Result<Document, Failure> {
        self.send(SessionRequest::Get(what))
            .await
            .and_then(document)
    }

    /// Sends a request that may change data.
    ///
    /// # Errors
    /// Fails as [`get`](Self::get).
    pub async fn set(&mut self, change: transports::DataRequest) -> Result<Document, Failure> {
        self.send(SessionRequest::Set(change))
            .await
            .and_then(document)
    }

    /// Returns a request as it can be shown: without the secrets of the job's target. A session that another devgate
    /// lends does not know them, so that only the size is shown.
    pub fn redacted(&self, body: Json) -> Json {
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

    async fn send(&mut self, request: SessionRequest) -> Result<Answer, Failure> {
        match self {
            Self::Lent(borrowed) => borrowed.send(&request).await,
            Self::Own(lent, job) => {
                let answer = lent.answer(request).await?;
                match job.without_secrets(answer) {
                    Json::Object(answer) => Ok(answer),
                    _ => Err(invalid_answer()),
                }
            }
        }
    }
}

fn document(mut answer: Answer) -> Result<Document, Failure> {
    match (answer.remove("text"), answer.remove("data")) {
        (Some(Json::String(text)), None) => Ok(Document::Text(text)),
        (None, Some(data)) => Ok(Document::Data(Value::from(data))),
        _ => Err(invalid_answer()),
    }
}
