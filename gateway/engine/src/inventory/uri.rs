//! The URI of a target: its address and user, with a password that is never shown.

use std::fmt;

use devgate_schemas::Value;

/// A URI `[scheme://][user[:password]@]host[:port][/path][?query]`, as Bolt reads it.
///
/// The password is omitted in every format.
#[derive(Clone, PartialEq)]
pub(crate) struct Uri {
    text: String,
    safe: String,
    /// The scheme, if there is one.
    pub scheme: Option<String>,
    /// The user, percent-decoded.
    pub user: Option<String>,
    password: Option<String>,
    /// The host without the brackets of an IPv6 address.
    pub host: Option<String>,
    /// The port.
    pub port: Option<u16>,
}

impl Uri {
    /// Whether both lead to the same address with the same scheme, whoever logs in.
    pub(super) fn has_address_of(&self, other: &str) -> bool {
        // A large inventory is searched, and the host is never written in another way.
        let may_be = |host: &String| other.contains(host.as_str());
        if !self.host.as_ref().is_some_and(may_be) {
            return false;
        }
        Self::parse(other).is_ok_and(|other| {
            (&self.scheme, &self.host, self.port) == (&other.scheme, &other.host, other.port)
        })
    }

    /// Parses a URI.
    ///
    /// # Errors
    /// Fails with a sentence that quotes nothing, because any part may be the password.
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return Err("expected no space and no control character");
        }
        let (scheme, rest) = match text.split_once("://") {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme), rest),
            Some(_) => {
                return Err("expected a scheme of letters, digits, `+`, `-` and `.` before `://`");
            }
            None => (None, text),
        };
        let (authority, tail) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let (userinfo, host_part) = match authority.rsplit_once('@') {
            Some((userinfo, host_part)) => (Some(userinfo), host_part),
            // Otherwise half a password would be taken for a host or a path, and shown.
            None if tail.contains('@') => {
                return Err("expected `/`, `?` and `#` in a user or password as %2F, %3F and %23");
            }
            None => (None, authority),
        };
        let (user, password) = match userinfo.map(|info| info.split_once(':').unwrap_or((info, "")))
        {
            Some((user, password)) => (non_empty(user), non_empty(password)),
            None => (None, None),
        };
        let (host, port) = host_and_port(host_part)?;
        let safe = format!(
            "{}{}{host_part}{tail}",
            scheme
                .map(|scheme| format!("{scheme}://"))
                .unwrap_or_default(),
            user.map(|user| format!("{user}@")).unwrap_or_default(),
        );
        Ok(Self {
            text: text.to_owned(),
            safe,
            scheme: scheme.map(str::to_ascii_lowercase),
            user: user.map(percent_decode).transpose()?,
            password: password.map(percent_decode).transpose()?,
            host: non_empty(host).map(str::to_owned),
            port,
        })
    }

    /// Returns the whole text with the password, for the target's own connection info.
    pub(crate) fn to_value(&self) -> Value {
        Value::from(self.text.as_str())
    }

    /// Returns the password, for the target's own connection info.
    pub(crate) fn password_value(&self) -> Option<Value> {
        self.password.as_deref().map(Value::from)
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.safe)
    }
}

impl fmt::Debug for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Uri({})", self.safe)
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

fn host_and_port(authority: &str) -> Result<(&str, Option<u16>), &'static str> {
    let (host, port) = if let Some(rest) = authority.strip_prefix('[') {
        let (host, port) = rest
            .split_once(']')
            .ok_or("expected `]` after an IPv6 address")?;
        (
            host,
            if port.is_empty() {
                None
            } else {
                Some(port.strip_prefix(':').unwrap_or(port))
            },
        )
    } else {
        match authority.split_once(':') {
            // A bare IPv6 address: a port cannot be told from it.
            Some((_, rest)) if rest.contains(':') => {
                return if authority
                    .chars()
                    .all(|c| c.is_ascii_hexdigit() || matches!(c, ':' | '.'))
                {
                    Ok((authority, None))
                } else {
                    Err("expected a host, or a host and a port")
                };
            }
            Some((host, port)) => (host, Some(port)),
            None => (authority, None),
        }
    };
    match port {
        None | Some("") => Ok((host, None)),
        Some(port) => match port.parse() {
            Ok(port) => Ok((host, Some(port))),
            Err(_) => Err("expected a port from 0 to 65535 after the host"),
        },
    }
}

fn non_empty(text: &str) -> Option<&str> {
    if text.is_empty() { None } else { Some(text) }
}

/// Percent-decodes a text. A `%` that starts no code is kept.
fn percent_decode(text: &str) -> Result<String, &'static str> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = match (first, tail) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        if let Some((high, low)) = code {
            bytes.push(high * 16 + low);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).map_err(|_| "expected percent codes that make UTF-8")
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_found_and_the_password_never_shown() {
        let uri =
            Uri::parse("https://ad%40min:can%2Fary@[2001:db8::1]:8443/api?x=1").expect("a URI");
        assert_eq!(uri.scheme.as_deref(), Some("https"));
        assert_eq!(uri.user.as_deref(), Some("ad@min"));
        assert_eq!(uri.password_value(), Some(Value::from("can/ary")));
        assert_eq!(
            (uri.host.as_deref(), uri.port),
            (Some("2001:db8::1"), Some(8443))
        );
        assert_eq!(
            uri.to_string(),
            "https://ad%40min@[2001:db8::1]:8443/api?x=1"
        );
        assert!(!format!("{uri:?}").contains("ary"));
    }

    #[test]
    fn a_bare_host_is_enough() {
        for (text, host, port) in [
            ("switch1", Some("switch1"), None),
            ("switch1:22", Some("switch1"), Some(22)),
            ("ssh://switch1", Some("switch1"), None),
            ("2001:db8::1", Some("2001:db8::1"), None),
            ("[::1]:22", Some("::1"), Some(22)),
            ("remote://", None, None),
        ] {
            let uri = Uri::parse(text).expect(text);
            assert_eq!((uri.host.as_deref(), uri.port), (host, port), "{text}");
            assert_eq!(uri.to_string(), text);
        }
    }

    #[test]
    fn what_is_no_uri_is_refused_without_being_quoted() {
        for text in [
            "me:canary/canary@host",
            "me:12/canary@host",
            "host:canary",
            "ssh://me:canary@host:99999",
            "a canary://host",
            "[::1",
            "me:canary:canary",
            "ca\nnary",
        ] {
            let message = Uri::parse(text).expect_err(text);
            assert!(
                message.starts_with("expected") && !message.contains("canary"),
                "{message}"
            );
        }
    }
}
