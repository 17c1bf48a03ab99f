//! A device whose configuration is a tree of lines, as IOS and EOS have it.

mod filter;
mod lines;
mod pattern;
mod rules;
mod show;

use std::sync::LazyLock;

use crate::session::Simulator;
use lines::Lines;
use rules::Rules;

static IOS: LazyLock<Rules> = LazyLock::new(|| Rules::read(include_str!("ios/ios.yaml")));
static EOS: LazyLock<Rules> = LazyLock::new(|| Rules::read(include_str!("ios/eos.yaml")));

/// A switch with Cisco IOS.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ios(Lines);

/// A switch with Arista EOS.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Eos(Lines);

impl Default for Ios {
    fn default() -> Self {
        Self(Lines::new(&IOS))
    }
}

impl Default for Eos {
    fn default() -> Self {
        Self(Lines::new(&EOS))
    }
}

impl Simulator for Ios {
    fn answer(&self, command: &str) -> Result<String, String> {
        let (command, filter) = split(command);
        let output = match command {
            "show running-config" => self.0.running_config(),
            "show vlan" | "show vlan brief" => show::vlan(&self.0),
            "show interfaces" => show::interfaces(&self.0),
            "show interfaces switchport" => show::switchport(&self.0),
            "show etherchannel detail" => show::etherchannel_detail(&self.0),
            "show etherchannel summary" => show::etherchannel_summary(&self.0),
            "show access-lists" | "show ip access-lists" => show::access_lists(&self.0),
            "show snmp user" => show::snmp_user(&self.0),
            _ => return Err(format!("`{command}`: the simulator has no such command")),
        };
        filter::filtered(&output, filter)
    }

    fn apply(&mut self, lines: &[String]) -> Result<(), String> {
        self.0.apply(lines)
    }
}

impl Simulator for Eos {
    fn answer(&self, command: &str) -> Result<String, String> {
        let (command, filter) = split(command);
        let output = match command {
            "show running-config" => self.0.running_config(),
            "show vlan" => show::eos_vlan(&self.0),
            _ => return Err(format!("`{command}`: the simulator has no such command")),
        };
        filter::filtered(&output, filter)
    }

    fn apply(&mut self, lines: &[String]) -> Result<(), String> {
        self.0.apply(lines)
    }
}

/// A command and what follows its first `|`.
fn split(command: &str) -> (&str, &str) {
    let (command, filter) = command.split_once('|').unwrap_or((command, ""));
    (command.trim(), filter.trim())
}
