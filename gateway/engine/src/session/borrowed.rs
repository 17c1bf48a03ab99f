//! Uses a session that another devgate lends: the one that `DEVGATE_SESSION` names.

use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_transports::Context;
use devgate_transports::Environment;
use serde_json::Value as Json;
use tokio::io::BufReader;
use tokio::net::UnixStream;
use tokio::time::timeout;

use super::broker::LentSession;
use super::socket::is_trusted;
use super::wire::{Answer, LONGEST_ANSWER, SessionRequest, parse_answer, read_line, write_line};
use crate::tasks::SESSION_VARIABLE;

/// How long another devgate may take to identify the session that it lends.
const HELLO_TIMEOUT: Duration = Duration::from_secs(5);

/// A session that is lent to this process.
#[derive(Debug)]
pub struct BorrowedSession {
    stream: BufReader<UnixStream>,
}

/// The session that was lent to this process and may be passed on.
#[derive(Debug)]
pub(super) struct OuterSession {
    pub(super) socket: String,
    /// The target of the session, as its lender identifies it. Names alone cannot be trusted.
    pub(super) identity: Json,
}

impl BorrowedSession {
    /// Connects to the session that the environment names.
    ///
    /// # Errors
    /// Fails when the environment names none, or when the session is closed or another user's.
    pub async fn from_environment(environment: &Environment) -> Result<Self, Failure> {
        match environment.text(SESSION_VARIABLE) {
            Some(path) => Self::connect(path).await,
            None => Err(Failure::new(
                "devgate/no-session",
                format!(
                    "there is no shared session: {SESSION_VARIABLE} is not set. devgate sets it in remote tasks for a \
                     target with a known transport, and in programs that `devgate session run -t TARGET -- PROGRAM` \
                     starts. Outside a session, name a target with -t"
                ),
            )),
        }
    }

    pub(super) async fn connect(path: &str) -> Result<Self, Failure> {
        let ended = |problem: &dyn std::fmt::Display| {
            let message = format!(
                "the session of {SESSION_VARIABLE} does not exist any more ({path}: {problem}): it ends with its task \
                 or program"
            );
            Failure::new("devgate/session-ended", message)
        };
        let stream = UnixStream::connect(path)
            .await
            .map_err(|error| ended(&error))?;
        if is_trusted(&stream).map_err(|error| ended(&error))? {
            let stream = BufReader::new(stream);
            Ok(Self { stream })
        } else {
            let message = format!(
                "{SESSION_VARIABLE} names a socket of another user ({path}): it is not used"
            );
            Err(Failure::new("devgate/session-refused", message))
        }
    }

    /// Sends a request and returns the answer.
    ///
    /// # Errors
    /// Fails when the device or the gateway reports an error.
    pub(super) async fn send(&mut self, request: &SessionRequest) -> Result<Answer, Failure> {
        // The gateway may have refused and closed the connection; its answer is then still to be read.
        let _ = write_line(&mut self.stream, &request.to_line()).await;
        match read_line(&mut self.stream, LONGEST_ANSWER).await {
            Ok(Some(line)) => parse_answer(&line),
            Ok(None) | Err(_) => Err(invalid_answer()),
        }
    }
}

impl OuterSession {
    /// Whether the session is with the very same target, regardless of what it permits.
    pub(super) fn has_target_of(&self, lent: &LentSession<'_>) -> bool {
        let own = lent.identity();
        let same = |part| self.identity.get(part) == own.get(part);
        ["target", "transport", "connection_info"]
            .into_iter()
            .all(same)
    }

    /// Finds the session that the environment names, if it answers.
    pub(super) async fn find(ctx: &Context<'_>) -> Option<Self> {
        let socket = ctx.environment().text(SESSION_VARIABLE)?.to_owned();
        let greeting = async {
            BorrowedSession::connect(&socket)
                .await?
                .send(&SessionRequest::Hello)
                .await
        };
        let answer = timeout(HELLO_TIMEOUT, greeting).await;
        let failure = match answer {
            Ok(Ok(mut answer)) => {
                let identity = answer.remove("session")?;
                return Some(Self { socket, identity });
            }
            Ok(Err(failure)) => failure.msg,
            Err(_) => format!("the session of {SESSION_VARIABLE} does not answer"),
        };
        ctx.debug(failure);
        None
    }
}

/// Returns the failure for a missing or invalid answer.
pub(super) fn invalid_answer() -> Failure {
    let message = "the gateway ended the session before it answered: whether the request reached \
                   the device is not known";
    Failure::new("devgate/session-ended", message)
}
