//! The kinds of protocols, as far as the definitions of a family depend on them.

use crate::template::Escape;

/// What the types and facts of a family are read from and written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProtocolKind {
    /// Commands, whose outputs are texts.
    Commands,
    /// Requests for paths, in JSON.
    Rest,
    /// Elements of XML.
    Netconf,
    /// Tables of a database.
    Ovsdb,
    /// Data that is read only.
    ReadOnly,
}

impl ProtocolKind {
    /// By the name of the family's protocol.
    pub(crate) fn of(protocol: &str) -> Self {
        match protocol {
            "rest" | "restconf" | "f5" => Self::Rest,
            "netconf" => Self::Netconf,
            "ovsdb" => Self::Ovsdb,
            "panos" | "snmp" => Self::ReadOnly,
            _ => Self::Commands,
        }
    }

    /// How values are written into a question.
    pub(super) fn escape(self) -> Escape {
        match self {
            Self::Rest => Escape::Path,
            Self::Netconf => Escape::Xml,
            Self::Commands | Self::Ovsdb | Self::ReadOnly => Escape::None,
        }
    }
}
