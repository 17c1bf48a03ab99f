//! The wish to stop: Ctrl-C, `kill`, or a terminal that has gone away, and what each one asks for.
//!
//! The first lets what runs come to its end, but not for ever; the second kills it; at the third
//! nobody waits any more.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use nix::sys::signal::Signal as Name;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, timeout_at};

use crate::stop::Stage;

/// How long what runs may take to come to its end after the first signal.
pub(crate) const GRACE: Duration = Duration::from_secs(10);

/// How long processes and sessions that were asked to end, and then killed, are waited for.
const ENDING: Duration = Duration::from_secs(5);

/// Whether any of the signals has come, for those who cannot wait for one.
static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Whether somebody has asked this process to stop.
pub(crate) fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Hears the signals that ask a run to stop.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: [(Name, Signal); 3],
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
        for signal in [Name::SIGINT, Name::SIGTERM, Name::SIGHUP] {
            signal_hook::flag::register(signal as i32, Arc::clone(&ASKED))?;
        }
        Ok(Self {
            signals: [
                (Name::SIGINT, signal(SignalKind::interrupt())?),
                (Name::SIGTERM, signal(SignalKind::terminate())?),
                (Name::SIGHUP, signal(SignalKind::hangup())?),
            ],
            first: None,
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
        let [(int, on_int), (term, on_term), (hup, on_hup)] = &mut self.signals;
        let signal = async {
            tokio::select! {
                _ = on_int.recv() => *int,
                _ = on_term.recv() => *term,
                _ = on_hup.recv() => *hup,
            }
        };
        let signal = match self.until {
            None => Some(signal.await),
            Some(until) => timeout_at(until, signal).await.ok(),
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
