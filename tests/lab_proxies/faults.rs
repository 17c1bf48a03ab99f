//! Proxies that forbid connections, and proxies that end in the middle.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::*;
use crate::support::lab::powerdns;
use crate::support::line::MuteLine;
use crate::support::ovsdb::vsctl;

#[test]
fn a_proxy_that_forbids_connections_is_named_with_its_settings() {
    let mut site = Site::new();
    let device = Device::lease();
    site.proxy("h1", json!({}));
    for proxy in ["closed", "fenced"] {
        site.proxy(proxy, json!({}));
        site.device(&format!("behind-{proxy}"), &device, json!(proxy));
        site.device(&format!("pool-{proxy}"), &device, json!([proxy, "h1"]));
        site.devgate(&format!("verify -t behind-{proxy}"))
            .failed()
            .shows(&[proxy, "AllowTcpForwarding", "PermitOpen"]);
        site.devgate(&format!("verify -t pool-{proxy}")).succeeded();
    }
}

/// A device that speaks without encryption, so that a test sees what passes.
struct PlainDevice {
    name: &'static str,
    port: u64,
    info: Value,
    /// A request that only reads.
    read: &'static str,
    /// A request that changes it, and the command for the target `NAME-change` that sends it.
    change: &'static str,
    command: String,
}

fn plain_devices(site: &mut Site, device: &Device, ovs: &Value, pdns: &Value) -> [PlainDevice; 3] {
    let port = |port: &Value| port.as_u64().expect("a port");
    let project = &mut site.project;
    let config = "exec devgate session exec --config 'interface swp1' ' description rebooted'\n";
    project.write("change.sh", config);
    let mut apply = |target: &str, kind: &str, title: &str| {
        let resources = json!({ kind: { title: {} } }).to_string();
        let manifest = project.write(&format!("{kind}.yaml"), &resources);
        format!("device -t {target}-change --apply {}", manifest.display())
    };
    [
        PlainDevice {
            name: "router",
            port: device.port("vty_port").into(),
            info: json!({
                "remote-transport": "frr", "protocol": "telnet", "password": device.secret("vty_password"),
                "enable_password": device.secret("enable_password"),
            }),
            read: "show version",
            change: "description rebooted",
            command: "session run -t router-change -- sh change.sh".to_owned(),
        },
        PlainDevice {
            name: "switch",
            port: port(&ovs["tcp_port"]),
            info: json!({ "remote-transport": "openvswitch", "protocol": "tcp" }),
            read: "\"select\"",
            change: "\"insert\"",
            command: apply("switch", "ovs_bridge", "rebooted"),
        },
        PlainDevice {
            name: "dns",
            port: port(&pdns["port"]),
            info: json!({ "remote-transport": "powerdns", "protocol": "http", "apikey": pdns["key"] }),
            read: "GET ",
            change: "POST ",
            command: apply("dns", "powerdns_zone", "rebooted.example"),
        },
    ]
}

#[test]
fn when_a_proxy_reboots_reads_are_repeated_and_changes_are_not() {
    let mut site = Site::new();
    let (device, ovs, pdns) = (Device::lease(), lab("ovs"), lab("pdns"));
    site.proxy("h1", json!({}));
    let before = site.processes("h1").len();
    let mut runs = Vec::new();
    for device in plain_devices(&mut site, &device, &ovs, &pdns) {
        let port = u16::try_from(device.port).expect("a port");
        let facts = format!("facts -t {}-read", device.name);
        for (verb, request, command) in [
            ("read", device.read, facts),
            ("change", device.change, device.command),
        ] {
            // The answer never arrives, so that the proxy reboots while it is waited for.
            let line = MuteLine::to(port, request);
            let mut info = device.info.clone();
            info["host"] = "127.0.0.1".into();
            info["port"] = line.port.into();
            info["run-on"] = "h1".into();
            let target = format!("{}-{verb}", device.name);
            site.project.add_target(&target, info);
            let run = site.start(&command);
            runs.push((target, line, run));
        }
    }
    for (target, line, _) in &runs {
        let passed = line.passed.recv_timeout(Duration::from_secs(20));
        passed.unwrap_or_else(|_| panic!("no request of {target}"));
    }
    site.reboot("h1");
    for (target, line, run) in runs {
        let (run, count) = (run.finish(), line.count.load(Ordering::SeqCst));
        if target.ends_with("-read") {
            run.succeeded().shows(&["try 2 follows"]);
            assert!(count > 1, "{target}: {count}");
        } else {
            run.failed().shows(&["not sent again"]);
            assert_eq!(count, 1, "{target}");
        }
    }
    // Each change took effect, and the next command has a new connection.
    let router = device.vtysh("show running-config");
    assert!(router.contains("description rebooted"), "{router}");
    vsctl(text(&ovs, "socket").as_ref(), &["del-br", "rebooted"]);
    let zone = "/zones/rebooted.example.";
    powerdns(&pdns, zone, &["-f", "-X", "DELETE"]);
    site.devgate("verify -t router-*,switch-*,dns-*")
        .succeeded();
    let left = || site.processes("h1").len();
    let ended = Instant::now();
    while left() > before && ended.elapsed() < Duration::from_secs(10) {
        pause(Duration::from_millis(50));
    }
    assert_eq!(left(), before);
    let tmp = fs::read_dir(site.folder_of("h1").join("tmp"));
    assert_eq!(tmp.expect("the host's /tmp").count(), 0);
}
