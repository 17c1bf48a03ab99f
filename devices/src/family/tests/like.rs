//! Tests of types that are like another one.

use serde_json::json;

use super::*;

const FAMILY: &str = "name: acme\ndesc: x\nprotocol: ssh_cli\ndialect: {}\n";

const ONE: &str = r"name: acme_one
desc: One.
attributes:
  list: { type: String, behaviour: namevar, desc: The list. }
  number: { type: Integer, behaviour: namevar, desc: The number. }
  text: { type: 'Optional[String]', desc: The text. }
title_patterns: ['\A(?<list>\S+) (?<number>\d+)\z']
title: '{{ list }} {{ number }}'
cli:
  get:
    command: show lists
    textfsm: |
      Value LIST (\S+)
      Value NUMBER (\d+)
      Value TEXT (.*)

      Start
        ^${LIST} ${NUMBER} ?${TEXT} -> Record
    resource: { list: LIST, number: NUMBER, text: TEXT }
  create: list {{ list }} {{ number }} {{ text }}
";

const OTHER: &str = r"name: acme_other
desc: Another.
like: acme_one
attributes:
  list: { behaviour: }
  number: { behaviour: }
  name: { type: String, behaviour: namevar, desc: Both. }
title_patterns:
title:
cli: { get: { resource: { name: LIST ~ NUMBER } } }
";

fn load(other: &str) -> Result<Family> {
    let files = [
        ("family.yaml", FAMILY),
        ("types/acme_one.yaml", ONE),
        ("types/acme_other.yaml", other),
    ];
    Family::load(folder(&files).path())
}

#[test]
fn a_type_takes_from_another_one_what_it_does_not_say() {
    let family = load(OTHER).unwrap_or_else(|error| panic!("{error}"));
    let [one, other] = &family.types[..] else {
        panic!("two types");
    };
    let rows =
        |kind: &DeclaredType| json!(kind.resources(|_| Some("a 1 x y\n"), None).expect("read"));
    assert_eq!(
        rows(one),
        json!([{"list": "a", "number": 1, "text": "x y", "title": "a 1"}])
    );
    assert_eq!(
        rows(other),
        json!([{"list": "a", "number": 1, "text": "x y", "name": "a1"}])
    );
    assert_eq!(other.schema().namevars(), ["name"]);
    assert_eq!(other.schema().desc(), "Another.");
}

#[test]
fn a_problem_is_reported_in_the_file_that_has_the_line() {
    let error = |other: &str| {
        let text = load(other).expect_err("refused").to_string();
        let lines = text.lines().filter_map(|line| line.split_once("types/"));
        lines.map(|(_, line)| line.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        error(&OTHER.replace("  list: { behaviour: }", "  list: { behaviour: }\n  text:")),
        [
            "acme_one.yaml:19:51: at cli.get.resource.text: `acme_other` has no attribute `text`; expected one of list, number, name",
            "acme_one.yaml:20:11: at cli.create: `text` is not known here; known are list, number, name, is, should, facts",
        ]
    );
    assert_eq!(
        error(&OTHER.replace("like: acme_one", "like: acme_on")),
        [
            "acme_other.yaml:3:7: at like: there is no file `acme_on.yaml` beside this one; did you mean `acme_one.yaml`?"
        ]
    );
    assert_eq!(
        error(&OTHER.replace("like: acme_one", "like: acme_other")),
        [
            "acme_other.yaml:3:7: at like: `acme_other.yaml` is itself `like` another type: expected that one"
        ]
    );
}
