//! Lends the session with a target to a program: a private socket over which the program sends requests while it runs.
//!
//! Each request waits for a turn with a session of the pool, which is kept while it is lent. The gateway cannot know
//! which commands change a device, so no command that may have arrived is sent again.

use std::cell::Cell;
use std::sync::OnceLock;

use devgate_core::failure::Failure;
use devgate_transports::Environment;
use devgate_transports::{CommandLine, Context, DataStore, Document, Error, Line, Mode, Transport};
use serde_json::{Value as Json, json};
use tokio::sync::OnceCell;

use super::ConnectionSpec;
use super::borrowed::OuterSession;
use super::device::SessionAccess;
use super::pool::{SessionLease, SessionPool};
use super::socket::{Socket, Sockets};
use super::wire::SessionRequest;
use crate::hosts::Lend;

/// Lends sessions to tasks and programs, each with one target.
#[derive(Debug)]
pub(crate) struct SessionBroker<'p> {
    pool: &'p SessionPool,
    retry_scope: RetryScope,
    /// Created for the first session that is lent: removing a folder may cost more than a hundred sockets.
    sockets: OnceLock<Result<Sockets, String>>,
    outer: OnceCell<Option<OuterSession>>,
}

/// What one retry budget covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryScope {
    /// The whole run.
    Run,
    /// Each request. A program may send requests for hours, and each waits as if it were a run of its own.
    Request,
}

/// A session that is lent to a program.
pub struct LentSession<'a> {
    pub(super) ctx: Context<'a>,
    lease: SessionLease<'a>,
    mode: Mode,
    retry_scope: RetryScope,
    /// Whether a failure of the session was reported.
    reported: Cell<bool>,
}

impl<'p> SessionBroker<'p> {
    /// Creates a broker that lends the sessions of a pool.
    pub(crate) fn new(pool: &'p SessionPool, retry_scope: RetryScope) -> Self {
        Self {
            pool,
            retry_scope,
            sockets: OnceLock::new(),
            outer: OnceCell::new(),
        }
    }

    /// Performs `work` while a socket lends the session with the target. `work` gets the path of the socket. The
    /// session is closed afterwards.
    ///
    /// If a session with the very same target was lent to this process, that one is passed on. If no socket can be
    /// created, this is reported and `work` gets none.
    pub(crate) async fn lend<T>(
        &self,
        ctx: &Context<'_>,
        spec: &ConnectionSpec<'_>,
        mode: Mode,
        work: impl AsyncFnOnce(Option<&str>) -> T,
    ) -> T {
        let lent = LentSession::new(ctx, self.pool.lease(spec), mode, self.retry_scope);
        let outer = self.outer.get_or_init(|| OuterSession::find(ctx)).await;
        if let Some(outer) = outer
            && outer.identity == lent.identity()
        {
            ctx.debug("the shared session of this devgate is passed on");
            return work(Some(&outer.socket)).await;
        }
        let socket = match self.socket(ctx.environment()) {
            Ok(socket) => socket,
            Err(problem) => {
                ctx.warning(format!(
                    "cannot share a session without a socket ({problem}): set XDG_RUNTIME_DIR or TMPDIR to a folder \
                     with a short name"
                ));
                return work(None).await;
            }
        };
        let outcome = tokio::select! {
            outcome = work(Some(socket.path())) => outcome,
            never = lent.serve(&socket) => match never {},
        };
        drop(socket);
        lent.release().await;
        outcome
    }

    /// Performs `work`, which lends the session to a program on another host. The session is closed afterwards.
    ///
    /// If a session with the very same target was lent to this process, that one is passed on.
    pub(crate) async fn lend_elsewhere<T>(
        &self,
        ctx: &Context<'_>,
        spec: &ConnectionSpec<'_>,
        mode: Mode,
        work: impl AsyncFnOnce(&dyn Lend) -> T,
    ) -> T {
        let lent = LentSession::new(ctx, self.pool.lease(spec), mode, self.retry_scope);
        let outer = self.outer.get_or_init(|| OuterSession::find(ctx)).await;
        let outcome = match outer {
            Some(outer) if outer.identity == lent.identity() => work(outer).await,
            Some(_) | None => work(&lent).await,
        };
        lent.release().await;
        outcome
    }

    fn socket(&self, environment: &Environment) -> Result<Socket, String> {
        let sockets = self
            .sockets
            .get_or_init(|| Sockets::new(environment).map_err(|error| error.to_string()));
        let sockets = sockets.as_ref().map_err(String::clone)?;
        sockets.bind().map_err(|error| error.to_string())
    }
}

impl<'a> LentSession<'a> {
    /// Creates a lent session. It is opened with the first request.
    pub(super) fn new(
        ctx: &Context<'a>,
        lease: SessionLease<'a>,
        mode: Mode,
        retry_scope: RetryScope,
    ) -> Self {
        Self {
            ctx: *ctx,
            lease,
            mode,
            retry_scope,
            reported: Cell::new(false),
        }
    }

    /// Opens the session in this context.
    pub(super) fn in_context(self, ctx: &Context<'a>) -> Self {
        Self { ctx: *ctx, ..self }
    }

    /// Stops lending the session.
    pub(super) async fn release(self) {
        self.lease.release(&self.ctx).await;
    }

