//! Formats values as Puppet does.

use devgate_schemas::Value;

/// Formats a value as in Puppet's messages: texts in single quotes, secrets redacted.
pub(super) fn format_value(value: &Value) -> String {
    match value {
        Value::Sensitive(_) => "[redacted]".to_owned(),
        Value::Undef => "undef".to_owned(),
        Value::String(text) => format!("'{text}'"),
        Value::Array(items) => format!("[{}]", join_values(items.iter().map(format_value))),
        Value::Hash(pairs) => {
            let pairs = pairs.iter();
            let pairs = pairs.map(|(key, value)| format!("'{key}' => {}", format_value(value)));
            format!("{{{}}}", join_values(pairs))
        }
        other => other.to_json().to_string(),
    }
}

fn join_values(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use devgate_schemas::yaml;

    use super::*;

    #[test]
    fn values_are_written_as_puppet_writes_them() {
        let text = "{a: [x, 1, true, null], b: {c: 'd\"'}}";
        let value = yaml::parse(text).expect("it is YAML").to_value();
        assert_eq!(
            format_value(&value),
            r#"{'a' => ['x', 1, true, undef], 'b' => {'c' => 'd"'}}"#
        );
    }
}
