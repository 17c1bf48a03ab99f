//! What a device says that it can do (RFC 6241, 8), and the version that both sides speak.

use std::fmt;

use super::framing::Framing;

/// How capabilities begin; the second form is that of old devices.
const BEGINNINGS: [&str; 2] = [
    "urn:ietf:params:netconf:",
    "urn:ietf:params:xml:ns:netconf:",
];

/// The capabilities of a device, as its hello lists them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capabilities(Vec<String>);

/// A capability of which an operation makes use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capability {
    /// The running configuration can be changed directly.
    WritableRunning,
    /// Changes are collected in a candidate configuration and then committed.
    Candidate,
    /// A commit is taken back unless it is confirmed, in either version.
    ConfirmedCommit,
    /// The version of it in which a commit can be cancelled, and confirmed by another session.
    ConfirmedCommit11,
    /// A change that fails is taken back as a whole.
    RollbackOnError,
    /// A configuration can be checked before it takes effect.
    Validate,
    /// What the device starts with is a configuration of its own.
    Startup,
    /// Filters may be XPath expressions.
    XPath,
}

/// Where a device lists its YANG modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Library {
    /// As RFC 7895 has it.
    ModulesState,
    /// As RFC 8525 has it.
    YangLibrary,
}

impl Capability {
    /// What to do where a device does not have it.
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

    /// Its names, without what they all begin with.
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

/// As the RFC writes it in its text: `:candidate`.
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

    /// Whether the device has this capability.
    pub fn has(&self, capability: Capability) -> bool {
        capability.names().iter().any(|name| self.names(name))
    }

    /// All of them, as the device writes them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// The namespace of a YANG module that the hello names (RFC 6020, 5.6.4).
    pub(super) fn namespace_of(&self, module: &str) -> Option<&str> {
        self.iter().find_map(|capability| {
            let (namespace, parameters) = capability.split_once('?')?;
            let mut parameters = parameters.split('&');
            parameters
                .any(|parameter| parameter.strip_prefix("module=") == Some(module))
                .then_some(namespace)
        })
    }

    /// Where the device lists all of its modules, if it does.
    pub(super) fn library(&self) -> Option<Library> {
        if self.names("capability:yang-library:1.1") {
            Some(Library::YangLibrary)
        } else if self.names("capability:yang-library:1.0") {
            Some(Library::ModulesState)
        } else {
            None
        }
    }

    /// How messages are framed behind the hellos; `None` where no version is common to both sides.
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
