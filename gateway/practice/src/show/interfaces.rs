//! `show interfaces status`, `show interfaces description` and `show ip interface brief`.

use std::fmt::Write;

use crate::interface::{Interface, InterfaceName, PortMode};
use crate::switch::Switch;

/// `show interfaces status`: the ports only.
pub(crate) fn status(switch: &Switch) -> String {
    let mut table =
        "\nPort      Name               Status       Vlan       Duplex  Speed Type\n".to_owned();
    for (name, interface) in &switch.running.interfaces {
        if !matches!(name, InterfaceName::Gigabit(_)) {
            continue;
        }
        let up = switch.running.is_up(*name);
        let status = match (interface.shutdown, up) {
            (true, _) => "disabled",
            (false, true) => "connected",
            (false, false) => "notconnect",
        };
        let vlan = match (interface.switched, interface.mode) {
            (false, _) => "routed".to_owned(),
            (true, PortMode::Trunk) if up => "trunk".to_owned(),
            (true, _) => interface.access_vlan.to_string(),
        };
        let negotiated = |settled: &'static str| if up { settled } else { "auto" };
        let duplex = interface.duplex.unwrap_or_else(|| negotiated("a-full"));
        let speed = interface.speed.map(|speed| speed.to_string());
        let speed = speed.unwrap_or_else(|| negotiated("a-1000").to_owned());
        let text: String = interface
            .description
            .iter()
            .flat_map(|t| t.chars())
            .take(18)
            .collect();
        let _ = writeln!(
            table,
            "{:<9} {text:<18} {status:<12} {vlan:<10} {duplex:>6} {speed:>6} 10/100/1000BaseTX",
            name.short(),
        );
    }
    table
}

/// `show interfaces description`
pub(crate) fn description(switch: &Switch) -> String {
    let mut table =
        "Interface                      Status         Protocol Description\n".to_owned();
    for (name, interface) in &switch.running.interfaces {
        let up = switch.running.is_up(*name);
        let status = state(interface, up, "admin down");
        let text = interface.description.as_deref().unwrap_or_default();
        let protocol = if up { "up" } else { "down" };
        let _ = writeln!(
            table,
            "{:<30} {status:<14} {protocol:<8} {text}",
            name.short()
        );
    }
    table
}

/// `show ip interface brief`: VLAN interfaces first.
pub(crate) fn ip_brief(switch: &Switch) -> String {
    let mut table =
        "Interface              IP-Address      OK? Method Status                Protocol\n"
            .to_owned();
    let saved = |name| {
        switch
            .startup
            .as_ref()
            .and_then(|saved| saved.interfaces.get(&name))
    };
    for (name, interface) in switch.running.vlans_first() {
        let up = switch.running.is_up(name);
        let status = state(interface, up, "administratively down");
        let protocol = if up { "up" } else { "down" };
        let method = match interface.address {
            None => "unset",
            address if saved(name).is_some_and(|saved| saved.address == address) => "NVRAM",
            Some(_) => "manual",
        };
        let address = interface.address.map(|(address, _)| address.to_string());
        let address = address.unwrap_or_else(|| "unassigned".to_owned());
        let _ = writeln!(
            table,
            "{:<22} {address:<15} YES {method:<6} {status:<21} {protocol:<8}",
            name.to_string(),
        );
    }
    table
}

fn state(interface: &Interface, up: bool, shutdown: &'static str) -> &'static str {
    match (interface.shutdown, up) {
        (true, _) => shutdown,
        (false, true) => "up",
        (false, false) => "down",
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::UNIX_EPOCH;

    use devgate_schemas::Sensitive;

    use super::*;

    fn switch() -> Switch {
        let mut switch = Switch::new("practice", Sensitive::new("canary".to_owned()), || {
            UNIX_EPOCH
        });
        let name = InterfaceName::Gigabit(3);
        let routed = Interface {
            description: Some("a text that is too long for it".to_owned()),
            switched: false,
            address: Some((Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(255, 0, 0, 0))),
            speed: Some(100),
            duplex: Some("full"),
            ..Interface::new(name)
        };
        switch.running.interfaces.insert(name, routed);
        switch
    }

    fn lines(text: &str) -> Vec<&str> {
        text.lines().collect()
    }

    #[test]
    fn the_state_of_ports_is_shown_in_columns() {
        assert_eq!(
            lines(&status(&switch())),
            [
                "",
                "Port      Name               Status       Vlan       Duplex  Speed Type",
                "Gi0/1     uplink to core     connected    trunk      a-full a-1000 10/100/1000BaseTX",
                "Gi0/2                        connected    10         a-full a-1000 10/100/1000BaseTX",
                "Gi0/3     a text that is too notconnect   routed       full    100 10/100/1000BaseTX",
                "Gi0/4                        disabled     1            auto   auto 10/100/1000BaseTX",
            ]
        );
    }

    #[test]
    fn descriptions_are_shown_in_full() {
        assert_eq!(
            lines(&description(&switch())),
            [
                "Interface                      Status         Protocol Description",
                "Gi0/1                          up             up       uplink to core",
                "Gi0/2                          up             up       ",
                "Gi0/3                          down           down     a text that is too long for it",
                "Gi0/4                          admin down     down     ",
                "Vl1                            up             up       ",
            ]
        );
    }

    #[test]
    fn addresses_say_whether_they_are_saved() {
        assert_eq!(
            lines(&ip_brief(&switch())),
            [
                "Interface              IP-Address      OK? Method Status                Protocol",
                "Vlan1                  192.0.2.10      YES NVRAM  up                    up      ",
                "GigabitEthernet0/1     unassigned      YES unset  up                    up      ",
                "GigabitEthernet0/2     unassigned      YES unset  up                    up      ",
                "GigabitEthernet0/3     10.0.0.1        YES manual down                  down    ",
                "GigabitEthernet0/4     unassigned      YES unset  administratively down down    ",
            ]
        );
    }
}
