//! What a proxy sees of the secrets of the devices behind it: nothing.

use super::*;

#[test]
fn every_protocol_goes_through_a_proxy_and_no_secret_of_a_device_is_in_its_memory() {
    let mut site = Site::new();
    let device = Device::lease();
    site.proxy("h1", json!({}));
    site.device("router", &device, json!("h1"));
    let (ovs, pdns, netconf, snmp) = (lab("ovs"), lab("pdns"), lab("netconf"), lab("snmpd"));
    let pki = |file: &str| format!("{}/{file}", text(&ovs, "pki"));
    for (name, info) in [
        (
            "switch",
            json!({
                "remote-transport": "openvswitch", "port": ovs["ssl_port"], "ssl_ca_file": pki("ca.pem"),
                "ssl_cert_file": pki("client.pem"), "ssl_key_file": pki("client.key"),
            }),
        ),
        (
            "dns",
            json!({
                "remote-transport": "powerdns", "protocol": "http", "port": pdns["port"], "apikey": pdns["key"],
            }),
        ),
        (
            "netconf",
            json!({
                "remote-transport": "ietf", "port": netconf["devices"][0]["port"], "user": "admin",
                "password": netconf["users"]["admin"]["password"], "known_hosts_file": netconf["known_hosts"],
            }),
        ),
        (
            "agent",
            json!({
                "remote-transport": "snmp", "port": snmp["port"], "user": "privuser",
                "auth_protocol": "SHA-256", "auth_password": snmp["auth_password"],
                "priv_protocol": "AES", "priv_password": snmp["priv_password"],
            }),
        ),
    ] {
        let mut info = info;
        info["host"] = "127.0.0.1".into();
        info["run-on"] = "h1".into();
        site.project.add_target(name, info);
    }
    let all = "router,switch,dns,netconf,agent";
    site.devgate(&format!("verify -t {all}")).succeeded();
    let facts = site.devgate(&format!("facts -t {all} --format json"));
    assert_eq!(facts.succeeded().json()["target_count"], 5);
    // While a session is open: the proxy sees only what is encrypted between this node and the device.
    let program = "until [ -e done ]; do sleep 0.05; done";
    site.project.write(
        "program.sh",
        &format!("devgate session exec 'show version' >/dev/null; : >open; {program}\n"),
    );
    let running = site.start("session run -t router -- sh program.sh");
    while !site.project.path().join("open").exists() {
        pause(Duration::from_millis(20));
    }
    let processes = site.processes("h1");
    assert!(processes.len() > 2, "{processes:?}");
    let hit = processes
        .iter()
        .find(|pid| memory_contains(pid, device.password().as_bytes()));
    site.project.write("done", "");
    running.finish().succeeded();
    assert_eq!(hit, None, "a process of the proxy holds the password");
}

/// Whether the memory of a process contains these bytes.
fn memory_contains(pid: &str, wanted: &[u8]) -> bool {
    use std::os::unix::fs::FileExt;
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let Ok(memory) = fs::File::open(format!("/proc/{pid}/mem")) else {
        return false;
    };
    let ranges = maps.lines().filter_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (from, until) = range.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let is_writable = rest.starts_with("rw");
        is_writable.then_some((number(from)?, number(until)?))
    });
    ranges.into_iter().any(|(from, until)| {
        let mut bytes = vec![0; usize::try_from(until - from).expect("it is in memory")];
        let read = memory.read_at(&mut bytes, from).unwrap_or_default();
        bytes[..read]
            .windows(wanted.len())
            .any(|window| window == wanted)
    })
}
