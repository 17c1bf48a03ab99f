//! What a test wants of a device, and what its configuration then holds.

use serde_json::{Map, Value, json};

use crate::candidate::{Statements, Vendor};

/// A resource that is to change.
#[derive(Clone, Debug)]
pub(crate) struct Wish {
    pub(crate) kind: String,
    pub(crate) title: String,
    attributes: Value,
    /// Its lines in the configuration before the change, and after it.
    before: Vec<String>,
    pub(crate) after: Vec<String>,
}

/// How much of a change a configuration holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    Nothing,
    All,
    Half,
}

impl Wish {
    /// Returns how much of the change a configuration holds.
    pub(crate) fn held(&self, config: &Statements) -> Held {
        match (self.is(&self.before, config), self.is_done(config)) {
            (true, _) => Held::Nothing,
            (_, true) => Held::All,
            _ => Held::Half,
        }
    }

    /// Returns whether a configuration is as it is wished.
    pub(crate) fn is_done(&self, config: &Statements) -> bool {
        self.is(&self.after, config)
    }

    fn is(&self, lines: &[String], config: &Statements) -> bool {
        let mut found = config.lines();
        found.retain(|line| self.before.contains(line) || self.after.contains(line));
        lines.len() == found.len() && lines.iter().all(|line| found.contains(line))
    }
}

/// Returns a manifest of all wishes.
pub(crate) fn manifest(wishes: &[Wish]) -> Value {
    let mut kinds = Map::new();
    for wish in wishes {
        let titles = kinds.entry(&wish.kind).or_insert_with(|| json!({}));
        titles[&wish.title] = wish.attributes.clone();
    }
    Value::Object(kinds)
}

/// Returns the family of a vendor.
pub(crate) fn family(vendor: Vendor) -> &'static str {
    match vendor {
        Vendor::Junos => "candidate_junos",
        Vendor::IosXr => "candidate_iosxr",
        Vendor::Eos => "candidate_eos",
    }
}

pub(crate) fn wish(
    vendor: Vendor,
    kind: &str,
    title: &str,
    attributes: Value,
    before: &[String],
    after: &[String],
) -> Wish {
    Wish {
        kind: format!("{}_{kind}", family(vendor)),
        title: title.to_owned(),
        attributes,
        before: before.to_vec(),
        after: after.to_vec(),
    }
}

/// Returns the name of an interface.
pub(crate) fn interface_name(vendor: Vendor, number: usize) -> String {
    match vendor {
        Vendor::Junos => format!("ge-0/0/{number}"),
        Vendor::IosXr => format!("GigabitEthernet0/0/0/{number}"),
        Vendor::Eos => format!("Ethernet{}", number + 1),
    }
}

/// Returns the lines of an interface in a configuration.
pub(crate) fn interface_lines(
    vendor: Vendor,
    name: &str,
    description: &str,
    mtu: u32,
) -> [String; 2] {
    let (around, description) = match vendor {
        Vendor::Junos if description.contains(' ') => {
            let around = format!("interfaces / {name} / interfaces {name}");
            (around, format!("\"{description}\""))
        }
        Vendor::Junos => {
            let around = format!("interfaces / {name} / interfaces {name}");
            (around, description.to_owned())
        }
        Vendor::IosXr | Vendor::Eos => (format!("interface {name} /"), description.to_owned()),
    };
    [
        format!("{around} description {description}"),
        format!("{around} mtu {mtu}"),
    ]
}

/// Returns the line of a static route in a configuration.
pub(crate) fn route_line(vendor: Vendor, prefix: &str, hop: &str) -> String {
    match vendor {
        Vendor::Junos => format!(
            "routing-options / static / route / {prefix} / next-hop / routing-options static route {prefix} \
             next-hop {hop}"
        ),
        Vendor::IosXr => format!("router static / address-family ipv4 unicast / {prefix} {hop}"),
        Vendor::Eos => format!("ip route {prefix} {hop}"),
    }
}

/// Returns an interface that changes, and one that is created.
pub(crate) fn interfaces(vendor: Vendor) -> Vec<Wish> {
    let mtu = if vendor == Vendor::IosXr { 1514 } else { 1500 };
    let interface = |number: usize, exists: bool| {
        let name = interface_name(vendor, number);
        let before = interface_lines(vendor, &name, "uplink", mtu);
        let before = if exists { &before[..] } else { &[] };
        let after = interface_lines(vendor, &name, "core-link", 9000);
        let wanted = json!({ "description": "core-link", "mtu": 9000 });
        wish(vendor, "interface", &name, wanted, before, &after)
    };
    vec![interface(0, true), interface(1, false)]
}

/// Returns the wish for what somebody else configures in these tests.
pub(crate) fn foreign(vendor: Vendor, line: &str) -> Wish {
    let number = if vendor == Vendor::Eos { 8 } else { 9 };
    let (name, wanted) = (
        interface_name(vendor, number),
        json!({ "description": "anna" }),
    );
    wish(vendor, "interface", &name, wanted, &[], &[line.to_owned()])
}

/// Returns wishes of three types.
pub(crate) fn wishes(vendor: Vendor) -> Vec<Wish> {
    let prefix = "10.0.0.0/8";
    let [before, after] = ["192.0.2.1", "192.0.2.2"].map(|hop| [route_line(vendor, prefix, hop)]);
    let wanted = json!({ "next_hop": "192.0.2.2" });
    let route = wish(vendor, "route", prefix, wanted, &before, &after);
    let (before, after) = match vendor {
        Vendor::Junos => (
            "system / system host-name edge",
            [
                "system / system host-name core",
                "system / login / system login message \"Keep out\"",
            ],
        ),
        Vendor::IosXr => ("hostname edge", ["hostname core", "banner motd ^Keep out^"]),
        Vendor::Eos => (
            "hostname edge",
            ["hostname core", "banner motd\nKeep out\nEOF"],
        ),
    };
    let wanted = json!({ "host_name": "core", "message": "Keep out" });
    let after = after.map(str::to_owned);
    let system = wish(
        vendor,
        "system",
        "settings",
        wanted,
        &[before.to_owned()],
        &after,
    );
    let mut wishes = interfaces(vendor);
    wishes.extend([route, system]);
    wishes
}

/// Returns wishes of three types, the second with an MTU that the device refuses: at once, or when it is committed.
pub(crate) fn refused(vendor: Vendor, mtu: u32) -> Vec<Wish> {
    let mut wishes = wishes(vendor);
    wishes[1].attributes = json!({ "description": "core-link", "mtu": mtu });
    wishes
}
