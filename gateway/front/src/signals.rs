//! The wish to stop: Ctrl-C, `kill`, a terminal that has gone away, or time that is over, and what each
//! one asks for.
//!
//! What each one does is for whoever listens. One that has come stays known: who listens later is told at
//! once.

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

/// The signal that came last, by its number, for those who cannot wait for one; 0 is none.
static ASKED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Whether signals are heard, and end this process no more by themselves.
static ARE_HEARD: AtomicBool = AtomicBool::new(false);

/// How many signals were heard.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// How many seconds this process may take in all, and who says so.
static LIMIT: OnceLock<(NonZeroU32, &str)> = OnceLock::new();

/// Whether whoever started this process has it ignore SIGHUP: it is to outlive a terminal.
static IS_HANGUP_IGNORED: LazyLock<bool> = LazyLock::new(|| {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask >> (Name::SIGHUP as u32 - 1) & 1 == 1)
});

/// The signal by which this process was asked to stop.
pub fn asked() -> Option<Name> {
    let number = i32::try_from(ASKED.load(Ordering::Relaxed)).ok()?;
    Name::try_from(number).ok()
}

/// Whether signals are heard, and end this process no more by themselves.
pub fn are_heard() -> bool {
    ARE_HEARD.load(Ordering::Relaxed)
}

/// How many signals have asked this process to stop, as far as somebody listened.
pub fn count() -> usize {
    COUNT.load(Ordering::Relaxed)
}

/// The next signal, where they are heard.
pub async fn next(listener: Option<&mut SignalListener>) -> Option<Name> {
    Some(listener?.signal().await)
}

/// Asks this process to stop after so many seconds, as `said` says, like an alarm clock: by a signal
/// (SIGALRM), which reaches whoever listens then. Only the first limit counts.
pub fn stop_after(seconds: NonZeroU32, said: &'static str) {
    alarm::set(LIMIT.get_or_init(|| (seconds, said)).0.get());
}

/// What a signal asks of a run: to end, as somebody wishes or because its time is over.
pub fn reason(signal: Name) -> Reason {
    match LIMIT.get().filter(|_| signal == Name::SIGALRM) {
        Some((seconds, said)) => Reason::Deadline(format!("{seconds} s ({said})")),
        None => Reason::Signal(signal),
    }
}

/// The signal whose exit code tells a reason.
pub fn signal_of(reason: &Reason) -> Name {
    match reason {
        Reason::Signal(signal) => *signal,
        Reason::Deadline(_) => Name::SIGALRM,
        Reason::User(_) | Reason::ClientGone | Reason::Shutdown => Name::SIGTERM,
    }
}

/// Waits for what comes before a run, or for a signal: then it is left, and what it had started is ended.
///
/// # Errors
/// That there was a signal, or what the work has failed with.
pub async fn or_interrupted<T>(
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let mut work = pin!(work);
    // Work that has nothing to wait for is not worth a signal handler, which is there for ever.
    if let Poll::Ready(done) = futures_util::poll!(&mut work) {
        return done;
    }
    let Ok(mut listener) = SignalListener::hear() else {
        return work.await;
    };
    tokio::select! {
        done = work => done,
        _ = listener.signal() => Err(InventoryError::Interrupted.into()),
    }
}

/// Hears the signals that ask a run to stop.
#[derive(Debug)]
pub struct SignalListener {
    signals: Vec<(Name, Signal)>,
    first: Option<Name>,
    /// Whether the first was told.
    is_told: bool,
}

impl SignalListener {
    /// From now on these signals no longer end this process by themselves. `nohup` has us ignore SIGHUP, which stays so.
    ///
    /// # Errors
    /// That they cannot be heard.
    pub fn hear() -> io::Result<Self> {
        let mut wanted = SigSet::empty();
        let mut signals = Vec::new();
        ARE_HEARD.store(true, Ordering::Relaxed);
        for name in [Name::SIGINT, Name::SIGTERM, Name::SIGHUP, Name::SIGALRM] {
            if name == Name::SIGHUP && *IS_HANGUP_IGNORED {
                continue;
            }
            let number = name as i32;
            signal_hook::flag::register_usize(number, Arc::clone(&ASKED), number as usize)?;
            wanted.add(name);
            signals.push((name, signal(SignalKind::from_raw(number))?));
        }
        // Who has started us may have blocked them, and with them all that ends us.
        wanted.thread_unblock()?;
        Ok(Self {
            signals,
            // One that comes right here is heard twice, and what runs gets no grace: that is all.
            first: asked(),
            is_told: false,
        })
    }

    /// The signal that came first.
    pub fn first(&self) -> Option<Name> {
        self.first
    }

    /// Waits for the next signal.
    pub async fn signal(&mut self) -> Name {
        // It had come before anybody listened here.
        if let (false, Some(first)) = (self.is_told, self.first) {
            self.is_told = true;
            COUNT.fetch_max(1, Ordering::Relaxed);
            return first;
        }
        let signals = &mut self.signals;
        let signal = poll_fn(|cx| {
            let mut come = signals.iter_mut().filter_map(|(name, signal)| {
                let is_come = signal.poll_recv(cx).is_ready();
                is_come.then_some(*name)
            });
            come.next().map_or(Poll::Pending, Poll::Ready)
        });
        let signal = signal.await;
        COUNT.fetch_add(1, Ordering::Relaxed);
        self.is_told = true;
        self.first.get_or_insert(signal);
        signal
    }
}
