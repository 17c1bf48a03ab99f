//! `show vlan brief`

use std::fmt::Write;

use crate::config::{Config, DEFAULT_VLANS};
use crate::interface::PortMode;

/// The VLANs with the ports that have access to them; trunks are not listed.
pub(crate) fn brief(config: &Config) -> String {
    let mut table = format!(
        "\nVLAN Name                             Status    Ports\n\
         ---- {:-<32} --------- {:-<31}\n",
        "", ""
    );
    for (id, name) in config.vlan_names() {
        // The media of the other default VLANs are long gone.
        let status = if id != 1 && DEFAULT_VLANS.iter().any(|(default, _)| *default == id) {
            "act/unsup"
        } else {
            "active"
        };
        let members = config.interfaces.iter().filter(|(_, interface)| {
            interface.switched && interface.mode != PortMode::Trunk && interface.access_vlan == id
        });
        let ports: Vec<String> = members.map(|(name, _)| name.short()).collect();
        let _ = writeln!(table, "{id:<4} {name:<32} {status:<9} {}", ports.join(", "));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vlans_are_listed_with_their_access_ports() {
        let output = brief(&Config::factory("practice"));
        let lines: Vec<&str> = output.lines().collect();
        assert_eq!(
            lines,
            [
                "",
                "VLAN Name                             Status    Ports",
                "---- -------------------------------- --------- -------------------------------",
                "1    default                          active    Gi0/3, Gi0/4",
                "10   users                            active    Gi0/2",
                "20   voice                            active    ",
                "1002 fddi-default                     act/unsup ",
                "1003 token-ring-default               act/unsup ",
                "1004 fddinet-default                  act/unsup ",
                "1005 trnet-default                    act/unsup ",
            ]
        );
    }
}
