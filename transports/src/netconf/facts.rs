//! Facts from the IETF's data models: `ietf-system` (RFC 7317) and `ietf-interfaces` (RFC 8343, and the
//! earlier RFC 7223).

use std::net::Ipv4Addr;

use devgate_schemas::{Facts, Value};
use jiff::Timestamp;

use super::operation::{Filter, Operation};
use super::session::NetconfSession;
use super::xml::Element;
use crate::{Context, Error, Result};

const SYSTEM: &str = "urn:ietf:params:xml:ns:yang:ietf-system";
const INTERFACES: &str = "urn:ietf:params:xml:ns:yang:ietf-interfaces";

/// Adds the facts that the device provides. Data that it does not have or does not show to this account is absent.
///
/// # Errors
/// Fails when the device stops answering.
pub(super) async fn collect(
    ctx: &Context<'_>,
    session: &NetconfSession,
    facts: &mut Facts,
) -> Result<()> {
    let hostname = Element::in_namespace(SYSTEM, "system").with([Element::new("hostname")]);
    if let Some(system) = state(ctx, session, hostname).await? {
        set(facts, "networking.hostname", text(&system, &["hostname"]));
    }
    let platform = Element::in_namespace(SYSTEM, "system-state");
    if let Some(state) = state(ctx, session, platform).await? {
        system(facts, &state);
    } else {
        ctx.info("facts of the system are absent: the device has no ietf-system to show");
    }
    // Devices from before NMDA (RFC 8342) separate the state of interfaces from their configuration.
    let mut shown = false;
    for name in ["interfaces-state", "interfaces"] {
        if let Some(list) = state(ctx, session, Element::in_namespace(INTERFACES, name)).await? {
            let entries = list.children().filter(|child| child.name() == "interface");
            for entry in entries {
                shown |= interface(facts, entry);
            }
        }
        if shown {
            return Ok(());
        }
    }
    ctx.info("facts of interfaces are absent: the device has no ietf-interfaces to show");
    Ok(())
}

