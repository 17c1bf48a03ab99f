//! An agent's facts about its device, with Facter's names: the system group (RFC 3418), the interfaces
//! (RFC 2863) and their addresses.

use std::collections::BTreeMap;

use devgate_schemas::{Facts, Value as Fact};

use super::addresses;
use super::oid::Oid;
use super::pdu::{Object, Value, hexadecimal};
use super::session::SnmpSession;
use crate::{Context, Result};

/// SNMPv2-MIB `system`.
const SYSTEM: &[u32] = &[1, 3, 6, 1, 2, 1, 1];
/// IF-MIB `ifEntry` and `ifXEntry`.
const IF_ENTRY: &[u32] = &[1, 3, 6, 1, 2, 1, 2, 2, 1];
const IF_X_ENTRY: &[u32] = &[1, 3, 6, 1, 2, 1, 31, 1, 1, 1];

/// The requested scalars of `system`, with their numbers in it.
const SCALARS: [(&str, u32); 6] = [
    ("sysDescr", 1),
    ("sysObjectID", 2),
    ("sysUpTime", 3),
    ("sysContact", 4),
    ("sysName", 5),
    ("sysLocation", 6),
];

/// The columns of the interface tables: name, table, number.
const COLUMNS: [(&str, &[u32], u32); 9] = [
    ("ifDescr", IF_ENTRY, 2),
    ("ifMtu", IF_ENTRY, 4),
    ("ifSpeed", IF_ENTRY, 5),
    ("ifPhysAddress", IF_ENTRY, 6),
    ("ifAdminStatus", IF_ENTRY, 7),
    ("ifOperStatus", IF_ENTRY, 8),
    ("ifName", IF_X_ENTRY, 1),
    ("ifHighSpeed", IF_X_ENTRY, 15),
    ("ifAlias", IF_X_ENTRY, 18),
];

/// An interface's values by column name.
type Row = BTreeMap<&'static str, Value>;

/// Reads the facts. Facts that the agent does not have are absent; facts that could not be read are reported.
///
/// # Errors
/// Fails when no fact could be read.
pub(super) async fn collect(
    session: &SnmpSession,
    ctx: &Context<'_>,
    engine: Option<Vec<u8>>,
) -> Result<Facts> {
    let mut facts = Facts::new();
    if let Some(engine) = engine {
        facts.set(
            "snmp.engine_id",
            hexadecimal(&engine).replace(':', "").into(),
        );
    }
    let system = Oid::new(SYSTEM);
    let oids = SCALARS.map(|(_, number)| system.child(&[number, 0]));
    let answer = session.get(ctx, &oids).await?;
    let mut missing = Vec::new();
    for ((name, _), oid) in SCALARS.iter().zip(&oids) {
        let object = answer.iter().find(|object| object.oid == *oid);
        match object.filter(|object| object.value.is_there()) {
            Some(object) => set_scalar(&mut facts, name, &object.value),
            None => missing.push(*name),
        }
    }
    if !missing.is_empty() {
        ctx.notice(format!("the agent does not show {}", missing.join(", ")));
    }
    for (name, interface) in interfaces(session, ctx).await {
        for (key, fact) in interface {
            facts.set_at(["networking", "interfaces", &name, key], fact);
        }
    }
    Ok(facts)
}

fn set_scalar(facts: &mut Facts, name: &str, value: &Value) {
    let text = value.text().filter(|text| !text.is_empty());
    match (name, value, text) {
        ("sysDescr", _, Some(text)) => facts.set("snmp.description", text.into()),
        ("sysContact", _, Some(text)) => facts.set("snmp.contact", text.into()),
        ("sysLocation", _, Some(text)) => facts.set("snmp.location", text.into()),
        ("sysObjectID", Value::Oid(oid), _) => {
            facts.set("snmp.object_id", oid.to_string().into());
        }
        ("sysName", _, Some(name)) => match name.split_once('.') {
            Some((host, domain)) => {
                facts.set("networking.hostname", host.into());
                facts.set("networking.domain", domain.into());
                facts.set("networking.fqdn", name.into());
            }
            None => facts.set("networking.hostname", name.into()),
        },
        ("sysUpTime", ticks, _) => {
            // It counts hundredths of a second.
            if let Some(seconds) = ticks.number().map(|ticks| ticks / 100) {
                facts.set("system_uptime.seconds", seconds.into());
                facts.set("system_uptime.hours", (seconds / 3600).into());
                facts.set("system_uptime.days", (seconds / 86400).into());
            }
        }
        _ => {}
    }
}

