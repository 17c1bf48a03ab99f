//! `show interfaces`: everything about one interface. There is no traffic, so its counters are 0.

use std::fmt::Write;

use crate::config::Config;
use crate::interface::{Interface, InterfaceName};

/// Every interface, the VLAN interfaces first.
pub(crate) fn all(config: &Config) -> String {
    config
        .vlans_first()
        .map(|(name, _)| one(config, name))
        .collect()
}

/// One interface.
pub(crate) fn one(config: &Config, name: InterfaceName) -> String {
    let Some(interface) = config.interfaces.get(&name) else {
        return format!("% Interface {name} does not exist\n");
    };
    let is_up = config.is_up(name);
    let mut text = format!("{name} is {}\n", state(name, interface, is_up));
    let (hardware, address) = match name {
        InterfaceName::Gigabit(port) => ("Gigabit Ethernet", format!("0200.5e10.{port:04x}")),
        InterfaceName::Vlan(vlan) => ("Ethernet SVI", format!("0200.5e10.{:04x}", 0x1000 + vlan)),
    };
    let _ = writeln!(
        text,
        "  Hardware is {hardware}, address is {address} (bia {address})"
    );
    if let Some(description) = &interface.description {
        let _ = writeln!(text, "  Description: {description}");
    }
    if let Some((address, mask)) = interface.address {
        let length = mask.to_bits().leading_ones();
        let _ = writeln!(text, "  Internet address is {address}/{length}");
    }
    let speed = u32::from(interface.speed.unwrap_or(1000));
    let mtu = interface.mtu.unwrap_or(1500);
    let _ = write!(
        text,
        "  MTU {mtu} bytes, BW {} Kbit/sec, DLY 10 usec,\n     \
             reliability 255/255, txload 1/255, rxload 1/255\n  \
           Encapsulation ARPA, loopback not set\n",
        speed * 1000
    );
    if matches!(name, InterfaceName::Gigabit(_)) {
        let _ = writeln!(text, "  {}", link(interface, is_up));
    }
    text += "  Last input never, output never, output hang never\n  \
               Last clearing of \"show interface\" counters never\n  \
               5 minute input rate 0 bits/sec, 0 packets/sec\n  \
               5 minute output rate 0 bits/sec, 0 packets/sec\n     \
                  0 packets input, 0 bytes, 0 no buffer\n     \
                  0 input errors, 0 CRC, 0 frame, 0 overrun, 0 ignored\n     \
                  0 packets output, 0 bytes, 0 underruns\n     \
                  0 output errors, 0 collisions, 0 interface resets\n";
    text
}

fn state(name: InterfaceName, interface: &Interface, is_up: bool) -> String {
    let (state, port) = match (interface.shutdown, is_up) {
        (true, _) => ("administratively down, line protocol is down", "disabled"),
        (false, true) => ("up, line protocol is up", "connected"),
        (false, false) => ("down, line protocol is down", "notconnect"),
    };
    match name {
        InterfaceName::Gigabit(_) => format!("{state} ({port})"),
        InterfaceName::Vlan(_) => state.to_owned(),
    }
}

fn link(interface: &Interface, is_up: bool) -> String {
    let duplex = match interface.duplex {
        Some("half") => "Half-duplex",
        Some(_) => "Full-duplex",
        None if is_up => "Full-duplex",
        None => "Auto-duplex",
    };
    let speed = match interface.speed {
        Some(speed) => format!("{speed}Mb/s"),
        None if is_up => "1000Mb/s".to_owned(),
        None => "Auto-speed".to_owned(),
    };
    format!("{duplex}, {speed}, media type is 10/100/1000BaseTX")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_shows_its_state_and_settings() {
        let config = Config::factory("practice");
        let head = |name: InterfaceName, lines: usize| {
            one(&config, name)
                .lines()
                .take(lines)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(
            head(InterfaceName::Gigabit(1), 7),
            [
                "GigabitEthernet0/1 is up, line protocol is up (connected)",
                "  Hardware is Gigabit Ethernet, address is 0200.5e10.0001 (bia 0200.5e10.0001)",
                "  Description: uplink to core",
                "  MTU 1500 bytes, BW 1000000 Kbit/sec, DLY 10 usec,",
                "     reliability 255/255, txload 1/255, rxload 1/255",
                "  Encapsulation ARPA, loopback not set",
                "  Full-duplex, 1000Mb/s, media type is 10/100/1000BaseTX",
            ]
        );
        assert_eq!(
            head(InterfaceName::Gigabit(4), 1),
            ["GigabitEthernet0/4 is administratively down, line protocol is down (disabled)"]
        );
        assert_eq!(
            head(InterfaceName::Vlan(1), 3)[2],
            "  Internet address is 192.0.2.10/24"
        );
        assert_eq!(
            head(InterfaceName::Vlan(9), 1),
            ["% Interface Vlan9 does not exist"]
        );
        assert_eq!(all(&config).matches("line protocol").count(), 5);
    }
}
