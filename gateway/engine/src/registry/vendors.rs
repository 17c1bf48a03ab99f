//! Hints from vendors to transports: people often write a vendor's name where a transport's is expected.

/// The suitable transports for each vendor or product, by the words that people write for it. All named transports and
/// families are built in. The most capable is named first.
const VENDORS: [(&[&str], &str); 15] = [
    (
        &["nexus", "nxos"],
        "Cisco Nexus: `nxapi` or `ssh_cli`; `netconf` or `restconf` where it has YANG models",
    ),
    (
        &[
            "cisco", "ios", "iosxe", "iosxr", "xe", "xr", "asa", "catalyst",
        ],
        "Cisco: `cisco_ios` or `ssh_cli`, or `nxapi` on Nexus; `netconf` or `restconf` where it has YANG models",
    ),
    (
        &["arista", "eos"],
        "Arista EOS: `arista_eos`, or `arista_eos_eapi` where eAPI is enabled; `netconf` or `restconf` where they are",
    ),
    (
        &["juniper", "junos", "srx", "mx"],
        "Juniper: `junos` (NETCONF) or `junos_cli`",
    ),
    (
        &["paloalto", "palo", "pan", "panorama"],
        "Palo Alto Networks: `panos`",
    ),
    (&["bigip", "big"], "F5 BIG-IP: `f5`"),
    (
        &["nokia", "sros", "srlinux", "huawei", "vrp", "ciena"],
        "this vendor: `netconf` or `ssh_cli`",
    ),
    (
        &[
            "fortinet",
            "fortigate",
            "fortios",
            "mikrotik",
            "routeros",
            "aruba",
            "checkpoint",
        ],
        "this vendor: `ssh_cli` or `rest`",
    ),
    (
        &[
            "hp", "hpe", "procurve", "comware", "dell", "brocade", "extreme", "vyos", "ubiquiti",
        ],
        "this vendor: `ssh_cli`",
    ),
    (&["frrouting", "quagga"], "FRRouting: `frr`"),
    (
        &["ovs", "ovn", "openflow"],
        "Open vSwitch and OVN: `openvswitch` or `ovsdb`",
    ),
    (&["pdns"], "PowerDNS: `powerdns`"),
    (
        &["http", "https", "api", "url", "json"],
        "APIs over HTTP: `rest`",
    ),
    (
        &["cli", "telnet", "console", "terminal"],
        "command lines over SSH or telnet: `ssh_cli`",
    ),
    (
        &["yang", "openconfig"],
        "YANG models: `netconf` or `restconf`",
    ),
];

/// Returns `; for Cisco: …`, to end a message with, when a word names a vendor, or an empty text.
pub(super) fn hint(typed: &str) -> String {
    let typed = typed.to_lowercase();
    let typed: Vec<&str> = typed.split(|c: char| !c.is_alphanumeric()).collect();
    let found = VENDORS
        .iter()
        .find(|(words, _)| words.iter().any(|word| typed.contains(word)));
    found.map_or_else(String::new, |(_, what)| format!("; for {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vendors_name_suggests_the_transports_for_its_devices() {
        for typed in ["cisco", "Cisco", "cisco_ios", "ios-xe"] {
            assert!(
                hint(typed).starts_with("; for Cisco: `cisco_ios`"),
                "{typed}"
            );
        }
        assert!(hint("cisco_nexus").contains("`nxapi` or"));
        assert_eq!(hint("frr"), "");
        assert_eq!(hint(""), "");
    }

    #[test]
    fn all_named_transports_are_built_in() {
        let built_in: Vec<String> = devgate_transports::all()
            .iter()
            .map(|connect| connect.name().to_owned())
            .chain(devgate_devices::all().map(|family| family.name().to_owned()))
            .collect();
        for (_, what) in VENDORS {
            for name in what.split('`').skip(1).step_by(2) {
                assert!(built_in.iter().any(|known| known == name), "{name}");
            }
        }
    }
}
