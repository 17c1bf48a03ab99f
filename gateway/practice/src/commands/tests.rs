//! Tests of the commands and their tables.

use std::time::UNIX_EPOCH;

use devgate_schemas::Sensitive;

use super::super::interpret;
use super::super::show::running;
use super::super::switch::Switch;
use super::super::vlans::VlanList;
use super::super::vty::{Reply, Vty};
use super::*;

/// A new switch, and its output for some configuration lines.
fn configured(lines: &[&str]) -> (Switch, String) {
    let mut switch = Switch::new("practice", Sensitive::new("canary".to_owned()), || {
        UNIX_EPOCH
    });
    let mut vty = Vty {
        user: "admin".to_owned(),
        mode: Mode::Config,
        rows: 0,
        width: 0,
    };
    let mut output = String::new();
    for line in lines {
        match interpret::run(&mut switch, &mut vty, line, 0) {
            Ok(Reply::Text(text)) | Err(text) => output += &text,
            Ok(other) => panic!("{line}: {other:?}"),
        }
    }
    (switch, output)
}

/// The configuration of the third port after some lines, and the output.
fn port(lines: &[&str]) -> (String, String) {
    let (switch, output) = configured(&[&["interface gi0/3"], lines].concat());
    let config = running::of_interface(&switch.running, InterfaceName::Gigabit(3));
    let lines = config
        .lines()
        .filter(|line| line.starts_with(' '))
        .map(str::trim_start);
    (lines.collect::<Vec<_>>().join("\n"), output)
}

/// The output of one line.
fn output(line: &str) -> String {
    configured(&[line]).1
}

#[test]
fn a_port_keeps_its_configuration() {
    for (lines, config) in [
        (
            &[
                "description to the roof",
                "speed 100",
                "duplex full",
                "mtu 9000",
            ][..],
            "description to the roof\nmtu 9000\nspeed 100\nduplex full",
        ),
        (
            &[
                "switchport mode trunk",
                "switchport trunk allowed vlan 10,20-22",
            ],
            "switchport trunk allowed vlan 10,20-22\nswitchport mode trunk",
        ),
        (
            &[
                "sw tr al vl 10",
                "sw tr al vl add 12,11",
                "sw tr al vl remove 10",
            ],
            "switchport trunk allowed vlan 11,12",
        ),
        (
            &["sw tr al vl remove 2-4094"],
            "switchport trunk allowed vlan 1",
        ),
        (&["sw tr al vl none", "sw tr al vl all"], ""),
        (
            &[
                "switchport trunk native vlan 99",
                "no switchport trunk native vlan",
            ],
            "",
        ),
        (
            &["no switchport", "ip address 10.0.0.1 255.0.0.0", "shutdown"],
            "no switchport\nip address 10.0.0.1 255.0.0.0\nshutdown",
        ),
        (
            &[
                "no switchport",
                "ip address 10.0.0.1 255.0.0.0",
                "switchport",
            ],
            "",
        ),
        (
            &[
                "description x",
                "speed 10",
                "mtu 1501",
                "no mtu",
                "no speed",
                "no description x",
            ],
            "",
        ),
    ] {
        assert_eq!(port(lines), (config.to_owned(), String::new()), "{lines:?}");
    }
    let (config, output) = port(&["shutdown", "default interface gi0/3"]);
    assert_eq!(config, "");
    assert_eq!(
        output,
        "Interface GigabitEthernet0/3 set to default configuration\n"
    );
}

#[test]
fn access_to_a_vlan_that_is_not_there_makes_it() {
    let (switch, output) = configured(&["interface gi0/3", "switchport access vlan 30"]);
    assert_eq!(output, "% Access VLAN does not exist. Creating vlan 30\n");
    assert_eq!(switch.running.vlan_names()[&30], "VLAN0030");
    assert_eq!(
        switch.running.interfaces[&InterfaceName::Gigabit(3)].access_vlan,
        30
    );
}

#[test]
fn addresses_that_cannot_be_are_refused() {
    for (line, refusal) in [
        (
            "ip address 10.0.0.0 255.255.255.0",
            "Bad mask /24 for address 10.0.0.0\n",
        ),
        (
            "ip address 10.0.0.255 255.255.255.0",
            "Bad mask /24 for address 10.0.0.255\n",
        ),
        (
            "ip address 10.0.0.1 255.0.255.0",
            "Bad mask 0xFF00FF00 for address 10.0.0.1\n",
        ),
        (
            "ip address 224.0.0.1 255.0.0.0",
            "Not a valid host address - 224.0.0.1\n",
        ),
        (
            "ip address 192.0.2.77 255.255.255.0",
            "% 192.0.2.0 overlaps with Vlan1\n",
        ),
        (
            "ip address 192.0.0.1 255.0.0.0",
            "% 192.0.0.0 overlaps with Vlan1\n",
        ),
        ("no ip address 10.0.0.1 255.0.0.0", "Invalid address\n"),
        (
            "switchport access vlan 10",
            "Command rejected: Gi0/3 not a switching port.\n",
        ),
    ] {
        let (config, output) = port(&["no switchport", line]);
        assert_eq!(
            (config.as_str(), output.as_str()),
            ("no switchport\nno ip address", refusal)
        );
    }
    let (config, output) = port(&["ip address 10.0.0.1 255.0.0.0"]);
    assert_eq!(
        (config.as_str(), output.as_str()),
        ("", "% IP addresses may not be configured on L2 links.\n")
    );
}

