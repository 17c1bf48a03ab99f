//! Tests of metadata: what is accepted, what is remarked on, and what is refused.

use serde_json::json;

use super::*;

fn action(name: &str) -> Json {
    json!({"name": name, "description": "does", "input": {}, "results": {"type": "object"}})
}

fn read(metadata: &Json) -> Result<Metadata, String> {
    Metadata::read(metadata.to_string().as_bytes()).map_err(|problems| problems.to_string())
}

fn problem(metadata: &Json) -> String {
    match read(metadata) {
        Err(problem) => problem,
        Ok(_) => panic!("{metadata} was read"),
    }
}

#[test]
fn metadata_as_specified_and_as_of_the_agent_are_both_read() {
    let metadata = read(&json!({"description": "d", "actions": [action("a"), action("b")]}));
    let metadata = metadata.expect("it is the agent's");
    assert!(metadata.remarks.is_empty(), "{:?}", metadata.remarks);
    assert_eq!(metadata.action("b").map(|b| b.name.as_str()), Some("b"));
    assert!(metadata.action("c").is_none());
    let without = read(&json!({"actions": [], "configuration": {"type": "object"}}));
    let without = without.expect("it is the document's");
    assert!(without.configuration.is_some());
    assert!(
        without.remarks[0].contains("pxp-agent"),
        "{:?}",
        without.remarks
    );
    let mut bare = action("a");
    bare.as_object_mut().expect("one").remove("description");
    let bare = read(&json!({"description": "d", "actions": [bare]})).expect("it is the agent's");
    assert!(bare.remarks[0].contains("actions[0]"), "{:?}", bare.remarks);
    let old = json!({"$schema": "http://json-schema.org/draft-03/schema#"});
    let old = read(&json!({"description": "d", "actions": [], "configuration": old}));
    let remarks = old.expect("it is read as Draft 4").remarks;
    assert!(remarks[0].contains("`configuration` names"), "{remarks:?}");
}

#[test]
fn everything_wrong_is_reported_at_once_with_its_place() {
    for (text, told) in [
        ("", "it is empty"),
        ("[]", "other JSON"),
        ("{\"actions\": [],}", "it is no JSON: trailing comma"),
        ("loading\n{}", "it is no JSON"),
        (
            "{\"actions\": [], \"actions\": []}",
            "the key `actions` occurs twice",
        ),
    ] {
        let problems = Metadata::read(text.as_bytes()).expect_err(text).to_string();
        assert!(problems.contains(told), "{problems}");
    }
    for (metadata, told) in [
        (json!({}), "`actions`: it is missing"),
        (json!({"actions": {}}), "`actions`: expected a list"),
        (
            json!({"actions": ["a"]}),
            "`actions[0]`: expected an object",
        ),
        (
            json!({"actions": [], "desciption": ""}),
            "`desciption`: there is no such key; did you mean `description`?",
        ),
        (
            json!({"actions": [], "description": 1}),
            "`description`: expected a text",
        ),
        (
            json!({"actions": [], "configuration": true}),
            "`configuration`: expected an object",
        ),
        (
            json!({"actions": [], "configuration": {"type": "objekt"}}),
            "`configuration`: it is no JSON Schema: at `/type`",
        ),
        (
            json!({"actions": [action("a"), action("a")]}),
            "`actions[1]`: there is another action `a`",
        ),
        (
            json!({"actions": [{"name": 1, "input": {}, "results": {}}]}),
            "`actions[0].name`: expected a text",
        ),
        (
            json!({"actions": [{"name": "", "input": {}, "results": {}}]}),
            "`actions[0].name`: expected a word",
        ),
    ] {
        let problem = problem(&metadata);
        assert!(problem.contains(told), "{metadata}: {problem}");
    }
    let all = problem(&json!({"actions": [{"output": {}, "results": {"required": 1}}]}));
    for told in [
        "`actions[0].output`",
        "`actions[0].name`",
        "`actions[0].input`",
        "`actions[0].results`",
    ] {
        assert!(all.contains(told), "{all}");
    }
}
