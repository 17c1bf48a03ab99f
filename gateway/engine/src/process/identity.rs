//! Identifies a process, so that it is not confused with an earlier or later one of the same number.

use std::io;
use std::{fs, process};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

/// Identifies a process of this node, whoever has started it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// The process number, which another process may have after its end.
    pub pid: i32,
    /// The start time, in ticks of the kernel's clock since the boot.
    pub started: u64,
    /// The identifier of the boot.
    pub boot: String,
}

/// The kernel's data on a process: proc_pid_stat(5).
pub(super) struct Stat {
    /// Whether the process has ended. It may be a zombie.
    pub(super) has_ended: bool,
    pub(super) group: Pid,
    pub(super) session: Pid,
    started: u64,
}

impl ProcessIdentity {
    /// Identifies the process that has this number now.
    ///
    /// # Errors
    /// Fails when there is no such process, or when the boot is not known.
    pub fn of(pid: i32) -> io::Result<Self> {
        let stat = Stat::read(pid).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self {
            pid,
            started: stat.started,
            boot: boot()?,
        })
    }

    /// Identifies this process.
    ///
    /// # Errors
    /// Fails as [`of`](Self::of).
    pub fn current() -> io::Result<Self> {
        Self::of(process::id().try_into().map_err(io::Error::other)?)
    }

    /// Whether the process has not ended.
    pub fn is_alive(&self) -> bool {
        let same = |stat: Stat| stat.started == self.started && !stat.has_ended;
        Stat::read(self.pid).is_some_and(same) && boot().is_ok_and(|boot| boot == self.boot)
    }

    /// Sends a signal to the process, if it lives.
    ///
    /// # Errors
    /// Fails when we are not permitted to signal it.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        if self.is_alive() {
            kill(Pid::from_raw(self.pid), signal)?;
        }
        Ok(())
    }
}

impl Stat {
    /// Reads the data of a process, if there is one with this number.
    pub(super) fn read(pid: i32) -> Option<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses and may contain anything.
        let after_name = stat.iter().rposition(|byte| *byte == b')')? + 1;
        let fields = String::from_utf8_lossy(&stat[after_name..]).into_owned();
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
        let current = ProcessIdentity::current()?;
        assert!(current.is_alive());
        let earlier = ProcessIdentity {
            started: current.started - 1,
            ..current.clone()
        };
        let of_another_boot = ProcessIdentity {
            boot: "another".to_owned(),
            ..current.clone()
        };
        for other in [earlier, of_another_boot] {
            assert!(!other.is_alive());
            // A signal to it would end this test.
            other.signal(Signal::SIGKILL)?;
        }
        assert!(ProcessIdentity::of(i32::MAX).is_err());
        Ok(())
    }
}
