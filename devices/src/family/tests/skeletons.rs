//! Tests of skeletons: a new family of each protocol passes its test, and lint finds nothing.

use super::super::*;
use super::{folder, recording};

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
        let read = |path: &str| std::fs::read_to_string(folder.path().join(path));
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
    let file = std::fs::read_to_string(folder.path().join("family.yaml")).expect("written");
    assert!(file.contains(r"exec: '[\w.-]+[>#] ?'"), "{file}");
    assert!(file.contains("^FRRouting ${VERSION} -> Record"), "{file}");
    let cases = family
        .test(UpdateExpected::Yes, Comparison::Whole)
        .expect("it runs");
    assert!(cases.iter().all(|case| case.outcome.is_ok()), "{cases:?}");
    let session = std::fs::read_to_string(folder.path().join("cases/recorded/session.json"));
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
