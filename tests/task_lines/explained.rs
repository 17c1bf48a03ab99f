//! The output of `--explain` about a run that is not started.

use super::*;

#[test]
fn a_run_is_explained_and_does_not_happen() {
    let project = Project::new();
    let metadata = json!({
        "remote": true,
        "supports_noop": true,
        "parameters": { "word": { "type": "String", "sensitive": true } },
        "implementations": [
            { "name": "plan.ps1", "requirements": ["powershell"], "remote": true },
            { "name": "plan.sh", "requirements": ["shell"], "input_method": "environment" },
        ],
    });
    project.task("plan", "#!/bin/sh\ntouch \"$PT_file\"\n");
    project.write("modules/m/tasks/plan.ps1", "");
    project.write("modules/m/tasks/plan.json", &metadata.to_string());
    let remote = json!({ "remote-transport": "frr", "host": "192.0.2.1", "user": "u", "password": "canary1" });
    let behind = json!({ "remote-transport": "frr", "host": "192.0.2.1", "run-on": "proxies" });
    let unknown = json!({ "remote-transport": "nobody", "token": "canary2", "run-on": "proxies" });
    project.write(
        "inventory.yaml",
        &json!({
            "version": 2,
            "targets": [
                { "name": "known", "config": { "transport": "remote", "remote": remote } },
                { "name": "unknown", "config": { "transport": "remote", "remote": unknown } },
                { "name": "behind", "config": { "transport": "remote", "remote": behind } },
            ],
            "groups": [{
                "name": "proxies",
                "targets": ["p1", "p2"],
                "config": { "ssh": { "user": "ops", "password": "canary3", "run-as": "root" } },
            }],
        })
        .to_string(),
    );
    let words = [
        "-t",
        "known,unknown,behind",
        "--explain",
        "--noop",
        "--timeout",
        "5m",
        "word=canary4",
    ];
    let human = project.devgate(&run("m::plan", &words));
    assert!(human.status.success(), "{}", messages_of(&human));
    let text = String::from_utf8_lossy(&human.stdout).into_owned();
    for part in [
        "Would run on known:",
        "plan.sh",
        "this node",
        "ssh ops@p2",
        "as root",
        "PT_word",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    let output = project.devgate(&run(
        "m::plan",
        &[&words[..], &["--format", "json"]].concat(),
    ));
    let document = document(&output);
    let items = document["items"].as_array().expect("items");
    let value = |name: &str| {
        let item = items.iter().find(|item| item["target"] == name);
        &item.expect("an item")["value"]
    };
    let known = value("known");
    assert_eq!(known["implementation"]["name"], "plan.sh");
    assert_eq!(
        known["passed_over"],
        json!({ "plan.ps1": "powershell is missing" })
    );
    assert_eq!(known["limits"]["seconds"], 300.0);
    assert_eq!(known["noop"], true);
    assert_eq!(known["stdin"], false);
    assert_eq!(known["input"]["_target"]["host"], "192.0.2.1");
    assert_eq!(known["input"]["word"], "Sensitive [value redacted]");
    assert_eq!(value("unknown")["hosts"][1]["address"], "ssh ops@p2:22");
    assert_eq!(
        value("unknown")["input"]["_target"]["token"],
        "Sensitive [value redacted]"
    );
    for (name, has_session) in [("known", true), ("unknown", false), ("behind", true)] {
        let variables = value(name)["environment"].as_array().expect("names");
        let found = variables.iter().any(|name| name == "DEVGATE_SESSION");
        assert_eq!(found, has_session, "{name}");
    }
    for output in [human, output] {
        let all = format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            messages_of(&output)
        );
        assert!(!all.contains("canary"), "{all}");
    }
    assert!(!project.0.path().join(".rerun.json").exists());
}
