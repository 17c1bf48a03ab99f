//! `show ip route`: which of the configured routes the switch would use.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::Ipv4Addr;

use crate::config::{Config, NextHop};

/// The routing table, or only its static routes.
pub(crate) fn table(config: &Config, only_static: bool) -> String {
    let routes = installed(config);
    let mut text =
        "Codes: L - local, C - connected, S - static, * - candidate default\n\n".to_owned();
    text += &match routes.get(&DEFAULT) {
        Some(Entry::Static { next_hops, .. }) => {
            format!(
                "Gateway of last resort is {} to network 0.0.0.0\n\n",
                via_address(next_hops[0])
            )
        }
        _ => "Gateway of last resort is not set\n\n".to_owned(),
    };
    let mut networks: BTreeMap<Prefix, Vec<(Prefix, &Entry)>> = BTreeMap::new();
    for (prefix, entry) in &routes {
        networks
            .entry(prefix.classful())
            .or_default()
            .push((*prefix, entry));
    }
    for (network, entries) in &networks {
        write_network(&mut text, *network, entries, only_static);
    }
    text
}

/// A network, ordered as IOS lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Prefix {
    address: Ipv4Addr,
    length: u32,
}

const DEFAULT: Prefix = Prefix {
    address: Ipv4Addr::UNSPECIFIED,
    length: 0,
};

#[derive(Debug, PartialEq, Eq)]
enum Entry {
    Connected(String),
    Local(String),
    Static {
        distance: u8,
        next_hops: Vec<NextHop>,
    },
}

impl Prefix {
    fn new(address: Ipv4Addr, mask: Ipv4Addr) -> Self {
        Self {
            address: address & mask,
            length: mask.to_bits().leading_ones(),
        }
    }

    fn covers(self, address: Ipv4Addr) -> bool {
        let mask = u32::MAX.checked_shl(32 - self.length).unwrap_or(0);
        address.to_bits() & mask == self.address.to_bits()
    }

    /// The class A, B or C network that this is a subnet of, or itself.
    fn classful(self) -> Self {
        let length = match self.address.octets()[0] {
            0..128 => 8,
            128..192 => 16,
            _ => 24,
        };
        if self.length <= length {
            return self;
        }
        let mask = Ipv4Addr::from_bits(u32::MAX << (32 - length));
        Self {
            address: self.address & mask,
            length,
        }
    }
}

/// Connected networks of the interfaces that are up, and every static route whose next hop they
/// lead to, directly or by other static routes; of several to one prefix the nearest.
fn installed(config: &Config) -> BTreeMap<Prefix, Entry> {
    let mut table = BTreeMap::new();
    for (name, interface) in &config.interfaces {
        if let Some((address, mask)) = interface.address.filter(|_| config.is_up(*name)) {
            table.insert(
                Prefix::new(address, mask),
                Entry::Connected(name.to_string()),
            );
            let itself = Prefix {
                address,
                length: 32,
            };
            table.insert(itself, Entry::Local(name.to_string()));
        }
    }
    loop {
        let next = with_static_routes(config, &table);
        if next == table {
            return table;
        }
        table = next;
    }
}

/// Adds the static routes that a table can resolve, in place of those it had.
fn with_static_routes(
    config: &Config,
    previous: &BTreeMap<Prefix, Entry>,
) -> BTreeMap<Prefix, Entry> {
    let mut table: BTreeMap<Prefix, Entry> = BTreeMap::new();
    for (prefix, entry) in previous {
        match entry {
            Entry::Connected(name) => table.insert(*prefix, Entry::Connected(name.clone())),
            Entry::Local(name) => table.insert(*prefix, Entry::Local(name.clone())),
            Entry::Static { .. } => None,
        };
    }
    for (route, distance) in &config.routes {
        let prefix = Prefix::new(route.prefix, route.mask);
        let resolves = match route.next_hop {
            NextHop::Null0 => true,
            NextHop::Address(address) => previous
                .keys()
                .any(|other| *other != DEFAULT && *other != prefix && other.covers(address)),
        };
        if !resolves {
            continue;
        }
        let new = || Entry::Static {
            distance: *distance,
            next_hops: vec![],
        };
        let entry = table.entry(prefix).or_insert_with(new);
        if matches!(entry, Entry::Static { distance: best, .. } if distance < best) {
            *entry = new();
        }
        if let Entry::Static {
            distance: best,
            next_hops,
        } = entry
            && best == distance
        {
            next_hops.push(route.next_hop);
        }
    }
    table
}

fn write_network(
    text: &mut String,
    network: Prefix,
    entries: &[(Prefix, &Entry)],
    only_static: bool,
) {
    let is_static = |entry: &Entry| matches!(entry, Entry::Static { .. });
    if only_static && !entries.iter().any(|(_, entry)| is_static(entry)) {
        return;
    }
    let itself = matches!(entries, [(prefix, _)] if *prefix == network);
    let mut lengths: Vec<u32> = entries.iter().map(|(prefix, _)| prefix.length).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let (count, masks) = (entries.len(), lengths.len());
    let Prefix { address, length } = network;
    let _ = match (itself, masks) {
        (true, _) => Ok(()),
        (false, 1) => {
            writeln!(
                text,
                "      {address}/{} is subnetted, {count} subnets",
                lengths[0]
            )
        }
        (false, _) => writeln!(
            text,
            "      {address}/{length} is variably subnetted, {count} subnets, {masks} masks"
        ),
    };
    for (prefix, entry) in entries {
        if only_static && !is_static(entry) {
            continue;
        }
        let mut name = prefix.address.to_string();
        if itself || masks > 1 {
            let _ = write!(name, "/{}", prefix.length);
        }
        let indent = if itself { 6 } else { 9 };
        write_entry(text, *prefix, &name, indent, entry);
    }
}

