//! The error for a jump host that does not connect to the next host.

use std::fmt;

use super::text::one_line;

/// A connected jump host that opens no connection to the next host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotLedOn {
    /// The next host.
    pub peer: String,
    /// The jump host.
    pub via: String,
    /// The reason, according to the protocol.
    pub obstacle: Obstacle,
    /// The jump host's message, if any.
    pub said: String,
}

/// Why a forwarded connection is not opened (RFC 4254, 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The jump host may not open it, or does not support it.
    Forbidden,
    /// The next host does not answer.
    ConnectFailed,
    /// The jump host lacks resources now.
    NoRoom,
}

impl NotLedOn {
    /// Returns whether a retry may succeed. An unknown host name is permanent, but servers report it only in
    /// the words of their C library.
    pub(super) fn is_passing(&self) -> bool {
        let is_no_name = ["not known", "No address associated", "unknown host"]
            .iter()
            .any(|words| self.said.contains(words));
        match self.obstacle {
            Obstacle::Forbidden => false,
            Obstacle::ConnectFailed => !is_no_name,
            Obstacle::NoRoom => true,
        }
    }
}

impl fmt::Display for NotLedOn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            peer,
            via,
            obstacle,
            said,
        } = self;
        write!(
            f,
            "no connection to {peer} through {via}, a host on the way"
        )?;
        if !said.trim().is_empty() {
            write!(f, " ({})", one_line(said))?;
        }
        f.write_str(match obstacle {
            Obstacle::Forbidden => {
                ": it does not allow connections on to there, which its server can (in OpenSSH's \
                 `AllowTcpForwarding` and `PermitOpen`), or `proxyjump` has to name another host"
            }
            Obstacle::ConnectFailed => {
                ": check `host` and `port`, which are looked up and reached from there, and that the \
                 device is up"
            }
            Obstacle::NoRoom => ": it has no room for one more connection just now",
        })
    }
}

impl std::error::Error for NotLedOn {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_down_may_come_back_and_what_is_forbidden_or_no_name_stays() {
        let problem = |obstacle, said: &str| NotLedOn {
            peer: "r1:22".to_owned(),
            via: "bastion:22".to_owned(),
            obstacle,
            said: said.to_owned(),
        };
        for (obstacle, said, passes, hint) in [
            (
                Obstacle::ConnectFailed,
                "Connection refused",
                true,
                "check `host` and `port`",
            ),
            (
                Obstacle::ConnectFailed,
                "Name or service not known",
                false,
                "check `host`",
            ),
            (
                Obstacle::ConnectFailed,
                "Temporary failure in name resolution",
                true,
                "check",
            ),
            (
                Obstacle::Forbidden,
                "open failed",
                false,
                "`AllowTcpForwarding`",
            ),
            (Obstacle::NoRoom, "", true, "no room"),
        ] {
            let problem = problem(obstacle, said);
            assert_eq!(problem.is_passing(), passes, "{problem}");
            let text = problem.to_string();
            let start = "no connection to r1:22 through bastion:22, a host on the way";
            assert!(text.starts_with(start) && text.contains(hint), "{text}");
            assert!(text.contains(said), "{text}");
        }
    }
}
