//! Formats values like Ruby's `inspect`, for messages with the gem's wording.

use std::fmt::{self, Display, Formatter, Write};

use crate::{Key, Resource, Value};

/// Displays a value as Ruby shows it; see [`Value::inspect`].
#[derive(Clone, Copy, Debug)]
pub struct Inspect<'v>(&'v Value);

/// Displays a resource as Ruby shows it; see [`Resource::inspect`].
#[derive(Clone, Copy, Debug)]
pub struct InspectResource<'r>(&'r Resource);

impl Value {
    /// Returns the value as Ruby shows it: texts quoted, `nil` for undef, secrets redacted.
    pub fn inspect(&self) -> Inspect<'_> {
        Inspect(self)
    }

    /// Returns the value as Ruby interpolates it into a text: texts as they are, an empty text for undef.
    pub fn interpolated(&self) -> String {
        match self {
            Self::Undef => String::new(),
            Self::String(text) | Self::Symbol(text) => text.clone(),
            other => other.inspect().to_string(),
        }
    }
}

impl Resource {
    /// Returns the attributes as Ruby shows a provider's hash: `{:name=>"a", :mtu=>9000}`.
    pub fn inspect(&self) -> InspectResource<'_> {
        InspectResource(self)
    }
}

impl Display for Inspect<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Undef => f.write_str("nil"),
            Value::Boolean(value) => value.fmt(f),
            Value::Integer(value) => value.fmt(f),
            Value::Float(value) => write!(f, "{value:?}"),
            Value::String(text) => quoted(f, text),
            Value::Symbol(name) => symbol(f, name),
            Value::Array(items) => {
                f.write_char('[')?;
                for (index, item) in items.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    item.inspect().fmt(f)?;
                }
                f.write_char(']')
            }
            Value::Hash(hash) => pairs(f, hash.iter(), |f, key| match key {
                Key::String(text) => quoted(f, text),
                Key::Integer(number) => number.fmt(f),
            }),
            Value::Sensitive(_) => f.write_str("Sensitive [value redacted]"),
        }
    }
}

impl Display for InspectResource<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        pairs(f, self.0.iter(), symbol)
    }
}

fn pairs<'v, K>(
    f: &mut Formatter<'_>,
    pairs: impl Iterator<Item = (K, &'v Value)>,
    show: impl Fn(&mut Formatter<'_>, K) -> fmt::Result,
) -> fmt::Result {
    f.write_char('{')?;
    for (index, (key, value)) in pairs.enumerate() {
        f.write_str(if index == 0 { "" } else { ", " })?;
        show(f, key)?;
        write!(f, "=>{}", value.inspect())?;
    }
    f.write_char('}')
}

fn symbol(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    f.write_char(':')?;
    if !name.is_empty() && name.chars().all(is_word) && !name.starts_with(|c: char| c.is_numeric())
    {
        f.write_str(name)
    } else {
        quoted(f, name)
    }
}

fn quoted(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_char('"')?;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' | '\\' => write!(f, "\\{character}")?,
            // Unescaped, it would begin an interpolation.
            '#' if matches!(characters.peek(), Some('{' | '$' | '@')) => f.write_str("\\#")?,
            '\n' => f.write_str("\\n")?,
            '\t' => f.write_str("\\t")?,
            '\r' => f.write_str("\\r")?,
            '\u{1b}' => f.write_str("\\e")?,
            '\0' => f.write_str("\\u0000")?,
            control if control.is_control() => write!(f, "\\u{:04X}", u32::from(control))?,
            other => f.write_char(other)?,
        }
    }
    f.write_char('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    #[test]
    fn values_are_shown_as_ruby_shows_them() {
        let shown = |text: &str| {
            let value = yaml::parse(text).expect("YAML").to_value();
            value.inspect().to_string()
        };
        assert_eq!(shown("[1, 1.5, true, ~, a]"), r#"[1, 1.5, true, nil, "a"]"#);
        assert_eq!(shown("{a: {b: []}, 2: x}"), r#"{"a"=>{"b"=>[]}, 2=>"x"}"#);
        assert_eq!(
            shown(r##""say \"#{x}\" \n #1""##),
            r##""say \"\#{x}\" \n #1""##
        );
        assert_eq!(
            Value::from("secret").into_sensitive().inspect().to_string(),
            "Sensitive [value redacted]"
        );
        let within = [
            Value::from("a \"b\""),
            Value::Undef,
            Value::Array(vec!["c".into()]),
        ];
        assert_eq!(
            within.map(|value| value.interpolated()),
            ["a \"b\"", "", "[\"c\"]"]
        );
    }

    #[test]
    fn a_resource_is_shown_with_symbols() {
        let mut resource = Resource::new();
        resource.set("name", Value::from("swp1"));
        resource.set("odd name", Value::Undef);
        assert_eq!(
            resource.inspect().to_string(),
            r#"{:name=>"swp1", :"odd name"=>nil}"#
        );
    }
}
