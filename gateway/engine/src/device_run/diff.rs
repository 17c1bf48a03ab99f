//! The diff of a change for people: the lines that the device is sent, or else the changed attributes.

use devgate_schemas::{Resource, Value};

use super::difference::Difference;
use super::format::format_value;

/// Returns the diff of a change: the lines that would be sent, or else the attributes before and after.
pub(super) fn of(lines: &[String], wanted: &[Difference], should: &Resource) -> Vec<String> {
    if !lines.is_empty() {
        return lines.iter().map(|line| format!("+ {line}")).collect();
    }
    let mut diff = Vec::new();
    let mut put = |name: &str, is: Option<&Value>, should: &Value| {
        diff.extend(is.map(|is| format!("- {name}: {}", format_value(is))));
        diff.push(format!("+ {name}: {}", format_value(should)));
    };
    for difference in wanted {
        match difference {
            Difference::Missing => should
                .iter()
                .for_each(|(name, value)| put(name, None, value)),
            Difference::Unwanted => put("ensure", Some(&"present".into()), &"absent".into()),
            Difference::EntireResource { .. } => {}
            Difference::Property {
                name, is, should, ..
            } => put(name, is.as_ref(), should),
        }
    }
    diff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_lines_a_diff_is_of_attributes_and_hides_secrets() {
        let secret = |text: &str| Value::from(text).into_sensitive();
        let property = |name: &str, is: Option<Value>, should: Value| Difference::Property {
            name: name.to_owned(),
            is,
            should,
            why: None,
        };
        let wanted = [
            property("b", Some(1.into()), 2.into()),
            property("p", Some(secret("x")), secret("y")),
            property("c", None, "z".into()),
        ];
        let mut should = Resource::new();
        should.set("id", 7.into());
        let expected = [
            "- b: 1",
            "+ b: 2",
            "- p: [redacted]",
            "+ p: [redacted]",
            "+ c: 'z'",
        ];
        assert_eq!(of(&[], &wanted, &should), expected);
        assert_eq!(of(&[], &[Difference::Missing], &should), ["+ id: 7"]);
        let lines = ["interface e".to_owned(), " mtu 2".to_owned()];
        assert_eq!(of(&lines, &wanted, &should), ["+ interface e", "+  mtu 2"]);
    }
}
