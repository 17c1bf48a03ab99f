//! The commands of `configure terminal`: names, interfaces, VLANs and routes.

use std::net::Ipv4Addr;

use crate::config::{DEFAULT_VLANS, NextHop, Route, is_hostname};
use crate::grammar::{Arguments, Rule};
use crate::interface::{Interface, InterfaceName};
use crate::switch::Switch;
use crate::vlans::VlanList;
use crate::vty::{Mode, Reply, Vty};

/// Commands that leave a config mode, or run exec commands in it.
pub(super) const ANYWHERE: &[Rule] = &[
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
fn exec(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    Reply::Exec {
        line: said.text.clone(),
        column: vty.mode.prompt(&switch.running.hostname).len() + said.column,
    }
}

fn end(_: &mut Switch, vty: &mut Vty, _: &Arguments) -> Reply {
    vty.mode = Mode::Privileged;
    Reply::done()
}

fn exit(_: &mut Switch, vty: &mut Vty, _: &Arguments) -> Reply {
    vty.mode = if vty.mode == Mode::Config {
        Mode::Privileged
    } else {
        Mode::Config
    };
    Reply::done()
}

fn hostname(switch: &mut Switch, _: &mut Vty, said: &Arguments) -> Reply {
    if !is_hostname(&said.text) {
        return Reply::line("% Hostname contains one or more illegal characters.");
    }
    switch.running.hostname.clone_from(&said.text);
    Reply::done()
}

fn no_hostname(switch: &mut Switch, _: &mut Vty, _: &Arguments) -> Reply {
    switch.running.hostname = "Switch".to_owned();
    Reply::done()
}

fn interface(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    let name = said.interface;
    switch
        .running
        .interfaces
        .entry(name)
        .or_insert_with(|| Interface::new(name));
    vty.mode = Mode::Interface(name);
    Reply::done()
}

fn no_interface(switch: &mut Switch, _: &mut Vty, said: &Arguments) -> Reply {
    if matches!(said.interface, InterfaceName::Gigabit(_)) {
        return Reply::line("% Removal of physical interfaces is not permitted");
    }
    switch.running.interfaces.remove(&said.interface);
    Reply::done()
}

fn default_interface(switch: &mut Switch, _: &mut Vty, said: &Arguments) -> Reply {
    switch
        .running
        .interfaces
        .insert(said.interface, Interface::new(said.interface));
    Reply::line(format!(
        "Interface {} set to default configuration",
        said.interface
    ))
}

fn vlan(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    let list = match VlanList::parse(&said.text) {
        Ok(list) => list,
        Err(refused) => return Reply::Text(refused),
    };
    for id in list.0.iter().filter(|id| !is_default(**id)) {
        switch.running.vlans.entry(*id).or_insert(None);
    }
    vty.mode = Mode::Vlan(list);
    Reply::done()
}

fn no_vlan(switch: &mut Switch, _: &mut Vty, said: &Arguments) -> Reply {
    let list = match VlanList::parse(&said.text) {
        Ok(list) => list,
        Err(refused) => return Reply::Text(refused),
    };
    let mut refused = String::new();
    for id in &list.0 {
        if is_default(*id) {
            refused += &format!("%Default VLAN {id} may not be deleted.\n");
        } else {
            switch.running.vlans.remove(id);
        }
    }
    Reply::Text(refused)
}

fn is_default(id: u16) -> bool {
    DEFAULT_VLANS.iter().any(|(default, _)| *default == id)
}

fn route(switch: &mut Switch, _: &mut Vty, said: &Arguments) -> Reply {
    let (prefix, mask) = (said.address, said.mask);
    if !is_contiguous(mask) || prefix & !mask != Ipv4Addr::UNSPECIFIED {
        return Reply::line("%Inconsistent address and mask");
    }
    let own = |address| {
        let mut interfaces = switch.running.interfaces.values();
        interfaces.any(|interface| interface.address.is_some_and(|(own, _)| own == address))
    };
    if matches!(said.next_hop, NextHop::Address(address) if own(address)) {
        return Reply::line("%Invalid next hop address (it's this router)");
    }
    // An explicit distance cannot be 0.
    let distance = u8::try_from(said.number.max(1)).unwrap_or(u8::MAX);
    let route = Route {
        prefix,
        mask,
        next_hop: said.next_hop,
    };
    switch.running.routes.insert(route, distance);
    Reply::done()
}

/// Whether a mask is ones, then zeros.
pub(super) fn is_contiguous(mask: Ipv4Addr) -> bool {
    mask.to_bits().leading_ones() == mask.to_bits().count_ones()
}

fn no_route(switch: &mut Switch, _: &mut Vty, said: &Arguments) -> Reply {
    let route = Route {
        prefix: said.address,
        mask: said.mask,
        next_hop: said.next_hop,
    };
    let other_distance = |distance: &u8| said.number != 0 && said.number != u16::from(*distance);
    if switch.running.routes.get(&route).is_none_or(other_distance) {
        return Reply::line("%No matching route to delete");
    }
    switch.running.routes.remove(&route);
    Reply::done()
}

fn no_routes(switch: &mut Switch, _: &mut Vty, said: &Arguments) -> Reply {
    let before = switch.running.routes.len();
    let same = |route: &Route| route.prefix == said.address && route.mask == said.mask;
    switch.running.routes.retain(|route, _| !same(route));
    if switch.running.routes.len() == before {
        return Reply::line("%No matching route to delete");
    }
    Reply::done()
}
