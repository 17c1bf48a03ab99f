//! Jump hosts: the hosts on the way to a target.

use crate::{Error, Result};

/// A jump host as `ProxyJump` names it: `user@host:port`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Jump {
    pub(crate) user: Option<String>,
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
}

impl Jump {
    /// Parses a list of jump hosts, from the first to the last. An empty list or `none` yields no hosts.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`] for an entry that is not `user@host:port`.
    pub(crate) fn parse_list(text: &str) -> Result<Vec<Self>> {
        let text = text.trim();
        if text.is_empty() || text.eq_ignore_ascii_case("none") {
            return Ok(Vec::new());
        }
        let jumps = text.split(',').map(str::trim);
        jumps
            .map(|jump| Self::parse(jump).ok_or_else(|| invalid_entry(jump)))
            .collect()
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("ssh://").unwrap_or(text);
        let text = text.strip_suffix('/').unwrap_or(text);
        let (user, address) = match text.rsplit_once('@') {
            Some((user, address)) => (Some(user), address),
            None => (None, text),
        };
        let (host, port) = match address.strip_prefix('[') {
            Some(rest) => {
                let (host, after_bracket) = rest.split_once(']')?;
                (
                    host,
                    if after_bracket.is_empty() {
                        None
                    } else {
                        Some(after_bracket.strip_prefix(':')?)
                    },
                )
            }
            // More than one colon: an IPv6 address.
            None if address.matches(':').count() > 1 => (address, None),
            None => match address.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (address, None),
            },
        };
        let fits = |part: &str| !part.is_empty() && !part.contains(char::is_whitespace);
        if !fits(host) || !user.is_none_or(fits) {
            return None;
        }
        Some(Self {
            user: user.map(str::to_owned),
            host: host.to_owned(),
            port: match port {
                Some(port) => Some(port.parse().ok().filter(|port| *port > 0)?),
                None => None,
            },
        })
    }
}

/// Returns the error for an invalid entry. It quotes no text that may contain a mistakenly written password.
fn invalid_entry(text: &str) -> Error {
    let named = if text.contains(['@', ':']) {
        "a part of it".to_owned()
    } else {
        format!("`{text}`")
    };
    Error::Setting {
        setting: "proxyjump",
        problem: format!("{named} is no `user@host:port`; several are separated by commas"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jump_hosts_are_parsed_in_order() {
        let jump = |user: Option<&str>, host: &str, port| Jump {
            user: user.map(str::to_owned),
            host: host.to_owned(),
            port,
        };
        let list =
            Jump::parse_list("me@b1:2222, [2001:db8::1]:22,ssh://b3,2001:db8::2").expect("a list");
        assert_eq!(
            list,
            [
                jump(Some("me"), "b1", Some(2222)),
                jump(None, "2001:db8::1", Some(22)),
                jump(None, "b3", None),
                jump(None, "2001:db8::2", None),
            ]
        );
        assert_eq!(Jump::parse_list(" none ").expect("a list"), []);
        for entry in ["b1,", "@b1", "b1:0", "b1:x", "a b", "me:canary@b1:x"] {
            let error = Jump::parse_list(entry).expect_err(entry).to_string();
            assert!(
                error.starts_with("proxyjump: ") && !error.contains("canary"),
                "{error}"
            );
        }
    }
}