fn write_entry(text: &mut String, prefix: Prefix, name: &str, indent: usize, entry: &Entry) {
    let _ = match entry {
        Entry::Connected(interface) => {
            writeln!(
                text,
                "{:<indent$}{name} is directly connected, {interface}",
                "C"
            )
        }
        Entry::Local(interface) => {
            writeln!(
                text,
                "{:<indent$}{name} is directly connected, {interface}",
                "L"
            )
        }
        Entry::Static {
            distance,
            next_hops,
        } => {
            let code = if prefix == DEFAULT { "S*" } else { "S" };
            let mut head = format!("{code:<indent$}{name}");
            for next_hop in next_hops {
                let _ = match next_hop {
                    NextHop::Address(via) => writeln!(text, "{head} [{distance}/0] via {via}"),
                    NextHop::Null0 => writeln!(text, "{head} is directly connected, Null0"),
                };
                head = " ".repeat(head.len());
            }
            Ok(())
        }
    };
}

fn via_address(next_hop: NextHop) -> Ipv4Addr {
    match next_hop {
        NextHop::Address(address) => address,
        NextHop::Null0 => Ipv4Addr::UNSPECIFIED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Route;
    use crate::interface::InterfaceName;

    fn with(routes: &[([u8; 4], [u8; 4], NextHop, u8)]) -> Config {
        let mut config = Config::factory("practice");
        for (prefix, mask, next_hop, distance) in routes {
            let (prefix, mask) = (Ipv4Addr::from(*prefix), Ipv4Addr::from(*mask));
            config.routes.insert(
                Route {
                    prefix,
                    mask,
                    next_hop: *next_hop,
                },
                *distance,
            );
        }
        config
    }

    fn via(address: [u8; 4]) -> NextHop {
        NextHop::Address(Ipv4Addr::from(address))
    }

    #[test]
    fn routes_are_listed_below_their_classful_networks() {
        let config = with(&[
            ([10, 1, 0, 0], [255, 255, 0, 0], via([192, 0, 2, 1]), 1),
            ([10, 2, 3, 0], [255, 255, 255, 0], NextHop::Null0, 1),
            ([172, 16, 0, 0], [255, 255, 0, 0], via([192, 0, 2, 1]), 1),
            ([172, 16, 0, 0], [255, 255, 0, 0], via([192, 0, 2, 2]), 1),
            (
                [198, 51, 100, 128],
                [255, 255, 255, 128],
                via([10, 1, 0, 9]),
                5,
            ),
        ]);
        assert_eq!(
            table(&config, true),
            "Codes: L - local, C - connected, S - static, * - candidate default\n\
             \n\
             Gateway of last resort is 192.0.2.1 to network 0.0.0.0\n\
             \n\
             S*    0.0.0.0/0 [1/0] via 192.0.2.1\n      \
                   10.0.0.0/8 is variably subnetted, 2 subnets, 2 masks\n\
             S        10.1.0.0/16 [1/0] via 192.0.2.1\n\
             S        10.2.3.0/24 is directly connected, Null0\n\
             S     172.16.0.0/16 [1/0] via 192.0.2.1\n                    \
                                 [1/0] via 192.0.2.2\n      \
                   198.51.100.0/25 is subnetted, 1 subnets\n\
             S        198.51.100.128 [5/0] via 10.1.0.9\n"
        );
    }

    #[test]
    fn only_the_nearest_route_that_leads_somewhere_is_used() {
        let mut config = with(&[
            ([10, 0, 0, 0], [255, 0, 0, 0], via([192, 0, 2, 1]), 20),
            ([10, 0, 0, 0], [255, 0, 0, 0], via([192, 0, 2, 2]), 10),
            ([11, 0, 0, 0], [255, 0, 0, 0], via([203, 0, 113, 1]), 1),
            ([12, 0, 0, 0], [255, 0, 0, 0], via([12, 0, 0, 1]), 1),
        ]);
        let text = table(&config, false);
        assert!(
            text.contains("S     10.0.0.0/8 [10/0] via 192.0.2.2\n"),
            "{text}"
        );
        assert!(
            !text.contains("192.0.2.1 \n") && !text.contains("11.0.0.0"),
            "{text}"
        );
        assert!(!text.contains("12.0.0.0"), "{text}");
        let vlan = config
            .interfaces
            .get_mut(&InterfaceName::Vlan(1))
            .expect("there");
        vlan.shutdown = true;
        let text = table(&config, false);
        assert!(
            text.ends_with("Gateway of last resort is not set\n\n"),
            "{text}"
        );
    }
}
