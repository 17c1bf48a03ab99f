//! The wish to stop: Ctrl-C, `kill`, a terminal that has gone away, or time that is over, and what each
//! one asks for.
//!
//! The first lets what runs come to its end, but not for ever, unless it holds the run (a device that is
//! to be brought back); the second kills it; at the third nobody waits any more. One that has come stays
//! known: who listens later is told at once.

use std::io;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal as Name};
use nix::unistd::alarm;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, timeout_at};

use crate::stop::Stage;

/// How long what runs may take to come to its end after the first signal.
pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// How long processes and sessions that were asked to end, and then killed, are waited for.
const ENDING: Duration = Duration::from_secs(5);

/// How often it is looked whether something is still not to be ended.
const LOOK: Duration = Duration::from_millis(100);

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

/// What became of the work of this process, where it took longer than it may: `timed out after 60 s (…)`.
pub(crate) fn timed_out() -> Option<String> {
    let (seconds, said) = LIMIT.get().filter(|_| asked() == Some(Name::SIGALRM))?;
    Some(format!("timed out after {seconds} s ({said})"))
}

/// Hears the signals that ask a run to stop.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: [(Name, Signal); 4],
    first: Option<Name>,
    stage: Stage,
    /// When the next stage begins by itself.
    until: Option<Instant>,
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
            stage: Stage::Go,
            until: None,
        })
    }

    /// The signal that came first.
    pub(crate) fn first(&self) -> Option<Name> {
        self.first
    }

    /// Waits for the next stage of stopping; none is that nothing is waited for any more.
    pub(crate) async fn next(&mut self) -> Option<Stage> {
        self.next_unless(|| false).await
    }

    /// The same; as long as something is not to be ended by time alone, what runs may take longer to come to its
    /// end. A second signal ends that, too.
    pub(crate) async fn next_unless(&mut self, is_held: impl Fn() -> bool) -> Option<Stage> {
        let [
            (int, on_int),
            (term, on_term),
            (hup, on_hup),
            (alarm, on_alarm),
        ] = &mut self.signals;
        let mut signal = async || {
            tokio::select! {
                _ = on_int.recv() => *int,
                _ = on_term.recv() => *term,
                _ = on_hup.recv() => *hup,
                _ = on_alarm.recv() => *alarm,
            }
        };
        let signal = match self.until {
            // It had come before anybody listened here.
            None if self.first.is_some() => self.first,
            None => Some(signal().await),
            Some(until) => {
                let mut heard = timeout_at(until, signal()).await;
                while heard.is_err() && self.stage == Stage::Finish && is_held() {
                    heard = timeout_at(Instant::now() + LOOK, signal()).await;
                }
                heard.ok()
            }
        };
        self.first = self.first.or(signal);
        let (stage, wait) = match (self.stage, signal) {
            (Stage::Go, _) => (Stage::Finish, GRACE),
            (Stage::Finish, None) => (Stage::End, ENDING),
            (Stage::Finish | Stage::End, _) => (Stage::Kill, ENDING),
            (Stage::Kill, _) => return None,
        };
        self.stage = stage;
        self.until = Some(Instant::now() + wait);
        Some(stage)
    }
}
