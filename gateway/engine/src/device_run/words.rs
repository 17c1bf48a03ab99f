//! Formats values and times as Puppet does.

use std::time::SystemTime;

use devgate_schemas::Value;

/// Formats a value as in Puppet's messages: texts in single quotes, secrets redacted.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Sensitive(_) => "[redacted]".to_owned(),
        Value::Undef => "undef".to_owned(),
        Value::String(text) => format!("'{text}'"),
        Value::Array(items) => format!("[{}]", joined(items.iter().map(shown))),
        Value::Hash(pairs) => {
            let pairs = pairs.iter();
            let pairs = pairs.map(|(key, value)| format!("'{key}' => {}", shown(value)));
            format!("{{{}}}", joined(pairs))
        }
        other => other.to_json().to_string(),
    }
}

/// Formats a time as in Puppet's reports: RFC 3339 with nine decimals, in UTC.
pub fn time(at: SystemTime) -> String {
    let since = at
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    // Only a year after 9999 has no such format.
    let whole = der::DateTime::from_unix_duration(since);
    let whole = whole.map_or_else(|_| since.as_secs().to_string(), |time| time.to_string());
    let nanoseconds = since.subsec_nanos();
    format!("{}.{nanoseconds:09}+00:00", whole.trim_end_matches('Z'))
}

fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use devgate_schemas::yaml;

    use super::*;

    #[test]
    fn values_are_written_as_puppet_writes_them() {
        let text = "{a: [x, 1, true, null], b: {c: 'd\"'}}";
        let value = yaml::parse(text).expect("it is YAML").to_value();
        assert_eq!(
            shown(&value),
            r#"{'a' => ['x', 1, true, undef], 'b' => {'c' => 'd"'}}"#
        );
    }

    #[test]
    fn times_have_nine_decimals_and_a_zone() {
        let at = SystemTime::UNIX_EPOCH + Duration::new(1_795_254_533, 42);
        assert_eq!(time(at), "2026-11-21T09:48:53.000000042+00:00");
    }
}
