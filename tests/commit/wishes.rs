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
    after: Vec<String>,
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
        let mut found = config.lines();
        found.retain(|line| self.before.contains(line) || self.after.contains(line));
        let is = |lines: &[String]| {
            lines.len() == found.len() && lines.iter().all(|line| found.contains(line))
        };
        match (is(&self.before), is(&self.after)) {
            (true, _) => Held::Nothing,
            (_, true) => Held::All,
            _ => Held::Half,
        }
    }

    fn with(self, attributes: Value, after: &[&str]) -> Self {
        Self {
            attributes,
            after: after.iter().map(|line| (*line).to_owned()).collect(),
            ..self
        }
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

fn wish(
    vendor: Vendor,
    kind: &str,
    title: &str,
    attributes: Value,
    before: &[&str],
    after: &[&str],
) -> Wish {
    let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
    Wish {
        kind: format!("{}_{kind}", family(vendor)),
        title: title.to_owned(),
        attributes,
        before: owned(before),
        after: owned(after),
    }
}

/// Returns an interface that changes, and one that is created.
pub(crate) fn interfaces(vendor: Vendor) -> Vec<Wish> {
    let (names, around): ([&str; 2], fn(&str) -> String) = match vendor {
        Vendor::Junos => (["ge-0/0/0", "ge-0/0/1"], |name| {
            format!("interfaces / {name} / interfaces {name}")
        }),
        Vendor::IosXr => (
            ["GigabitEthernet0/0/0/0", "GigabitEthernet0/0/0/1"],
            |name| format!("interface {name} /"),
        ),
        Vendor::Eos => (["Ethernet1", "Ethernet2"], |name| {
            format!("interface {name} /")
        }),
    };
    let mtu = if vendor == Vendor::IosXr { 1514 } else { 1500 };
    names
        .into_iter()
        .enumerate()
        .map(|(number, name)| {
            let around = around(name);
            let lines = |description: &str, mtu: u32| {
                [
                    format!("{around} description {description}"),
                    format!("{around} mtu {mtu}"),
                ]
            };
            let before = match number {
                0 => lines("uplink", mtu).to_vec(),
                _ => vec![],
            };
            let after = lines("core-link", 9000);
            let attributes = json!({ "description": "core-link", "mtu": 9000 });
            let before: Vec<&str> = before.iter().map(String::as_str).collect();
            let after = after.each_ref().map(String::as_str);
            wish(vendor, "interface", name, attributes, &before, &after)
        })
        .collect()
}

/// Returns wishes of three types.
pub(crate) fn wishes(vendor: Vendor) -> Vec<Wish> {
    let route = |vendor, around: &str, end: &str| {
        let line = |hop: &str| format!("{around} {end}{hop}");
        wish(
            vendor,
            "route",
            "10.0.0.0/8",
            json!({ "next_hop": "192.0.2.2" }),
            &[&line("192.0.2.1")],
            &[&line("192.0.2.2")],
        )
    };
    let system = |before: &str, after: &[&str]| {
        let wanted = json!({ "host_name": "core", "message": "Keep out" });
        wish(vendor, "system", "settings", wanted, &[before], after)
    };
    let others = match vendor {
        Vendor::Junos => {
            let path = "routing-options static route 10.0.0.0/8 next-hop";
            let around = "routing-options / static / route / 10.0.0.0/8 / next-hop /";
            [
                route(vendor, around, &format!("{path} ")),
                system(
                    "system / system host-name edge",
                    &[
                        "system / system host-name core",
                        "system / login / system login message \"Keep out\"",
                    ],
                ),
            ]
        }
        Vendor::IosXr => [
            route(
                vendor,
                "router static / address-family ipv4 unicast /",
                "10.0.0.0/8 ",
            ),
            system("hostname edge", &["hostname core", "banner motd ^Keep out^"]),
        ],
        Vendor::Eos => [
            route(vendor, "ip route", "10.0.0.0/8 "),
            system(
                "hostname edge",
                &["hostname core", "banner motd\nKeep out\nEOF"],
            ),
        ],
    };
    [interfaces(vendor), others.to_vec()].concat()
}

/// Returns the wishes with a description or an MTU that the device refuses: at once, or when it is committed.
pub(crate) fn refused(mut wishes: Vec<Wish>, mtu: u32) -> Vec<Wish> {
    let last = wishes.pop().expect("there are wishes");
    let attributes = json!({ "description": "core-link", "mtu": mtu });
    let after = [format!("never: mtu {mtu}")];
    wishes.push(last.with(attributes, &after.each_ref().map(String::as_str)));
    wishes
}
