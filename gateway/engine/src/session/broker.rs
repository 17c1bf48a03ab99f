//! Lends the session with a target to a program: a private socket over which the program sends requests while it runs.
//!
//! Each request waits for a turn with a session of the pool, which is kept while it is lent. The gateway cannot know
//! which commands change a device, so no command that may have arrived is sent again.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::OnceLock;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_transports::Environment;
use devgate_transports::{CommandLine, Context, DataStore, Document, Error, Line, Mode};
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::{OnceCell, watch};
use tokio::time::timeout;

use super::ConnectionSpec;
use super::borrowed::OuterSession;
use super::device::SessionAccess;
use super::pool::{SessionLease, SessionPool};
use super::socket::{Socket, Sockets, is_trusted};
use super::wire::{LONGEST_REQUEST, SessionRequest, answer_line, read_line, write_line};

/// The number of clients that are served at once. Further clients wait until one of them leaves.
const MAX_CLIENTS: usize = 32;

/// How long a client may be silent, or not take its answer, while another waits.
const IDLE_LIMIT: Duration = Duration::from_secs(5);

/// How long a client that has sent no request yet may be silent while another waits. Thousands of silent clients thus
/// block nobody for long.
const FIRST_REQUEST_LIMIT: Duration = Duration::from_millis(100);

/// The pause before the next client is accepted, after the system had no file descriptor left for one.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

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
    ctx: Context<'a>,
    lease: SessionLease<'a>,
    mode: Mode,
    retry_scope: RetryScope,
}

/// Whether a client waits to be served.
#[derive(Debug, Default)]
struct ClientQueue {
    is_waiting: watch::Sender<bool>,
}

impl ClientQueue {
    /// Waits for a client. Once `time` has passed, the client is dropped as soon as another one waits.
    async fn wait_for_client<T>(
        &self,
        time: Duration,
        operation: impl Future<Output = T>,
    ) -> io::Result<T> {
        let mut operation = pin!(operation);
        if let Ok(done) = timeout(time, &mut operation).await {
            return Ok(done);
        }
        let mut is_waiting = self.is_waiting.subscribe();
        tokio::select! {
            biased;
            done = operation => Ok(done),
            // Only one client is dropped before the next one is notified.
            _ = is_waiting.wait_for(|is_waiting| *is_waiting) => {
                let message = "it was idle, and others wait";
                Err(io::Error::new(io::ErrorKind::TimedOut, message))
            }
        }
    }
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

    async fn serve(&self, socket: &Socket) -> Infallible {
        let queue = ClientQueue::default();
        let mut clients = FuturesUnordered::new();
        let mut next = None;
        loop {
            if clients.len() < MAX_CLIENTS
                && let Some(client) = next.take()
            {
                clients.push(self.serve_client(client, &queue));
            }
            queue.is_waiting.send_replace(next.is_some());
            tokio::select! {
                // Clients that were accepted are served first: mostly, their requests are there already.
                biased;
                Some(()) = clients.next() => {}
                client = socket.accept(), if next.is_none() => match client {
                    Ok(client) => next = Some(client),
                    Err(error) => {
                        self.ctx.debug(format!("cannot accept a client of the session: {error}"));
                        // The accepted clients give their file descriptors back.
                        let rest = async {
                            while clients.next().await.is_some() {}
                            std::future::pending::<()>().await
                        };
                        let _ = timeout(ACCEPT_PAUSE, rest).await;
                    }
                },
            }
        }
    }

    /// Serves one client until it leaves.
    async fn serve_client(&self, mut stream: UnixStream, queue: &ClientQueue) {
        let outcome = match is_trusted(&stream) {
            Ok(true) => self.serve_requests(&mut stream, queue).await,
            Ok(false) => {
                self.ctx
                    .warning("a process of another user asked for the session: refused");
                let message = "this session is another user's: only the user who runs devgate may \
                               use it";
                let failure = Failure::new("devgate/session-refused", message);
                write_line(&mut stream, &answer_line(Err(failure))).await
            }
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            self.ctx
                .debug(format!("a client of the session has disconnected: {error}"));
        }
    }

    async fn serve_requests(&self, stream: &mut UnixStream, queue: &ClientQueue) -> io::Result<()> {
        let (reader, mut writer) = stream.split();
        let mut reader = BufReader::new(reader);
        let mut time = FIRST_REQUEST_LIMIT;
        loop {
            let request = read_line(&mut reader, LONGEST_REQUEST);
            let line = match queue.wait_for_client(time, request).await? {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(()),
                Err(error) => {
                    let message = format!("the session's protocol: {error}");
                    let failure = Failure::new("devgate/session-protocol", message);
                    return write_line(&mut writer, &answer_line(Err(failure))).await;
                }
            };
            let answer = tokio::select! {
                biased;
                // A request that waits for its turn is not sent. A request that was sent is abandoned, together with
                // its session.
                () = disconnected(&mut reader) => return Ok(()),
                answer = self.answer_line(&line) => answer,
            };
            time = IDLE_LIMIT;
            queue
                .wait_for_client(time, write_line(&mut writer, &answer_line(answer)))
                .await??;
        }
    }

    async fn answer_line(&self, line: &[u8]) -> Result<Json, Failure> {
        self.answer(SessionRequest::parse(line)?).await
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
        turn.perform(&ctx, async |ctx, _| work(ctx).await).await
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

/// Waits until a client has closed its side. A client that has sent more is still there.
async fn disconnected(reader: &mut (impl AsyncBufRead + Unpin)) {
    if let Ok([_, ..]) = reader.fill_buf().await {
        std::future::pending().await
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
