//! Lending the session with a target to a program: a private socket over which the program asks for
//! commands, for as long as it runs.
//!
//! Whoever asks waits for his turn with a session of the pool, which is kept for as long as it is
//! lent. The gateway cannot know which commands change a device, so none that may have arrived is
//! ever sent again.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::sync::OnceLock;
use std::time::Duration;

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
use super::pool::{Lease, SessionPool};
use super::socket::{Socket, Sockets, is_trusted};
use super::wire::{LONGEST_REQUEST, SessionRequest, answer_line, read_line, write_line};
use devgate_core::failure::Failure;

/// How many clients are heard at once; those behind them wait until there is room.
const MOST_CLIENTS: usize = 32;

/// How long a client may be silent, or not take its answer, while another waits for room.
const SILENCE: Duration = Duration::from_secs(5);

/// How long one may be silent then that has asked nothing yet: thousands who never do keep nobody out for long.
const GREETING: Duration = Duration::from_millis(100);

/// How long nobody is let in after the system had no file left for one.
const PAUSE: Duration = Duration::from_millis(100);

/// Lends sessions to tasks and programs, each with one target.
#[derive(Debug)]
pub struct SessionBroker<'p> {
    pool: &'p SessionPool,
    bound: RetryScope,
    /// Made for the first that is lent: to remove a folder may cost more than a hundred sockets.
    sockets: OnceLock<Result<Sockets, String>>,
    outer: OnceCell<Option<OuterSession>>,
}

/// What one retry budget is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryScope {
    /// The whole run.
    Run,
    /// Each request: a program may send requests for hours, and each waits as if it were a run of its own.
    Request,
}

/// A session that is lent.
pub struct LentSession<'a> {
    ctx: Context<'a>,
    lease: Lease<'a>,
    mode: Mode,
    bound: RetryScope,
}

/// Whether a client waits for room.
#[derive(Debug, Default)]
struct Room {
    is_wanted: watch::Sender<bool>,
}

impl Room {
    /// What a client does that nobody else waits for: one that takes longer makes room for others, as soon as that is
    /// needed.
    async fn within<T>(&self, time: Duration, doing: impl Future<Output = T>) -> io::Result<T> {
        let mut doing = pin!(doing);
        if let Ok(done) = timeout(time, &mut doing).await {
            return Ok(done);
        }
        let mut is_wanted = self.is_wanted.subscribe();
        tokio::select! {
            biased;
            done = doing => Ok(done),
            // One goes, and there is room before the next is asked.
            _ = is_wanted.wait_for(|is_wanted| *is_wanted) => {
                let message = "it was idle, and others wait";
                Err(io::Error::new(io::ErrorKind::TimedOut, message))
            }
        }
    }
}

impl<'p> SessionBroker<'p> {
    /// Who lends the sessions of a pool.
    pub fn new(pool: &'p SessionPool, bound: RetryScope) -> Self {
        Self {
            pool,
            bound,
            sockets: OnceLock::new(),
            outer: OnceCell::new(),
        }
    }

    /// Does `work` while a socket, whose path it is given, lends the session with the target; closes
    /// the session behind it.
    ///
    /// Where this process was itself lent a session with the very same target, that one is handed
    /// on. Where no socket can be made, which is told, there is none.
    pub async fn lend<T>(
        &self,
        ctx: &Context<'_>,
        spec: &ConnectionSpec<'_>,
        mode: Mode,
        work: impl AsyncFnOnce(Option<&str>) -> T,
    ) -> T {
        let lending = LentSession::new(ctx, self.pool.lease(spec), mode, self.bound);
        let outer = self.outer.get_or_init(|| OuterSession::find(ctx)).await;
        if let Some(outer) = outer
            && outer.identity == lending.identity()
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
            never = lending.serve(&socket) => match never {},
        };
        drop(socket);
        lending.end().await;
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
    /// A session that is opened when it is first asked for.
    pub(super) fn new(ctx: &Context<'a>, lease: Lease<'a>, mode: Mode, bound: RetryScope) -> Self {
        Self {
            ctx: *ctx,
            lease,
            mode,
            bound,
        }
    }

    /// Lends nothing any more.
    pub(super) async fn end(self) {
        self.lease.end(&self.ctx).await;
    }

