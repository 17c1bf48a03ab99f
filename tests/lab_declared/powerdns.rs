//! Zones, records and facts of a real PowerDNS.

use serde_json::{Value, json};

use super::{Lifecycle, apply, messages_on, requests_of};
use crate::support::lab::{command_for, lab, output, powerdns, text};
use crate::support::project::Project;

/// Queries PowerDNS without devgate.
fn curl(lab: &Value, method: &str, path: &str, body: &str) -> String {
    powerdns(lab, path, &["-f", "-X", method, "-d", body])
}

/// Queries its database.
fn sqlite(lab: &Value, query: &str) -> String {
    output(command_for("sqlite3").args([&format!("{}/pdns.db", text(lab, "dir")), query]))
}

fn server(lab: &Value) -> Project {
    let mut project = Project::new();
    project.add_target(
        "it",
        json!({
            "remote-transport": "powerdns", "protocol": "http", "host": "127.0.0.1", "port": lab["port"],
            "apikey": text(lab, "key"),
        }),
    );
    project
}

#[test]
fn zones_and_records_of_a_name_server_live_as_declared() {
    let lab = lab("pdns");
    let reverse = "0/25.2.0.192.in-addr.arpa";
    let life = Lifecycle {
        present: json!({
            "powerdns_zone": {
                "decl.example": { "kind": "Primary", "account": "lab", "nameservers": ["ns1.decl.example."] },
                reverse: {},
            },
            "powerdns_record": {
                "www.decl.example A in decl.example": { "content": ["192.0.2.2", "192.0.2.1"], "ttl": 60 },
                "decl.example MX in decl.example.": { "content": ["10 mail.decl.example."] },
                (format!("1.{reverse} PTR in {reverse}")): { "content": ["www.decl.example."] },
            },
        }),
        absent: json!({
            "powerdns_record": { "decl.example MX in decl.example": { "ensure": "absent" } },
            "powerdns_zone": { "decl.example": { "ensure": "absent" }, reverse: { "ensure": "absent" } },
        }),
        change_externally: &|| {
            let body = r#"{"rrsets": [{"name": "www.decl.example.", "type": "A", "ttl": 60, "changetype": "REPLACE",
                "records": [{"content": "192.0.2.99", "disabled": false}]}]}"#;
            curl(&lab, "PATCH", "/zones/decl.example.", body);
        },
        seen: &|| {
            sqlite(
                &lab,
                "select d.name, d.type, d.account, r.name, r.type, r.content, r.ttl from domains d join records r on \
                 r.domain_id = d.id where r.type != 'SOA' and (d.name = 'decl.example' or d.name like '0/25%') \
                 order by 1, 4, 5, 6",
            )
        },
    };
    life.walk(&mut server(&lab));
}

#[test]
fn what_a_name_server_refuses_is_named_and_the_rest_of_its_zone_is_made() {
    let lab = lab("pdns");
    let mut project = server(&lab);
    let mut records: serde_json::Map<String, Value> = (0..40)
        .map(|number| {
            (
                format!("h{number}.many.example A in many.example"),
                json!({ "content": [format!("192.0.2.{number}")] }),
            )
        })
        .collect();
    let wrong = "h17.many.example A in many.example";
    records[wrong]["content"] = json!(["no address"]);
    records.insert(
        "x.nowhere.example A in nowhere.example".to_owned(),
        json!({ "content": ["192.0.2.1"] }),
    );
    let zones = json!({ "powerdns_zone": { "many.example": {}, "other.example": {} } });
    apply(&mut project, &zones, "");
    let (counts, value) = apply(&mut project, &json!({ "powerdns_record": records }), "");
    assert_eq!(counts, [39, 2, 0], "{value:#}");
    assert!(messages_on(&value, wrong).contains("422"), "{value:#}");
    assert!(
        messages_on(&value, "x.nowhere.example A in nowhere.example").contains("404"),
        "{value:#}"
    );
    let count = sqlite(
        &lab,
        "select count(*) from records where name like 'h%.many.example'",
    );
    assert_eq!(count.trim(), "39");
    // Of the two zones, only the one with declared records is read.
    let one = json!({ "powerdns_record": { "h1.many.example A in many.example": { "content": ["192.0.2.1"] } } });
    assert_eq!(
        requests_of(&mut project, &one),
        [
            "/servers/localhost/zones",
            "/servers/localhost/zones/many.example."
        ]
    );
    let removal = json!({ "powerdns_zone": { "many.example": { "ensure": "absent" }, "other.example": { "ensure": "absent" } } });
    assert_eq!(apply(&mut project, &removal, "").0, [2, 0, 0]);
}

#[test]
fn a_name_server_reports_facts_by_its_api() {
    let lab = lab("pdns");
    let project = server(&lab);
    let facts = project
        .devgate("facts -t it --format json")
        .succeeded()
        .item()["value"]
        .clone();
    let server: Value = serde_json::from_str(&curl(&lab, "GET", "", "")).expect("JSON");
    assert_eq!(
        facts.pointer("/os/release/full"),
        Some(&server["version"]),
        "{facts:#}"
    );
    assert!(
        facts
            .pointer("/system_uptime/seconds")
            .is_some_and(Value::is_u64),
        "{facts:#}"
    );
}
