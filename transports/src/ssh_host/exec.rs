//! A program that runs on a host: its input, its output, and its end.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use russh::client::Msg;
use russh::{Channel, ChannelMsg, ChannelReadHalf, ChannelWriteHalf, Sig};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::timeout;

use crate::output::{Exit, Piece};
use crate::ssh::Peer;
use crate::ssh::forwarded::MOST_UNREAD;
use crate::{Error, Result};

/// The assumed overhead of a piece in bytes, because many small pieces fill the memory, too.
const PIECE: usize = 64;

/// The limit for sending the end of input or the request to close the channel.
const LEAVING: Duration = Duration::from_secs(5);

/// A started program.
///
/// Serve both halves at once: a program that waits for its output to be read may not read its input
/// meanwhile.
#[derive(Debug)]
pub struct Exec {
    /// Its standard input.
    pub stdin: Stdin,
    /// Its output, and how it ends.
    pub output: Output,
}

/// A program's standard input. Dropping this ends the input.
#[derive(Debug)]
pub struct Stdin {
    channel: Arc<ChannelWriteHalf<Msg>>,
    /// The sender lives as long as the channel.
    ended: watch::Receiver<()>,
    _open: oneshot::Sender<()>,
}

/// A program's output. Dropping this before the end closes the channel. Whether the program then ends is up to
/// the host.
#[derive(Debug)]
pub struct Output {
    pieces: mpsc::UnboundedReceiver<Result<Piece>>,
    unread: Arc<AtomicUsize>,
    peer: Peer,
}

impl Exec {
    pub(super) fn over(channel: Channel<Msg>, peer: Peer) -> Self {
        let (reading, writing) = channel.split();
        let writing = Arc::new(writing);
        let (pieces, to_read) = mpsc::unbounded_channel();
        let unread = Arc::new(AtomicUsize::new(0));
        let (alive, ended) = watch::channel(());
        let (open, closed) = oneshot::channel();
        let drain = Drain {
            reading,
            writing: Arc::clone(&writing),
            pieces,
            unread: Arc::clone(&unread),
            peer: peer.clone(),
            exit: Exit::Unsaid,
        };
        tokio::spawn(async move {
            drain.run(closed).await;
            drop(alive);
        });
        Self {
            stdin: Stdin {
                channel: writing,
                ended,
                _open: open,
            },
            output: Output {
                pieces: to_read,
                unread,
                peer,
            },
        }
    }
}

