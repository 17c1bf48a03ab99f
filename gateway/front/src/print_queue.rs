//! Printing on stdout and stderr without waiting for slow readers.
//!
//! As long as a signal would end this process, printing blocks as usual. Once signals are handled or a run is followed,
//! printing never blocks: a thread writes the output in order. A caller that prints much waits for
//! [`wait_for_capacity`](PrintQueue::wait_for_capacity). Before the process ends, it waits until all output is [written](PrintQueue::drain). A reader that
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
    is_nonblocking: AtomicBool,
    state: Mutex<State>,
    /// Wakes the thread of each lane when output was added.
    added: [Condvar; 2],
    /// Wakes tasks that wait for capacity.
    drained: Notify,
    /// The same, for callers that block their thread.
    drained_blocking: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lanes: [Lane; 2],
    /// The lane of each stream, once it is known.
    lane_indexes: Option<[usize; 2]>,
    /// Why a stream is lost, so that nothing more is printed on it.
    lost: [Option<LostStream>; 2],
    /// When a request to stop was noticed.
    stop_requested: Option<Instant>,
    /// Whether a caller waits until all is written.
    is_awaited: bool,
    /// Whether this caller blocks its thread.
    is_awaited_blocking: bool,
}

/// The output that one thread writes, in order. Streams to the same file share a lane.
#[derive(Debug, Default)]
struct Lane {
    chunks: VecDeque<(Stream, Vec<u8>)>,
    /// The number of bytes that are not written yet.
    unwritten: usize,
    /// When the last bytes were written or added.
    last_progress: Option<Instant>,
    has_thread: bool,
    /// Whether the thread waits for a wake-up.
    is_idle: bool,
}

/// Why a stream is lost, so that nothing more is printed on it.
#[derive(Debug)]
pub enum LostStream {
    /// The reader has closed the stream (`| head`). This is no error.
    Closed,
    /// The reader did not read, and this signal requested a stop.
    Unread(Signal),
    /// It could not be written.
    Failed(io::Error),
}

impl fmt::Display for LostStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("their reader has closed the stream"),
            Self::Unread(_) => f.write_str("nobody reads them"),
            Self::Failed(error) => error.fmt(f),
        }
    }
}

/// The maximum size of one write: what a pipe takes at once (PIPE_BUF).
const MAX_WRITE: usize = 4096;

/// The number of unwritten bytes above which callers have to wait.
const CAPACITY: usize = 256 << 10;

/// How long output is collected before it is written, so that the thread does not wake for each line.
const COLLECTING_TIME: Duration = Duration::from_millis(10);

/// How often to check whether to wait for a reader any longer.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// How long to wait for a reader that does not read, after this number of signals.
fn reader_timeout(signals: usize) -> Duration {
    match signals {
        0 | 1 => Duration::from_secs(5),
        2 => Duration::from_millis(500),
        _ => CHECK_INTERVAL,
    }
}

impl PrintQueue {
    /// From now on, printing does not block.
    pub fn stop_blocking(&self) {
        self.is_nonblocking.store(true, Ordering::Relaxed);
    }

    /// Prints on a stream.
    pub fn print(self: &Arc<Self>, stream: Stream, bytes: &[u8]) {
        let mut state = locked(&self.state);
        if bytes.is_empty() || state.lost[stream as usize].is_some() {
            return;
        }
        let is_nonblocking = self.is_nonblocking.load(Ordering::Relaxed) || signals::are_handled();
        let lane_index = is_nonblocking.then(|| state.lane_index(stream));
        if let Some(lane_index) =
            lane_index.filter(|lane_index| self.has_thread(*lane_index, &mut state))
        {
            let lane = &mut state.lanes[lane_index];
            lane.add(stream, bytes);
            if mem::take(&mut lane.is_idle) {
                self.added[lane_index].notify_one();
            }
        } else {
            drop(state);
            for chunk in bytes.chunks(MAX_WRITE) {
                self.write(stream, chunk);
            }
        }
    }

    /// Why a stream is lost, or `None`. It is returned only once.
    pub fn take_lost(&self, stream: Stream) -> Option<LostStream> {
        locked(&self.state).lost[stream as usize].take()
    }

    /// Whether nothing is left to be written.
    pub fn is_drained(&self) -> bool {
        locked(&self.state).unwritten() == 0
    }

    /// Whether the queue can take more output.
    pub fn has_capacity(&self) -> bool {
        locked(&self.state).has_capacity()
    }

    /// Waits until the queue can take more output.
    pub async fn wait_for_capacity(&self) {
        self.until(State::has_capacity).await;
    }

    /// Waits until all output is written or given up, and handles signals meanwhile.
    pub async fn drain(&self) {
        if self.is_drained() {
            return;
        }
        self.write_now(&mut locked(&self.state));
        let mut listener = SignalListener::listen().ok();
        let mut checks = interval(CHECK_INTERVAL);
        loop {
            tokio::select! {
                () = self.until(|state| state.unwritten() == 0) => return,
                Some(_) = signals::next(listener.as_mut()) => {}
                _ = checks.tick() => {}
            }
            self.give_up_stuck();
        }
    }

    /// The same, but blocks: a stream is about to be redirected.
    pub fn drain_blocking(&self) {
        let mut state = locked(&self.state);
        state.is_awaited_blocking = true;
        self.write_now(&mut state);
        while state.unwritten() > 0 {
            let waited = self.drained_blocking.wait_timeout(state, CHECK_INTERVAL);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            self.give_up_stuck_lanes(&mut state);
        }
        (state.is_awaited, state.is_awaited_blocking) = (false, false);
        state.lane_indexes = None;
    }

