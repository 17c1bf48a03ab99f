//! The commands of `vlan`.

use crate::grammar::{Arguments, Rule};
use crate::switch::Switch;
use crate::vty::{Mode, Reply, Vty};

/// The commands for a VLAN.
pub(super) const RULES: &[Rule] = &[Rule::new("name WORD", name), Rule::new("no name", no_name)];

fn name(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    let Mode::Vlan(list) = &vty.mode else {
        return Reply::empty();
    };
    if arguments.text.len() > 32 {
        return Reply::line("Command rejected: a VLAN name has 32 characters at most.");
    }
    let taken = switch.running.vlan_names();
    let taken = taken
        .iter()
        .any(|(id, name)| *name == arguments.text && !list.0.contains(id));
    if taken || list.0.len() > 1 {
        return Reply::line(format!("VLAN name {} already in use.", arguments.text));
    }
    for id in &list.0 {
        match switch.running.vlans.get_mut(id) {
            Some(name) => *name = Some(arguments.text.clone()),
            None => {
                return Reply::line(format!("Default VLAN {id} may not have its name changed."));
            }
        }
    }
    Reply::empty()
}

fn no_name(switch: &mut Switch, vty: &mut Vty, _: &Arguments) -> Reply {
    let Mode::Vlan(list) = &vty.mode else {
        return Reply::empty();
    };
    for id in &list.0 {
        if let Some(name) = switch.running.vlans.get_mut(id) {
            *name = None;
        }
    }
    Reply::empty()
}