impl Stdin {
    /// Sends bytes. Waits while the program has more unread input than the host buffers.
    ///
    /// There is no time limit: set one in the caller. The wait ends with the program or the connection.
    ///
    /// # Errors
    /// Fails with `BrokenPipe` when the input is no longer read. The output shows why.
    pub async fn write_all(&mut self, bytes: impl Into<Bytes>) -> io::Result<()> {
        tokio::select! {
            sent = self.channel.data_bytes(bytes) => {
                sent.map_err(|_| io::ErrorKind::BrokenPipe.into())
            }
            _ = self.ended.changed() => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Output {
    /// Returns the next piece. Nothing follows [`Piece::Exit`] or an error.
    ///
    /// This is cancel safe: if the future is dropped, no piece is lost.
    ///
    /// # Errors
    /// Fails with [`Error::ChannelRefused`] when the host does not start the program, and with [`Error::Lost`] when
    /// the connection ended before the program did. Then it is unknown whether the program still runs.
    pub async fn next(&mut self) -> Result<Piece> {
        match self.pieces.recv().await {
            Some(piece) => {
                if let Ok(piece) = &piece {
                    self.unread.fetch_sub(cost(piece), Ordering::Relaxed);
                }
                piece
            }
            None => Err(self.peer.connection_lost()),
        }
    }
}

/// Returns how much memory a piece takes.
fn cost(piece: &Piece) -> usize {
    PIECE
        + match piece {
            Piece::Stdout(bytes) | Piece::Stderr(bytes) => bytes.len(),
            Piece::Ended(_) | Piece::Exit(_) => 0,
        }
}

/// Reads all data from the channel, so that the connection never waits for a slow reader.
struct Drain {
    reading: ChannelReadHalf,
    writing: Arc<ChannelWriteHalf<Msg>>,
    pieces: mpsc::UnboundedSender<Result<Piece>>,
    unread: Arc<AtomicUsize>,
    peer: Peer,
    exit: Exit,
}

/// The next step for a channel.
enum Next {
    More,
    /// The host has closed the channel, or the channel is gone.
    Closed,
    /// The channel is not needed any more.
    Leave,
}

impl Drain {
    async fn run(mut self, mut stdin: oneshot::Receiver<()>) {
        let mut input_open = true;
        loop {
            let next = tokio::select! {
                message = self.reading.wait() => self.take(message),
                _ = &mut stdin, if input_open => {
                    input_open = false;
                    let _ = timeout(LEAVING, self.writing.eof()).await;
                    Next::More
                }
                () = self.pieces.closed() => Next::Leave,
            };
            match next {
                Next::More => {}
                Next::Closed => return,
                Next::Leave => {
                    // From here on nothing reads the channel, and the connection must not wait for it.
                    drop(self.reading);
                    let _ = timeout(LEAVING, self.writing.close()).await;
                    return;
                }
            }
        }
    }

    fn take(&mut self, message: Option<ChannelMsg>) -> Next {
        match message {
            Some(ChannelMsg::Data { data }) => self.give(Piece::Stdout(data)),
            Some(ChannelMsg::ExtendedData { data, ext: 1 }) => self.give(Piece::Stderr(data)),
            Some(ChannelMsg::ExitStatus { exit_status }) => {
                self.exit = Exit::Code(exit_status);
                self.give(Piece::Ended(self.exit.clone()))
            }
            Some(ChannelMsg::ExitSignal { signal_name, .. }) => {
                self.exit = Exit::Signal(name(signal_name));
                self.give(Piece::Ended(self.exit.clone()))
            }
            Some(ChannelMsg::Failure) => {
                let _ = self.pieces.send(Err(Error::ChannelRefused {
                    peer: self.peer.name().to_owned(),
                    what: "program".to_owned(),
                    message: self.peer.last_message(),
                    busy: false,
                }));
                Next::Leave
            }
            Some(ChannelMsg::Close) => {
                let exit = std::mem::replace(&mut self.exit, Exit::Unsaid);
                let _ = self.give(Piece::Exit(exit));
                Next::Closed
            }
            None => {
                let _ = self.pieces.send(Err(self.peer.connection_lost()));
                Next::Closed
            }
            Some(_) => Next::More,
        }
    }

    fn give(&mut self, piece: Piece) -> Next {
        let waiting = self.unread.fetch_add(cost(&piece), Ordering::Relaxed);
        if waiting > MOST_UNREAD {
            let _ = self.pieces.send(Err(Error::Unread {
                peer: self.peer.name().to_owned(),
                limit: MOST_UNREAD,
            }));
            return Next::Leave;
        }
        if self.pieces.send(Ok(piece)).is_err() {
            return Next::Leave;
        }
        Next::More
    }
}

/// Returns a signal's name according to RFC 4254, 6.10.
fn name(signal: Sig) -> String {
    match signal {
        Sig::ABRT => "ABRT".to_owned(),
        Sig::ALRM => "ALRM".to_owned(),
        Sig::FPE => "FPE".to_owned(),
        Sig::HUP => "HUP".to_owned(),
        Sig::ILL => "ILL".to_owned(),
        Sig::INT => "INT".to_owned(),
        Sig::KILL => "KILL".to_owned(),
        Sig::PIPE => "PIPE".to_owned(),
        Sig::QUIT => "QUIT".to_owned(),
        Sig::SEGV => "SEGV".to_owned(),
        Sig::TERM => "TERM".to_owned(),
        Sig::USR1 => "USR1".to_owned(),
        Sig::Custom(name) => name,
    }
}
