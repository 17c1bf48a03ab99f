//! Signals that stop a run: Ctrl-C, `kill`, a closed terminal, or a time limit.
//!
//! The listener decides what a signal does. A received signal is remembered: a later listener gets it at once.

use std::future::poll_fn;
use std::num::NonZeroU32;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::task::Poll;
use std::{fs, io};

use devgate_core::cancel::Reason;
use devgate_core::failure::Failure;
use devgate_engine::inventory::InventoryError;
use nix::sys::signal::{SigSet, Signal as Name};
use nix::unistd::alarm;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The number of the last signal, or 0, for callers that cannot wait.
static LAST_SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Whether signals are handled, so that they do not end this process by themselves.
static ARE_HANDLED: AtomicBool = AtomicBool::new(false);

/// How many signals were received.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// The time limit of this process in seconds, and its source.
static LIMIT: OnceLock<(NonZeroU32, &str)> = OnceLock::new();

/// Whether the process was started with SIGHUP ignored, as by `nohup`.
static IS_HANGUP_IGNORED: LazyLock<bool> = LazyLock::new(|| {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (Name::SIGHUP as u32 - 1) & 1 == 1)
});

/// The signal that requested this process to stop.
pub fn stop_signal() -> Option<Name> {
    let number = i32::try_from(LAST_SIGNAL.load(Ordering::Relaxed)).ok()?;
    Name::try_from(number).ok()
}

/// Whether signals are handled, so that they do not end this process by themselves.
pub fn are_handled() -> bool {
    ARE_HANDLED.load(Ordering::Relaxed)
}

/// How many signals to stop were received while a listener existed.
pub fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

/// Waits for the next signal, if there is a listener.
pub async fn next(listener: Option<&mut SignalListener>) -> Option<Name> {
    Some(listener?.signal().await)
}

/// Sets a time limit for this process: SIGALRM stops it. `source` names the source of the limit. Only the first limit
/// counts.
pub fn stop_after(seconds: NonZeroU32, source: &'static str) {
    alarm::set(LIMIT.get_or_init(|| (seconds, source)).0.get());
}

/// The reason to stop a run on a signal: a request, or its time limit.
pub fn reason(signal: Name) -> Reason {
    match LIMIT.get().filter(|_| signal == Name::SIGALRM) {
        Some((seconds, source)) => Reason::Deadline(format!("{seconds} s ({source})")),
        None => Reason::Signal(signal),
    }
}

/// The signal whose exit code reports a reason.
pub fn signal_of(reason: &Reason) -> Name {
    match reason {
        Reason::Signal(signal) => *signal,
        Reason::Deadline(_) => Name::SIGALRM,
        Reason::User(_) | Reason::ClientGone | Reason::Shutdown => Name::SIGTERM,
    }
}

/// Does work that precedes a run. A signal drops it, and ends what it has started.
///
/// # Errors
/// A signal, or the failure of the work.
pub async fn or_interrupted<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let mut work = pin!(work);
    // Work that is ready at once needs no signal handler, which could never be removed.
    if let Poll::Ready(done) = futures_util::poll!(&mut work) {
        return done;
    }
    let Ok(mut listener) = SignalListener::listen() else {
        return work.await;
    };
    tokio::select! {
        done = work => done,
        _ = listener.signal() => Err(InventoryError::Interrupted.into()),
    }
}

/// Listens to the signals that stop a run.
#[derive(Debug)]
pub struct SignalListener {
    signals: Vec<(Name, Signal)>,
    first: Option<Name>,
    /// Whether the first signal was returned.
    is_first_returned: bool,
}

impl SignalListener {
    /// From now on, these signals do not end this process by themselves. If `nohup` ignores SIGHUP, it stays ignored.
    ///
    /// # Errors
    /// Signal handlers cannot be installed.
    pub fn listen() -> io::Result<Self> {
        let mut handled = SigSet::empty();
        let mut signals = Vec::new();
        ARE_HANDLED.store(true, Ordering::Relaxed);
        for name in [Name::SIGINT, Name::SIGTERM, Name::SIGHUP, Name::SIGALRM] {
            if name == Name::SIGHUP && *IS_HANGUP_IGNORED {
                continue;
            }
            let number = name as i32;
            signal_hook::flag::register_usize(number, Arc::clone(&LAST_SIGNAL), number as usize)?;
            handled.add(name);
            signals.push((name, signal(SignalKind::from_raw(number))?));
        }
        // The parent process may have blocked these signals.
        handled.thread_unblock()?;
        Ok(Self {
            signals,
            // A signal at this moment counts twice, so that running work gets no grace period. This is harmless.
            first: stop_signal(),
            is_first_returned: false,
        })
    }

    /// The first signal.
    pub fn first(&self) -> Option<Name> {
        self.first
    }

    /// Waits for the next signal.
    pub async fn signal(&mut self) -> Name {
        // The signal came before this listener existed.
        if let (false, Some(first)) = (self.is_first_returned, self.first) {
            self.is_first_returned = true;
            COUNT.fetch_max(1, Ordering::Relaxed);
            return first;
        }
        let signals = &mut self.signals;
        let signal = poll_fn(|cx| {
            let mut ready = signals.iter_mut().filter_map(|(name, signal)| {
                let is_ready = signal.poll_recv(cx).is_ready();
                is_ready.then_some(*name)
            });
            ready.next().map_or(Poll::Pending, Poll::Ready)
        });
        let signal = signal.await;
        COUNT.fetch_add(1, Ordering::Relaxed);
        self.is_first_returned = true;
        self.first.get_or_insert(signal);
        signal
    }
}
