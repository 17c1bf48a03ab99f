//! Devices of every protocol, on every way through proxies.

use super::*;
use crate::support::lab::powerdns;
use crate::support::ovsdb::vsctl;

/// A kind of device beside the routers.
pub(super) struct Kind<'k> {
    pub(super) name: &'static str,
    /// The connection info, without the way.
    pub(super) info: Value,
    /// One of its facts, and the expected value if it is known.
    fact: (&'static str, Option<&'static str>),
    change: Option<Change<'k>>,
}

/// A change that its family can make.
struct Change<'k> {
    resource_type: &'static str,
    attributes: Value,
    /// Attributes that the device refuses, if the family can undo a run.
    refused: Option<Value>,
    /// Whether the device itself shows the resource.
    shows: Box<dyn Fn(&str) -> bool + 'k>,
}

/// Returns one device of each kind.
pub(super) fn kinds(netconf: &Server) -> [Kind<'_>; 4] {
    let (ovs, pdns, snmp) = (lab("ovs"), lab("pdns"), lab("snmpd"));
    let pki = |file: &str| format!("{}/{file}", text(&ovs, "pki"));
    let switch = json!({
        "remote-transport": "openvswitch", "host": "127.0.0.1", "port": ovs["ssl_port"],
        "ssl_ca_file": pki("ca.pem"), "ssl_cert_file": pki("client.pem"), "ssl_key_file": pki("client.key"),
    });
    let dns = json!({
        "remote-transport": "powerdns", "protocol": "http", "host": "127.0.0.1", "port": pdns["port"],
        "apikey": pdns["key"],
    });
    let agent = json!({
        "remote-transport": "snmp", "host": "127.0.0.1", "port": snmp["port"], "user": "privuser",
        "auth_protocol": "SHA-256", "auth_password": snmp["auth_password"],
        "priv_protocol": "AES", "priv_password": snmp["priv_password"],
    });
    [
        Kind {
            name: "switch",
            info: switch,
            fact: ("/openvswitch/bridges", None),
            change: Some(Change {
                resource_type: "ovs_bridge",
                attributes: json!({ "fail_mode": "secure" }),
                refused: None,
                shows: Box::new(move |title| {
                    vsctl(text(&ovs, "socket").as_ref(), &["list-br"]).contains(title)
                }),
            }),
        },
        Kind {
            name: "dns",
            info: dns,
            fact: ("/os/name", Some("PowerDNS")),
            change: Some(Change {
                resource_type: "powerdns_zone",
                attributes: json!({ "kind": "Native" }),
                refused: None,
                shows: Box::new(move |title| powerdns(&pdns, "/zones", &[]).contains(title)),
            }),
        },
        Kind {
            name: "netconf",
            info: netconf.connection_info(),
            fact: ("/netconf/capabilities", None),
            change: Some(Change {
                resource_type: "ietf_interface",
                attributes: json!({ "type": "softwareLoopback" }),
                refused: Some(json!({ "type": "noSuchType" })),
                shows: Box::new(|title| netconf.interface(title) != "nothing"),
            }),
        },
        Kind {
            name: "agent",
            info: agent,
            fact: ("/networking/hostname", Some("agent1")),
            change: None,
        },
    ]
}

/// The names of the ways.
const WAYS: [&str; 3] = ["one", "pool", "jumps"];

