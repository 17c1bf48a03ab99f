//! Sample resources of a type: the type's own example, or one derived from its schema.

use indexmap::IndexMap;

use super::schema::{Example, TypeSchema};
use crate::attribute::{ruby_class, shown};
use crate::problem::DefinitionProblems;
use crate::{Attribute, Behaviour, Hash, Value};

impl TypeSchema {
    /// Returns a sample resource. It is a valid desired resource unless it has open attributes.
    pub fn example(&self) -> Example {
        self.example.clone().unwrap_or_else(|| self.derived())
    }

    /// Describes the form of a title, as the end of a sentence. Returns `None` if a title may be any text.
    pub(super) fn titles_look_like(&self) -> Option<String> {
        if let Some(example) = &self.example {
            return Some(format!("a title looks like `{}`", example.title));
        }
        let patterns = self.title_patterns.iter();
        let forms: Vec<String> = patterns
            .filter_map(|pattern| Some(format!("`{}`", form(pattern.source())?)))
            .collect();
        match forms.as_slice() {
            [] => (!self.title_patterns.is_empty())
                .then(|| format!("a title says {}", self.namevars.join(", "))),
            forms => Some(format!("a title looks like {}", forms.join(" or "))),
        }
    }

    /// Parses the type's own example from its definition: `{TITLE: {attribute: value}}`, as in a manifest.
    pub(super) fn read_example(&mut self, definition: &Hash) -> Result<(), DefinitionProblems> {
        let mut problems = DefinitionProblems::default();
        match definition.get("example") {
            None => {}
            Some(Value::Hash(resources)) if resources.iter().len() == 1 => {
                for (title, attributes) in resources.iter() {
                    let title = title.to_string();
                    let attributes = attributes.as_hash().cloned().unwrap_or_default();
                    if let Err(invalid) = self.desire(Some(&title), attributes.clone()) {
                        for problem in invalid.problems() {
                            problems.add(&["example", &title], problem);
                        }
                    }
                    self.example = Some(Example {
                        title,
                        attributes,
                        open: Vec::new(),
                    });
                }
            }
            Some(Value::Hash(_)) => problems.add(&["example"], "an example is one resource"),
            Some(other) => {
                let class = ruby_class(other);
                let message =
                    format!("an example is `{{TITLE: {{attribute: value}}}}`, not {class}");
                problems.add(&["example"], message);
            }
        }
        problems.or(|| ())
    }

    /// Derives a sample from the schema: a title made of the namevars, and the mandatory attributes.
    fn derived(&self) -> Example {
        let mut values: IndexMap<&str, Value> = IndexMap::new();
        for name in &self.namevars {
            let attribute = &self.attributes[name];
            let named = Value::from(format!("<{name}>"));
            let sample = || attribute.data_type.sample();
            let value = match attribute.check(&named) {
                Ok(()) => named,
                Err(_) => sample().unwrap_or(named),
            };
            values.insert(name, value);
        }
        let told: Vec<String> = values.values().map(shown).collect();
        let mut title = told.join(" ");
        // Of several title patterns, the one that matches these values is used.
        for pattern in &self.title_patterns {
            let Some(mut form) = form(pattern.source()) else {
                continue;
            };
            for (name, value) in &values {
                form = form.replace(&format!("<{name}>"), &shown(value));
            }
            if self.parse_title(&form).is_ok() {
                title = form;
                break;
            }
        }
        let mut example = Example {
            title,
            attributes: Hash::new(),
            open: Vec::new(),
        };
        let is_needed = |attribute: &Attribute| match attribute.behaviour {
            Behaviour::Namevar | Behaviour::ReadOnly => false,
            Behaviour::Property | Behaviour::InitOnly | Behaviour::Parameter => {
                attribute.is_mandatory() && attribute.default.is_none()
            }
        };
        for (name, attribute) in self.attributes.iter().filter(|(_, one)| is_needed(one)) {
            match attribute.data_type.sample() {
                Some(value) if !attribute.sensitive => {
                    example.attributes.insert(name.as_str(), value);
                }
                _ => example.open.push(name.clone()),
            }
        }
        if self
            .desire(Some(&example.title), example.attributes.clone())
            .is_err()
            && example.open.is_empty()
        {
            example.open.clone_from(&self.namevars);
        }
        example
    }
}

/// Returns the form of the titles that a pattern matches: `<prefix> via <next_hop>`. Returns `None` unless
/// the pattern consists of named groups and plain text.
fn form(pattern: &str) -> Option<String> {
    let mut rest = pattern.trim_start_matches("\\A").trim_start_matches('^');
    rest = rest.trim_end_matches("\\z").trim_end_matches("\\Z");
    rest = rest.trim_end_matches('$');
    let mut form = String::new();
    while let Some(c) = rest.chars().next() {
        if let Some(group) = rest.strip_prefix("(?<") {
            let (name, inside) = group.split_once('>')?;
            form.push_str(&format!("<{name}>"));
            rest = behind_group(inside)?;
            continue;
        }
        let plain = c.is_alphanumeric() || " /:_-,@#".contains(c);
        let escaped = rest.strip_prefix('\\').and_then(|rest| rest.chars().next());
        let (c, length) = match escaped {
            Some(c) if !c.is_alphanumeric() => (c, 1 + c.len_utf8()),
            None if plain => (c, c.len_utf8()),
            _ => return None,
        };
        form.push(c);
        rest = &rest[length..];
    }
    (!form.is_empty()).then_some(form)
}

/// Returns what follows a group whose beginning has been read.
fn behind_group(inside: &str) -> Option<&str> {
    let (mut depth, mut in_class, mut escaped) = (1, false, false);
    for (at, c) in inside.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => depth += 1,
            ')' if !in_class => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&inside[at + 1..]);
        }
    }
    None
}
