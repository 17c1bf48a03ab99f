//! Parses a type's file.

use std::sync::Arc;

use devgate_schemas::{Hash, TypeSchema, Value};
use serde_json::json;

use super::cli::Cli;
use super::definition::{Definition, GetSection, SINGLETON_NAMEVAR};
use super::form::Form;
use super::get::{TypeLines, check_namevars, collect, otherwise, pairs};
use super::line_patterns::LinePatterns;
use super::netconf::Netconf;
use super::on_device::{ATTRIBUTE_KEYS, Rules, WHEN};
use super::ovsdb::Ovsdb;
use super::panos::Panos;
use super::provider::DeclaredType;
use super::rest::Rest;
use crate::command_line::check_command;
use crate::file_node::{FileNode, Problems};
use crate::source::{FamilyProtocol, ProtocolKind};

/// The keys of a type's file, except for the form.
const KEYS: [&str; 17] = [
    "name",
    "desc",
    "example",
    "features",
    "attributes",
    "title_patterns",
    "autorequire",
    "autobefore",
    "autosubscribe",
    "autonotify",
    "title",
    "canonicalize",
    "singleton",
    "like",
    "collect",
    "otherwise",
    WHEN,
];

/// The features that every declared type has without naming them.
const FEATURES: [&str; 3] = ["remote_resource", "canonicalize", "custom_insync"];

/// The keys of the forms.
const FORMS: [(&str, ProtocolKind); 6] = [
    ("cli", ProtocolKind::CommandApi),
    ("cli", ProtocolKind::Commands),
    ("rest", ProtocolKind::Rest),
    ("netconf", ProtocolKind::Netconf),
    ("ovsdb", ProtocolKind::Ovsdb),
    ("panos", ProtocolKind::Panos),
];

impl DeclaredType {
    /// Parses a type's file in the form for the protocol of its family, if that is known. `read` returns
    /// the text of another file of the family.
    pub(crate) fn read(
        top: &FileNode<'_>,
        protocol: Option<&FamilyProtocol>,
        read: &dyn Fn(&str) -> crate::Result<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mut forms = FORMS.map(|(key, _)| key).to_vec();
        forms.dedup();
        top.only(&[&KEYS[..], &forms[..]].concat(), problems);
        let singleton = top.get("singleton");
        let singleton =
            singleton.and_then(|file_node| Some((file_node.text(problems)?, file_node)));
        let schema = schema(top, singleton.as_ref().map(|(name, _)| *name), problems);
        let form = form(top, protocol.map(|protocol| protocol.kind), problems);
        if let Some((protocol_kind, file_node)) = &form {
            let mut keys = vec!["get", "create", "update", "delete"];
            match protocol_kind {
                ProtocolKind::Commands | ProtocolKind::CommandApi => keys.extend(Cli::KEYS),
                ProtocolKind::Rest => keys.push("join"),
                ProtocolKind::Netconf
                | ProtocolKind::Ovsdb
                | ProtocolKind::Panos
                | ProtocolKind::ReadOnly => {}
            }
            file_node.only(&keys, problems);
        }
        let schema = schema?;
        if singleton.is_some() {
            check_singleton(top, form.as_ref().map(|(_, form)| form), &schema, problems);
        }
        let attributes: Vec<&str> = schema.attributes().keys().map(String::as_str).collect();
        let title = top
            .get("title")
            .and_then(|file_node| file_node.template(&attributes, problems));
        if title.is_none() && top.get("title").is_none() && schema.namevars().len() > 1 {
            let message =
                "a type with several namevars needs a `title`, which names what `get` finds";
            problems.push(top.problem(message));
        }
        let mut canonical = Vec::new();
        for (name, file_node) in pairs(top.get("canonicalize"), problems) {
            if file_node.is_attribute(&schema, name, problems) {
                if schema.attributes()[name].sensitive {
                    problems
                        .push(file_node.problem("a secret cannot be brought into another form"));
                }
                let expression = file_node.expression(&attributes, problems);
                canonical.extend(expression.map(|expression| (name.to_owned(), expression)));
            }
        }
        let collect = collect(top, &schema, problems);
        let otherwise = otherwise(top, &schema, problems);
        let (protocol_kind, file_node) = form?;
        let lines = TypeLines {
            form: &file_node,
            schema: &schema,
            is_singleton: singleton.is_some(),
        };
        let get = file_node.required("get", problems);
        let get = get.iter().flat_map(FileNode::items);
        let get: Vec<Option<GetSection>> = get
            .map(|file_node| {
                check_namevars(&file_node, &schema, singleton.is_some(), problems);
                let dialect = protocol.and_then(|protocol| protocol.dialect.as_deref());
                check_command(&file_node, dialect, problems);
                if protocol_kind.has_commands() && LinePatterns::are_for(&file_node) {
                    let dialect = protocol.and_then(|protocol| protocol.dialect.clone());
                    let protocol = FamilyProtocol {
                        kind: protocol_kind,
                        dialect,
                    };
                    return GetSection::of_lines(&file_node, &lines, &protocol, problems);
                }
                GetSection::read(&file_node, protocol_kind, &schema, read, problems)
            })
            .collect();
        let get: Option<Vec<GetSection>> = get.into_iter().collect();
        let depth = get.iter().flatten().map(|get| get.source.depth()).next();
        let form = match protocol_kind {
            ProtocolKind::Commands | ProtocolKind::CommandApi | ProtocolKind::ReadOnly => {
                let dialect = protocol.and_then(|protocol| protocol.dialect.clone());
                let cli = Cli::read(&file_node, &schema, dialect, problems);
                cli.map(|cli| Form::Cli(Box::new(cli)))
            }
            ProtocolKind::Rest => Rest::read(&file_node, &schema, problems).map(Form::data),
            ProtocolKind::Netconf => {
                Netconf::read(&file_node, &schema, depth.unwrap_or_default(), problems)
                    .map(Form::data)
            }
            ProtocolKind::Ovsdb => Ovsdb::read(&file_node, &schema, problems).map(Form::data),
            ProtocolKind::Panos => Panos::read(&file_node, &schema, problems).map(Form::data),
        };
        let rules = Rules::read(top, &schema, problems);
        Some(Self(Arc::new(Definition {
            schema,
            rules,
            singleton: singleton.map(|(name, _)| name.to_owned()),
            title,
            canonical,
            collect,
            otherwise,
            get: get?,
            form: form?,
        })))
    }
}