/// Returns the requested element of state data, if the device has it.
async fn state(
    ctx: &Context<'_>,
    session: &NetconfSession,
    wanted: Element,
) -> Result<Option<Element>> {
    let name = wanted.name().to_owned();
    let operation = Operation::get(&Filter::Subtree(vec![wanted]));
    match session.perform(ctx, &operation).await {
        Ok(reply) => Ok(reply.data().and_then(|data| data.child(&name).cloned())),
        Err(Error::Refused(refused)) => {
            ctx.info(format!("facts from `{name}` are absent: {refused}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn text(element: &Element, path: &[&str]) -> Option<String> {
    let text = element.at(path)?.content();
    Some(text).filter(|text| !text.is_empty())
}

fn set(facts: &mut Facts, path: &str, text: Option<String>) {
    if let Some(text) = text {
        facts.set(path, Value::from(text));
    }
}

fn system(facts: &mut Facts, state: &Element) {
    for (path, name) in [
        ("os.name", "os-name"),
        ("os.release.full", "os-release"),
        ("os.hardware", "machine"),
        ("netconf.system.os_version", "os-version"),
    ] {
        set(facts, path, text(state, &["platform", name]));
    }
    // YANG's `date-and-time` (RFC 6991) is that of RFC 3339.
    let seconds = |name| {
        let time: Timestamp = text(state, &["clock", name])?.parse().ok()?;
        Some(time.as_second())
    };
    if let (Some(now), Some(boot)) = (seconds("current-datetime"), seconds("boot-datetime"))
        && now >= boot
    {
        facts.set("system_uptime.seconds", Value::from(now - boot));
        facts.set("system_uptime.days", Value::from((now - boot) / 86_400));
        facts.set("system_uptime.hours", Value::from((now - boot) / 3_600));
    }
}

/// Adds an interface. Returns `false` if the entry only contains configuration.
fn interface(facts: &mut Facts, entry: &Element) -> bool {
    let Some(name) = text(entry, &["name"]) else {
        return false;
    };
    let Some(state) = text(entry, &["oper-status"]) else {
        return false;
    };
    let mut set = |fact: &str, value: Value| {
        facts.set_at(["networking", "interfaces", &name, fact], value);
    };
    set("operational_state", Value::from(state));
    if let Some(mac) = text(entry, &["phys-address"]) {
        set("mac", Value::from(mac));
    }
    let mtu = text(entry, &["ipv4", "mtu"]).and_then(|mtu| mtu.parse::<i64>().ok());
    if let Some(mtu) = mtu {
        set("mtu", Value::from(mtu));
    }
    if let Some(speed) = text(entry, &["speed"]).and_then(|speed| speed.parse::<i64>().ok()) {
        set("speed", Value::from(speed));
    }
    if let Some(address) = entry.at(&["ipv4", "address"]) {
        if let Some(ip) = text(address, &["ip"]) {
            set("ip", Value::from(ip));
        }
        if let Some(netmask) = netmask(address) {
            set("netmask", Value::from(netmask));
        }
    }
    if let Some(ip) = text(entry, &["ipv6", "address", "ip"]) {
        set("ip6", Value::from(ip));
    }
    true
}

/// Returns the mask of an IPv4 address, which may be given as a prefix length.
fn netmask(address: &Element) -> Option<String> {
    if let Some(netmask) = text(address, &["netmask"]) {
        return Some(netmask);
    }
    let length: u32 = text(address, &["prefix-length"])?.parse().ok()?;
    let host_bits = 32_u32.checked_sub(length)?;
    let mask = u32::MAX.checked_shl(host_bits).unwrap_or(0);
    Some(Ipv4Addr::from(mask).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_and_its_interfaces_get_facters_names() {
        let mut facts = Facts::new();
        let state = Element::parse(
            "<s:system-state xmlns:s='urn:ietf:params:xml:ns:yang:ietf-system'><s:platform>\
             <s:os-name>Linux</s:os-name><s:os-release>6.1</s:os-release></s:platform><s:clock>\
             <s:current-datetime>2026-11-21T23:00:10+01:00</s:current-datetime>\
             <s:boot-datetime>2026-11-20T22:00:00Z</s:boot-datetime></s:clock></s:system-state>",
        );
        system(&mut facts, &state.expect("well-formed"));
        let entry = Element::parse(
            "<interface><name>ge-0/0/0.1</name><oper-status>up</oper-status>\
             <phys-address>00:00:5e:00:53:01</phys-address><speed>1000000000</speed>\
             <ipv4><mtu>1500</mtu><address><ip>192.0.2.1</ip><prefix-length>26</prefix-length>\
             </address></ipv4></interface>",
        );
        assert!(interface(&mut facts, &entry.expect("well-formed")));
        assert_eq!(
            Value::Hash(facts.into_hash()).to_json(),
            serde_json::json!({
                "os": {"name": "Linux", "release": {"full": "6.1"}},
                "system_uptime": {"seconds": 86_410, "days": 1, "hours": 24},
                "networking": {"interfaces": {"ge-0/0/0.1": {
                    "operational_state": "up", "mac": "00:00:5e:00:53:01", "speed": 1_000_000_000,
                    "mtu": 1500, "ip": "192.0.2.1", "netmask": "255.255.255.192",
                }}},
            })
        );
    }

    #[test]
    fn an_interface_that_is_only_configured_tells_no_state() {
        let entry =
            Element::parse("<interface><name>eth9</name><enabled>true</enabled></interface>");
        let mut facts = Facts::new();
        assert!(!interface(&mut facts, &entry.expect("well-formed")));
        assert!(facts.is_empty());
    }

    #[test]
    fn masks_of_all_lengths_are_told() {
        let mask = |length: &str| {
            let length = Element::new("prefix-length").text(length);
            netmask(&Element::new("address").with([length]))
        };
        assert_eq!(mask("0").as_deref(), Some("0.0.0.0"));
        assert_eq!(mask("32").as_deref(), Some("255.255.255.255"));
        assert_eq!(mask("33"), None);
    }
}
