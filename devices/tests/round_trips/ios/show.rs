//! The outputs of commands that show more than the configuration, made from it.

use std::fmt::Write as _;

use super::lines::{Entry, Lines};

/// What follows these words in the first line that begins with them.
fn find<'l>(lines: &'l [Entry], words: &str) -> Option<&'l str> {
    lines.iter().find_map(|entry| entry.behind(words))
}

fn has(lines: &[Entry], line: &str) -> bool {
    lines.iter().any(|entry| entry.line == line)
}

/// `show vlan`: what is there without a configuration has a row, too.
pub(super) fn vlan(lines: &Lines) -> String {
    let mut text = String::from(
        "\nVLAN Name                             Status    Ports\n\
         ---- -------------------------------- --------- -------------------------------\n\
         1    default                          active    Gi0/3, Gi0/4\n",
    );
    for (number, name, status) in vlans(lines) {
        let status = match status {
            "suspended" => "suspended",
            "shutdown" => "act/lshut",
            _ => "active",
        };
        let _ = writeln!(text, "{number:<4} {name:<32} {status:<9} ");
    }
    text.push_str(
        "1002 fddi-default                     act/unsup \n\
         1005 trnet-default                    act/unsup \n\n\
         VLAN Type  SAID       MTU   Parent RingNo BridgeNo Stp  BrdgMode Trans1 Trans2\n\
         ---- ----- ---------- ----- ------ ------ -------- ---- -------- ------ ------\n\
         1    enet  100001     1500  -      -      -        -    -        0      0   \n",
    );
    text
}

/// `show vlan` of EOS.
pub(super) fn eos_vlan(lines: &Lines) -> String {
    let mut text = String::from(
        "VLAN  Name                             Status    Ports\n\
         ----- -------------------------------- --------- -------------------------------\n\
         1     default                          active    Et1, Et2\n",
    );
    for (number, name, status) in vlans(lines) {
        let status = if status == "suspended" {
            status
        } else {
            "active"
        };
        let _ = writeln!(text, "{number:<5} {name:<32} {status:<9} ");
    }
    text + "\n"
}

/// The number, name and state of each VLAN that is configured.
fn vlans(lines: &Lines) -> Vec<(u16, String, &'static str)> {
    let mut vlans: Vec<_> = lines
        .sections("vlan ")
        .filter_map(|(number, below)| {
            let number = number.parse().ok()?;
            let default = format!("VLAN{number:04}");
            let name =
                find(below, "name ").map_or(default, |name| name.trim_matches('"').to_owned());
            let status = if has(below, "state suspend") {
                "suspended"
            } else if has(below, "shutdown") {
                "shutdown"
            } else {
                "active"
            };
            Some((number, name, status))
        })
        .collect();
    vlans.sort_unstable();
    vlans
}

/// `show interfaces`.
pub(super) fn interfaces(lines: &Lines) -> String {
    let mut text = String::new();
    for (name, below) in lines.sections("interface ") {
        let state = if has(below, "shutdown") {
            "administratively down, line protocol is down"
        } else {
            "up, line protocol is up (connected)"
        };
        let _ = writeln!(text, "{name} is {state} ");
        text.push_str(
            "  Hardware is Gigabit Ethernet, address is 0011.2233.4455 (bia 0011.2233.4455)\n",
        );
        if let Some(description) = find(below, "description ") {
            let _ = writeln!(text, "  Description: {description}");
        }
        let mtu = find(below, "mtu ").unwrap_or("1500");
        let _ = writeln!(
            text,
            "  MTU {mtu} bytes, BW 1000000 Kbit/sec, DLY 10 usec, "
        );
        text.push_str("     reliability 255/255, txload 1/255, rxload 1/255\n");
        text.push_str("  Encapsulation ARPA, loopback not set\n");
    }
    text
}

