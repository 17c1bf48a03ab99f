//! The commands of `interface`.

use std::net::Ipv4Addr;

use super::global::is_contiguous;
use crate::grammar::{Arguments, Rule};
use crate::interface::{Interface, InterfaceName, PortMode};
use crate::switch::Switch;
use crate::vlans::{IDS, VlanList};
use crate::vty::{Mode, Reply, Vty};

/// Commands of every interface.
pub(super) const ANY: &[Rule] = &[
    Rule::new("description LINE", description),
    Rule::new("ip address A.B.C.D MASK", address),
    Rule::new("mtu <1500-9198>", mtu),
    Rule::new("no description", |s, v, _| {
        configure(s, v, |i| i.description = None)
    }),
    Rule::new("no description LINE", |s, v, _| {
        configure(s, v, |i| i.description = None)
    }),
    Rule::new("no ip address", |s, v, _| {
        configure(s, v, |i| i.address = None)
    }),
    Rule::new("no ip address A.B.C.D MASK", no_address),
    Rule::new("no mtu", |s, v, _| configure(s, v, |i| i.mtu = None)),
    Rule::new("no mtu <1500-9198>", |s, v, _| {
        configure(s, v, |i| i.mtu = None)
    }),
    Rule::new("no shutdown", |s, v, _| {
        configure(s, v, |i| i.shutdown = false)
    }),
    Rule::new("shutdown", |s, v, _| configure(s, v, |i| i.shutdown = true)),
];

/// Commands of ports only.
pub(super) const PORT: &[Rule] = &[
    Rule::new("duplex auto", |s, v, _| {
        configure(s, v, |i| i.duplex = None)
    }),
    Rule::new("duplex full", |s, v, _| {
        configure(s, v, |i| i.duplex = Some("full"))
    }),
    Rule::new("duplex half", |s, v, _| {
        configure(s, v, |i| i.duplex = Some("half"))
    }),
    Rule::new("no duplex", |s, v, _| configure(s, v, |i| i.duplex = None)),
    Rule::new("no speed", |s, v, _| configure(s, v, |i| i.speed = None)),
    Rule::new("no switchport", |s, v, _| {
        configure(s, v, |i| i.switched = false)
    }),
    Rule::new("no switchport access vlan", |s, v, _| {
        configure_port(s, v, |i| i.access_vlan = 1)
    }),
    Rule::new("no switchport access vlan <1-4094>", |s, v, _| {
        configure_port(s, v, |i| i.access_vlan = 1)
    }),
    Rule::new("no switchport mode", |s, v, _| {
        configure_port(s, v, |i| i.mode = PortMode::Dynamic)
    }),
    Rule::new("no switchport trunk allowed vlan", |s, v, _| {
        configure_port(s, v, |i| i.allowed_vlans = None)
    }),
    Rule::new("no switchport trunk native vlan", |s, v, _| {
        configure_port(s, v, |i| i.native_vlan = 1)
    }),
    Rule::new("speed 10", |s, v, _| {
        configure(s, v, |i| i.speed = Some(10))
    }),
    Rule::new("speed 100", |s, v, _| {
        configure(s, v, |i| i.speed = Some(100))
    }),
    Rule::new("speed 1000", |s, v, _| {
        configure(s, v, |i| i.speed = Some(1000))
    }),
    Rule::new("speed auto", |s, v, _| configure(s, v, |i| i.speed = None)),
    Rule::new("switchport", switchport),
    Rule::new("switchport access vlan <1-4094>", access_vlan),
    Rule::new("switchport mode access", |s, v, _| {
        configure_port(s, v, |i| i.mode = PortMode::Access)
    }),
    Rule::new("switchport mode trunk", |s, v, _| {
        configure_port(s, v, |i| i.mode = PortMode::Trunk)
    }),
    Rule::new("switchport trunk allowed vlan VLANS", set_allowed),
    Rule::new("switchport trunk allowed vlan add VLANS", add_allowed),
    Rule::new("switchport trunk allowed vlan all", |s, v, _| {
        configure_port(s, v, |i| i.allowed_vlans = None)
    }),
    Rule::new("switchport trunk allowed vlan none", |s, v, _| {
        configure_port(s, v, |i| i.allowed_vlans = Some(VlanList::default()))
    }),
    Rule::new("switchport trunk allowed vlan remove VLANS", remove_allowed),
    Rule::new("switchport trunk native vlan <1-4094>", native_vlan),
];

/// Changes the current interface of the terminal.
fn configure(switch: &mut Switch, vty: &Vty, change: impl FnOnce(&mut Interface)) -> Reply {
    if let Some((_, interface)) = current(switch, vty) {
        change(interface);
    }
    Reply::empty()
}

