//! Reading with the short form: the lines that set attributes are those that the device shows.
//!
//! The patterns become a TextFSM template, as the lines become templates of Jinja.

use devgate_schemas::{TypeSchema, Value};

use super::line_templates::{ITEM, VALUE};
use crate::file_node::{FileNode, Problems, WithLocation};
use crate::source::WHOLE_OUTPUT;
use crate::template::Expression;

/// What reads the lines of a type in an output.
pub(super) struct LinePatterns {
    /// A TextFSM template for an output in which each line is indented by its depth.
    pub(super) textfsm: String,
    pub(super) resource: Vec<(String, WithLocation<Expression>)>,
}

/// The key of the first line of a block.
pub(super) const BLOCK: &str = "block";

/// The keys of an item that only concern what is read.
pub(super) const KEYS: [&str; 2] = ["read", "default"];

/// The patterns that are read so far.
struct Patterns<'a> {
    schema: &'a TypeSchema,
    /// The dialect's word for the opposite of a line.
    negate: &'a str,
    values: String,
    rules: String,
    /// The attributes with patterns.
    names: Vec<&'a str>,
    /// Those of the block's first line whose texts stand in quotes.
    quoted: Vec<&'a str>,
}

/// The pattern of a text in quotes.
const QUOTED: &str = r#""(?:[^"\\]|\\.)*""#;

impl LinePatterns {
    /// Whether a source of rows is read with the lines of its type.
    pub(super) fn are_for(get: &FileNode<'_>) -> bool {
        let others = [
            "textfsm",
            "textfsm_file",
            "ask",
            "rows",
            "values",
            "resource",
        ];
        get.get("command").is_some() && others.iter().all(|key| get.get(key).is_none())
    }

    /// Reads the patterns in `lines` of a type's form, for one source of it.
    pub(super) fn read(
        form: &FileNode<'_>,
        get: &FileNode<'_>,
        schema: &TypeSchema,
        is_singleton: bool,
        negate: &str,
        problems: &mut Problems,
    ) -> Option<Self> {
        let before = problems.len();
        let Some(lines) = form.get("lines") else {
            let message = "expected `textfsm`, or `values`, or the type's `lines` as its patterns";
            problems.push(get.problem(message));
            return None;
        };
        let mut patterns = Patterns {
            schema,
            negate,
            values: String::new(),
            rules: String::new(),
            names: Vec::new(),
            quoted: Vec::new(),
        };
        let block = get.get(BLOCK).or_else(|| form.get("mode"));
        match (&block, is_singleton) {
            (Some(block), _) => patterns.block(block, get.get(BLOCK).is_some(), problems),
            (None, true) => {}
            (None, false) => {
                let message = "expected `mode`, or `block`: the first line of what is read, with \
                               the namevars";
                problems.push(get.problem(message));
            }
        }
        if is_singleton {
            patterns
                .values
                .push_str(&format!("Value END ({WHOLE_OUTPUT})\n"));
            patterns.rules.push_str("  ^${END}$$\n");
        }
        let indent = if block.is_some() { " " } else { "" };
        let namevar = |name: &&str| match patterns.quoted.contains(name) {
            true => unquoted(name),
            false => (*name).to_owned(),
        };
        let namevars = patterns.names.iter();
        let mut expressions: Vec<(FileNode<'_>, String, String)> = namevars
            .map(|name| (get.clone(), (*name).to_owned(), namevar(name)))
            .collect();
        for item in lines.items() {
            expressions.extend(patterns.item(&item, indent, problems));
        }
        let mut resource = Vec::new();
        for (file_node, name, source) in expressions {
            let expression = file_node.expression_of(&source, &patterns.names, problems);
            resource.extend(expression.map(|expression| (name, expression)));
        }
        resource.sort_by_key(|(name, _)| schema.attributes().get_index_of(name));
        let Patterns { values, rules, .. } = patterns;
        (problems.len() == before).then(|| Self {
            textfsm: format!("{values}\nStart\n{rules}"),
            resource,
        })
    }
}

impl<'a> Patterns<'a> {
    /// The first line of a block, which ends the one before.
    fn block(&mut self, file_node: &FileNode<'_>, is_pattern: bool, problems: &mut Problems) {
        let Some(text) = file_node.text(problems) else {
            return;
        };
        let mut rule = String::new();
        let namevars = self.schema.namevars();
        let mut missing: Vec<&str> = namevars.iter().map(|name| &**name).collect();
        for part in parts(text.trim()) {
            match part {
                Part::Text(text) if is_pattern => rule.push_str(&pattern(text)),
                Part::Text(text) => rule.push_str(&escaped(text)),
                Part::Name(name, is_quoted) if missing.contains(&name) => {
                    missing.retain(|other| *other != name);
                    let (known, _) = self
                        .schema
                        .attributes()
                        .get_key_value(name)
                        .expect("a namevar");
                    self.names.push(known.as_str());
                    let value = in_quotes("\\S+", is_quoted);
                    if is_quoted {
                        self.quoted.push(known.as_str());
                    }
                    self.values
                        .push_str(&format!("Value Required {name} ({value})\n"));
                    rule.push_str(&format!("${{{name}}}"));
                }
                Part::Name(name, _) => {
                    let message =
                        format!("`{{{{ {name} }}}}` cannot be read: expected each namevar once");
                    problems.push(file_node.problem(message));
                }
            }
        }
        if !missing.is_empty() {
            let message = format!(
                "expected `{{{{ {} }}}}` here, which names what is read",
                missing.join(" }}`, `{{ ")
            );
            problems.push(file_node.problem(message));
        }
        self.rules
            .push_str(&format!("  ^\\S -> Continue.Record\n  ^{rule}$$\n"));
    }