    /// Waits for a turn and runs commands that only read and ask nothing. Returns the output of each, up to the first that
    /// has none.
    pub(super) async fn read_all(
        &self,
        commands: &[&str],
    ) -> Result<Vec<Result<String, Failure>>, Failure> {
        let read =
            async |ctx: &Context<'_>| Ok(self.command_line(ctx)?.exec_all(ctx, commands).await);
        let answers = self.turn(SessionAccess::Read, read).await?;
        Ok(answers
            .into_iter()
            .map(|answer| answer.map_err(Failure::from))
            .collect())
    }

    /// Waits for a turn and performs the request.
    pub(super) async fn answer(&self, request: SessionRequest) -> Result<Json, Failure> {
        match request {
            SessionRequest::Hello => Ok(json!({ "session": self.identity() })),
            SessionRequest::Configure(_) | SessionRequest::Save | SessionRequest::Set(_)
                if self.mode == Mode::Noop =>
            {
                Err(noop())
            }
            SessionRequest::Exec(command, answers) => {
                let command = Line::new(command).answering(answers);
                let exec = async |ctx: &Context<'_>| {
                    self.command_line(ctx)?.exec_once(ctx, &command).await
                };
                let output = self.turn(SessionAccess::Write, exec).await?;
                Ok(json!({ "output": output }))
            }
            SessionRequest::Configure(lines) => {
                let lines: Vec<Line> = lines.into_iter().map(Line::new).collect();
                let configure =
                    async |ctx: &Context<'_>| self.command_line(ctx)?.configure(ctx, &lines).await;
                self.turn(SessionAccess::Write, configure).await?;
                Ok(json!({ "configured": lines.len() }))
            }
            SessionRequest::Save => {
                let save = async |ctx: &Context<'_>| self.command_line(ctx)?.save(ctx).await;
                self.turn(SessionAccess::Write, save).await?;
                Ok(json!({ "saved": true }))
            }
            SessionRequest::Get(what) => {
                let get = async |ctx: &Context<'_>| self.data_store(ctx)?.get(ctx, &what).await;
                Ok(encode_document(self.turn(SessionAccess::Read, get).await?))
            }
            SessionRequest::Set(change) => {
                let set = async |ctx: &Context<'_>| self.data_store(ctx)?.set(ctx, &change).await;
                Ok(encode_document(self.turn(SessionAccess::Write, set).await?))
            }
        }
    }

    async fn turn<T>(
        &self,
        access: SessionAccess,
        work: impl AsyncFnOnce(&Context<'_>) -> devgate_transports::Result<T>,
    ) -> Result<T, Failure> {
        let turn = self.lease.turn(access).await;
        let own = self.ctx.retry_budget().renewed();
        let ctx = match self.retry_scope {
            RetryScope::Run => self.ctx,
            RetryScope::Request => self.ctx.with_retry_budget(&own),
        };
        let is_open = Cell::new(false);
        let work = async |ctx: &Context<'_>, _: &dyn Transport| {
            is_open.set(true);
            work(ctx).await
        };
        let outcome = turn.perform(&ctx, work).await;
        if let Err(why) = &outcome {
            self.report(why, is_open.get());
        }
        outcome
    }

    /// Reports once that a task has no session. The task may ignore this, and the stderr of a successful task is hidden.
    fn report(&self, why: &Failure, is_open: bool) {
        let concerns_session = !is_open || why.is_of_connection();
        let is_for_task = self.retry_scope == RetryScope::Run;
        if !concerns_session || !is_for_task || self.reported.replace(true) {
            return;
        }
        let what = if is_open {
            "has failed"
        } else {
            "could not be opened"
        };
        self.ctx
            .warning(format!("the task's session with the device {what}: {why}"));
    }

    fn command_line<'c>(
        &self,
        ctx: &Context<'c>,
    ) -> devgate_transports::Result<&'c dyn CommandLine> {
        ctx.command_line().ok_or_else(|| {
            self.unsupported(
                "no command line",
                match ctx.data_store() {
                    Some(_) => "it has data: `devgate session get` and `devgate session set`",
                    None => NEITHER_HINT,
                },
            )
        })
    }

    fn data_store<'c>(&self, ctx: &Context<'c>) -> devgate_transports::Result<&'c dyn DataStore> {
        ctx.data_store().ok_or_else(|| {
            self.unsupported(
                "no data that can be asked for",
                match ctx.command_line() {
                    Some(_) => "it has a command line: `devgate session exec`",
                    None => NEITHER_HINT,
                },
            )
        })
    }

    fn unsupported(&self, what: &str, has: &str) -> Error {
        let name = self.lease.spec().transport();
        Error::Unsupported(format!("transport `{name}` has {what}; {has}"))
    }

    /// Identifies the target of the session, without secrets. Equal identities mean the same target.
    pub(super) fn identity(&self) -> Json {
        json!({
            "target": self.ctx.target(),
            "transport": self.lease.spec().transport(),
            "connection_info": self.lease.spec().key.info.to_json(),
            "mode": match self.mode {
                Mode::Enforce => "enforce",
                Mode::Noop => "noop",
            },
        })
    }
}

/// The hint for a transport that has neither a command line nor data.
const NEITHER_HINT: &str = "it can be used with `devgate verify` and `devgate facts`";

/// Encodes an answer of the target for the socket.
fn encode_document(document: Document) -> Json {
    match document {
        Document::Data(data) => json!({ "data": data.to_json() }),
        Document::Text(text) => json!({ "text": text }),
    }
}

fn noop() -> Failure {
    let message = "this run is under --noop: the change was not sent to the device. A task that supports noop reports \
                   what it would do (`_noop` is true in its input)";
    Failure::new("devgate/noop", message)
}
