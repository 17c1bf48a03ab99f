//! A device's capabilities (RFC 6241, 8), and the common protocol version.

use std::fmt;

use super::framing::Framing;

/// The prefixes of capabilities. Old devices use the second one.
const BEGINNINGS: [&str; 2] = [
    "urn:ietf:params:netconf:",
    "urn:ietf:params:xml:ns:netconf:",
];

/// The capabilities of a device, as its hello lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(Vec<String>);

/// A capability that operations use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// The running configuration can be changed directly.
    WritableRunning,
    /// Changes are collected in a candidate configuration and then committed.
    Candidate,
    /// A commit is reverted unless it is confirmed, in either version.
    ConfirmedCommit,
    /// The version in which a commit can be cancelled, and confirmed by another session.
    ConfirmedCommit11,
    /// A change that fails is reverted as a whole.
    RollbackOnError,
    /// A configuration can be checked before it takes effect.
    Validate,
    /// The startup configuration is a separate datastore.
    Startup,
    /// Filters may be XPath expressions.
    XPath,
}

/// The format in which a device lists its YANG modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// According to RFC 7895.
    ModulesState,
    /// According to RFC 8525.
    YangLibrary,
}

impl Capability {
    /// Returns advice for devices without the capability.
    pub(super) fn instead(self) -> &'static str {
        match self {
            Self::XPath => {
                "; ask with a subtree filter (`<interfaces xmlns=\"...\"/>`), which all devices know"
            }
            Self::WritableRunning => "; enable changes over NETCONF on the device",
            Self::Candidate
            | Self::ConfirmedCommit
            | Self::ConfirmedCommit11
            | Self::RollbackOnError
            | Self::Validate
            | Self::Startup => "",
        }
    }

    /// Returns its names, without the common prefix.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::WritableRunning => &["capability:writable-running:1.0"],
            Self::Candidate => &["capability:candidate:1.0"],
            Self::ConfirmedCommit => &[
                "capability:confirmed-commit:1.0",
                "capability:confirmed-commit:1.1",
            ],
            Self::ConfirmedCommit11 => &["capability:confirmed-commit:1.1"],
            Self::RollbackOnError => &["capability:rollback-on-error:1.0"],
            Self::Validate => &["capability:validate:1.0", "capability:validate:1.1"],
            Self::Startup => &["capability:startup:1.0"],
            Self::XPath => &["capability:xpath:1.0"],
        }
    }
}

/// Formats it as the RFC's text does: `:candidate`.
impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WritableRunning => ":writable-running",
            Self::Candidate => ":candidate",
            Self::ConfirmedCommit => ":confirmed-commit",
            Self::ConfirmedCommit11 => ":confirmed-commit:1.1",
            Self::RollbackOnError => ":rollback-on-error",
            Self::Validate => ":validate",
            Self::Startup => ":startup",
            Self::XPath => ":xpath",
        })
    }
}

impl Capabilities {
    pub(super) fn new(capabilities: Vec<String>) -> Self {
        Self(capabilities)
    }

    /// Returns whether the device has this capability.
    pub fn has(&self, capability: Capability) -> bool {
        capability.names().iter().any(|name| self.names(name))
    }

    /// Returns all capabilities, as the device writes them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns the namespace of a YANG module that the hello lists (RFC 6020, 5.6.4).
    pub(super) fn namespace_of(&self, module: &str) -> Option<&str> {
        self.iter().find_map(|capability| {
            let (namespace, parameters) = capability.split_once('?')?;
            let mut parameters = parameters.split('&');
            parameters
                .any(|parameter| parameter.strip_prefix("module=") == Some(module))
                .then_some(namespace)
        })
    }

    /// Returns the format in which the device lists all of its modules, if it does.
    pub(super) fn library(&self) -> Option<Library> {
        if self.names("capability:yang-library:1.1") {
            Some(Library::YangLibrary)
        } else if self.names("capability:yang-library:1.0") {
            Some(Library::ModulesState)
        } else {
            None
        }
    }

    /// Returns the framing of messages after the hellos, or `None` if there is no common version.
    pub(super) fn framing(&self) -> Option<Framing> {
        if self.names("base:1.1") {
            Some(Framing::Chunked)
        } else if self.names("base:1.0") {
            Some(Framing::EndOfMessage)
        } else {
            None
        }
    }

    fn names(&self, name: &str) -> bool {
        self.iter().any(|own| {
            let own = own.split('?').next().unwrap_or_default();
            BEGINNINGS
                .iter()
                .any(|beginning| own.strip_prefix(beginning) == Some(name))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities(texts: &[&str]) -> Capabilities {
        Capabilities::new(texts.iter().map(|text| (*text).to_owned()).collect())
    }

    #[test]
    fn the_highest_common_version_decides_on_the_framing() {
        let base = |version| format!("urn:ietf:params:netconf:base:{version}");
        let both = capabilities(&[&base("1.0"), &base("1.1")]);
        assert_eq!(both.framing(), Some(Framing::Chunked));
        assert_eq!(
            capabilities(&[&base("1.1")]).framing(),
            Some(Framing::Chunked)
        );
        let old = capabilities(&["urn:ietf:params:xml:ns:netconf:base:1.0"]);
        assert_eq!(old.framing(), Some(Framing::EndOfMessage));
        assert_eq!(capabilities(&[&base("2.0")]).framing(), None);
    }

    #[test]
    fn parameters_are_no_part_of_a_capability() {
        let device = capabilities(&[
            "urn:ietf:params:netconf:capability:validate:1.1?x=y",
            "urn:ietf:params:xml:ns:netconf:capability:candidate:1.0",
            "urn:ietf:params:netconf:capability:confirmed-commit:1.0",
            "urn:ietf:params:xml:ns:yang:ietf-interfaces?module=ietf-interfaces&revision=2018-02-20",
        ]);
        assert!(device.has(Capability::Validate) && device.has(Capability::Candidate));
        assert!(device.has(Capability::ConfirmedCommit));
        assert!(!device.has(Capability::ConfirmedCommit11) && !device.has(Capability::Startup));
        assert_eq!(
            device.namespace_of("ietf-interfaces"),
            Some("urn:ietf:params:xml:ns:yang:ietf-interfaces")
        );
        assert_eq!(device.namespace_of("ietf"), None);
    }
}