    async fn serve(&self, socket: &Socket) -> Infallible {
        let room = Room::default();
        let mut clients = FuturesUnordered::new();
        let mut next = None;
        loop {
            if clients.len() < MOST_CLIENTS
                && let Some(client) = next.take()
            {
                clients.push(self.client(client, &room));
            }
            room.is_wanted.send_replace(next.is_some());
            tokio::select! {
                // Who was let in is heard first: what it has to say is there already, mostly.
                biased;
                Some(()) = clients.next() => {}
                client = socket.accept(), if next.is_none() => match client {
                    Ok(client) => next = Some(client),
                    Err(error) => {
                        self.ctx.debug(format!("cannot accept a client of the session: {error}"));
                        // Those who were let in give their files back.
                        let rest = async {
                            while clients.next().await.is_some() {}
                            std::future::pending::<()>().await
                        };
                        let _ = timeout(PAUSE, rest).await;
                    }
                },
            }
        }
    }

    /// Answers one client until it goes.
    async fn client(&self, mut stream: UnixStream, room: &Room) {
        let outcome = match is_trusted(&stream) {
            Ok(true) => self.talk(&mut stream, room).await,
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

    async fn talk(&self, stream: &mut UnixStream, room: &Room) -> io::Result<()> {
        let (from, mut to) = stream.split();
        let mut from = BufReader::new(from);
        let mut time = GREETING;
        loop {
            let request = read_line(&mut from, LONGEST_REQUEST);
            let line = match room.within(time, request).await? {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(()),
                Err(error) => {
                    let message = format!("the session's protocol: {error}");
                    let failure = Failure::new("devgate/session-protocol", message);
                    return write_line(&mut to, &answer_line(Err(failure))).await;
                }
            };
            let answer = tokio::select! {
                biased;
                // What waited for its turn is not sent; what was sent is given up, and the session
                // with it.
                () = gone(&mut from) => return Ok(()),
                answer = self.answer_line(&line) => answer,
            };
            time = SILENCE;
            room.within(time, write_line(&mut to, &answer_line(answer)))
                .await??;
        }
    }

    async fn answer_line(&self, line: &[u8]) -> Result<Json, Failure> {
        self.answer(SessionRequest::parse(line)?).await
    }

    /// Waits for its turn, and does what is asked for.
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
                Ok(told(self.turn(SessionAccess::Read, get).await?))
            }
            SessionRequest::Set(change) => {
                let set = async |ctx: &Context<'_>| self.data_store(ctx)?.set(ctx, &change).await;
                Ok(told(self.turn(SessionAccess::Write, set).await?))
            }
        }
    }

    async fn turn<T>(
        &self,
        access: SessionAccess,
        work: impl AsyncFnOnce(&Context<'_>) -> devgate_transports::Result<T>,
    ) -> Result<T, Failure> {
        let turn = self.lease.turn(access).await;
        let own = self.ctx.retry_budget().afresh();
        let ctx = match self.bound {
            RetryScope::Run => self.ctx,
            RetryScope::Request => self.ctx.with_retry_budget(&own),
        };
        turn.work(&ctx, async |ctx, _| work(ctx).await).await
    }

    fn command_line<'c>(
        &self,
        ctx: &Context<'c>,
    ) -> devgate_transports::Result<&'c dyn CommandLine> {
        ctx.command_line().ok_or_else(|| {
            self.lacks(
                "no command line",
                match ctx.data_store() {
                    Some(_) => "it has data: `devgate session get` and `devgate session set`",
                    None => NEITHER,
                },
            )
        })
    }

    fn data_store<'c>(&self, ctx: &Context<'c>) -> devgate_transports::Result<&'c dyn DataStore> {
        ctx.data_store().ok_or_else(|| {
            self.lacks(
                "no data that can be asked for",
                match ctx.command_line() {
                    Some(_) => "it has a command line: `devgate session exec`",
                    None => NEITHER,
                },
            )
        })
    }

    fn lacks(&self, what: &str, has: &str) -> Error {
        let name = self.lease.spec().transport();
        Error::Unsupported(format!("transport `{name}` has {what}; {has}"))
    }

    /// Whose session it is, without a secret: two that are told alike are the same.
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

/// Waits until a client has closed its side. One that has sent more already is still there.
async fn gone(from: &mut (impl AsyncBufRead + Unpin)) {
    if let Ok([_, ..]) = from.fill_buf().await {
        std::future::pending().await
    }
}

/// What a transport has that has neither a command line nor data.
const NEITHER: &str = "it can be used with `devgate verify` and `devgate facts`";

/// What a target answers, as it goes over the socket.
fn told(document: Document) -> Json {
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
