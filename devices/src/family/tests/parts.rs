//! Tests of cases in folders, of those that are wrong, and of those that compare a part.

use std::fs;

use super::folder;
use super::*;

const TYPE: &str = r"name: acme_vlan
desc: A VLAN.
attributes:
  id: { type: 'Integer[1, 4094]', behaviour: namevar, desc: Its number. }
  name: { type: 'Optional[String]', desc: Its name. }
title_patterns: ['\A(?<id>\d+)\z']
cli:
  get:
    command: show vlan
    textfsm: |
      Value ID (\d+)
      Value NAME (\S+)

      Start
        ^${ID} ${NAME} -> Record
    resource: { id: ID, name: NAME }
  create: |
    vlan {{ id }}
     name {{ name }}
";

fn family(folder: &tempfile::TempDir) -> Family {
    Family::load(folder.path()).unwrap_or_else(|error| panic!("{error}"))
}

fn outcomes(cases: Vec<CaseResult>) -> Vec<(String, Option<String>)> {
    let pairs = cases.into_iter();
    pairs.map(|case| (case.name, case.outcome.err())).collect()
}

#[test]
fn a_folder_of_folders_of_cases_is_tested_and_a_part_of_each_compared() {
    let case = "desc: x\ntype: acme_vlan\n";
    let output = "10 users\n20 guests\n";
    let folder = folder(&[
        (
            "family.yaml",
            "{name: acme, desc: ACME, protocol: ssh_cli, dialect: {enter_config: configure}}",
        ),
        ("types/acme_vlan.yaml", TYPE),
        ("elsewhere/a/one/case.yaml", case),
        ("elsewhere/a/one/show vlan.txt", output),
        (
            "elsewhere/a/one/resources.json",
            r#"[{"id": 20, "name": "guests"}]"#,
        ),
        (
            "elsewhere/a/two/case.yaml",
            "desc: x\ntype: acme_vlan\npartial: true\n",
        ),
        ("elsewhere/a/two/show vlan.txt", output),
        (
            "elsewhere/a/two/resources.json",
            r#"[{"id": 10, "name": "x"}]"#,
        ),
        ("elsewhere/b/case.yaml", "descr: x\n"),
        ("elsewhere/readme.txt", "Ours.\n"),
    ]);
    let family = family(&folder);
    let at = folder.path().join("elsewhere");
    let test = |refresh| {
        family
            .test_folder(&at, refresh, Comparison::Part)
            .expect("there are cases")
    };
    let found = outcomes(test(UpdateExpected::No));
    assert_eq!(found[0], ("elsewhere/a/one".to_owned(), None));
    assert_eq!(
        found[1],
        (
            "elsewhere/a/two".to_owned(),
            Some(
                "line 4: expected `    \"name\": \"x\"`, found `    \"name\": \"users\"`"
                    .to_owned()
            )
        )
    );
    let (name, problem) = &found[2];
    assert_eq!(name, "elsewhere/b");
    assert!(
        problem
            .as_ref()
            .is_some_and(|it| it.contains("unknown key `descr`")),
        "{problem:?}"
    );
    test(UpdateExpected::Yes);
    let updated = fs::read_to_string(at.join("a/two/resources.json")).expect("it is there");
    let updated: serde_json::Value = serde_json::from_str(&updated).expect("JSON");
    assert_eq!(updated, serde_json::json!([{"id": 10, "name": "users"}]));
    let error = family.test_folder(
        &folder.path().join("types"),
        UpdateExpected::No,
        Comparison::Whole,
    );
    let error = error.expect_err("there is no case").to_string();
    assert!(error.contains("there is no case.yaml in"), "{error}");
}

#[test]
fn a_wrong_title_is_the_error_of_its_case_with_a_path_in_the_family() {
    let folder = folder(&[
        (
            "family.yaml",
            "{name: acme, desc: ACME, protocol: ssh_cli, dialect: {enter_config: configure}}",
        ),
        ("types/acme_vlan.yaml", TYPE),
        (
            "cases/one/case.yaml",
            "desc: x\ntype: acme_vlan\nchanges:\n- { title: x, should: { name: y } }\n",
        ),
        (
            "cases/two/case.yaml",
            "desc: x\ntype: acme_vlan\nchanges:\n- { title: '10', should: { name: y } }\n",
        ),
    ]);
    let family = family(&folder);
    let found = family
        .test(UpdateExpected::Yes, Comparison::Whole)
        .expect("it runs");
    assert!(found.iter().all(|case| case.outcome.is_ok()), "{found:?}");
    let text = |path: &str| fs::read_to_string(folder.path().join(path)).expect("it was written");
    let error = text("cases/one/error.txt");
    assert!(
        error.starts_with("cases/one/case.yaml:4:3: at changes[0]: "),
        "{error}"
    );
    assert_eq!(text("cases/two/lines.txt"), "vlan 10\n name y\n");
}