/// Returns the form of a type's file for the protocol of its family. Beside it there may be forms for the protocols of
/// families that take types from this one.
fn form<'a>(
    top: &FileNode<'a>,
    protocol_kind: Option<ProtocolKind>,
    problems: &mut Problems,
) -> Option<(ProtocolKind, FileNode<'a>)> {
    let Some(protocol_kind) = protocol_kind else {
        let mut forms = FORMS.into_iter();
        return forms.find_map(|(key, protocol_kind)| Some((protocol_kind, top.get(key)?)));
    };
    let Some((expected, _)) = FORMS.into_iter().find(|(_, form)| *form == protocol_kind) else {
        let message = "this protocol only reads: there is no form for types over it";
        problems.push(top.problem(message));
        return None;
    };
    let mut others = FORMS.into_iter().filter_map(|(key, _)| top.get(key));
    match (top.get(expected), others.next_back()) {
        (None, Some(other)) => {
            let message = format!("the family's protocol has another form: expected `{expected}`");
            problems.push(other.problem(message));
            None
        }
        _ => Some((protocol_kind, top.required(expected, problems)?)),
    }
}

/// Returns the type's schema: the file without the keys that do not belong to the schema.
fn schema(
    top: &FileNode<'_>,
    singleton: Option<&str>,
    problems: &mut Problems,
) -> Option<TypeSchema> {
    let Value::Hash(mut definition) = top.node().to_value() else {
        return None;
    };
    let own = [
        "title",
        "canonicalize",
        "singleton",
        "like",
        "collect",
        "otherwise",
        WHEN,
    ];
    for key in own {
        definition.remove(key);
    }
    if let Some(Value::Hash(attributes)) = definition.get_mut(&"attributes".into()) {
        for (_, attribute) in attributes.iter_mut() {
            if let Value::Hash(attribute) = attribute {
                for key in ATTRIBUTE_KEYS {
                    attribute.remove(key);
                }
            }
        }
    }
    if let Some(name) = singleton {
        add_name(&mut definition, name);
    }
    for (key, _) in FORMS {
        definition.remove(key);
    }
    add_features(&mut definition);
    match TypeSchema::register(&Value::Hash(definition)) {
        Ok(schema) => Some(schema),
        Err(found) => {
            top.schema_problems(&found, problems);
            None
        }
    }
}

/// Adds the only name that a singleton has.
fn add_name(definition: &mut Hash, name: &str) {
    // The schema's own parser reports what is no mapping.
    let Some(Value::Hash(attributes)) = definition.get("attributes") else {
        return;
    };
    let named = json!({
        "type": format!("Enum['{name}']"),
        "behaviour": "namevar",
        "default": name,
        "desc": format!("There is one, `{name}`."),
    });
    let mut all = Hash::new();
    all.insert(SINGLETON_NAMEVAR, Value::from(named));
    for (key, value) in attributes.iter() {
        all.insert(key.clone(), value.clone());
    }
    definition.insert("attributes", Value::Hash(all));
}

/// Reports what a type cannot have if it has exactly one resource, which is always there.
fn check_singleton(
    top: &FileNode<'_>,
    form: Option<&FileNode<'_>>,
    schema: &TypeSchema,
    problems: &mut Problems,
) {
    let mut report = |path: &[&str], message: &str| {
        let path: Vec<String> = path.iter().map(ToString::to_string).collect();
        problems.push(top.nearest(&path).problem(message));
    };
    let attributes = top.get("attributes");
    let named = attributes.and_then(|attributes| attributes.get(SINGLETON_NAMEVAR));
    for namevar in schema.namevars() {
        if namevar != SINGLETON_NAMEVAR || named.is_some() {
            let message = "`singleton` names the only resource: leave this namevar out";
            report(&["attributes", namevar], message);
        }
    }
    if schema.is_ensurable() {
        let message = "a singleton is always there: leave `ensure` out";
        report(&["attributes", "ensure"], message);
    }
    if let Some(delete) = form.and_then(|form| form.get("delete")) {
        problems.push(delete.problem("a singleton cannot be removed: leave `delete` out"));
    }
}

fn add_features(definition: &mut Hash) {
    let mut features = match definition.remove("features") {
        None => Vec::new(),
        Some(Value::Array(features)) => features,
        // The schema's own parser reports the problem.
        Some(other) => {
            definition.insert("features", other);
            return;
        }
    };
    for feature in FEATURES.map(Value::from) {
        if !features.contains(&feature) {
            features.push(feature);
        }
    }
    definition.insert("features", Value::Array(features));
}
