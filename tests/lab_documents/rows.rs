//! The commands that run, each with its scene and its expected output, and those that cannot run.

use super::scenes::Scene;

/// A command that runs: its document, its first line, where it runs, and what it says; it must succeed.
pub(super) struct Row {
    pub(super) document: &'static str,
    pub(super) command: &'static str,
    pub(super) on: Scene,
    pub(super) expected: &'static [&'static str],
}

const fn row(
    document: &'static str,
    command: &'static str,
    on: Scene,
    expected: &'static [&'static str],
) -> Row {
    Row {
        document,
        command,
        on,
        expected,
    }
}

pub(super) const PROTOCOLS: &str = "docs/how-to/protocols.md";
pub(super) const PROXIES: &str = "docs/how-to/proxies.md";
pub(super) const SECRETS: &str = "docs/how-to/secrets.md";
const TASKS: &str = "docs/how-to/tasks.md";
pub(super) const NETCONF: &str = "docs/netconf.md";
const PXP: &str = "docs/pxp.md";
pub(super) const REST: &str = "docs/rest.md";

/// What runs, by scene in this order.
pub(super) const ROWS: &[Row] = &[
    row(
        PROTOCOLS,
        "devgate session exec -t r1 --config 'interface swp1' ' description uplink'",
        Scene::Frr,
        &[],
    ),
    row(
        PROTOCOLS,
        "devgate device -t r1 --resource frr_interface",
        Scene::Frr,
        &["frr_interface { 'swp1':", "description => 'uplink'"],
    ),
    row(
        PROTOCOLS,
        "devgate device -t r1 --apply routes.yaml --noop",
        Scene::Frr,
        &[
            "frr_static_route[10.77.0.0/16 via Null0]: would change",
            "1 resource: 1 would change",
        ],
    ),
    row(
        PROTOCOLS,
        "devgate device -t r1 --apply routes.yaml --rollback on-error",
        Scene::Frr,
        &["1 resource: 1 changed"],
    ),
    row(
        PROTOCOLS,
        "devgate session exec -t sw1 show version",
        Scene::CommandLine,
        &["FRRouting 8."],
    ),
    row(
        PROTOCOLS,
        r#"devgate session get -t r2 'running <interfaces xmlns="urn:ietf:params:xml:ns:yang:ietf-interfaces"/>'"#,
        Scene::Ietf,
        &["<data"],
    ),
    row(
        PROTOCOLS,
        "devgate session set -t r2 - < change.xml",
        Scene::Ietf,
        &[r#""committed": true"#, r#""confirmed": true"#],
    ),
    row(
        PROTOCOLS,
        "devgate device -t r2 --apply interfaces.yaml --rollback on-error",
        Scene::Ietf,
        &["ietf_interface[docs0]: changed", "1 resource: 1 changed"],
    ),
    row(
        TASKS,
        r#"devgate session get -t r2 'state <interfaces xmlns="urn:ietf:params:xml:ns:yang:ietf-interfaces"/>'"#,
        Scene::Ietf,
        &["<name>docs0</name>"],
    ),
    row(
        TASKS,
        "devgate session set -t r2 - < change.xml",
        Scene::Ietf,
        &[r#""committed": true"#],
    ),
    row(
        PROTOCOLS,
        "devgate session get -t r3 ietf-interfaces:interfaces",
        Scene::JetConf,
        &["ietf-interfaces:interfaces"],
    ),
    row(
        PROTOCOLS,
        "devgate session set -t r3 ietf-interfaces:interfaces --method PATCH - < interfaces.json",
        Scene::Restconf,
        &[],
    ),
    row(
        PROTOCOLS,
        "devgate session get -t dns1 /zones",
        Scene::PowerDns,
        &["example.org."],
    ),
    row(
        TASKS,
        "devgate session get -t dns1 /zones",
        Scene::PowerDns,
        &["example.org."],
    ),
    row(
        REST,
        "devgate session get -t dns1 /zones",
        Scene::Rest,
        &["example.org."],
    ),
    row(
        REST,
        "devgate session set -t dns1 /zones/example.org. --method PATCH - < rrsets.json",
        Scene::Rest,
        &[],
    ),
    row(
        PROTOCOLS,
        "devgate session set -t dns1 /zones/example.org. --method DELETE",
        Scene::PowerDns,
        &[],
    ),
    row(
        REST,
        r#"devgate session set -t proxy $'/config/logging\nIf-Match: "1a2b"' --method PUT - < logging.json"#,
        Scene::Caddy,
        &[],
    ),
    row(
        PROTOCOLS,
        "devgate session get -t ovs1 Bridge/name=br0",
        Scene::OpenVSwitch,
        &["br0"],
    ),
    row(
        TASKS,
        "devgate session get -t ovs1 Bridge/name=br0",
        Scene::OpenVSwitch,
        &["br0"],
    ),
    row(
        PROTOCOLS,
        "devgate device -t ovs1 --resource ovs_port",
        Scene::OpenVSwitch,
        &["ovs_port { 'docs1':"],
    ),
    row(
        PROTOCOLS,
        "devgate session get -t ups1 1.3.6.1.2.1.1",
        Scene::Snmp,
        &["agent1.lab.example"],
    ),
    row(
        TASKS,
        "devgate session get -t ups1 1.3.6.1.2.1.1",
        Scene::Snmp,
        &["agent1.lab.example"],
    ),
    row(
        PROTOCOLS,
        "devgate session exec -t leaf1 show version",
        Scene::Eapi,
        &["Software image version: 4.28.3M"],
    ),
    row(
        PROTOCOLS,
        "devgate session get -t leaf1 'show version'",
        Scene::Eapi,
        &[r#""version": "4.28.3M""#],
    ),
    row(
        PROTOCOLS,
        "devgate session get -t fw1 '<show><clock></clock></show>'",
        Scene::Panos,
        &["Mon Nov 23"],
    ),
    row(
        PROTOCOLS,
        "devgate session set -t fw1 '<commit></commit>' --method commit",
        Scene::Panos,
        &["no changes to commit"],
    ),
    row(
        PROTOCOLS,
        "devgate session get -t lb1 tm/ltm/pool",
        Scene::F5,
        &["items"],
    ),
    row(
        PROXIES,
        "devgate task run net::ports -t switches --explain",
        Scene::Proxies,
        &[
            "Would run on sw1",
            "one of:",
            "jump host to jump1.example.com",
            "proxy jump2.example.com",
            "session:     goes this way",
        ],
    ),
    row(
        PROXIES,
        "devgate task run net::ports -t switches",
        Scene::Proxies,
        &["ran for sw1", "ran for sw3", "Successful on 3 targets"],
    ),
    row(
        PROXIES,
        "devgate verify -t sw1",
        Scene::Proxy,
        &["It is reachable and accepts the credentials."],
    ),
    row(
        PROXIES,
        "devgate verify -t sw1 --hops",
        Scene::Proxy,
        &["proxy jump1", "device"],
    ),
    row(
        PROXIES,
        "devgate task run net::ports -t sw1",
        Scene::Proxy,
        &["ran for sw1", "Successful on 1 target"],
    ),
    row(
        PROXIES,
        "devgate session exec -t sw1 show version",
        Scene::Proxies,
        &["FRRouting"],
    ),
    row(
        PROXIES,
        "devgate verify -t sw1 --direct",
        Scene::Proxies,
        &["It is reachable and accepts the credentials."],
    ),
    row(
        SECRETS,
        "mkdir -p keys && age-keygen -o keys/age.txt",
        Scene::Age,
        &["Public key: age1"],
    ),
    row(
        SECRETS,
        "printf %s 'the password' | age -a -r age1... > sw1.age",
        Scene::Age,
        &[],
    ),
    row(
        NETCONF,
        "devgate session get -t r1 ''",
        Scene::Netconf,
        &["<data"],
    ),
    row(
        NETCONF,
        r#"devgate session get -t r1 'startup <system xmlns="urn:ietf:params:xml:ns:yang:ietf-system"/>'"#,
        Scene::Netconf,
        &["<location>here</location>"],
    ),
    row(
        NETCONF,
        r#"devgate session get -t r1 'state /ietf-interfaces:interfaces/interface[name="eth0"]'"#,
        Scene::Netconf,
        &["<name>eth0</name>"],
    ),
    row(
        NETCONF,
        r#"devgate session get -t r1 '<filter type="xpath" xmlns:if="urn:ietf:params:xml:ns:yang:ietf-interfaces" select="/if:interfaces"/>'"#,
        Scene::Netconf,
        &["<data"],
    ),
    row(
        NETCONF,
        "devgate session set -t r1 - <<'XML'",
        Scene::Netconf,
        &[r#""confirmed": true"#, r#""saved": true"#],
    ),
    row(
        NETCONF,
        "devgate session set -t r1 '<get-interface-information><terse/></get-interface-information>' --method rpc",
        Scene::Junos,
        &["<interface-information", "\nge-0/0/1\n"],
    ),
    row(
        NETCONF,
        "devgate session set -t r1 --method rpc - <<'XML'",
        Scene::Netconf,
        &["module ietf-system"],
    ),
    row(
        PXP,
        r#"printf '#!/bin/sh\nexec /usr/bin/devgate --project /srv/net --log-level info pxp serve "$@"\n' > /opt/puppetlabs/pxp-agent/modules/gateway"#,
        Scene::Pxp,
        &[],
    ),
    row(
        PXP,
        "chmod +x /opt/puppetlabs/pxp-agent/modules/gateway",
        Scene::Pxp,
        &[],
    ),
    row(
        PXP,
        "devgate pxp list --modules-dir /opt/puppetlabs/pxp-agent/modules --config-dir /etc/puppetlabs/pxp-agent/modules",
        Scene::Pxp,
        &["gateway", "device_run"],
    ),
    row(
        PXP,
        "devgate pxp show reverse --modules-dir tests/pxp/modules",
        Scene::Pxp,
        &["Turns a text round."],
    ),
    row(
        PXP,
        r#"devgate pxp run reverse string --modules-dir tests/pxp/modules --input '{"argument": "maradona"}'"#,
        Scene::Pxp,
        &["anodaram"],
    ),
    row(
        PXP,
        "devgate pxp run frr facts --modules-dir modules --input @input.json --nonblocking --transaction change-4711",
        Scene::Pxp,
        &["change-4711"],
    ),
    row(
        PXP,
        "devgate pxp status change-4711",
        Scene::Pxp,
        &["change-4711"],
    ),
    row(PXP, "devgate pxp status", Scene::Pxp, &["change-4711"]),
    row(
        PXP,
        "devgate pxp cancel change-4711",
        Scene::Pxp,
        &["change-4711"],
    ),
    row(
        "docs/tutorial.md",
        "mkdir devgate-tutorial && cd devgate-tutorial",
        Scene::Empty,
        &[],
    ),
];

/// What a page has for every inventory entry on it.
pub(super) const EVERY_ENTRY: [(&str, &[&str]); 3] = [
    ("devgate inventory show", &["1 target"]),
    ("devgate verify -t all", &["It is reachable"]),
    ("devgate facts -t all", &["Finished on"]),
];

/// What cannot run, and why.
pub(super) const CANNOT: &[(&str, &str, &str)] = &[
    (
        "docs/tutorial.md",
        "devgate practice --port 2222 --host-key ~/practice.key --replay recorded",
        "it serves until somebody stops it; the tests of records replay their own",
    ),
    (
        "README.md",
        "cargo build --release && export PATH=\"$PWD/target/release:$PATH\"",
        "it builds devgate, which takes minutes; the tests run what was built",
    ),
    (
        "docs/ruby.md",
        "apt-get install puppet-agent ruby-puppet-resource-api",
        "it changes the machine; tests/run installs both packages in this way",
    ),
    (
        NETCONF,
        "devgate session set -t r1 '<command format=\"text\">show version</command>' --method rpc",
        "an operation of Junos that its simulator does not have",
    ),
];
