//! The kinds of protocols, as far as the definitions of a family depend on them.

use crate::template::Escape;

/// How a family's protocol reads and writes data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProtocolKind {
    /// Commands, with text output.
    Commands,
    /// HTTP requests for paths, with JSON.
    Rest,
    /// XML elements.
    Netconf,
    /// Database tables.
    Ovsdb,
    /// Read-only data.
    ReadOnly,
}

impl ProtocolKind {
    /// The kind of a protocol, by its name.
    pub(crate) fn of(protocol: &str) -> Self {
        match protocol {
            "rest" | "restconf" | "f5" => Self::Rest,
            "netconf" => Self::Netconf,
            "ovsdb" => Self::Ovsdb,
            "panos" | "snmp" => Self::ReadOnly,
            _ => Self::Commands,
        }
    }

    /// How values are escaped in a query.
    pub(super) fn escape(self) -> Escape {
        match self {
            Self::Rest => Escape::Path,
            Self::Netconf => Escape::Xml,
            Self::Commands | Self::Ovsdb | Self::ReadOnly => Escape::None,
        }
    }
}