#[test]
fn routes_come_and_go_by_prefix_and_next_hop() {
    let routes = |lines: &[&str]| {
        let (switch, output) = configured(lines);
        let text = running::full(&switch);
        let routes = text
            .lines()
            .filter_map(|line| line.strip_prefix("ip route 10."));
        (routes.map(str::to_owned).collect::<Vec<_>>(), output)
    };
    let two = [
        "ip route 10.0.0.0 255.0.0.0 192.0.2.1",
        "ip route 10.0.0.0 255.0.0.0 null0 250",
    ];
    let config = |config: &[&str]| {
        (
            config.iter().map(|&s| s.to_owned()).collect(),
            String::new(),
        )
    };
    assert_eq!(
        routes(&two),
        config(&["0.0.0 255.0.0.0 192.0.2.1", "0.0.0 255.0.0.0 Null0 250"])
    );
    let then = |line| routes(&[two[0], two[1], line]);
    assert_eq!(
        then("ip route 10.0.0.0 255.0.0.0 Null0"),
        config(&["0.0.0 255.0.0.0 192.0.2.1", "0.0.0 255.0.0.0 Null0"])
    );
    assert_eq!(
        then("no ip route 10.0.0.0 255.0.0.0 Null0 250"),
        config(&["0.0.0 255.0.0.0 192.0.2.1"])
    );
    assert_eq!(then("no ip route 10.0.0.0 255.0.0.0"), config(&[]));
    let missing = "%No matching route to delete\n";
    assert_eq!(then("no ip route 10.0.0.0 255.0.0.0 Null0 7").1, missing);
    assert_eq!(output("no ip route 10.0.0.0 255.0.0.0"), missing);
    assert_eq!(
        output("ip route 10.0.0.1 255.0.0.0 192.0.2.1"),
        "%Inconsistent address and mask\n"
    );
    assert_eq!(
        output("ip route 10.0.0.0 255.0.0.0 192.0.2.10"),
        "%Invalid next hop address (it's this router)\n"
    );
}

#[test]
fn vlans_are_made_named_and_deleted_but_for_the_default_ones() {
    let (switch, output) = configured(&[
        "vlan 30-32",
        "no vlan 31",
        "vlan 30",
        "name garden",
        "vlan 20",
        "no name",
    ]);
    assert_eq!(output, "");
    let names = switch.running.vlan_names();
    assert_eq!(names[&30], "garden");
    assert_eq!(names[&20], "VLAN0020");
    assert!(names.contains_key(&32) && !names.contains_key(&31));
    for (lines, refusal) in [
        (&["no vlan 1"][..], "%Default VLAN 1 may not be deleted.\n"),
        (
            &["vlan 1", "name x"],
            "Default VLAN 1 may not have its name changed.\n",
        ),
        (
            &["vlan 20", "name users"],
            "VLAN name users already in use.\n",
        ),
        (
            &["vlan 5000"],
            "Command rejected: Bad VLAN list - character #5 (EOL) delimits a VLAN\n\
                          number which is out of the range 1..4094.\n",
        ),
    ] {
        assert_eq!(configured(lines).1, refusal);
    }
}

#[test]
fn a_setting_is_added_or_replaced_and_taken_back() {
    let (switch, output) = configured(&[
        "ntp server 192.0.2.5",
        "ntp server 192.0.2.6",
        "no ntp server 192.0.2.5",
        "ip name-server 192.0.2.7",
        "snmp-server location here",
        "snmp-server location  over there",
        "snmp-server contact me",
        "no snmp-server contact",
        "ip domain-name example.org",
    ]);
    assert_eq!(output, "");
    let lines: Vec<&str> = switch.running.lines.iter().map(String::as_str).collect();
    assert_eq!(
        lines,
        [
            "ip domain-name example.org",
            "ip name-server 192.0.2.7",
            "ntp server 192.0.2.6",
            "snmp-server location over there"
        ]
    );
    let text = running::full(&switch);
    assert!(text.contains("lookup\nip domain-name example.org\nip name-server 192.0.2.7\n!\n"));
    assert!(text.contains("!\nsnmp-server location over there\n!\nntp server 192.0.2.6\n!\nline"));
}

#[test]
fn a_global_command_leaves_the_interface() {
    let (switch, output) = configured(&[
        "int gi0/3",
        "no ip route 1.0.0.0 255.0.0.0 Null0",
        "shutdown",
    ]);
    assert!(
        output.contains("No matching route") && output.contains("% Invalid input"),
        "{output}"
    );
    assert!(!switch.running.interfaces[&InterfaceName::Gigabit(3)].shutdown);
    let (switch, _) = configured(&["int gi0/3", "do show clock", "shutdown"]);
    assert!(switch.running.interfaces[&InterfaceName::Gigabit(3)].shutdown);
}

#[test]
fn a_change_is_stamped_and_what_changes_nothing_is_not() {
    let stamp = "! Last configuration change at 00:00:00 UTC Thu Jan 1 1970 by admin\n";
    assert!(running::full(&configured(&["vlan 30"]).0).contains(stamp));
    assert!(!running::full(&configured(&["vlan 20", "name voice"]).0).contains("Last"));
}

#[test]
fn help_is_sorted_and_covers_every_first_word() {
    assert!(HELP.is_sorted_by_key(|(token, _)| *token));
    let modes = [
        Mode::Privileged,
        Mode::Interface(InterfaceName::Gigabit(1)),
        Mode::Vlan(VlanList::default()),
    ];
    for rule in modes.iter().flat_map(rules).flatten() {
        let first = rule.pattern.split(' ').next().expect("a first word");
        assert!(!help(first).is_empty(), "no help for {first}");
    }
}

#[test]
fn no_pattern_stands_twice_in_a_list() {
    let modes = [Mode::Privileged, Mode::Interface(InterfaceName::Gigabit(1))];
    for list in modes.iter().flat_map(rules) {
        let mut patterns: Vec<_> = list.iter().map(|rule| rule.pattern).collect();
        patterns.sort_unstable();
        assert!(patterns.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
