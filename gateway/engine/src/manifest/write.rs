//! Writes the resources of a device as a manifest, in Puppet's language or as YAML. Applied to the device, it changes
//! nothing.
//!
//! Read-only attributes (`read_only`) are left out. A secret becomes a comment.

use devgate_schemas::{Behaviour, Hash, Key, Resource, TypeSchema, Value};
use serde_json::to_string;

/// Writes resources of one type in Puppet's language, as `puppet resource` prints them.
pub(crate) fn to_pp(schema: &TypeSchema, resources: &[Resource]) -> String {
    let mut text = String::new();
    for resource in resources {
        let attributes = attributes(schema, resource);
        let width = attributes.iter().map(|(name, _)| name.len()).max();
        let width = width.unwrap_or_default();
        let title = quoted(&title(schema, resource));
        text.push_str(&format!("{} {{ {title}:\n", schema.name()));
        for (name, value) in attributes {
            text.push_str(&match value {
                Some(value) => format!("  {name:width$} => {},\n", pp(value)),
                None => format!("  # {name} is a secret\n"),
            });
        }
        text.push_str("}\n");
    }
    text
}

/// Writes resources of one type as YAML: `{TYPE: {TITLE: {attribute: value}}}`.
pub fn to_yaml(schema: &TypeSchema, resources: &[Resource]) -> String {
    if resources.is_empty() {
        return format!("{}: {{}}\n", schema.name());
    }
    let mut text = format!("{}:\n", schema.name());
    for resource in resources {
        let attributes = attributes(schema, resource);
        let is_bare = attributes.iter().all(|(_, value)| value.is_none());
        let braces = if is_bare { " {}" } else { "" };
        text.push_str(&format!("  {}:{braces}\n", json(&title(schema, resource))));
        for (name, value) in attributes {
            text.push_str(&match value {
                Some(value) => format!("    {name}: {}\n", value.to_json()),
                None => format!("    # {name} is a secret\n"),
            });
        }
    }
    text
}

/// Returns the attributes for a manifest: `ensure` first, the rest by name. Secrets have no value. The title contains
/// the namevars.
fn attributes<'r>(
    schema: &TypeSchema,
    resource: &'r Resource,
) -> Vec<(&'r str, Option<&'r Value>)> {
    let mut attributes: Vec<(&str, Option<&Value>)> = resource
        .iter()
        .filter_map(|(name, value)| {
            let attribute = schema.attributes().get(name)?;
            let is_said = matches!(
                attribute.behaviour,
                Behaviour::Property | Behaviour::Parameter | Behaviour::InitOnly
            );
            let is_secret = attribute.sensitive || value.has_secret();
            let value = (!is_secret).then_some(value);
            (is_said && value != Some(&Value::Undef)).then_some((name, value))
        })
        .collect();
    attributes.sort_by_key(|&(name, _)| (name != "ensure", name));
    attributes
}

fn title(schema: &TypeSchema, resource: &Resource) -> String {
    let of = |name: &str| match resource.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => Some(other.to_json().to_string()),
        None => None,
    };
    let namevars = schema.namevars_of(resource);
    let first = namevars.iter().next().map(|(name, _)| name.to_string());
    of("title").or_else(|| of(&first?)).unwrap_or_default()
}