/// `show interfaces switchport`.
pub(super) fn switchport(lines: &Lines) -> String {
    let mut text = String::new();
    for (name, below) in lines.sections("interface ") {
        let Some(short) = short(name) else { continue };
        let is_routed = has(below, "no switchport");
        let _ = writeln!(text, "Name: {short}");
        let _ = writeln!(
            text,
            "Switchport: {}",
            if is_routed { "Disabled" } else { "Enabled" }
        );
        if is_routed {
            text.push('\n');
            continue;
        }
        let mode = match find(below, "switchport mode ") {
            Some("access") => "static access",
            Some("trunk") => "trunk",
            Some("dynamic desirable") => "dynamic desirable",
            _ => "dynamic auto",
        };
        let _ = writeln!(text, "Administrative Mode: {mode}\nOperational Mode: down");
        let encapsulation = find(below, "switchport trunk encapsulation ").unwrap_or("negotiate");
        let _ = writeln!(
            text,
            "Administrative Trunking Encapsulation: {encapsulation}"
        );
        let negotiates = if has(below, "switchport nonegotiate") {
            "Off"
        } else {
            "On"
        };
        let _ = writeln!(text, "Negotiation of Trunking: {negotiates}");
        let access = find(below, "switchport access vlan ").unwrap_or("1");
        let _ = writeln!(text, "Access Mode VLAN: {access} (default)");
        let native = find(below, "switchport trunk native vlan ").unwrap_or("1");
        let _ = writeln!(text, "Trunking Native Mode VLAN: {native} (default)");
        text.push_str("Administrative Native VLAN tagging: enabled\n");
        let voice = find(below, "switchport voice vlan ").unwrap_or("none");
        let _ = writeln!(text, "Voice VLAN: {voice}");
        text.push_str("Administrative private-vlan host-association: none \n");
        let trunk = find(below, "switchport trunk allowed vlan ").unwrap_or("ALL");
        let trunk = if trunk == "none" { "NONE" } else { trunk };
        write_vlans("Trunking VLANs Enabled: ", trunk, &mut text);
        let pruning = find(below, "switchport trunk pruning vlan ").unwrap_or("2-1001");
        let pruning = if pruning == "none" { "NONE" } else { pruning };
        write_vlans("Pruning VLANs Enabled: ", pruning, &mut text);
        text.push_str("Capture Mode Disabled\nCapture VLANs Allowed: ALL\n\n");
    }
    text
}

/// Long lists of VLANs have several lines.
fn write_vlans(words: &str, vlans: &str, text: &mut String) {
    let mut line = words.to_owned();
    for part in vlans.split_inclusive(',') {
        if line.len() + part.len() > 60 {
            text.push_str(&line);
            line = "\n     ".to_owned();
        }
        line.push_str(part);
    }
    text.push_str(&line);
    text.push('\n');
}

/// The short form of a port's name; none for what is no port.
fn short(name: &str) -> Option<String> {
    [
        ("TenGigabitEthernet", "Te"),
        ("GigabitEthernet", "Gi"),
        ("FastEthernet", "Fa"),
        ("Port-channel", "Po"),
    ]
    .iter()
    .find_map(|(long, short)| Some(format!("{short}{}", name.strip_prefix(long)?)))
}

/// The number of each channel, with its ports and their mode.
fn channels(lines: &Lines) -> Vec<(u16, Vec<(String, &str)>)> {
    let mut channels: Vec<(u16, Vec<(String, &str)>)> = Vec::new();
    for (name, below) in lines.sections("interface ") {
        if let Some(words) = find(below, "channel-group ")
            && let Some((number, mode)) = words.split_once(" mode ")
            && let (Ok(number), Some(short)) = (number.parse(), short(name))
        {
            match channels.iter_mut().find(|(other, _)| *other == number) {
                Some((_, ports)) => ports.push((short, mode)),
                None => channels.push((number, vec![(short, mode)])),
            }
        }
    }
    for (number, _) in lines.sections("interface Port-channel") {
        if let Ok(number) = number.parse()
            && !channels.iter().any(|(other, _)| *other == number)
        {
            channels.push((number, Vec::new()));
        }
    }
    channels.sort_unstable();
    channels
}

