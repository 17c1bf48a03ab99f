//! Printing on stdout and stderr without waiting for slow readers.
//!
//! As long as a signal would end this process, printing blocks as usual. Once signals are handled or a run is followed,
//! printing never blocks: a thread writes the output in order. A caller that prints much waits for
//! [`room`](PrintQueue::room). Before the process ends, it waits until all is [done](PrintQueue::done). A reader that
//! does not read is waited for, but cannot prevent the end of a run.

use std::collections::VecDeque;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fmt, mem, thread};

use devgate_core::lock::locked;
use devgate_engine::process::Stream;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use rustix::fs::fstat;
use tokio::sync::Notify;
use tokio::time::interval;

use crate::signals::{self, SignalListener};

/// The print queue of this process.
#[derive(Debug, Default)]
pub struct PrintQueue {
    /// Whether printing does not block.
    is_aside: AtomicBool,
    state: Mutex<State>,
    /// Wakes the thread of each lane when there is something to write.
    more: [Condvar; 2],
    /// Wakes tasks that wait for room.
    less: Notify,
    /// The same, for callers that block their thread.
    less_here: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lanes: [Lane; 2],
    /// The lane of each stream, once it is known.
    ways: Option<[usize; 2]>,
    /// Why a stream is lost, so that nothing more is printed on it.
    lost: [Option<Lost>; 2],
    /// When a request to stop was noticed.
    asked: Option<Instant>,
    /// Whether a caller waits until all is written.
    is_awaited: bool,
    /// Whether this caller blocks its thread.
    is_awaited_here: bool,
}

/// The output that one thread writes, in order. Streams to the same file share a lane.
#[derive(Debug, Default)]
struct Lane {
    pieces: VecDeque<(Stream, Vec<u8>)>,
    /// The number of bytes that are not written yet.
    left: usize,
    /// When the last bytes were written or added.
    since: Option<Instant>,
    has_thread: bool,
    /// Whether the thread waits for a wake-up.
    is_idle: bool,
}