/// Writes a value in Puppet's language.
fn pp(value: &Value) -> String {
    match value {
        Value::Undef => "undef".to_owned(),
        Value::String(text) | Value::Symbol(text) => quoted(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(pp).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Hash(hash) => format!("{{ {} }}", pairs(hash)),
        Value::Boolean(_) | Value::Integer(_) | Value::Float(_) | Value::Sensitive(_) => {
            value.to_json().to_string()
        }
    }
}

fn pairs(hash: &Hash) -> String {
    let pairs = hash.iter().map(|(key, value)| match key {
        Key::Integer(number) => format!("{number} => {}", pp(value)),
        Key::String(text) => format!("{} => {}", quoted(text), pp(value)),
    });
    pairs.collect::<Vec<_>>().join(", ")
}

/// Writes a text in single quotes, or in double quotes if it contains control characters.
fn quoted(text: &str) -> String {
    if !text.contains(char::is_control) {
        return format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"));
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' | '$' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Writes a text as JSON, which is YAML, too.
fn json(text: &str) -> String {
    to_string(text).expect("a text is JSON")
}

#[cfg(test)]
mod tests {
    use devgate_schemas::yaml;

    use super::*;
    use crate::device_run::Catalog;
    use crate::manifest::{data, pp};

    const TYPE: &str = r"
name: port
desc: A port.
attributes:
  name: { type: String, behaviour: namevar, desc: Its name. }
  ensure: { type: 'Enum[present, absent]', desc: There or not. }
  label: { type: 'Optional[String]', desc: What it is for. }
  vlans: { type: 'Optional[Array[Integer]]', desc: Its VLANs. }
  options: { type: 'Optional[Hash]', desc: More. }
  enabled: { type: 'Optional[Boolean]', desc: On or off. }
  key: { type: 'Optional[String]', sensitive: true, desc: A secret. }
  speed: { type: 'Optional[Integer]', behaviour: read_only, desc: What it does. }
";

    fn schema() -> TypeSchema {
        let definition = yaml::parse(TYPE).expect("it is YAML");
        TypeSchema::register(&definition.to_value()).expect("it is a type")
    }

    fn ports() -> Vec<Resource> {
        let labels = ["it's a \\ \"b\" $c ${d}", "two\nlines\tof $it\u{7}", ""];
        let port = |(at, label): (usize, &str)| {
            let mut port = Resource::new();
            port.set("name", Value::from(format!("eth'{at}")));
            port.set("speed", Value::Integer(10));
            port.set("enabled", Value::Boolean(at == 0));
            port.set("ensure", Value::from("present"));
            port.set("label", Value::from(label));
            let vlans = [1, -2].map(Value::Integer);
            port.set("vlans", Value::Array(vlans.to_vec()));
            let options = [
                (Key::from("a'b"), Value::from("x")),
                (Key::Integer(7), Value::Undef),
            ];
            port.set("options", Value::Hash(options.into_iter().collect()));
            port.set("key", Value::from("canary").into_sensitive());
            port
        };
        labels.into_iter().enumerate().map(port).collect()
    }

    #[test]
    fn puppet_s_code_is_as_puppet_prints_it() {
        let schema = schema();
        let text = to_pp(&schema, &ports()[..1]);
        let expected = r#"port { 'eth\'0':
  ensure  => 'present',
  enabled => true,
  # key is a secret
  label   => 'it\'s a \\ "b" $c ${d}',
  options => { 'a\'b' => 'x', 7 => undef },
  vlans   => [1, -2],
}
"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn what_is_written_is_read_as_what_it_was() {
        let schema = schema();
        let read = |catalog: Catalog| {
            let ports = catalog.resources.iter().map(|port| {
                let mut port = (
                    port.name.title.clone(),
                    Value::Hash(port.attributes.clone()),
                );
                port.1 = Value::from(port.1.to_json());
                port
            });
            ports.collect::<Vec<_>>()
        };
        let meant: Vec<(String, Value)> = ports()
            .iter()
            .map(|port| {
                let attributes = attributes(&schema, port).into_iter();
                let attributes =
                    attributes.filter_map(|(name, value)| Some((name, value?.clone())));
                let attributes: Hash = attributes.collect();
                (
                    title(&schema, port),
                    Value::from(Value::Hash(attributes).to_json()),
                )
            })
            .collect();
        let code = to_pp(&schema, &ports());
        let yaml = to_yaml(&schema, &ports());
        assert!(!code.contains("canary") && !yaml.contains("canary"));
        assert_eq!(read(pp::read(&code, "a.pp").expect(&code)), meant);
        assert_eq!(read(data::read(&yaml, "a.yaml").expect(&yaml)), meant);
        let none = data::read(&to_yaml(&schema, &[]), "a.yaml").expect("it is a manifest");
        assert!(none.resources.is_empty());
    }
}
