//! The error for a jump host that does not connect to the next host.

use std::fmt;

use super::text::one_line;

/// A connected jump host that opens no connection to the next host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForwardingRefused {
    /// The next host.
    pub peer: String,
    /// The jump host.
    pub via: String,
    /// The name of the jump host in the inventory, if it is a proxy (`run-on`).
    pub proxy: Option<String>,
    /// The reason, according to the protocol.
    pub obstacle: ForwardingObstacle,
    /// The jump host's message, if any.
    pub message: String,
}

/// Why a forwarded connection is not opened (RFC 4254, 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardingObstacle {
    /// The jump host may not open it, or does not support it.
    Forbidden,
    /// The next host does not answer.
    ConnectFailed,
    /// No program on the jump host can open it.
    NoRelay,
    /// The jump host has no session for a program that opens it.
    NoSession,
    /// The jump host lacks resources now.
    ResourceShortage,
}

impl ForwardingRefused {
    /// Returns whether a retry may succeed. An unknown host name is permanent, but servers report it only in
    /// the words of their C library.
    pub(super) fn is_temporary(&self) -> bool {
        match self.obstacle {
            ForwardingObstacle::Forbidden
            | ForwardingObstacle::NoRelay
            | ForwardingObstacle::NoSession => false,
            ForwardingObstacle::ConnectFailed => !self.is_unknown_name(),
            ForwardingObstacle::ResourceShortage => true,
        }
    }

    fn is_unknown_name(&self) -> bool {
        ["not known", "No address associated", "unknown host"]
            .iter()
            .any(|words| self.message.contains(words))
    }

    /// Whether the jump host opens nothing for this session, whatever the state of the next host.
    pub fn is_of_jump_host(&self) -> bool {
        match self.obstacle {
            ForwardingObstacle::Forbidden
            | ForwardingObstacle::NoRelay
            | ForwardingObstacle::NoSession => true,
            ForwardingObstacle::ConnectFailed | ForwardingObstacle::ResourceShortage => false,
        }
    }
}

impl fmt::Display for ForwardingRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            peer,
            via,
            proxy,
            obstacle,
            message,
        } = self;
        match proxy {
            Some(proxy) => write!(f, "no connection to {peer} through {proxy} ({via})")?,
            None => write!(f, "no connection to {peer} through {via}")?,
        }
        if !message.trim().is_empty() {
            write!(f, " ({})", one_line(message))?;
        }
        f.write_str(match obstacle {
            ForwardingObstacle::Forbidden if proxy.is_some() => {
                ": the SSH server of the proxy refuses to open it. Permit it in its `sshd_config` \
                 (`AllowTcpForwarding`, `PermitOpen`), set `forwarding: program` in the `config.ssh` of the proxy, or \
                 name another proxy with `run-on`"
            }
            ForwardingObstacle::Forbidden => {
                ": the SSH server of the jump host refuses to open it. Permit it in its `sshd_config` \
                 (`AllowTcpForwarding`, `PermitOpen`), or name another host with `proxyjump`"
            }
            ForwardingObstacle::ConnectFailed if peer.starts_with('/') => {
                ": check `socket`, and that the account on that host may use it"
            }
            ForwardingObstacle::ConnectFailed if self.is_unknown_name() => {
                ": check `host`; that host has to know the name"
            }
            ForwardingObstacle::ConnectFailed => {
                ": check `host` and `port` as seen from that host, and that the target is up"
            }
            ForwardingObstacle::NoRelay => {
                ": a program has to open it there; install `perl` or `python3` on that host, and let the account run it"
            }
            ForwardingObstacle::NoSession => {
                ": a program has to open it there, which takes a session of its SSH server; raise `MaxSessions` in \
                 its `sshd_config`, lower the `concurrency` of the proxy, or set `forwarding: ssh`"
            }
            ForwardingObstacle::ResourceShortage => ": it has no room for one more connection just now",
        })
    }
}

impl std::error::Error for ForwardingRefused {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_is_down_may_come_back_and_what_is_forbidden_or_no_name_stays() {
        let problem = |obstacle, message: &str| ForwardingRefused {
            proxy: None,
            peer: "r1:22".to_owned(),
            via: "bastion:22".to_owned(),
            obstacle,
            message: message.to_owned(),
        };
        for (obstacle, message, passes, hint) in [
            (
                ForwardingObstacle::ConnectFailed,
                "Connection refused",
                true,
                "check `host` and `port`",
            ),
            (
                ForwardingObstacle::ConnectFailed,
                "Name or service not known",
                false,
                "check `host`",
            ),
            (
                ForwardingObstacle::ConnectFailed,
                "Temporary failure in name resolution",
                true,
                "check",
            ),
            (
                ForwardingObstacle::Forbidden,
                "open failed",
                false,
                "`AllowTcpForwarding`",
            ),
            (ForwardingObstacle::ResourceShortage, "", true, "no room"),
            (
                ForwardingObstacle::NoRelay,
                "neither perl nor python3 is installed",
                false,
                "install `perl` or `python3`",
            ),
            (
                ForwardingObstacle::NoSession,
                "open failed",
                false,
                "raise `MaxSessions`",
            ),
        ] {
            let problem = problem(obstacle, message);
            assert_eq!(problem.is_temporary(), passes, "{problem}");
            let text = problem.to_string();
            let start = "no connection to r1:22 through bastion:22";
            assert!(text.starts_with(start) && text.contains(hint), "{text}");
            assert!(text.contains(message), "{text}");
        }
    }
}
