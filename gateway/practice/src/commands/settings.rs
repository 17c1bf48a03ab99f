//! Settings that the switch only stores, such as name servers and NTP servers.

use crate::grammar::{Arguments, Rule};
use crate::switch::Switch;
use crate::vty::{Reply, Vty};

/// Each setting, and its `no` form.
pub(super) const RULES: &[Rule] = &[
    Rule::new("ip default-gateway A.B.C.D", set_one),
    Rule::new("ip domain-name WORD", set_one),
    Rule::new("ip name-server A.B.C.D", add),
    Rule::new("logging host A.B.C.D", add),
    Rule::new("no ip default-gateway", remove),
    Rule::new("no ip default-gateway A.B.C.D", remove),
    Rule::new("no ip domain-name", remove),
    Rule::new("no ip domain-name WORD", remove),
    Rule::new("no ip name-server A.B.C.D", remove),
    Rule::new("no logging host A.B.C.D", remove),
    Rule::new("no ntp server A.B.C.D", remove),
    Rule::new("no snmp-server contact", remove),
    Rule::new("no snmp-server contact LINE", remove),
    Rule::new("no snmp-server location", remove),
    Rule::new("no snmp-server location LINE", remove),
    Rule::new("ntp server A.B.C.D", add),
    Rule::new("snmp-server contact LINE", set_one),
    Rule::new("snmp-server location LINE", set_one),
];

/// A setting that can occur several times.
fn add(switch: &mut Switch, _: &mut Vty, arguments: &Arguments) -> Reply {
    switch.running.lines.insert(arguments.canonical.clone());
    Reply::empty()
}

/// A setting that replaces the old one: the line that begins with the same two words.
fn set_one(switch: &mut Switch, vty: &mut Vty, arguments: &Arguments) -> Reply {
    let key: Vec<&str> = arguments.canonical.split(' ').take(2).collect();
    switch
        .running
        .lines
        .retain(|line| !begins_with(line, &key.join(" ")));
    add(switch, vty, arguments)
}

fn remove(switch: &mut Switch, _: &mut Vty, arguments: &Arguments) -> Reply {
    let setting = arguments
        .canonical
        .strip_prefix("no ")
        .unwrap_or(&arguments.canonical);
    switch
        .running
        .lines
        .retain(|line| !begins_with(line, setting));
    Reply::empty()
}

fn begins_with(line: &str, setting: &str) -> bool {
    line.strip_prefix(setting)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
