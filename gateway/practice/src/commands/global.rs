//! The commands of `configure terminal`: names, interfaces, VLANs and routes.

use std::net::Ipv4Addr;

use crate::config::{DEFAULT_VLANS, NextHop, Route, is_hostname};
use crate::grammar::{Arguments, Rule};
use crate::interface::{Interface, InterfaceName};
use crate::switch::Switch;
use crate::vlans::VlanList;
use crate::vty::{Mode, Reply, Vty};

/// Commands of every configuration mode: they leave it, or run exec commands in it.
pub(super) const COMMON: &[Rule] = &[
    Rule::new("do LINE", exec),
    Rule::new("end", end),
    Rule::new("exit", exit),
];

/// Global configuration commands.
pub(super) const RULES: &[Rule] = &[
    Rule::new("default interface INTERFACE", default_interface),
    Rule::new("hostname WORD", hostname),
    Rule::new("interface INTERFACE", interface),
    Rule::new("ip route A.B.C.D MASK NEXT-HOP", route),
    Rule::new("ip route A.B.C.D MASK NEXT-HOP <1-255>", route),
    Rule::new("no hostname", no_hostname),
    Rule::new("no interface INTERFACE", no_interface),
    Rule::new("no ip route A.B.C.D MASK", no_routes),
    Rule::new("no ip route A.B.C.D MASK NEXT-HOP", no_route),
    Rule::new("no ip route A.B.C.D MASK NEXT-HOP <1-255>", no_route),
    Rule::new("no vlan VLANS", no_vlan),
    Rule::new("vlan VLANS", vlan),
];

/// Runs an exec command without leaving the current mode.
fn exec(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    Reply::Exec {
        line: arguments.text.clone(),
        column: vty.mode.prompt(&switch.running.hostname).len() + arguments.column,
    }
}

fn end(_: &mut Switch, vty: &mut Vty, _: &Arguments) -> Reply {
    vty.mode = Mode::Privileged;
    Reply::empty()
}

fn exit(_: &mut Switch, vty: &mut Vty, _: &Arguments) -> Reply {
    vty.mode = if vty.mode == Mode::Config {
        Mode::Privileged
    } else {
        Mode::Config
    };
    Reply::empty()
}

fn hostname(switch: &mut Switch, _: &mut Vty, arguments: &Arguments) -> Reply {
    if !is_hostname(&arguments.text) {
        return Reply::line("% Hostname contains one or more illegal characters.");
    }
    switch.running.hostname.clone_from(&arguments.text);
    Reply::empty()
}

fn no_hostname(switch: &mut Switch, _: &mut Vty, _: &Arguments) -> Reply {
    switch.running.hostname = "Switch".to_owned();
    Reply::empty()
}

fn interface(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    let name = arguments.interface;
    switch
        .running
        .interfaces
        .entry(name)
        .or_insert_with(|| Interface::new(name));
    vty.mode = Mode::Interface(name);
    Reply::empty()
}

fn no_interface(switch: &mut Switch, _: &mut Vty, arguments: &Arguments) -> Reply {
    if matches!(arguments.interface, InterfaceName::Gigabit(_)) {
        return Reply::line("% Removal of physical interfaces is not permitted");
    }
    switch.running.interfaces.remove(&arguments.interface);
    Reply::empty()
}

fn default_interface(switch: &mut Switch, _: &mut Vty, arguments: &Arguments) -> Reply {
    switch
        .running
        .interfaces
        .insert(arguments.interface, Interface::new(arguments.interface));
    Reply::line(format!(
        "Interface {} set to default configuration",
        arguments.interface
    ))
}

fn vlan(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    let list = match VlanList::parse(&arguments.text) {
        Ok(list) => list,
        Err(message) => return Reply::Text(message),
    };
    for id in list.0.iter().filter(|id| !is_default(**id)) {
        switch.running.vlans.entry(*id).or_insert(None);
    }
    vty.mode = Mode::Vlan(list);
    Reply::empty()
}

fn no_vlan(switch: &mut Switch, _: &mut Vty, arguments: &Arguments) -> Reply {
    let list = match VlanList::parse(&arguments.text) {
        Ok(list) => list,
        Err(message) => return Reply::Text(message),
    };
    let mut message = String::new();
    for id in &list.0 {
        if is_default(*id) {
            message += &format!("%Default VLAN {id} may not be deleted.\n");
        } else {
            switch.running.vlans.remove(id);
        }
    }
    Reply::Text(message)
}

fn is_default(id: u16) -> bool {
    DEFAULT_VLANS.iter().any(|(default, _)| *default == id)
}

fn route(switch: &mut Switch, _: &mut Vty, arguments: &Arguments) -> Reply {
    let (prefix, mask) = (arguments.address, arguments.mask);
    if !is_contiguous(mask) || prefix & !mask != Ipv4Addr::UNSPECIFIED {
        return Reply::line("%Inconsistent address and mask");
    }
    let is_own = |address| {
        let mut interfaces = switch.running.interfaces.values();
        interfaces.any(|interface| interface.address.is_some_and(|(own, _)| own == address))
    };
    if matches!(arguments.next_hop, NextHop::Address(address) if is_own(address)) {
        return Reply::line("%Invalid next hop address (it's this router)");
    }
    // An explicit distance cannot be 0.
    let distance = u8::try_from(arguments.number.max(1)).unwrap_or(u8::MAX);
    let route = Route {
        prefix,
        mask,
        next_hop: arguments.next_hop,
    };
    switch.running.routes.insert(route, distance);
    Reply::empty()
}

/// Whether a mask is ones, then zeros.
pub(super) fn is_contiguous(mask: Ipv4Addr) -> bool {
    mask.to_bits().leading_ones() == mask.to_bits().count_ones()
}

fn no_route(switch: &mut Switch, _: &mut Vty, arguments: &Arguments) -> Reply {
    let route = Route {
        prefix: arguments.address,
        mask: arguments.mask,
        next_hop: arguments.next_hop,
    };
    let other_distance =
        |distance: &u8| arguments.number != 0 && arguments.number != u16::from(*distance);
    if switch.running.routes.get(&route).is_none_or(other_distance) {
        return Reply::line("%No matching route to delete");
    }
    switch.running.routes.remove(&route);
    Reply::empty()
}

fn no_routes(switch: &mut Switch, _: &mut Vty, arguments: &Arguments) -> Reply {
    let before = switch.running.routes.len();
    let same = |route: &Route| route.prefix == arguments.address && route.mask == arguments.mask;
    switch.running.routes.retain(|route, _| !same(route));
    if switch.running.routes.len() == before {
        return Reply::line("%No matching route to delete");
    }
    Reply::empty()
}
