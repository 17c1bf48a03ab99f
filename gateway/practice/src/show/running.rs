//! Prints configurations: `show running-config` and `show startup-config`.

use std::fmt::Write;

use crate::clock;
use crate::config::Config;
use crate::interface::{Interface, InterfaceName, PortMode};
use crate::switch::Switch;

/// The maximum size of a saved configuration in bytes.
const NVRAM: usize = 65_536;

/// `show running-config`
pub(crate) fn full(switch: &Switch) -> String {
    let body = body(&switch.running);
    let changed = switch
        .changed
        .as_ref()
        .map_or_else(String::new, |(when, user)| {
            let when = clock::to_the_second(*when);
            format!("!\n! Last configuration change at {when} by {user}\n")
        });
    let size = changed.len() + body.len();
    format!("Building configuration...\n\nCurrent configuration : {size} bytes\n{changed}{body}\n")
}

/// `show startup-config`
pub(crate) fn startup(switch: &Switch) -> String {
    let Some(saved) = &switch.startup else {
        return "startup-config is not present\n".to_owned();
    };
    let body = body(saved);
    format!("Using {} out of {NVRAM} bytes\n{body}\n", body.len())
}

/// `show running-config interface`
pub(crate) fn of_interface(config: &Config, name: InterfaceName) -> String {
    let Some(interface) = config.interfaces.get(&name) else {
        return format!("% Interface {name} does not exist\n");
    };
    let body = format!("!\n{}end\n", interface_lines(name, interface));
    format!(
        "Building configuration...\n\nCurrent configuration : {} bytes\n{body}\n",
        body.len()
    )
}

/// From the first `!` to `end`.
fn body(config: &Config) -> String {
    let mut blocks = vec![
        "version 15.2\n\
         no service pad\n\
         service timestamps debug datetime msec\n\
         service timestamps log datetime msec\n\
         no service password-encryption\n"
            .to_owned(),
        format!("hostname {}\n", config.hostname),
        format!(
            "no ip domain-lookup\n{}",
            settings(config, &["ip domain-name", "ip name-server"])
        ),
    ];
    blocks.extend(config.vlans.iter().map(|(id, name)| {
        let name = name
            .as_ref()
            .map_or_else(String::new, |name| format!(" name {name}\n"));
        format!("vlan {id}\n{name}")
    }));
    let interfaces = config.interfaces.iter();
    blocks.extend(interfaces.map(|(name, interface)| interface_lines(*name, interface)));
    blocks.push(settings(config, &["ip default-gateway"]));
    blocks.push(routes(config));
    for kind in ["logging host", "snmp-server", "ntp server"] {
        blocks.push(settings(config, &[kind]));
    }
    blocks.push("line con 0\nline vty 0 15\n login local\n transport input ssh\n".to_owned());
    blocks.retain(|block| !block.is_empty());
    format!("!\n{}!\nend\n", blocks.join("!\n"))
}

fn settings(config: &Config, kinds: &[&str]) -> String {
    let of = |kind: &&str| {
        let kind = format!("{kind} ");
        let lines = config
            .lines
            .iter()
            .filter(move |line| line.starts_with(&kind));
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    kinds.iter().map(of).collect()
}

fn routes(config: &Config) -> String {
    let mut lines = String::new();
    for (route, distance) in &config.routes {
        let distance = if *distance == 1 {
            String::new()
        } else {
            format!(" {distance}")
        };
        let (prefix, mask, next_hop) = (route.prefix, route.mask, route.next_hop);
        let _ = writeln!(lines, "ip route {prefix} {mask} {next_hop}{distance}");
    }
    lines
}

fn interface_lines(name: InterfaceName, interface: &Interface) -> String {
    let is_port = matches!(name, InterfaceName::Gigabit(_));
    let mut lines = vec![];
    lines.extend(
        interface
            .description
            .as_ref()
            .map(|text| format!("description {text}")),
    );
    lines.extend(interface.mtu.map(|mtu| format!("mtu {mtu}")));
    if !interface.switched && is_port {
        lines.push("no switchport".to_owned());
    }
    if interface.switched {
        lines.extend(switching(interface));
    } else {
        lines.push(interface.address.map_or_else(
            || "no ip address".to_owned(),
            |(address, mask)| format!("ip address {address} {mask}"),
        ));
    }
    if interface.shutdown {
        lines.push("shutdown".to_owned());
    }
    lines.extend(interface.speed.map(|speed| format!("speed {speed}")));
    lines.extend(interface.duplex.map(|duplex| format!("duplex {duplex}")));
    let lines: String = lines.iter().map(|line| format!(" {line}\n")).collect();
    format!("interface {name}\n{lines}")
}

fn switching(interface: &Interface) -> impl Iterator<Item = String> {
    let numbered = |words: &str, vlan: u16| (vlan != 1).then(|| format!("{words} vlan {vlan}"));
    let mode = match interface.mode {
        PortMode::Dynamic => None,
        PortMode::Access => Some("switchport mode access".to_owned()),
        PortMode::Trunk => Some("switchport mode trunk".to_owned()),
    };
    let allowed = interface.allowed_vlans.as_ref();
    [
        numbered("switchport access", interface.access_vlan),
        numbered("switchport trunk native", interface.native_vlan),
        allowed.map(|list| format!("switchport trunk allowed vlan {list}")),
        mode,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::vlans::VlanList;

    #[test]
    fn the_factory_configuration_is_printed_in_full() {
        let expected = "\
!
version 15.2
no service pad
service timestamps debug datetime msec
service timestamps log datetime msec
no service password-encryption
!
hostname practice
!
no ip domain-lookup
!
vlan 10
 name users
!
vlan 20
 name voice
!
interface GigabitEthernet0/1
 description uplink to core
 switchport mode trunk
!
interface GigabitEthernet0/2
 switchport access vlan 10
 switchport mode access
!
interface GigabitEthernet0/3
!
interface GigabitEthernet0/4
 shutdown
!
interface Vlan1
 ip address 192.0.2.10 255.255.255.0
!
ip route 0.0.0.0 0.0.0.0 192.0.2.1
!
line con 0
line vty 0 15
 login local
 transport input ssh
!
end
";
        assert_eq!(body(&Config::factory("practice")), expected);
    }

    #[test]
    fn the_lines_of_an_interface_are_in_the_order_of_ios() {
        let name = InterfaceName::Gigabit(3);
        let trunk = Interface {
            description: Some("to the roof".to_owned()),
            mtu: Some(9000),
            mode: PortMode::Trunk,
            access_vlan: 10,
            native_vlan: 99,
            allowed_vlans: VlanList::parse("10,20-29").ok(),
            shutdown: true,
            speed: Some(100),
            duplex: Some("full"),
            ..Interface::new(name)
        };
        assert_eq!(
            interface_lines(name, &trunk),
            "interface GigabitEthernet0/3\n \
             description to the roof\n \
             mtu 9000\n \
             switchport access vlan 10\n \
             switchport trunk native vlan 99\n \
             switchport trunk allowed vlan 10,20-29\n \
             switchport mode trunk\n \
             shutdown\n \
             speed 100\n \
             duplex full\n"
        );
        let address = Some((Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(255, 0, 0, 0)));
        let routed = Interface {
            switched: false,
            address,
            ..Interface::new(name)
        };
        assert_eq!(
            interface_lines(name, &routed),
            "interface GigabitEthernet0/3\n no switchport\n ip address 10.0.0.1 255.0.0.0\n"
        );
    }
}
