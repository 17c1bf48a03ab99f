//! The configuration of a switch, as values.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::Ipv4Addr;

use super::interface::{Interface, InterfaceName, PORTS, PortMode};

/// The VLANs that every switch has and that cannot be deleted, with their names.
pub(super) const DEFAULT_VLANS: [(u16, &str); 5] = [
    (1, "default"),
    (1002, "fddi-default"),
    (1003, "token-ring-default"),
    (1004, "fddinet-default"),
    (1005, "trnet-default"),
];

/// Whether a switch may have this name.
pub(super) fn is_hostname(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=63).contains(&name.len()) && name.chars().all(legal)
}

/// A configuration: running or saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Config {
    pub(super) hostname: String,
    /// The VLANs besides the default ones. The default name is like `VLAN0030`.
    pub(super) vlans: BTreeMap<u16, Option<String>>,
    pub(super) interfaces: BTreeMap<InterfaceName, Interface>,
    /// Static routes with their distances.
    pub(super) routes: BTreeMap<Route, u8>,
    /// Settings that are stored as text: `ntp server 192.0.2.1`.
    pub(super) lines: BTreeSet<String>,
}

/// A static route. Routes that differ only in their distance are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Route {
    pub(super) prefix: Ipv4Addr,
    pub(super) mask: Ipv4Addr,
    pub(super) next_hop: NextHop,
}

/// The next hop of a static route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NextHop {
    /// A neighbour.
    Address(Ipv4Addr),
    /// The null interface.
    Null0,
}

impl fmt::Display for NextHop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Null0 => f.write_str("Null0"),
        }
    }
}

impl Config {
    /// The initial configuration of a practice switch: small, but with an example of everything.
    pub(super) fn factory(hostname: &str) -> Self {
        let mut interfaces: BTreeMap<InterfaceName, Interface> = (1..=PORTS)
            .map(InterfaceName::Gigabit)
            .chain([InterfaceName::Vlan(1)])
            .map(|name| (name, Interface::new(name)))
            .collect();
        for (name, interface) in &mut interfaces {
            match name {
                InterfaceName::Gigabit(1) => {
                    interface.description = Some("uplink to core".to_owned());
                    interface.mode = PortMode::Trunk;
                }
                InterfaceName::Gigabit(2) => {
                    interface.mode = PortMode::Access;
                    interface.access_vlan = 10;
                }
                InterfaceName::Gigabit(PORTS) => interface.shutdown = true,
                InterfaceName::Vlan(1) => {
                    let address = Ipv4Addr::new(192, 0, 2, 10);
                    interface.address = Some((address, Ipv4Addr::new(255, 255, 255, 0)));
                }
                _ => {}
            }
        }
        let default = Route {
            prefix: Ipv4Addr::UNSPECIFIED,
            mask: Ipv4Addr::UNSPECIFIED,
            next_hop: NextHop::Address(Ipv4Addr::new(192, 0, 2, 1)),
        };
        Self {
            hostname: hostname.to_owned(),
            vlans: BTreeMap::from([
                (10, Some("users".to_owned())),
                (20, Some("voice".to_owned())),
            ]),
            interfaces,
            routes: BTreeMap::from([(default, 1)]),
            lines: BTreeSet::new(),
        }
    }

    /// Every VLAN with its name, including the default ones.
    pub(super) fn vlan_names(&self) -> BTreeMap<u16, String> {
        let default = DEFAULT_VLANS
            .iter()
            .map(|(id, name)| (*id, (*name).to_owned()));
        let configured = self
            .vlans
            .iter()
            .map(|(id, name)| (*id, name.clone().unwrap_or_else(|| format!("VLAN{id:04}"))));
        default.chain(configured).collect()
    }

    /// The interfaces in the order of tables about addresses: VLAN interfaces before ports.
    pub(super) fn vlans_first(&self) -> impl Iterator<Item = (InterfaceName, &Interface)> {
        let of_kind = |vlans: bool| {
            let all = self
                .interfaces
                .iter()
                .map(|(name, interface)| (*name, interface));
            all.filter(move |(name, _)| matches!(name, InterfaceName::Vlan(_)) == vlans)
        };
        of_kind(true).chain(of_kind(false))
    }

    /// Whether an interface has a link: the first two ports are cabled, and a VLAN interface is
    /// up while a port that is up carries its VLAN.
    pub(super) fn is_up(&self, name: InterfaceName) -> bool {
        let Some(interface) = self.interfaces.get(&name) else {
            return false;
        };
        !interface.shutdown
            && match name {
                InterfaceName::Gigabit(port) => port <= 2,
                InterfaceName::Vlan(vlan) => {
                    self.vlan_names().contains_key(&vlan)
                        && self.interfaces.iter().any(|(port, interface)| {
                            matches!(port, InterfaceName::Gigabit(_))
                                && interface.carries(vlan)
                                && self.is_up(*port)
                        })
                }
            }
    }
}