/// `show etherchannel detail`.
pub(super) fn etherchannel_detail(lines: &Lines) -> String {
    let mut text = String::from(
        "                Channel-group listing: \n                ----------------------\n\n",
    );
    for (number, ports) in channels(lines) {
        let _ = writeln!(text, "Group: {number} \n----------");
        text.push_str("Group state = L2 \n");
        let _ = writeln!(text, "Ports: {}   Maxports = 8", ports.len());
        text.push_str("                Ports in the group:\n                -------------------\n");
        for (port, mode) in &ports {
            let mode = match *mode {
                "active" => "Active",
                "passive" => "Passive",
                "desirable" => "Desirable-Sl",
                "auto" => "Automatic-Sl",
                _ => "On",
            };
            let _ = writeln!(text, "Port: {port}\n------------\n");
            text.push_str("Port state    = Down Not-in-Bndl\n");
            let _ = writeln!(
                text,
                "Channel group = {number}           Mode = {mode}          Gcchange = -"
            );
            let _ = writeln!(
                text,
                "Port-channel  = Po{number}         GC   =   -             Pseudo port-channel = Po{number}\n"
            );
        }
        text.push_str("                Port-channels in the group: \n                ---------------------------\n\n");
        let _ = writeln!(text, "Port-channel: Po{number}\n------------\n");
    }
    text
}

/// `show etherchannel summary`.
pub(super) fn etherchannel_summary(lines: &Lines) -> String {
    let mut text = String::from(
        "Flags:  D - down        P - bundled in port-channel\n        M - not in use, minimum links not met\n\n\
         Number of channel-groups in use: 1\nNumber of aggregators:           1\n\n\
         Group  Port-channel  Protocol    Ports\n\
         ------+-------------+-----------+-----------------------------------------------\n",
    );
    for (number, ports) in channels(lines) {
        let protocol = match ports.first() {
            Some((_, "active" | "passive")) => "LACP",
            Some((_, "desirable" | "auto")) => "PAgP",
            _ => "-",
        };
        let channel = format!("Po{number}(SD)");
        let _ = write!(text, "{number:<6} {channel:<14}{protocol:^10}");
        for (place, (port, _)) in ports.iter().enumerate() {
            if place > 0 && place % 4 == 0 {
                let _ = write!(text, "\n{:32}", "");
            }
            let _ = write!(text, " {:<11}", format!("{port}(D)"));
        }
        text.push('\n');
    }
    text
}

/// `show access-lists`. A standard list names hosts and networks in its own way.
pub(super) fn access_lists(lines: &Lines) -> String {
    let mut text = String::new();
    for (name, below) in lines.sections("ip access-list ") {
        let Some((kind, name)) = name.split_once(' ') else {
            continue;
        };
        let title = if kind == "standard" {
            "Standard"
        } else {
            "Extended"
        };
        let _ = writeln!(text, "{title} IP access list {name}");
        for entry in below {
            let words: Vec<&str> = entry.line.split(' ').collect();
            let line = match words.as_slice() {
                [number, action, "host", host] if kind == "standard" => {
                    format!("{number} {action} {host}")
                }
                [number, action, network, wildcard]
                    if kind == "standard" && wildcard.contains('.') =>
                {
                    format!("{number} {action} {network}, wildcard bits {wildcard}")
                }
                _ => entry.line.clone(),
            };
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

/// `show snmp user`: the users of version 3, which the configuration does not show.
pub(super) fn snmp_user(lines: &Lines) -> String {
    let mut text = String::new();
    for (words, _) in lines.sections("snmp-server user ") {
        let words: Vec<&str> = words.split(' ').collect();
        let ([name, group, ..], true) = (words.as_slice(), words.contains(&"v3")) else {
            continue;
        };
        let behind = |word: &str| {
            let at = words.iter().position(|other| *other == word)?;
            words.get(at + 1).copied()
        };
        let auth = behind("auth").map_or_else(|| "None".to_owned(), str::to_uppercase);
        let privacy = match behind("priv") {
            Some("aes") => format!("AES{}", behind("aes").unwrap_or("128")),
            Some(other) => other.to_uppercase(),
            None => "None".to_owned(),
        };
        let _ = writeln!(text, "\nUser name: {name}");
        text.push_str("Engine ID: 800000090300001122334455\nstorage-type: nonvolatile\t active\n");
        let _ = writeln!(
            text,
            "Authentication Protocol: {auth}\nPrivacy Protocol: {privacy}\nGroup-name: {group}"
        );
    }
    text
}
