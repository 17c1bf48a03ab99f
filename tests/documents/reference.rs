//! The generated reference: docs/reference has commands.md, settings.md, types.md, family.md, and a table in inventory.md.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::{help, plain};
use crate::blocks::{root, text};
use crate::folder::{Project, document};

/// The first line of a generated file.
pub(super) const MADE: &str = "<!-- Made by the program, and checked by tests/documents.rs: DEVGATE_GOLDENS=write makes it anew. -->";

/// The line before the table in inventory.md.
const TABLE: &str =
    "<!-- This table is made by the program: DEVGATE_GOLDENS=write makes it anew. -->\n";

/// Formats a text as a table cell.
fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}

/// Returns the text of a member; empty if there is none.
fn member<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// Returns the JSON output of `show`, or `None` if the subject is unknown.
fn json_of(project: &Project, words: &[&str]) -> Option<Value> {
    let output = project.devgate(&[words, &["--format", "json"]].concat());
    output.status.success().then(|| document(&output))
}

/// Returns the names in a list of pairs.
fn names(list: &Value) -> Vec<String> {
    let pairs = list.as_array().expect("it is a list");
    let name = |pair: &Value| pair[0].as_str().expect("a name is a text").to_owned();
    pairs.iter().map(name).collect()
}

/// Returns a table row for each attribute of connection info or of a type.
fn rows(attributes: &Value, leave: impl Fn(&str, &Value) -> bool) -> String {
    let attributes = attributes.as_object().expect("attributes have names");
    let mut table = String::new();
    for (name, attribute) in attributes {
        if leave(name, attribute) {
            continue;
        }
        let default = match &attribute["default"] {
            Value::Null => String::new(),
            default => format!("`{}`", cell(&default.to_string())),
        };
        let mut notes: Vec<&str> = Vec::new();
        notes.extend(attribute["behaviour"].as_str());
        let is_needed = default.is_empty() && !member(attribute, "type").starts_with("Optional[");
        notes.extend(is_needed.then_some("required"));
        notes.extend((attribute["sensitive"] == true).then_some("secret"));
        let (kind, desc) = (member(attribute, "type"), member(attribute, "desc"));
        table += &format!(
            "| `{name}` | `{}` | {default} | {} | {} |\n",
            cell(kind),
            notes.join(", "),
            cell(desc)
        );
    }
    if table.is_empty() {
        return table;
    }
    format!("| Name | Type | Default | | Meaning |\n|---|---|---|---|---|\n{table}\n")
}

/// Returns the commands that a help text lists.
fn listed(help: &str) -> Vec<&str> {
    let (_, list) = help.split_once("\nCommands:\n").unwrap_or_default();
    let list = list.split("\n\n").next().unwrap_or_default();
    let named = list.lines().filter_map(|line| line.strip_prefix("  "));
    named
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect()
}

fn commands_md(project: &Project) -> String {
    let mut page = format!("{MADE}\n# Commands\n\n");
    let mut add = |words: &[&str]| {
        let text = help(project, words).expect("there is help");
        let name = words.join(" ");
        page += &format!("## devgate {name}\n\n```text\n{}\n```\n\n", text.trim());
        text
    };
    add(&["options"]);
    let all = help(project, &[]).expect("there is help");
    for name in listed(&all) {
        let text = add(&[name]);
        for part in listed(&text) {
            add(&[name, part]);
        }
    }
    page.trim_end().to_owned() + "\n"
}

fn settings_md(project: &Project) -> String {
    let mut page = format!(
        "{MADE}\n# Settings of protocols and families\n\n\
         What `config.remote` of a target may contain, beside `remote-transport` and the \
         [options of tasks and sessions](inventory.md).\n\n"
    );
    let list = json_of(project, &["transport", "list"]).expect("there are transports");
    for name in names(&list["transports"]) {
        let transport = json_of(project, &["transport", "show", &name]).expect("it is known");
        page += &format!("## {name}\n\n{}\n\n", plain(member(&transport, "desc")));
        let family = json_of(project, &["family", "show", &name]);
        let protocol = family.as_ref().map(|family| member(family, "protocol"));
        let base = protocol.map(|protocol| {
            page += &format!("The settings are those of [{protocol}](#{protocol})");
            let base = json_of(project, &["transport", "show", protocol]).expect("it is known");
            base["connection_info"].clone()
        });
        let own = rows(&transport["connection_info"], |name, attribute| {
            base.as_ref().is_some_and(|base| base[name] == *attribute)
        });
        page += match (&base, own.is_empty()) {
            (Some(_), true) => ".\n\n",
            (Some(_), false) => ", and these:\n\n",
            (None, _) => "",
        };
        page += &own;
        let groups = transport["groups"].as_array().into_iter().flatten();
        for (rule, members) in groups.filter_map(Value::as_object).flatten() {
            let members = members.as_array().into_iter().flatten();
            let members: Vec<String> = members
                .filter_map(Value::as_str)
                .map(|name| format!("`{name}`"))
                .collect();
            let rule = rule.replace('_', " ");
            page += &format!("Rule: {rule} {}.\n\n", members.join(", "));
        }
    }
    page.trim_end().to_owned() + "\n"
}

