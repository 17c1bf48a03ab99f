//! Compares what a case gives with what is expected: as a whole, or the part that the expected file holds.

use serde_json::{Map, Value as Json};

/// How much of a result is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// All of it.
    Whole,
    /// What the expected file holds: its facts, its resources and the attributes that it gives for them, its lines in
    /// their order. Anything else may be there, too.
    Part,
}

/// The files with expected results.
pub(super) const EXPECTED: [&str; 5] = [
    "facts.json",
    "resources.json",
    "session.json",
    "lines.txt",
    "error.txt",
];

impl Comparison {
    /// The part of an actual result that is compared with an expected one. `namevars` identify resources.
    pub(super) fn part(self, expected: &str, actual: &str, namevars: &[String]) -> String {
        if self == Self::Whole {
            return actual.to_owned();
        }
        match (serde_json::from_str(expected), serde_json::from_str(actual)) {
            (Ok(expected), Ok(actual)) => pretty(&json_part(&expected, &actual, namevars)),
            _ => lines_part(expected, actual),
        }
    }

    /// The expected result in the form in which it is compared: the layout of a part does not matter.
    pub(super) fn expected(self, expected: &str) -> String {
        match serde_json::from_str(expected) {
            Ok(json) if self == Self::Part => pretty(&json),
            _ => expected.to_owned(),
        }
    }
}

/// JSON as expected files have it.
pub(super) fn pretty(json: &Json) -> String {
    format!("{json:#}\n")
}

/// Compares two texts, and returns the first line that differs.
pub(super) fn difference(expected: &str, actual: &str) -> Result<(), String> {
    if expected == actual {
        return Ok(());
    }
    let mut actual_lines = actual.lines();
    for (number, line) in (1..).zip(expected.lines()) {
        match actual_lines.next() {
            Some(other) if other == line => {}
            other => {
                let other = other.unwrap_or("(nothing)");
                return Err(format!("line {number}: expected `{line}`, found `{other}`"));
            }
        }
    }
    Err(match actual_lines.next() {
        Some(line) => format!("found a line more than expected: `{line}`"),
        None => "they differ in their line ends".to_owned(),
    })
}

/// The members of `actual` that `expected` has, in its order. Resources are those with the same namevars.
fn json_part(expected: &Json, actual: &Json, namevars: &[String]) -> Json {
    match (expected, actual) {
        (Json::Object(expected), Json::Object(actual)) => {
            let members = expected.iter().filter_map(|(key, expected)| {
                let part = json_part(expected, actual.get(key)?, namevars);
                Some((key.clone(), part))
            });
            Json::Object(members.collect::<Map<_, _>>())
        }
        (Json::Array(expected), Json::Array(actual)) if expected.iter().all(Json::is_object) => {
            let same = |one: &Json, other: &Json| {
                let mut given = namevars.iter().filter(|name| one.get(name).is_some());
                given.all(|name| one.get(name) == other.get(name))
            };
            let parts = expected.iter().filter_map(|expected| {
                let mut found = actual.iter();
                let found = found.find(|actual| same(expected, actual))?;
                Some(json_part(expected, found, namevars))
            });
            Json::Array(parts.collect())
        }
        (_, actual) => actual.clone(),
    }
}

/// The lines of `expected` that occur in `actual` in this order.
fn lines_part(expected: &str, actual: &str) -> String {
    let mut rest = actual.lines();
    let mut part = String::new();
    for line in expected.lines() {
        let mut ahead = rest.clone();
        if ahead.any(|other| other == line) {
            rest = ahead;
            part.push_str(line);
            part.push('\n');
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(expected: &str, actual: &str) -> Result<(), String> {
        let part = Comparison::Part.part(expected, actual, &["name".to_owned()]);
        difference(&Comparison::Part.expected(expected), &part)
    }

    #[test]
    fn a_part_is_what_the_expected_file_holds() {
        let actual = r#"[{"name": "a", "mtu": 1}, {"name": "b", "mtu": 2, "on": true}]"#;
        assert_eq!(compared(r#"[{"name": "b", "mtu": 2}]"#, actual), Ok(()));
        assert_eq!(compared("[]", actual), Ok(()));
        for wrong in [
            r#"[{"name": "b", "mtu": 1}]"#,
            r#"[{"name": "c"}]"#,
            r#"[{"name": "a", "on": true}]"#,
        ] {
            assert!(compared(wrong, actual).is_err(), "{wrong}");
        }
        let facts = r#"{"facts": {"os": {"name": "X", "family": "Y"}}}"#;
        assert_eq!(
            compared(r#"{"facts": {"os": {"name": "X"}}}"#, facts),
            Ok(())
        );
        assert!(compared(r#"{"facts": {"os": {"name": "Y"}}}"#, facts).is_err());
    }

    #[test]
    fn a_part_of_lines_keeps_their_order() {
        assert_eq!(compared("a\nc\n", "a\nb\nc\n"), Ok(()));
        let difference = compared("c\na\n", "a\nb\nc\n").expect_err("another order");
        assert_eq!(difference, "line 2: expected `a`, found `(nothing)`");
    }
}