/// Reads the interfaces' facts by interface name. Missing tables are not reported, because many agents have
/// no interfaces.
async fn interfaces(
    session: &SnmpSession,
    ctx: &Context<'_>,
) -> Vec<(String, Vec<(&'static str, Fact)>)> {
    let mut rows: BTreeMap<Vec<u32>, Row> = BTreeMap::new();
    for (name, table, number) in COLUMNS {
        let column = Oid::new(table).child(&[number]);
        let objects = match session.walk(ctx, &column).await {
            Ok(objects) => objects,
            Err(error) => {
                ctx.warning(format!("could not read {name}: {error}"));
                if ctx.retry_budget().is_spent() {
                    break;
                }
                continue;
            }
        };
        for Object { oid, value } in objects {
            let index = oid.below(&column).unwrap_or_default().to_vec();
            rows.entry(index).or_default().insert(name, value);
        }
    }
    let mut addresses = match addresses::read(session, ctx).await {
        Ok(addresses) => {
            if addresses.is_empty() && !rows.is_empty() {
                ctx.notice("the agent does not show its addresses (ipAddrTable, ipAddressTable)");
            }
            addresses
        }
        Err(error) => {
            ctx.warning(format!("could not read the addresses: {error}"));
            BTreeMap::new()
        }
    };
    let with_addresses = |(index, row): (&Vec<u32>, &Row)| {
        let (name, mut facts) = interface(row)?;
        let of_it = index.first().and_then(|index| addresses.remove(index));
        facts.extend(addresses::facts(&of_it.unwrap_or_default()));
        Some((name, facts))
    };
    rows.iter().filter_map(with_addresses).collect()
}

/// Returns an interface's name and facts; `None` if it has no name.
fn interface(row: &Row) -> Option<(String, Vec<(&'static str, Fact)>)> {
    let text = |column| {
        let text = row.get(column)?.text()?;
        (!text.is_empty()).then_some(text)
    };
    let number = |column| row.get(column).and_then(Value::number);
    let name = text("ifName").or_else(|| text("ifDescr"))?;
    // In megabits per second, as in Facter. 0 means unknown.
    let speed = number("ifHighSpeed").filter(|speed| *speed > 0);
    let speed = speed.or_else(|| number("ifSpeed").map(|speed| speed / 1_000_000));
    let facts = [
        (
            "mac",
            row.get("ifPhysAddress").and_then(mac).map(Fact::from),
        ),
        (
            "mtu",
            number("ifMtu").filter(|mtu| *mtu > 0).map(Fact::from),
        ),
        ("operational_state", number("ifOperStatus").and_then(state)),
        ("admin_state", number("ifAdminStatus").and_then(state)),
        ("speed", speed.filter(|speed| *speed > 0).map(Fact::from)),
        ("description", text("ifAlias").map(Fact::from)),
    ];
    let facts = facts
        .into_iter()
        .filter_map(|(key, fact)| Some((key, fact?)));
    Some((name.to_owned(), facts.collect()))
}

/// Formats an address of six bytes. Interfaces without an address have none, or zeros.
fn mac(value: &Value) -> Option<String> {
    match value {
        Value::Octets(bytes) if bytes.len() == 6 && bytes.iter().any(|byte| *byte != 0) => {
            Some(hexadecimal(bytes))
        }
        _ => None,
    }
}

/// Returns a state's name (RFC 2863, 6, `ifOperStatus`).
fn state(number: i64) -> Option<Fact> {
    let name = match number {
        1 => "up",
        2 => "down",
        3 => "testing",
        4 => "unknown",
        5 => "dormant",
        6 => "notpresent",
        7 => "lowerlayerdown",
        _ => return None,
    };
    Some(name.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_has_typed_facts_and_no_empty_ones() {
        let octets = |bytes: &[u8]| Value::Octets(bytes.to_vec());
        let row = Row::from([
            ("ifDescr", octets(b"Ethernet 1")),
            ("ifName", octets(b"swp1.100")),
            ("ifMtu", Value::Integer(9216)),
            ("ifPhysAddress", octets(&[2, 0xfc, 0, 0, 0, 1])),
            ("ifOperStatus", Value::Integer(7)),
            ("ifSpeed", Value::Gauge32(u64::from(u32::MAX))),
            ("ifHighSpeed", Value::Gauge32(100_000)),
            ("ifAlias", octets(b"")),
        ]);
        let (name, facts) = interface(&row).expect("an interface");
        assert_eq!(name, "swp1.100");
        let expected: Vec<(&str, Fact)> = vec![
            ("mac", "02:fc:00:00:00:01".into()),
            ("mtu", 9216.into()),
            ("operational_state", "lowerlayerdown".into()),
            ("speed", 100_000.into()),
        ];
        assert_eq!(facts, expected);

        let loopback = Row::from([
            ("ifDescr", octets(b"lo")),
            ("ifPhysAddress", octets(&[0; 6])),
            ("ifSpeed", Value::Gauge32(10_000_000)),
        ]);
        let expected = ("lo".to_owned(), vec![("speed", Fact::from(10))]);
        assert_eq!(interface(&loopback), Some(expected));
        assert_eq!(interface(&Row::new()), None);
    }

    #[test]
    fn a_name_with_a_domain_is_told_in_parts() {
        let mut facts = Facts::new();
        let name = Value::Octets(b"sw1.lab.example".to_vec());
        set_scalar(&mut facts, "sysName", &name);
        set_scalar(&mut facts, "sysUpTime", &Value::TimeTicks(36_000_050));
        let text = |path| facts.get(path).and_then(Fact::as_str);
        assert_eq!(text("networking.hostname"), Some("sw1"));
        assert_eq!(text("networking.domain"), Some("lab.example"));
        assert_eq!(text("networking.fqdn"), Some("sw1.lab.example"));
        let seconds = facts
            .get("system_uptime.seconds")
            .and_then(Fact::as_integer);
        assert_eq!(seconds, Some(360_000));
    }
}