/// Returns inventory.md with its table of the settings of hosts behind SSH. Those of tasks are in another table, which
/// people have written.
fn inventory_md(project: &Project) -> String {
    let settings = |name: &str| {
        let transport = json_of(project, &["transport", "show", name]).expect("it is known");
        transport["connection_info"].clone()
    };
    let (ssh, local) = (settings("ssh"), settings("local"));
    let page = text(&root().join("docs/reference/inventory.md"));
    let (before, rest) = page.split_once(TABLE).expect("the table has a mark");
    let (_, after) = rest.split_once("\n## ").expect("a section follows");
    for name in local.as_object().expect("settings have names").keys() {
        assert!(before.contains(&format!("`{name}`")), "{name} is missing");
    }
    let table = rows(&ssh, |name, _| local.get(name).is_some());
    format!("{before}{TABLE}\n{table}## {after}")
}

fn types_md(project: &Project) -> String {
    let mut page = format!("{MADE}\n# Resource types\n\n");
    let list = json_of(project, &["type", "list"]).expect("there are types");
    let all = names(&list["types"]);
    let mut types: Vec<(&str, Vec<&str>)> = Vec::new();
    for name in &all {
        let (family, name) = name.split_once('/').expect("a family has it");
        match types.iter_mut().find(|(known, _)| *known == name) {
            Some((_, families)) => families.push(family),
            None => types.push((name, vec![family])),
        }
    }
    for (name, families) in types {
        let shown = format!("{}/{name}", families[0]);
        let output = json_of(project, &["type", "show", &shown]).expect("it is known");
        let families: Vec<String> = families.iter().map(|name| format!("`{name}`")).collect();
        let word = if families.len() == 1 {
            "Family"
        } else {
            "Families"
        };
        page += &format!(
            "## {name}\n\n{word} {}. {}\n\n",
            families.join(", "),
            plain(member(&output, "desc"))
        );
        page += &rows(&output["attributes"], |_, _| false);
        if output["example"].is_object() {
            page += &format!("```json\n{:#}\n```\n\n", output["example"]);
        }
    }
    page.trim_end().to_owned() + "\n"
}

/// What a value of a JSON Schema is, in words.
fn value_text(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/$defs/").replace("%20", " ");
        return format!("[{name}](#{})", name.replace(' ', "-"));
    }
    if let Some(words) = schema["enum"].as_array() {
        let words = words
            .iter()
            .filter_map(Value::as_str)
            .map(|word| format!("`{word}`"));
        return words.collect::<Vec<_>>().join(" or ");
    }
    match schema["anyOf"].as_array().map(Vec::as_slice) {
        Some([one, list]) if list["items"] == *one => {
            return format!("one or a list: {}", value_text(one));
        }
        Some(kinds) => {
            return kinds
                .iter()
                .map(value_text)
                .collect::<Vec<_>>()
                .join(" or ");
        }
        None => {}
    }
    match schema["type"].as_str() {
        Some("array") => format!("a list: {}", value_text(&schema["items"])),
        Some("object") => format!(
            "names, each with {}",
            value_text(&schema["additionalProperties"])
        ),
        Some("string") => "text".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("integer") => format!(
            "a whole number from {} to {}",
            schema["minimum"], schema["maximum"]
        ),
        _ => "any value".to_owned(),
    }
}

/// A section about the keys of a mapping, or about a kind of text.
fn keys_section(heading: &str, schema: &Value) -> String {
    let mut section = format!("{heading}\n\n{}\n\n", plain(member(schema, "description")));
    let Some(keys) = schema["properties"].as_object() else {
        return section;
    };
    section += "| Key | Value | | Meaning |\n|---|---|---|---|\n";
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (key, value) in keys {
        let note = if required.contains(&key.as_str()) {
            "required"
        } else {
            ""
        };
        section += &format!(
            "| `{key}` | {} | {note} | {} |\n",
            value_text(value),
            cell(member(value, "description"))
        );
    }
    section + "\n"
}

fn family_md(project: &Project) -> String {
    let mut page = format!(
        "{MADE}\n# Keys of a family's files\n\n[devices/README.md](../../devices/README.md) explains them with \
         examples. `devgate family schema` prints them as JSON Schema, for editors.\n\n"
    );
    let mut told: BTreeSet<String> = BTreeSet::new();
    let mut texts = String::new();
    for file in ["family", "type", "case"] {
        let output = project.devgate(&["family", "schema", file]);
        let schema: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
        // A type that is not like another one.
        let whole = schema.get("else").unwrap_or(&schema);
        page += &keys_section(&format!("## {}", member(&schema, "title")), whole);
        for (name, schema) in schema["$defs"].as_object().into_iter().flatten() {
            if !told.insert(name.clone()) {
                continue;
            }
            let section = keys_section(&format!("### {name}"), schema);
            if schema["properties"].is_object() {
                page += &section;
            } else {
                texts += &section;
            }
        }
    }
    format!("{page}## Texts\n\n{}\n", texts.trim_end())
}

#[test]
fn the_reference_is_what_the_program_says() {
    let project = Project::new();
    let pages = [
        ("commands.md", commands_md(&project)),
        ("settings.md", settings_md(&project)),
        ("types.md", types_md(&project)),
        ("family.md", family_md(&project)),
        ("inventory.md", inventory_md(&project)),
    ];
    for (name, page) in pages {
        let path = root().join("docs/reference").join(name);
        if std::env::var_os("DEVGATE_GOLDENS").is_some_and(|mode| mode == "write") {
            fs::write(&path, &page).expect("a page can be written");
        }
        let golden = text(&path);
        let differs = golden
            .lines()
            .zip(page.lines())
            .find(|(golden, page)| golden != page);
        assert!(
            golden == page,
            "{name} is not what the program says: {differs:?}; DEVGATE_GOLDENS=write"
        );
    }
}