/// Adds proxies, and every device on every way.
fn add_ways(site: &mut Site, kinds: &[Kind<'_>]) {
    site.jumps(&[("first", "narrow"), ("second", "h3")]);
    site.proxy("h1", json!({}));
    site.proxy("h2", json!({}));
    let behind = json!({ "proxyjump": "first,second", "load-config": true });
    site.proxy_named("behind", "h4", behind);
    for kind in kinds {
        for (way, run_on) in
            WAYS.into_iter()
                .zip([json!("h1"), json!(["h1", "h2"]), json!("behind")])
        {
            let mut info = kind.info.clone();
            info["run-on"] = run_on;
            site.project
                .add_target(&format!("{}-{way}", kind.name), info);
        }
    }
}

/// Applies one resource to each device that can be changed, on one way, all at once.
fn apply(site: &mut Site, kinds: &[Kind<'_>], way: &str, ensure: &str) -> Vec<Run> {
    let changes = kinds
        .iter()
        .filter_map(|kind| Some((kind.name, kind.change.as_ref()?)));
    let runs = changes.map(|(name, change)| {
        let mut attributes = change.attributes.clone();
        attributes["ensure"] = json!(ensure);
        let resources = json!({ change.resource_type: { title(way): attributes } });
        start(site, &format!("{name}-{way}"), resources, "")
    });
    let runs: Vec<Running> = runs.collect();
    runs.into_iter().map(|run| run.finish()).collect()
}

fn start(site: &mut Site, target: &str, resources: Value, options: &str) -> Running {
    let manifest = site
        .project
        .write(&format!("{target}.yaml"), &resources.to_string());
    site.start(&format!(
        "device -t {target} --apply {} {options}",
        manifest.display()
    ))
}

/// Returns the resource's title: a bridge, a zone or an interface.
fn title(way: &str) -> String {
    format!("{way}.example")
}

#[test]
fn every_protocol_goes_through_one_proxy_a_pool_and_two_jump_hosts() {
    let mut site = Site::new();
    let netconf = Server::lease("candidate");
    let kinds = kinds(&netconf);
    add_ways(&mut site, &kinds);
    let all = "switch-*,dns-*,netconf-*,agent-*";
    let jumps = ["narrow", "h3", "h4"];
    let logins = |site: &Site| jumps.map(|host| site.logged(host, "Accepted publickey"));
    let before = logins(&site);
    site.devgate(&format!("verify -t {all}")).succeeded();
    let once = before.map(|count| count + 1);
    assert_eq!(logins(&site), once, "all devices share the jump hosts");

    let changed = || kinds.iter().filter_map(|kind| kind.change.as_ref());
    for way in WAYS {
        for expected in ["1 changed", "1 unchanged"] {
            for run in apply(&mut site, &kinds, way, "present") {
                run.succeeded().shows(&[expected]);
            }
        }
        for change in changed() {
            assert!((change.shows)(&title(way)), "{}", change.resource_type);
        }
    }
    let facts = site.devgate(&format!("facts -t {all} --format json"));
    let facts = facts.succeeded().json();
    for kind in &kinds {
        for way in WAYS {
            let name = format!("{}-{way}", kind.name);
            let mut items = facts["items"].as_array().expect("items").iter();
            let item = items.find(|item| item["target"] == name.as_str());
            let fact = item.and_then(|item| item["value"].pointer(kind.fact.0));
            let fact = fact.unwrap_or_else(|| panic!("{name}: {facts:#}"));
            assert!(
                kind.fact.1.is_none_or(|known| fact == known),
                "{name}: {fact}"
            );
        }
    }
    for kind in &kinds {
        let Some(change) = &kind.change else { continue };
        site.devgate(&format!(
            "device -t {}-* --resource {}",
            kind.name, change.resource_type
        ))
        .succeeded()
        .shows(&WAYS.map(title).each_ref().map(String::as_str));
        // What fails is undone, where the family can.
        let Some(refused) = &change.refused else {
            continue;
        };
        for way in WAYS {
            let resources = json!({ change.resource_type: { title(way): { "ensure": "absent" }, "refused": refused } });
            let run = start(
                &mut site,
                &format!("{}-{way}", kind.name),
                resources,
                "--rollback on-error",
            );
            run.finish().failed().shows(&["rolled back"]);
            assert!((change.shows)(&title(way)), "{way}");
        }
    }
    for way in WAYS {
        for run in apply(&mut site, &kinds, way, "absent") {
            run.succeeded().shows(&["1 changed"]);
        }
        for change in changed() {
            assert!(!(change.shows)(&title(way)), "{}", change.resource_type);
        }
    }
}
