//! Interfaces: their names, long and short, and what can be configured on one.

use std::fmt;
use std::net::Ipv4Addr;

use super::vlans::{IDS, VlanList};

/// How many GigabitEthernet ports the switch has.
pub(super) const PORTS: u16 = 4;

/// `GigabitEthernet0/1` or `Vlan10`; ports come before VLAN interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum InterfaceName {
    /// A port, by its number in slot 0.
    Gigabit(u16),
    /// A switched virtual interface, by its VLAN.
    Vlan(u16),
}

/// Why a word is not a valid argument.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ArgumentError {
    /// The unit is missing: more is expected.
    Incomplete,
    /// The character at this offset is invalid.
    InvalidAt(usize),
}

impl InterfaceName {
    /// Reads a name whose kind may be abbreviated and set apart from its unit: `gi0/1`,
    /// `GigabitEthernet 0/1`, `vl 10`.
    ///
    /// # Errors
    /// [`ArgumentError`] says where reading stopped.
    pub(super) fn parse(text: &str) -> Result<Self, ArgumentError> {
        let letters = text
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(text.len());
        let (kind, rest) = text.split_at(letters);
        let unit = rest.trim_start();
        let at = text.len() - unit.len();
        let kind = kind.to_ascii_lowercase();
        if kind.is_empty() {
            Err(ArgumentError::InvalidAt(0))
        } else if "gigabitethernet".starts_with(&kind) {
            match unit.strip_prefix("0/") {
                Some(port) => number(port, 1..=PORTS, at + 2).map(Self::Gigabit),
                None if unit.is_empty() => Err(ArgumentError::Incomplete),
                None => Err(ArgumentError::InvalidAt(at)),
            }
        } else if "vlan".starts_with(&kind) {
            number(unit, IDS, at).map(Self::Vlan)
        } else {
            let kinds = ["gigabitethernet", "vlan"];
            Err(ArgumentError::InvalidAt(
                kinds
                    .iter()
                    .map(|name| common_prefix(name, &kind))
                    .max()
                    .unwrap_or(0),
            ))
        }
    }

    /// `Gi0/1`, `Vl10`: as narrow tables write it.
    pub(super) fn short(self) -> String {
        match self {
            Self::Gigabit(port) => format!("Gi0/{port}"),
            Self::Vlan(vlan) => format!("Vl{vlan}"),
        }
    }
}

impl fmt::Display for InterfaceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gigabit(port) => write!(f, "GigabitEthernet0/{port}"),
            Self::Vlan(vlan) => write!(f, "Vlan{vlan}"),
        }
    }
}

/// How many characters two texts begin with in common.
pub(super) fn common_prefix(a: &str, b: &str) -> usize {
    a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count()
}

fn number(
    text: &str,
    range: std::ops::RangeInclusive<u16>,
    at: usize,
) -> Result<u16, ArgumentError> {
    if text.is_empty() {
        return Err(ArgumentError::Incomplete);
    }
    text.parse()
        .ok()
        .filter(|number| range.contains(number))
        .ok_or(ArgumentError::InvalidAt(at))
}

/// How a port takes part in switching.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PortMode {
    /// Negotiated, which is the default and not printed.
    #[default]
    Dynamic,
    /// `switchport mode access`.
    Access,
    /// `switchport mode trunk`.
    Trunk,
}

/// The configuration of one interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Interface {
    pub(super) description: Option<String>,
    pub(super) mtu: Option<u16>,
    /// Whether the interface switches (a port) or routes (`no switchport`, a VLAN interface).
    pub(super) switched: bool,
    pub(super) mode: PortMode,
    pub(super) access_vlan: u16,
    pub(super) native_vlan: u16,
    /// The VLANs that a trunk carries; all of them when there is no list.
    pub(super) allowed_vlans: Option<VlanList>,
    pub(super) address: Option<(Ipv4Addr, Ipv4Addr)>,
    pub(super) shutdown: bool,
    pub(super) speed: Option<u16>,
    pub(super) duplex: Option<&'static str>,
}

impl Interface {
    /// The default configuration of an interface.
    pub(super) fn new(name: InterfaceName) -> Self {
        Self {
            description: None,
            mtu: None,
            switched: matches!(name, InterfaceName::Gigabit(_)),
            mode: PortMode::Dynamic,
            access_vlan: 1,
            native_vlan: 1,
            allowed_vlans: None,
            address: None,
            shutdown: false,
            speed: None,
            duplex: None,
        }
    }

    /// Whether frames of a VLAN pass this port.
    pub(super) fn carries(&self, vlan: u16) -> bool {
        match (self.switched, self.mode) {
            (false, _) => false,
            (true, PortMode::Trunk) => self
                .allowed_vlans
                .as_ref()
                .is_none_or(|allowed| allowed.0.contains(&vlan)),
            (true, _) => self.access_vlan == vlan,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_be_abbreviated_and_spaced() {
        for name in ["gi0/1", "GigabitEthernet0/1", "g 0/1", "gigabit 0/1"] {
            assert_eq!(
                InterfaceName::parse(name),
                Ok(InterfaceName::Gigabit(1)),
                "{name}"
            );
        }
        assert_eq!(
            InterfaceName::parse("vlan 4094"),
            Ok(InterfaceName::Vlan(4094))
        );
    }

    #[test]
    fn a_bad_name_says_where_it_goes_wrong() {
        assert_eq!(
            InterfaceName::parse("gi0/5"),
            Err(ArgumentError::InvalidAt(4))
        );
        assert_eq!(
            InterfaceName::parse("gi 1/1"),
            Err(ArgumentError::InvalidAt(3))
        );
        assert_eq!(
            InterfaceName::parse("vlan 4095"),
            Err(ArgumentError::InvalidAt(5))
        );
        assert_eq!(
            InterfaceName::parse("vlab1"),
            Err(ArgumentError::InvalidAt(3))
        );
        assert_eq!(InterfaceName::parse("gi"), Err(ArgumentError::Incomplete));
        assert_eq!(
            InterfaceName::parse("0/1"),
            Err(ArgumentError::InvalidAt(0))
        );
    }
}