    /// The pattern of an item, and the expression of its attribute's value.
    fn item<'f>(
        &mut self,
        item: &FileNode<'f>,
        indent: &str,
        problems: &mut Problems,
    ) -> Option<(FileNode<'f>, String, String)> {
        let named = item.get("attribute")?;
        let name = named.node().as_str()?;
        let (name, _) = self.schema.attributes().get_key_value(name)?;
        let name = name.as_str();
        let read = item.get("read");
        let kinds = ["line", "flag", "each", "set"];
        let (kind, text) = kinds
            .into_iter()
            .find_map(|kind| Some((kind, item.get(kind)?)))?;
        if kind == "set" && read.is_none() {
            return None;
        }
        if self.names.contains(&name) {
            problems.push(item.problem(format!("`{name}` has a line already that is read")));
            return None;
        }
        let shown = read.clone().unwrap_or_else(|| text.clone());
        let source = shown.text(problems)?.trim();
        let default = match item.get("default") {
            None if kind == "flag" => "false".to_owned(),
            None => "none".to_owned(),
            Some(file_node) => {
                let default = file_node.expression(&self.names, problems)?;
                format!("({})", default.value.source())
            }
        };
        let (mut rule, mut found, mut is_quoted) = (String::new(), 0, false);
        let list = if kind == "each" { "List " } else { "" };
        if kind == "flag" && read.is_none() {
            let positive = source
                .strip_prefix(&format!("{} ", self.negate))
                .unwrap_or(source);
            let (text, negate) = (escaped(positive), escaped(self.negate));
            self.values
                .push_str(&format!("Value {name} ((?:{negate} )?{text})\n"));
            self.rules.push_str(&format!("  ^{indent}${{{name}}}$$\n"));
            self.names.push(name);
            let text = Value::from(source).to_json();
            return Some((
                shown,
                name.to_owned(),
                format!("{name} == {text} if {name} else {default}"),
            ));
        }
        for part in parts(source) {
            match part {
                Part::Text(text) if read.is_some() => rule.push_str(&pattern(text)),
                Part::Text(text) => rule.push_str(&escaped(text)),
                Part::Name(VALUE | ITEM, quoted) => {
                    found += 1;
                    is_quoted = quoted;
                    rule.push_str(&format!("${{{name}}}"));
                }
                Part::Name(..) => found = 2,
            }
        }
        let expected = if kind == "each" { ITEM } else { VALUE };
        if found != 1 {
            let message = format!(
                "a device's output is read with this, too: expected words and one `{{{{ {expected} }}}}`, or `read` \
                 with a pattern that has it"
            );
            problems.push(shown.problem(message));
            return None;
        }
        // The last value of a line may have blanks.
        let value = if rule.ends_with('}') { ".+" } else { "\\S+" };
        let value = in_quotes(value, is_quoted);
        self.values
            .push_str(&format!("Value {list}{name} ({value})\n"));
        self.rules.push_str(&format!("  ^{indent}{rule}$$\n"));
        self.names.push(name);
        let mut value = match (is_quoted, kind) {
            (false, _) => name.to_owned(),
            (true, "each") => format!("{name} | map('unquoted') | list"),
            (true, _) => unquoted(name),
        };
        if let Some(map) = item.get("map") {
            let mut words = serde_json::Map::new();
            for (key, word) in map.pairs(problems) {
                let word = word.node().as_scalar().map(Value::interpolated);
                words.insert(word.unwrap_or_default(), key.into());
            }
            let words = serde_json::Value::Object(words);
            value = format!("{words}[{value}] if {value} in {words} else {value}");
        }
        let value = match (kind, &*default) {
            ("each", _) | (_, "none") => value,
            _ => format!("({value}) if {name} else {default}"),
        };
        Some((shown, name.to_owned(), value))
    }
}

/// A part of a line.
enum Part<'t> {
    Text(&'t str),
    /// What `{{ }}` holds, and whether that stands in quotes.
    Name(&'t str, bool),
}

/// The parts of a line.
fn parts(mut text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    while let Some((before, rest)) = text.split_once("{{") {
        let (name, after) = rest.split_once("}}").unwrap_or((rest, ""));
        parts.push(Part::Text(before));
        parts.push(match name.split_once('|') {
            Some((name, filter)) if quotes(filter.trim()) => Part::Name(name.trim(), true),
            _ => Part::Name(name.trim(), false),
        });
        text = after;
    }
    parts.push(Part::Text(text));
    parts
}

/// Whether a filter puts a text in quotes, and does nothing else.
fn quotes(filter: &str) -> bool {
    let arguments = filter.strip_prefix("quoted").map(str::trim_start);
    let is_call = |text: &str| text.starts_with('(') && text.find(')') == Some(text.len() - 1);
    arguments.is_some_and(|text| text.is_empty() || is_call(text))
}

/// The expression of a text that may stand in quotes.
fn unquoted(name: &str) -> String {
    format!("({name} | unquoted)")
}

/// The pattern of a value, which may stand in quotes.
fn in_quotes(value: &str, is_quoted: bool) -> String {
    match is_quoted {
        true => format!("{QUOTED}|{value}"),
        false => value.to_owned(),
    }
}

/// A pattern as a part of a rule, where `$$` is the end of a line.
fn pattern(text: &str) -> String {
    text.replace('$', "$$")
}

/// A text as a part of a rule, in which blanks may be of any number.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            ' ' => escaped.push_str(" +"),
            '$' => escaped.push_str("\\$$"),
            c if "\\.+*?()|[]{}^".contains(c) => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}