/// Changes the switchport settings of the current port, if it is one.
fn configure_port(switch: &mut Switch, vty: &Vty, change: impl FnOnce(&mut Interface)) -> Reply {
    match current(switch, vty) {
        Some((name, interface)) if !interface.switched => Reply::line(format!(
            "Command rejected: {} not a switching port.",
            name.short()
        )),
        Some((_, interface)) => {
            change(interface);
            Reply::empty()
        }
        None => Reply::empty(),
    }
}

/// The current interface of the terminal, unless another session has removed it.
fn current<'s>(switch: &'s mut Switch, vty: &Vty) -> Option<(InterfaceName, &'s mut Interface)> {
    let Mode::Interface(name) = vty.mode else {
        return None;
    };
    Some((name, switch.running.interfaces.get_mut(&name)?))
}

fn description(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    configure(switch, vty, |interface| {
        interface.description = Some(arguments.text.clone())
    })
}

fn mtu(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    let mtu = Some(arguments.number).filter(|mtu| *mtu != 1500);
    configure(switch, vty, |interface| interface.mtu = mtu)
}

fn switchport(switch: &mut Switch, vty: &mut Vty, _: &Arguments) -> Reply {
    configure(switch, vty, |interface| {
        interface.switched = true;
        interface.address = None;
    })
}

fn access_vlan(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    let message = configure_port(switch, vty, |interface| {
        interface.access_vlan = arguments.number
    });
    if message != Reply::empty() || switch.running.vlan_names().contains_key(&arguments.number) {
        return message;
    }
    switch.running.vlans.insert(arguments.number, None);
    Reply::line(format!(
        "% Access VLAN does not exist. Creating vlan {}",
        arguments.number
    ))
}

fn native_vlan(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    configure_port(switch, vty, |interface| {
        interface.native_vlan = arguments.number
    })
}

fn set_allowed(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    change_allowed(switch, vty, arguments, |allowed, list| *allowed = list)
}

fn add_allowed(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    change_allowed(switch, vty, arguments, |allowed, list| {
        allowed.0.extend(list.0)
    })
}

fn remove_allowed(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    change_allowed(switch, vty, arguments, |allowed, list| {
        allowed.0.retain(|id| !list.0.contains(id))
    })
}

fn change_allowed(
    switch: &mut Switch,
    vty: &Vty,
    arguments: &Arguments,
    change: impl FnOnce(&mut VlanList, VlanList),
) -> Reply {
    let list = match VlanList::parse(&arguments.text) {
        Ok(list) => list,
        Err(message) => return Reply::Text(message),
    };
    configure_port(switch, vty, |interface| {
        let all_vlans = || VlanList(IDS.collect());
        let mut allowed = interface.allowed_vlans.take().unwrap_or_else(all_vlans);
        change(&mut allowed, list);
        interface.allowed_vlans = Some(allowed).filter(|allowed| *allowed != all_vlans());
    })
}

fn address(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    let (address, mask) = (arguments.address, arguments.mask);
    let Some((name, interface)) = current(switch, vty) else {
        return Reply::empty();
    };
    if interface.switched {
        return Reply::line("% IP addresses may not be configured on L2 links.");
    }
    if address.is_unspecified() || address.is_loopback() || address.octets()[0] >= 224 {
        return Reply::line(format!("Not a valid host address - {address}"));
    }
    if !is_contiguous(mask) || mask.is_unspecified() {
        return Reply::line(format!(
            "Bad mask 0x{:X} for address {address}",
            mask.to_bits()
        ));
    }
    let length = mask.to_bits().leading_ones();
    if length < 31
        && (address & !mask == Ipv4Addr::UNSPECIFIED || address | mask == Ipv4Addr::BROADCAST)
    {
        return Reply::line(format!("Bad mask /{length} for address {address}"));
    }
    for (other, interface) in &switch.running.interfaces {
        if let Some((other_address, other_mask)) = interface.address
            && *other != name
            && address & mask & other_mask == other_address & mask & other_mask
        {
            return Reply::line(format!("% {} overlaps with {other}", address & mask));
        }
    }
    configure(switch, vty, |interface| {
        interface.address = Some((address, mask))
    });
    if length == 31 {
        return Reply::line("% Warning: use /31 mask on non point-to-point interface cautiously");
    }
    Reply::empty()
}

fn no_address(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    match current(switch, vty) {
        Some((_, interface)) if interface.address == Some((arguments.address, arguments.mask)) => {
            interface.address = None;
            Reply::empty()
        }
        Some(_) => Reply::line("Invalid address"),
        None => Reply::empty(),
    }
}
