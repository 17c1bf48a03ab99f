//! The clients of a lent session: each is served on its own connection, until it leaves. They come from a socket of this
//! node, or from a host on which a relay listens.

use std::convert::Infallible;
use std::io;
use std::pin::pin;
use std::time::Duration;

use devgate_core::failure::Failure;
use futures_util::stream::{FuturesUnordered, StreamExt};
use serde_json::Value as Json;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};
use tokio::net::UnixStream;
use tokio::sync::watch;
use tokio::time::timeout;

use super::broker::LentSession;
use super::socket::{Socket, is_trusted};
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

/// Where the clients of a session come from.
pub(super) trait Listen {
    /// The connection of a client.
    type Stream: AsyncRead + AsyncWrite + Unpin;

    /// Waits for the next client.
    async fn accept(&self) -> io::Result<Self::Stream>;

    /// Whether a client may use the session.
    fn is_trusted(stream: &Self::Stream) -> io::Result<bool>;
}

impl Listen for Socket {
    type Stream = UnixStream;

    async fn accept(&self) -> io::Result<UnixStream> {
        self.accept().await
    }

    fn is_trusted(stream: &UnixStream) -> io::Result<bool> {
        is_trusted(stream)
    }
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

impl LentSession<'_> {
    /// Serves all clients that come from here.
    pub(super) async fn serve<L: Listen>(&self, listener: &L) -> Infallible {
        let queue = ClientQueue::default();
        let mut clients = FuturesUnordered::new();
        let mut next = None;
        loop {
            if clients.len() < MAX_CLIENTS
                && let Some(client) = next.take()
            {
                clients.push(self.serve_client::<L>(client, &queue));
            }
            queue.is_waiting.send_replace(next.is_some());
            tokio::select! {
                // Clients that were accepted are served first: mostly, their requests are there already.
                biased;
                Some(()) = clients.next() => {}
                client = listener.accept(), if next.is_none() => match client {
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
    async fn serve_client<L: Listen>(&self, mut stream: L::Stream, queue: &ClientQueue) {
        let outcome = match L::is_trusted(&stream) {
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

    async fn serve_requests(
        &self,
        stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
        queue: &ClientQueue,
    ) -> io::Result<()> {
        let (reader, mut writer) = tokio::io::split(stream);
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
}

/// Waits until a client has closed its side. A client that has sent more is still there.
async fn disconnected(reader: &mut (impl AsyncBufRead + Unpin)) {
    if let Ok([_, ..]) = reader.fill_buf().await {
        std::future::pending().await
    }
}
