//! The kinds of protocols, as far as the definitions of a family depend on them.

use std::sync::Arc;

use devgate_transports::Dialect;

/// What the types of a family must know of its protocol.
#[derive(Clone, Debug)]
pub(crate) struct FamilyProtocol {
    pub(crate) kind: ProtocolKind,
    /// The dialect of its command line, if devgate types on one.
    pub(crate) dialect: Option<Arc<Dialect>>,
}

#[cfg(test)]
impl FamilyProtocol {
    pub(crate) fn without_dialect(kind: ProtocolKind) -> Self {
        Self {
            kind,
            dialect: None,
        }
    }
}

/// How a family's protocol reads and writes data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProtocolKind {
    /// Commands, with text output.
    Commands,
    /// Commands, whose answers can also be data.
    CommandApi,
    /// HTTP requests for paths, with JSON.
    Rest,
    /// XML elements.
    Netconf,
    /// Database tables.
    Ovsdb,
    /// A candidate configuration of XML that is committed.
    Panos,
    /// Read-only data.
    ReadOnly,
}

/// Every built-in protocol. A new one needs a line here.
const KINDS: [(&str, ProtocolKind); 10] = [
    ("eapi", ProtocolKind::CommandApi),
    ("f5", ProtocolKind::Rest),
    ("netconf", ProtocolKind::Netconf),
    ("nxapi", ProtocolKind::CommandApi),
    ("ovsdb", ProtocolKind::Ovsdb),
    ("panos", ProtocolKind::Panos),
    ("rest", ProtocolKind::Rest),
    ("restconf", ProtocolKind::Rest),
    ("snmp", ProtocolKind::ReadOnly),
    ("ssh_cli", ProtocolKind::Commands),
];

impl ProtocolKind {
    /// The kind of a protocol, by its name. A protocol that is not built in has commands.
    pub(crate) fn of(protocol: &str) -> Self {
        let known = KINDS.iter().find(|(name, _)| *name == protocol);
        known.map_or(Self::Commands, |(_, kind)| *kind)
    }

    /// Whether it has commands.
    pub(crate) fn has_commands(self) -> bool {
        matches!(self, Self::Commands | Self::CommandApi)
    }
}

/// Whether the devices that a protocol reaches have a command line.
pub fn has_command_line(protocol: &str) -> bool {
    ProtocolKind::of(protocol).has_commands()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_protocol_has_a_kind() {
        let protocols = devgate_transports::all().iter();
        let mut protocols: Vec<&str> = protocols.map(|it| it.name()).collect();
        protocols.sort_unstable();
        assert_eq!(protocols, KINDS.map(|(name, _)| name));
    }
}
