//! Tests of skeletons: a new family of each protocol passes its test, and lint finds nothing.

use devgate_schemas::Value;

use super::folder;
use super::recordings::recording;
use super::*;

/// Makes the skeleton's files, and loads the family.
fn made(skeleton: &Skeleton) -> (tempfile::TempDir, Family) {
    let files: Vec<(&str, &str)> = skeleton
        .files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let folder = folder(&files);
    let family = Family::load(folder.path()).unwrap_or_else(|error| panic!("{error}"));
    (folder, family)
}

#[test]
fn a_new_family_of_each_protocol_passes_its_test_and_is_clean() {
    for protocol in devgate_transports::all() {
        let protocol = protocol.schema().name();
        let skeleton = Skeleton::new("acme", protocol, None).expect("it is made");
        let (folder, family) = made(&skeleton);
        let cases = family
            .test(UpdateExpected::Yes, Comparison::Whole)
            .expect("it runs");
        assert!(
            cases.iter().all(|case| case.outcome.is_ok()),
            "{protocol}: {cases:?}"
        );
        let read = |path: &str| fs::read_to_string(folder.path().join(path));
        let facts = read("cases/facts/facts.json").expect("written");
        assert!(facts.contains("\"name\": \"acme\""), "{protocol}: {facts}");
        assert!(!facts.contains("told"), "{protocol}: {facts}");
        if let Ok(resources) = read("cases/acme_vlan_read/resources.json") {
            assert!(resources.contains("users"), "{protocol}: {resources}");
            let lines = read("cases/acme_vlan_set/lines.txt").expect("no error");
            assert!(lines.contains("visitors"), "{protocol}: {lines}");
        }
        let findings = family.lint().expect("it is read");
        assert_eq!(findings, [], "{protocol}");
    }
}

#[test]
fn a_recording_gives_the_prompt_the_version_and_a_case() {
    let skeleton = Skeleton::new("acme", "ssh_cli", Some(&recording())).expect("it is made");
    let (folder, family) = made(&skeleton);
    let file = fs::read_to_string(folder.path().join("family.yaml")).expect("written");
    assert!(file.contains(r"exec: '[\w.-]+[>#] ?'"), "{file}");
    assert!(file.contains("^FRRouting ${VERSION} -> Record"), "{file}");
    let cases = family
        .test(UpdateExpected::Yes, Comparison::Whole)
        .expect("it runs");
    assert!(cases.iter().all(|case| case.outcome.is_ok()), "{cases:?}");
    let session = fs::read_to_string(folder.path().join("cases/recorded/session.json"));
    assert!(session.expect("written").contains("\"full\": \"8.4.4\""));
    assert_eq!(family.lint().expect("it is read"), []);
}

#[test]
fn a_name_or_a_protocol_that_cannot_be_is_refused() {
    let message = |name, protocol| {
        Skeleton::new(name, protocol, None)
            .expect_err("refused")
            .to_string()
    };
    assert!(message("Acme", "ssh_cli").contains("lower-case"));
    assert!(message("acme", "sshcli").contains("did you mean `ssh_cli`?"));
}

#[test]
fn a_type_of_a_table_of_attributes_is_valid_over_each_protocol() {
    let attributes = serde_json::json!({
        "name": {"type": "String", "behaviour": "namevar"},
        "vrf": {"type": "String", "behaviour": "namevar"},
        "ensure": {"type": "Enum[present, absent]", "default": "present"},
        "mtu": {"type": "Optional[Integer[64, 9000]]", "desc": "Its \"MTU\"."},
        "shutdown": {"type": "Optional[Boolean]"},
        "name_servers": {"type": "Optional[Array[String]]"},
        "description": {"type": "Optional[String]"},
        "serial": {"type": "Optional[String]", "behaviour": "read_only"},
    });
    let singleton = serde_json::json!({
        "name": {"type": "String", "behaviour": "namevar", "default": "settings"},
        "domain": {"type": "Optional[String]"},
    });
    let unnamed = serde_json::json!({ "level": {"type": "Optional[Integer]"} });
    let table = |name: &str, attributes: &serde_json::Value| TypeTable {
        name: name.to_owned(),
        attributes: attributes
            .as_object()
            .cloned()
            .unwrap_or_default()
            .into_iter()
            .collect(),
        ..TypeTable::default()
    };
    for protocol in ["ssh_cli", "rest", "netconf", "ovsdb"] {
        let skeleton = Skeleton::new("acme", protocol, None).expect("it is made");
        let (folder, family) = made(&skeleton);
        for (name, attributes) in [
            ("acme_port", &attributes),
            ("acme_dns", &singleton),
            ("acme_log", &unnamed),
        ] {
            let text = family
                .type_skeleton(&table(name, attributes))
                .expect("it is made");
            let path = folder.path().join(format!("types/{name}.yaml"));
            fs::write(path, text).expect("written");
        }
        let family =
            Family::load(folder.path()).unwrap_or_else(|error| panic!("{protocol}: {error}"));
        family
            .test(UpdateExpected::Yes, Comparison::Whole)
            .expect("templates compile");
        if protocol != "ssh_cli" {
            continue;
        }
        let of = |name: &str| {
            family
                .types()
                .find(|kind| kind.schema().name() == name)
                .expect("it is there")
        };
        let output = "port e1 red\n mtu 1500\n shutdown\n name servers a\n name servers b\n";
        let found = of("acme_port").parse(output, None).expect("it is read");
        assert_eq!(
            serde_json::json!(found),
            serde_json::json!([{
                "title": "e1 red", "name": "e1", "vrf": "red", "ensure": "present", "mtu": 1500, "shutdown": true,
                "name_servers": ["a", "b"],
            }])
        );
        let found = of("acme_dns")
            .parse("domain example.org\n", None)
            .expect("it is read");
        assert_eq!(found[0].get("domain"), Some(&Value::from("example.org")));
        let found = of("acme_log").parse("level 5\n", None).expect("it is read");
        assert_eq!(
            serde_json::json!(found),
            serde_json::json!([{ "name": "settings", "level": 5 }])
        );
    }
    let family = made(&Skeleton::new("acme", "ssh_cli", None).expect("it is made")).1;
    let wrong = table(
        "x",
        &serde_json::json!({"a": {"type": "Strng", "behaviour": "namevar"}}),
    );
    let error = family
        .type_skeleton(&wrong)
        .expect_err("no such type")
        .to_string();
    assert!(error.contains("unresolved type 'Strng'"), "{error}");
    let unnamed = serde_json::json!({"ensure": {"type": "Enum[present, absent]"}, "mtu": {"type": "Integer"}});
    let error = family
        .type_skeleton(&table("x", &unnamed))
        .expect_err("nothing names it")
        .to_string();
    assert!(error.contains("namevar"), "{error}");
}
