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
fn add(switch: &mut Switch, _: &mut Vty, said: &Arguments) -> Reply {
    switch.running.lines.insert(said.canonical.clone());
    Reply::done()
}

/// A setting that replaces the old one: the line that begins with the same two words.
fn set_one(switch: &mut Switch, vty: &mut Vty, said: &Arguments) -> Reply {
    let key: Vec<&str> = said.canonical.split(' ').take(2).collect();
    switch
        .running
        .lines
        .retain(|line| !is_or_begins(line, &key.join(" ")));
    add(switch, vty, said)
}

fn remove(switch: &mut Switch, _: &mut Vty, said: &Arguments) -> Reply {
    let gone = said
        .canonical
        .strip_prefix("no ")
        .unwrap_or(&said.canonical);
    switch
        .running
        .lines
        .retain(|line| !is_or_begins(line, gone));
    Reply::done()
}

fn is_or_begins(line: &str, words: &str) -> bool {
    line.strip_prefix(words)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
