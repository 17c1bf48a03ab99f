//! The wish to stop: Ctrl-C, `kill`, a terminal that has gone away, or time that is over, and what each
//! one asks for.
//!
//! What each one does is for whoever listens. One that has come stays known: who listens later is told at
//! once.

use std::io;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use nix::sys::signal::{SigSet, Signal as Name};
use nix::unistd::alarm;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::stop::Reason;

/// The signal that came last, by its number, for those who cannot wait for one; 0 is none.
static ASKED: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// How many seconds this process may take in all, and who says so.
static LIMIT: OnceLock<(NonZeroU32, &str)> = OnceLock::new();

/// The signal by which this process was asked to stop.
pub(crate) fn asked() -> Option<Name> {
    let number = i32::try_from(ASKED.load(Ordering::Relaxed)).ok()?;
    Name::try_from(number).ok()
}

/// Asks this process to stop after so many seconds, as `said` says, like an alarm clock: by a signal
/// (SIGALRM), which reaches whoever listens then. Only the first limit counts.
pub(crate) fn stop_after(seconds: NonZeroU32, said: &'static str) {
    alarm::set(LIMIT.get_or_init(|| (seconds, said)).0.get());
}

/// What a signal asks of a run: to end, as somebody wishes or because its time is over.
pub(crate) fn reason(signal: Name) -> Reason {
    match LIMIT.get().filter(|_| signal == Name::SIGALRM) {
        Some((seconds, said)) => Reason::Deadline(format!("{seconds} s ({said})")),
        None => Reason::Signal(signal),
    }
}

/// The signal whose exit code tells a reason.
pub(crate) fn signal_of(reason: &Reason) -> Name {
    match reason {
        Reason::Signal(signal) => *signal,
        Reason::Deadline(_) => Name::SIGALRM,
        Reason::User(_) | Reason::ClientGone | Reason::Shutdown => Name::SIGTERM,
    }
}

/// Hears the signals that ask a run to stop.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: [(Name, Signal); 4],
    first: Option<Name>,
    /// Whether the first was told.
    is_told: bool,
}

impl Interrupts {
    /// From now on these signals no longer end this process by themselves.
    ///
    /// # Errors
    /// That they cannot be heard.
    pub(crate) fn hear() -> io::Result<Self> {
        let mut wanted = SigSet::empty();
        for signal in [Name::SIGINT, Name::SIGTERM, Name::SIGHUP, Name::SIGALRM] {
            let number = signal as i32;
            signal_hook::flag::register_usize(number, Arc::clone(&ASKED), number as usize)?;
            wanted.add(signal);
        }
        // Who has started us may have blocked them, and with them all that ends us.
        wanted.thread_unblock()?;
        Ok(Self {
            signals: [
                (Name::SIGINT, signal(SignalKind::interrupt())?),
                (Name::SIGTERM, signal(SignalKind::terminate())?),
                (Name::SIGHUP, signal(SignalKind::hangup())?),
                (Name::SIGALRM, signal(SignalKind::alarm())?),
            ],
            // One that comes right here is heard twice, and what runs gets no grace: that is all.
            first: asked(),
            is_told: false,
        })
    }

    /// The signal that came first.
    pub(crate) fn first(&self) -> Option<Name> {
        self.first
    }

    /// Waits for the next signal.
    pub(crate) async fn signal(&mut self) -> Name {
        // It had come before anybody listened here.
        if let (false, Some(first)) = (self.is_told, self.first) {
            self.is_told = true;
            return first;
        }
        let [
            (int, on_int),
            (term, on_term),
            (hup, on_hup),
            (alarm, on_alarm),
        ] = &mut self.signals;
        let signal = tokio::select! {
            _ = on_int.recv() => *int,
            _ = on_term.recv() => *term,
            _ = on_hup.recv() => *hup,
            _ = on_alarm.recv() => *alarm,
        };
        self.is_told = true;
        self.first.get_or_insert(signal);
        signal
    }
}
