//! The commands: one table per mode, with the functions of the commands below it.

mod exec;
mod global;
mod interface;
mod settings;
mod vlan;

use super::grammar::Rule;
use super::interface::InterfaceName;
use super::vty::Mode;

pub(super) use exec::answer;

/// The rules of a mode. If the first list does not match a line, the next one is tried. If that matches, the terminal
/// returns to `configure terminal`.
pub(super) fn rules(mode: &Mode) -> Vec<Vec<&'static Rule>> {
    let global = || global::RULES.iter().chain(settings::RULES);
    let submode = |rules: &'static [Rule], more: &'static [Rule]| {
        vec![
            rules.iter().chain(more).chain(global::COMMON).collect(),
            global().collect(),
        ]
    };
    match mode {
        Mode::User => vec![exec::USER.iter().collect()],
        Mode::Privileged => vec![exec::USER.iter().chain(exec::PRIVILEGED).collect()],
        Mode::Config => vec![global().chain(global::COMMON).collect()],
        Mode::Interface(InterfaceName::Gigabit(_)) => submode(interface::ANY, interface::PORT),
        Mode::Interface(InterfaceName::Vlan(_)) => submode(interface::ANY, &[]),
        Mode::Vlan(_) => submode(vlan::RULES, &[]),
    }
}

/// The help of `?` for a token.
pub(super) fn help(token: &str) -> &'static str {
    match HELP.binary_search_by_key(&token, |(token, _)| *token) {
        Ok(index) => HELP[index].1,
        Err(_) if token.starts_with('<') => "A number in this range",
        Err(_) => "",
    }
}

/// Sorted by token.
const HELP: [(&str, &str); 47] = [
    ("<cr>", ""),
    ("A.B.C.D", "IP address"),
    ("INTERFACE", "GigabitEthernet 0/1 to 0/4 or Vlan 1 to 4094"),
    ("LINE", "A text up to the end of the line"),
    ("MASK", "IP network mask"),
    ("NEXT-HOP", "Forwarding router's address, or Null0"),
    ("VLANS", "VLAN IDs, such as 1,10,20-29"),
    ("WORD", "A word"),
    ("access", "Access mode"),
    ("brief", "Brief summary"),
    ("clock", "The system clock"),
    ("configure", "Enter configuration mode"),
    ("copy", "Copy from one file to another"),
    ("default", "Set a command to its defaults"),
    ("description", "A text about the interface"),
    ("disable", "Turn off privileged commands"),
    ("do", "Run an exec command"),
    ("duplex", "Configure duplex operation"),
    ("enable", "Turn on privileged commands"),
    ("end", "Leave configuration mode"),
    ("erase", "Erase a filesystem"),
    ("exit", "Leave this mode"),
    ("hostname", "Set the system's network name"),
    ("interface", "Select an interface to configure"),
    ("interfaces", "Interface status and configuration"),
    ("inventory", "The physical inventory"),
    ("ip", "IP commands"),
    ("logging", "Where messages are logged"),
    ("logout", "Leave the exec"),
    ("mtu", "Set the interface's maximum transmission unit"),
    ("name", "Name of the VLAN"),
    ("no", "Negate a command or set its defaults"),
    ("ntp", "Configure NTP"),
    ("privilege", "The current privilege level"),
    ("quit", "Leave the exec"),
    ("route", "Static routes"),
    ("running-config", "The current operating configuration"),
    ("show", "Show running system information"),
    ("shutdown", "Shut the interface down"),
    ("snmp-server", "What SNMP tells of the system"),
    ("speed", "Configure speed operation"),
    ("startup-config", "The saved configuration"),
    ("switchport", "Set switching mode characteristics"),
    ("terminal", "Set parameters of this terminal"),
    ("version", "System hardware and software status"),
    ("vlan", "VLAN commands"),
    ("write", "Save the running configuration"),
];

#[cfg(test)]
mod tests;
