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
        on(s, v, |i| i.description = None)
    }),
    Rule::new("no description LINE", |s, v, _| {
        on(s, v, |i| i.description = None)
    }),
    Rule::new("no ip address", |s, v, _| on(s, v, |i| i.address = None)),
    Rule::new("no ip address A.B.C.D MASK", no_address),
    Rule::new("no mtu", |s, v, _| on(s, v, |i| i.mtu = None)),
    Rule::new("no mtu <1500-9198>", |s, v, _| on(s, v, |i| i.mtu = None)),
    Rule::new("no shutdown", |s, v, _| on(s, v, |i| i.shutdown = false)),
    Rule::new("shutdown", |s, v, _| on(s, v, |i| i.shutdown = true)),
];

/// Commands of ports only.
pub(super) const PORT: &[Rule] = &[
    Rule::new("duplex auto", |s, v, _| on(s, v, |i| i.duplex = None)),
    Rule::new("duplex full", |s, v, _| {
        on(s, v, |i| i.duplex = Some("full"))
    }),
    Rule::new("duplex half", |s, v, _| {
        on(s, v, |i| i.duplex = Some("half"))
    }),
    Rule::new("no duplex", |s, v, _| on(s, v, |i| i.duplex = None)),
    Rule::new("no speed", |s, v, _| on(s, v, |i| i.speed = None)),
    Rule::new("no switchport", |s, v, _| on(s, v, |i| i.switched = false)),
    Rule::new("no switchport access vlan", |s, v, _| {
        port(s, v, |i| i.access_vlan = 1)
    }),
    Rule::new("no switchport access vlan <1-4094>", |s, v, _| {
        port(s, v, |i| i.access_vlan = 1)
    }),
    Rule::new("no switchport mode", |s, v, _| {
        port(s, v, |i| i.mode = PortMode::Dynamic)
    }),
    Rule::new("no switchport trunk allowed vlan", |s, v, _| {
        port(s, v, |i| i.allowed_vlans = None)
    }),
    Rule::new("no switchport trunk native vlan", |s, v, _| {
        port(s, v, |i| i.native_vlan = 1)
    }),
    Rule::new("speed 10", |s, v, _| on(s, v, |i| i.speed = Some(10))),
    Rule::new("speed 100", |s, v, _| on(s, v, |i| i.speed = Some(100))),
    Rule::new("speed 1000", |s, v, _| on(s, v, |i| i.speed = Some(1000))),
    Rule::new("speed auto", |s, v, _| on(s, v, |i| i.speed = None)),
    Rule::new("switchport", switchport),
    Rule::new("switchport access vlan <1-4094>", access_vlan),
    Rule::new("switchport mode access", |s, v, _| {
        port(s, v, |i| i.mode = PortMode::Access)
    }),
    Rule::new("switchport mode trunk", |s, v, _| {
        port(s, v, |i| i.mode = PortMode::Trunk)
    }),
    Rule::new("switchport trunk allowed vlan VLANS", allowed),
    Rule::new("switchport trunk allowed vlan add VLANS", allowed_too),
    Rule::new("switchport trunk allowed vlan all", |s, v, _| {
        port(s, v, |i| i.allowed_vlans = None)
    }),
    Rule::new("switchport trunk allowed vlan none", |s, v, _| {
        port(s, v, |i| i.allowed_vlans = Some(VlanList::default()))
    }),
    Rule::new(
        "switchport trunk allowed vlan remove VLANS",
        allowed_no_more,
    ),
    Rule::new("switchport trunk native vlan <1-4094>", native_vlan),
];

/// Changes the current interface of the terminal.
fn on(switch: &mut Switch, vty: &Vty, change: impl FnOnce(&mut Interface)) -> Reply {
    if let Some((_, interface)) = current(switch, vty) {
        change(interface);
    }
    Reply::done()
}

/// Changes the switchport settings of the current port, if it is one.
fn port(switch: &mut Switch, vty: &Vty, change: impl FnOnce(&mut Interface)) -> Reply {
    match current(switch, vty) {
        Some((name, interface)) if !interface.switched => Reply::line(format!(
            "Command rejected: {} not a switching port.",
            name.short()
        )),
        Some((_, interface)) => {
            change(interface);
            Reply::done()
        }
        None => Reply::done(),
    }
}

/// The current interface of the terminal, unless another session has removed it.
fn current<'s>(switch: &'s mut Switch, vty: &Vty) -> Option<(InterfaceName, &'s mut Interface)> {
    let Mode::Interface(name) = vty.mode else {
        return None;
    };
    Some((name, switch.running.interfaces.get_mut(&name)?))
}

fn description(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    on(switch, vty, |interface| {
        interface.description = Some(said.text.clone())
    })
}

fn mtu(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    let mtu = Some(said.number).filter(|mtu| *mtu != 1500);
    on(switch, vty, |interface| interface.mtu = mtu)
}

fn switchport(switch: &mut Switch, vty: &mut Vty, _: &Arguments) -> Reply {
    on(switch, vty, |interface| {
        interface.switched = true;
        interface.address = None;
    })
}

fn access_vlan(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    let refused = port(switch, vty, |interface| interface.access_vlan = said.number);
    if refused != Reply::done() || switch.running.vlan_names().contains_key(&said.number) {
        return refused;
    }
    switch.running.vlans.insert(said.number, None);
    Reply::line(format!(
        "% Access VLAN does not exist. Creating vlan {}",
        said.number
    ))
}

fn native_vlan(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    port(switch, vty, |interface| interface.native_vlan = said.number)
}

fn allowed(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    change_allowed(switch, vty, said, |allowed, said| *allowed = said)
}

fn allowed_too(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    change_allowed(switch, vty, said, |allowed, said| allowed.0.extend(said.0))
}

fn allowed_no_more(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    change_allowed(switch, vty, said, |allowed, said| {
        allowed.0.retain(|id| !said.0.contains(id))
    })
}

fn change_allowed(
    switch: &mut Switch,
    vty: &Vty,
    said: &Arguments,
    change: impl FnOnce(&mut VlanList, VlanList),
) -> Reply {
    let list = match VlanList::parse(&said.text) {
        Ok(list) => list,
        Err(refused) => return Reply::Text(refused),
    };
    port(switch, vty, |interface| {
        let every = || VlanList(IDS.collect());
        let mut allowed = interface.allowed_vlans.take().unwrap_or_else(every);
        change(&mut allowed, list);
        interface.allowed_vlans = Some(allowed).filter(|allowed| *allowed != every());
    })
}

fn address(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    let (address, mask) = (said.address, said.mask);
    let Some((name, interface)) = current(switch, vty) else {
        return Reply::done();
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
        if let Some((theirs, their_mask)) = interface.address
            && *other != name
            && address & mask & their_mask == theirs & mask & their_mask
        {
            return Reply::line(format!("% {} overlaps with {other}", address & mask));
        }
    }
    on(switch, vty, |interface| {
        interface.address = Some((address, mask))
    });
    if length == 31 {
        return Reply::line("% Warning: use /31 mask on non point-to-point interface cautiously");
    }
    Reply::done()
}

fn no_address(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    match current(switch, vty) {
        Some((_, interface)) if interface.address == Some((said.address, said.mask)) => {
            interface.address = None;
            Reply::done()
        }
        Some(_) => Reply::line("Invalid address"),
        None => Reply::done(),
    }
}