/// Why a stream is lost, so that nothing more is printed on it.
#[derive(Debug)]
pub enum Lost {
    /// The reader has closed the stream (`| head`). This is no error.
    Gone,
    /// The reader did not read, and this signal requested a stop.
    Unread(Signal),
    /// It could not be written.
    Failed(io::Error),
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => f.write_str("their reader has closed the stream"),
            Self::Unread(_) => f.write_str("nobody reads them"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

/// The maximum size of one write: what a pipe takes at once (PIPE_BUF).
const PIECE: usize = 4096;

/// The number of unwritten bytes above which callers have to wait.
const ROOM: usize = 256 << 10;

/// How long output is collected before it is written, so that the thread does not wake for each line.
const COLLECTED: Duration = Duration::from_millis(10);

/// How often to check whether to wait for a reader any longer.
const LOOK: Duration = Duration::from_millis(100);

/// How long to wait for a reader that does not read, after this number of signals.
fn retry_budget(signals: usize) -> Duration {
    match signals {
        0 | 1 => Duration::from_secs(5),
        2 => Duration::from_millis(500),
        _ => LOOK,
    }
}

impl PrintQueue {
    /// From now on, printing does not block.
    pub fn step_aside(&self) {
        self.is_aside.store(true, Ordering::Relaxed);
    }

    /// Prints on a stream.
    pub fn print(self: &Arc<Self>, stream: Stream, bytes: &[u8]) {
        let mut state = locked(&self.state);
        if bytes.is_empty() || state.lost[stream as usize].is_some() {
            return;
        }
        let is_aside = self.is_aside.load(Ordering::Relaxed) || signals::are_heard();
        let way = is_aside.then(|| state.way(stream));
        if let Some(way) = way.filter(|way| self.has_thread(*way, &mut state)) {
            let lane = &mut state.lanes[way];
            lane.add(stream, bytes);
            if mem::take(&mut lane.is_idle) {
                self.more[way].notify_one();
            }
        } else {
            drop(state);
            for piece in bytes.chunks(PIECE) {
                self.write(stream, piece);
            }
        }
    }

    /// Why a stream is lost, or `None`. It is returned only once.
    pub fn take_lost(&self, stream: Stream) -> Option<Lost> {
        locked(&self.state).lost[stream as usize].take()
    }

    /// Whether nothing is left to be written.
    pub fn is_done(&self) -> bool {
        locked(&self.state).left() == 0
    }

    /// Whether there is room for more output.
    pub fn has_room(&self) -> bool {
        locked(&self.state).has_room()
    }

    /// Waits until there is room for more output.
    pub async fn room(&self) {
        self.until(State::has_room).await;
    }

    /// Waits until all output is written or given up, and handles signals meanwhile.
    pub async fn done(&self) {
        if self.is_done() {
            return;
        }
        self.hurry(&mut locked(&self.state));
        let mut listener = SignalListener::hear().ok();
        let mut looks = interval(LOOK);
        loop {
            tokio::select! {
                () = self.until(|state| state.left() == 0) => return,
                Some(_) = signals::next(listener.as_mut()) => {}
                _ = looks.tick() => {}
            }
            self.give_up();
        }
    }

    /// The same, but blocks: a stream is about to be redirected.
    pub fn settle(&self) {
        let mut state = locked(&self.state);
        state.is_awaited_here = true;
        self.hurry(&mut state);
        while state.left() > 0 {
            let told = self.less_here.wait_timeout(state, LOOK);
            state = told.unwrap_or_else(PoisonError::into_inner).0;
            self.give_up_in(&mut state);
        }
        (state.is_awaited, state.is_awaited_here) = (false, false);
        state.ways = None;
    }

    /// Has all output written immediately.
    fn hurry(&self, state: &mut State) {
        state.is_awaited = true;
        self.more.iter().for_each(Condvar::notify_one);
    }

    /// After a request to stop: gives up readers that have not read for too long.
    pub fn give_up(&self) {
        self.give_up_in(&mut locked(&self.state));
    }

    fn give_up_in(&self, state: &mut State) {
        let Some(signal) = signals::asked() else {
            return;
        };
        let asked = *state.asked.get_or_insert_with(Instant::now);
        for way in 0..state.lanes.len() {
            let lane = &mut state.lanes[way];
            let is_stuck = |since: Instant| {
                since.max(asked).elapsed() >= retry_budget(signals::count()) && lane.left > 0
            };
            if !lane.since.is_some_and(is_stuck) {
                continue;
            }
            lane.pieces.clear();
            lane.left = 0;
            for stream in [Stream::Stdout, Stream::Stderr] {
                if state.way(stream) == way {
                    state.lost[stream as usize].get_or_insert(Lost::Unread(signal));
                }
            }
            self.tell_less(state);
        }
    }

    /// Waits until a condition on the state is true.
    async fn until(&self, look: impl Fn(&State) -> bool) {
        loop {
            let mut less = std::pin::pin!(self.less.notified());
            // From here on, no change is missed.
            less.as_mut().enable();
            if look(&locked(&self.state)) {
                return;
            }
            less.await;
        }
    }

    fn tell_less(&self, state: &State) {
        self.less.notify_waiters();
        if state.is_awaited_here {
            self.less_here.notify_all();
        }
    }

    /// Whether a lane has a thread. Starts it if necessary. If the node allows no thread, printing blocks.
    fn has_thread(self: &Arc<Self>, way: usize, state: &mut State) -> bool {
        let lane = &mut state.lanes[way];
        if !lane.has_thread {
            let queue = Arc::clone(self);
            let started = thread::Builder::new().spawn(move || queue.serve(way));
            lane.has_thread = started.is_ok();
        }
        lane.has_thread
    }

    /// Writes the output of a lane until the process ends. Nothing joins this thread.
    fn serve(&self, way: usize) {
        let mut state = locked(&self.state);
        loop {
            let Some((stream, bytes)) = state.lanes[way].pieces.pop_front() else {
                state.lanes[way].is_idle = true;
                let told = self.more[way].wait(state);
                state = told.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            for piece in bytes.chunks(PIECE) {
                self.write(stream, piece);
                let mut state = locked(&self.state);
                state.lanes[way].took(piece.len());
                self.tell_less(&state);
            }
            state = locked(&self.state);
            if state.lanes[way].pieces.is_empty() && !state.is_awaited {
                let told = self.more[way].wait_timeout(state, COLLECTED);
                state = told.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// Writes a piece to a stream, unless the stream is lost.
    fn write(&self, stream: Stream, piece: &[u8]) {
        if locked(&self.state).lost[stream as usize].is_some() {
            return;
        }
        let written = match stream {
            Stream::Stdout => write_all(io::stdout().as_fd(), piece),
            Stream::Stderr => write_all(io::stderr().as_fd(), piece),
        };
        let lost = match (stream, written) {
            (_, Ok(())) => return,
            // There is no place to report this, and stderr may be redirected later.
            (Stream::Stderr, Err(_)) => return,
            (_, Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => Lost::Gone,
            (_, Err(error)) => Lost::Failed(error),
        };
        locked(&self.state).lost[stream as usize].get_or_insert(lost);
    }
}

impl State {
    /// The number of unwritten bytes.
    fn left(&self) -> usize {
        self.lanes.iter().map(|lane| lane.left).sum()
    }

    fn has_room(&self) -> bool {
        self.left() <= ROOM
    }

    /// The lane of a stream.
    fn way(&mut self, stream: Stream) -> usize {
        let ways = || [0, usize::from(!is_one_place())];
        self.ways.get_or_insert_with(ways)[stream as usize]
    }
}

impl Lane {
    fn add(&mut self, stream: Stream, bytes: &[u8]) {
        if self.left == 0 {
            self.since = Some(Instant::now());
        }
        self.left += bytes.len();
        match self.pieces.back_mut() {
            Some((last, more)) if *last == stream => more.extend_from_slice(bytes),
            _ => self.pieces.push_back((stream, bytes.to_vec())),
        }
    }

    fn took(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes);
        self.since = Some(Instant::now());
    }
}

/// Whether stdout and stderr are the same file, so that their order matters.
fn is_one_place() -> bool {
    let (stdout, stderr) = (io::stdout(), io::stderr());
    if stdout.is_terminal() && stderr.is_terminal() {
        return true;
    }
    let place = |stream: BorrowedFd<'_>| fstat(stream).map(|file| (file.st_dev, file.st_ino));
    let places = (place(stdout.as_fd()), place(stderr.as_fd()));
    matches!(places, (Ok(stdout), Ok(stderr)) if stdout == stderr)
}

/// Writes all bytes. May block.
fn write_all(stream: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(stream, bytes) {
            Ok(taken) => bytes = &bytes[taken..],
            Err(rustix::io::Errno::INTR) => {}
            // Another process has made the stream non-blocking.
            Err(rustix::io::Errno::AGAIN) => {
                let mut fds = [PollFd::new(stream, PollFlags::POLLOUT)];
                let _ = poll(&mut fds, PollTimeout::NONE);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_to_one_stream_is_written_at_once_and_the_order_of_streams_stays() {
        let mut lane = Lane::default();
        for (stream, text) in [
            (Stream::Stdout, "a"),
            (Stream::Stdout, "b"),
            (Stream::Stderr, "c"),
            (Stream::Stdout, "d"),
        ] {
            lane.add(stream, text.as_bytes());
        }
        let pieces = lane.pieces.iter();
        let pieces: Vec<(Stream, &[u8])> = pieces
            .map(|(stream, bytes)| (*stream, &bytes[..]))
            .collect();
        assert_eq!(
            pieces,
            [
                (Stream::Stdout, &b"ab"[..]),
                (Stream::Stderr, b"c"),
                (Stream::Stdout, b"d")
            ]
        );
        assert_eq!(lane.left, 4);
    }
}
