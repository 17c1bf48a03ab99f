//! HTTP through a dialer: the library connects to a socket of this process, and each connection is passed on.

use std::future::pending;
use std::io;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncWriteExt, copy, split};
use tokio::net::{UnixListener, UnixStream};
use tokio::task::JoinSet;
use tokio::time::Instant;
use uuid::Uuid;

use crate::error::Phase;
use crate::{ByteStream, Context, Destination, Error, Result};

/// A socket whose connections are passed on to a server.
///
/// The socket has no file (unix(7), "abstract"). Connections of other users are refused. A session has one exchange at a
/// time.
#[derive(Debug)]
pub(super) struct Relay {
    path: PathBuf,
    listener: UnixListener,
    passing: Mutex<JoinSet<()>>,
    /// Why the last connection could not be passed on.
    failure: Mutex<Option<Error>>,
    /// Whether a connection was lost before its end since the last exchange began.
    is_broken: Arc<AtomicBool>,
}

impl Relay {
    /// Opens the socket.
    pub(super) fn new() -> io::Result<Self> {
        let path = PathBuf::from(format!("\0devgate-{}", Uuid::new_v4()));
        Ok(Self {
            listener: UnixListener::bind(&path)?,
            path,
            passing: Mutex::default(),
            failure: Mutex::default(),
            is_broken: Arc::default(),
        })
    }

    /// Returns the path of the socket, as the library takes it.
    pub(super) fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Performs an exchange. Meanwhile, new connections to the socket are passed on to their destination.
    pub(super) async fn serve<T>(
        &self,
        ctx: &Context<'_>,
        to: Destination<'_>,
        limit: Duration,
        exchange: impl Future<Output = T>,
    ) -> T {
        drop(self.take_failure());
        self.is_broken.store(false, Ordering::Release);
        let mut exchange = pin!(exchange);
        let mut opening = FuturesUnordered::new();
        loop {
            tokio::select! {
                done = &mut exchange => return done,
                near = self.accepted() => {
                    opening.push(async move { (near, dial(ctx, to, limit).await) });
                }
                Some((near, far)) = opening.next() => match far {
                    Ok(far) => self.pass(near, far),
                    // Dropping `near` ends the exchange.
                    Err(error) => *lock(&self.failure) = Some(error),
                },
            }
        }
    }

    /// Returns why the last connection could not be passed on. Nothing was sent over it.
    pub(super) fn take_failure(&self) -> Option<Error> {
        lock(&self.failure).take()
    }

    /// Returns whether a connection was lost before its end. Then the end of an answer proves nothing.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Acquire)
    }

    /// Waits for a connection of this process.
    async fn accepted(&self) -> UnixStream {
        let ours = nix::unistd::Uid::effective().as_raw();
        loop {
            match self.listener.accept().await {
                Ok((near, _)) if near.peer_cred().is_ok_and(|peer| peer.uid() == ours) => {
                    return near;
                }
                Ok(_) => {}
                // No file is left for it. The exchange ends at its limit.
                Err(_) => pending().await,
            }
        }
    }

    fn pass(&self, near: UnixStream, far: Box<dyn ByteStream>) {
        let is_broken = Arc::clone(&self.is_broken);
        let (mut near_read, mut near_write) = near.into_split();
        let (mut far_read, mut far_write) = split(far);
        let mut passing = lock(&self.passing);
        while passing.try_join_next().is_some() {}
        passing.spawn(async move {
            let down = async {
                let copied = copy(&mut far_read, &mut near_write).await;
                // The socket can only be closed, which may look like the end of an answer. A broken pipe is the
                // library's own end.
                if copied
                    .as_ref()
                    .is_err_and(|error| error.kind() != io::ErrorKind::BrokenPipe)
                {
                    is_broken.store(true, Ordering::Release);
                }
                copied?;
                near_write.shutdown().await
            };
            let up = async {
                copy(&mut near_read, &mut far_write).await?;
                far_write.shutdown().await
            };
            // How a connection ends is seen at both of its ends.
            let _ = tokio::try_join!(down, up);
        });
    }
}

/// Opens a connection with the dialer of the context.
async fn dial(
    ctx: &Context<'_>,
    to: Destination<'_>,
    limit: Duration,
) -> Result<Box<dyn ByteStream>> {
    match ctx.dialer() {
        Some(dialer) => dialer.dial(ctx, to, limit, Instant::now() + limit).await,
        // A session that is tested while no run uses it. It is opened anew when it is needed.
        None => Err(Error::Closed {
            peer: to.to_string(),
            phase: Phase::Connection,
            message: String::new(),
        }),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
