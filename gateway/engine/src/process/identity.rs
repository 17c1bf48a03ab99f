//! Which process is meant: told apart from every other that has had, or will have, its number.

use std::io;
use std::{fs, process};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// A process of this node, whoever has started it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its number, which another may have after its end.
    pub pid: i32,
    /// When it was started, in ticks of the kernel's clock since the boot.
    pub started: u64,
    /// Which boot that was.
    pub boot: String,
}

/// What the kernel tells of a process: proc_pid_stat(5).
pub(super) struct Stat {
    /// Whether it has ended, and was perhaps not waited for.
    pub(super) has_ended: bool,
    pub(super) group: Pid,
    pub(super) session: Pid,
    started: u64,
}

impl Identity {
    /// The process that has this number now.
    ///
    /// # Errors
    /// There is none, or nobody says which boot this is.
    pub fn of(pid: i32) -> io::Result<Self> {
        let stat = Stat::of(pid).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self {
            pid,
            started: stat.started,
            boot: boot()?,
        })
    }

    /// This process.
    ///
    /// # Errors
    /// As of any other.
    pub fn own() -> io::Result<Self> {
        Self::of(process::id().try_into().map_err(io::Error::other)?)
    }

    /// Whether it has not ended.
    pub fn lives(&self) -> bool {
        let same = |stat: Stat| stat.started == self.started && !stat.has_ended;
        Stat::of(self.pid).is_some_and(same) && boot().is_ok_and(|boot| boot == self.boot)
    }

    /// Sends it a signal, if it lives.
    ///
    /// # Errors
    /// It is not ours to end.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        if self.lives() {
            kill(Pid::from_raw(self.pid), signal)?;
        }
        Ok(())
    }
}

impl Stat {
    /// Of a process, if there is one with this number.
    pub(super) fn of(pid: i32) -> Option<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name, which may hold anything, is in brackets.
        let behind_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let fields = String::from_utf8_lossy(&stat[behind_name..]).into_owned();
        let mut fields = fields.split_ascii_whitespace();
        let state = fields.next()?;
        let [group, session] = [fields.nth(1)?, fields.next()?].map(str::parse);
        Some(Self {
            has_ended: matches!(state, "Z" | "X"),
            group: Pid::from_raw(group.ok()?),
            session: Pid::from_raw(session.ok()?),
            // Field 22; the session is field 6.
            started: fields.nth(15)?.parse().ok()?,
        })
    }
}

fn boot() -> io::Result<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    Ok(boot.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_process_with_the_same_number_is_not_taken_for_it() -> io::Result<()> {
        let own = Identity::own()?;
        assert!(own.lives());
        let earlier = Identity {
            started: own.started - 1,
            ..own.clone()
        };
        let of_another_boot = Identity {
            boot: "another".to_owned(),
            ..own.clone()
        };
        for other in [earlier, of_another_boot] {
            assert!(!other.lives());
            // A signal to it would end this test.
            other.signal(Signal::SIGKILL)?;
        }
        assert!(Identity::of(i32::MAX).is_err());
        Ok(())
    }
}