    /// Has all output written immediately.
    fn write_now(&self, state: &mut State) {
        state.is_awaited = true;
        self.added.iter().for_each(Condvar::notify_one);
    }

    /// After a request to stop: gives up readers that have not read for too long.
    pub fn give_up_stuck(&self) {
        self.give_up_stuck_lanes(&mut locked(&self.state));
    }

    fn give_up_stuck_lanes(&self, state: &mut State) {
        let Some(signal) = signals::stop_signal() else {
            return;
        };
        let stop_requested = *state.stop_requested.get_or_insert_with(Instant::now);
        for lane_index in 0..state.lanes.len() {
            let lane = &mut state.lanes[lane_index];
            let is_stuck = |last_progress: Instant| {
                last_progress.max(stop_requested).elapsed() >= reader_timeout(signals::count())
                    && lane.unwritten > 0
            };
            if !lane.last_progress.is_some_and(is_stuck) {
                continue;
            }
            lane.chunks.clear();
            lane.unwritten = 0;
            for stream in [Stream::Stdout, Stream::Stderr] {
                if state.lane_index(stream) == lane_index {
                    state.lost[stream as usize].get_or_insert(LostStream::Unread(signal));
                }
            }
            self.notify_written(state);
        }
    }

    /// Waits until a condition on the state is true.
    async fn until(&self, condition: impl Fn(&State) -> bool) {
        loop {
            let mut drained = std::pin::pin!(self.drained.notified());
            // From here on, no change is missed.
            drained.as_mut().enable();
            if condition(&locked(&self.state)) {
                return;
            }
            drained.await;
        }
    }

    fn notify_written(&self, state: &State) {
        self.drained.notify_waiters();
        if state.is_awaited_blocking {
            self.drained_blocking.notify_all();
        }
    }

    /// Whether a lane has a thread. Starts it if necessary. If the node allows no thread, printing blocks.
    fn has_thread(self: &Arc<Self>, lane_index: usize, state: &mut State) -> bool {
        let lane = &mut state.lanes[lane_index];
        if !lane.has_thread {
            let queue = Arc::clone(self);
            let started = thread::Builder::new().spawn(move || queue.serve(lane_index));
            lane.has_thread = started.is_ok();
        }
        lane.has_thread
    }

    /// Writes the output of a lane until the process ends. Nothing joins this thread.
    fn serve(&self, lane_index: usize) {
        let mut state = locked(&self.state);
        loop {
            let Some((stream, bytes)) = state.lanes[lane_index].chunks.pop_front() else {
                state.lanes[lane_index].is_idle = true;
                let waited = self.added[lane_index].wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            for chunk in bytes.chunks(MAX_WRITE) {
                self.write(stream, chunk);
                let mut state = locked(&self.state);
                state.lanes[lane_index].wrote(chunk.len());
                self.notify_written(&state);
            }
            state = locked(&self.state);
            if state.lanes[lane_index].chunks.is_empty() && !state.is_awaited {
                let waited = self.added[lane_index].wait_timeout(state, COLLECTING_TIME);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    /// Writes a piece to a stream, unless the stream is lost.
    fn write(&self, stream: Stream, chunk: &[u8]) {
        if locked(&self.state).lost[stream as usize].is_some() {
            return;
        }
        let written = match stream {
            Stream::Stdout => write_all(io::stdout().as_fd(), chunk),
            Stream::Stderr => write_all(io::stderr().as_fd(), chunk),
        };
        let lost = match (stream, written) {
            (_, Ok(())) => return,
            // There is no place to report this, and stderr may be redirected later.
            (Stream::Stderr, Err(_)) => return,
            (_, Err(error)) if error.kind() == io::ErrorKind::BrokenPipe => LostStream::Closed,
            (_, Err(error)) => LostStream::Failed(error),
        };
        locked(&self.state).lost[stream as usize].get_or_insert(lost);
    }
}

impl State {
    /// The number of unwritten bytes.
    fn unwritten(&self) -> usize {
        self.lanes.iter().map(|lane| lane.unwritten).sum()
    }

    fn has_capacity(&self) -> bool {
        self.unwritten() <= CAPACITY
    }

    /// The lane of a stream.
    fn lane_index(&mut self, stream: Stream) -> usize {
        let lane_indexes = || [0, usize::from(!is_same_file())];
        self.lane_indexes.get_or_insert_with(lane_indexes)[stream as usize]
    }
}

impl Lane {
    fn add(&mut self, stream: Stream, bytes: &[u8]) {
        if self.unwritten == 0 {
            self.last_progress = Some(Instant::now());
        }
        self.unwritten += bytes.len();
        match self.chunks.back_mut() {
            Some((last, added)) if *last == stream => added.extend_from_slice(bytes),
            _ => self.chunks.push_back((stream, bytes.to_vec())),
        }
    }

    fn wrote(&mut self, bytes: usize) {
        self.unwritten = self.unwritten.saturating_sub(bytes);
        self.last_progress = Some(Instant::now());
    }
}

/// Whether stdout and stderr are the same file, so that their order matters.
fn is_same_file() -> bool {
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
        let chunks = lane.chunks.iter();
        let chunks: Vec<(Stream, &[u8])> = chunks
            .map(|(stream, bytes)| (*stream, &bytes[..]))
            .collect();
        assert_eq!(
            chunks,
            [
                (Stream::Stdout, &b"ab"[..]),
                (Stream::Stderr, b"c"),
                (Stream::Stdout, b"d")
            ]
        );
        assert_eq!(lane.unwritten, 4);
    }
}
