//! Tests that a report is what Puppet would write.

use devgate_schemas::Seconds;

use super::*;

fn report() -> Report {
    let event =
        |property: &str, previous: Value, desired: Value, message: &str, status| ResourceEvent {
            property: Some(property.to_owned()),
            previous: Some(previous),
            desired: Some(desired),
            message: message.to_owned(),
            status,
            time: "2026-11-21T09:48:53.000000042+00:00".to_owned(),
        };
    let secret = || Value::from("canary").into_sensitive();
    let resource = ResourceReport {
        type_name: "frr_interface".to_owned(),
        title: "swp1".to_owned(),
        reference: "Frr_interface[swp1]".to_owned(),
        file: Some("site.pp".to_owned()),
        line: Some(3),
        tags: vec!["frr_interface".to_owned()],
        path: ["Stage[main]", "Main", "Frr_interface[swp1]"]
            .map(str::to_owned)
            .to_vec(),
        out_of_sync: true,
        changed: true,
        failed: true,
        events: vec![
            event(
                "shutdown",
                true.into(),
                false.into(),
                "shutdown changed true to false",
                EventStatus::Success,
            ),
            event(
                "password",
                secret(),
                secret(),
                "changed [redacted] to [redacted]",
                EventStatus::Failure,
            ),
        ],
        messages: vec![
            "changed [redacted] to [redacted]".to_owned(),
            "it said no".to_owned(),
        ],
        ..ResourceReport::default()
    };
    let mut report = Report {
        resources: vec![resource],
        completed: true,
        started: "2026-11-21T09:48:50.000000042+00:00".to_owned(),
        ..Report::default()
    };
    let seconds = Seconds {
        get: 0.5,
        set: 0.25,
    };
    report.seconds.insert("frr_interface".to_owned(), seconds);
    report.sum_up();
    report
}

#[test]
fn a_report_has_puppets_keys_and_counts_and_no_secrets() {
    let report = puppet_report(&report(), "sw1", "1");
    assert!(!report.to_string().contains("canary"), "{report:#}");
    assert_eq!(report["status"], "failed");
    let status = &report["resource_statuses"]["Frr_interface[swp1]"];
    assert_eq!(
        [
            &status["resource_type"],
            &status["change_count"],
            &status["out_of_sync_count"]
        ],
        [&json!("Frr_interface"), &json!(1), &json!(2)]
    );
    assert_eq!(status["time"], report["time"], "it has none of its own");
    let [shutdown, password] = status["events"].as_array().expect("events").as_slice() else {
        panic!("{status:#}")
    };
    assert_eq!(
        [
            &shutdown["name"],
            &shutdown["redacted"],
            &password["redacted"]
        ],
        [&json!("shutdown_changed"), &json!(false), &json!(true)]
    );
    assert_eq!(
        report["metrics"]["time"]["values"],
        json!([
            ["frr_interface", "Frr interface", 0.75],
            ["config_retrieval", "Config retrieval", 0.0],
            ["total", "Total", 0.75]
        ])
    );
    let logs: Vec<&str> = report["logs"]
        .as_array()
        .expect("logs")
        .iter()
        .filter_map(|log| log["source"].as_str())
        .collect();
    let path = "/Stage[main]/Main/Frr_interface[swp1]";
    let (shutdown, password) = (format!("{path}/shutdown"), format!("{path}/password"));
    assert_eq!(logs, [shutdown.as_str(), password.as_str(), path]);
}

#[test]
fn events_have_the_names_that_puppet_gives_them() {
    let resource = &report().resources[0];
    let name = |property: Option<&str>, desired: Option<&str>, status| {
        let given = ResourceEvent {
            property: property.map(str::to_owned),
            previous: None,
            desired: desired.map(Value::from),
            message: "it said why".to_owned(),
            status,
            time: String::new(),
        };
        event(resource, &given)["name"].clone()
    };
    let success = EventStatus::Success;
    for (property, desired, status, expected) in [
        (
            Some("ensure"),
            Some("present"),
            success,
            "frr_interface_created",
        ),
        (
            Some("ensure"),
            Some("absent"),
            success,
            "frr_interface_removed",
        ),
        (Some("mtu"), Some("absent"), success, "mtu_changed"),
        (None, None, success, "rsapi_custom_insync_trigger_changed"),
        (None, None, EventStatus::Failure, "resource_error"),
    ] {
        assert_eq!(name(property, desired, status), expected);
    }
}

#[test]
fn in_yaml_it_is_the_same_under_the_name_of_puppets_class() {
    let json = puppet_report(&report(), "sw1", "1");
    let yaml = as_puppet_yaml(&json);
    let body = yaml.strip_prefix("--- !ruby/object:Puppet::Transaction::Report\n");
    let body: Json = serde_json::from_str(body.expect("the class")).expect("JSON");
    assert_eq!(body, json);
}
