//! Reads a type's file.

use std::sync::Arc;

use devgate_schemas::{Hash, TypeSchema, Value};

use super::cli::Cli;
use super::definition::{Definition, Get};
use super::form::Form;
use super::netconf::Netconf;
use super::ovsdb::Ovsdb;
use super::provider::DeclaredType;
use super::rest::Rest;
use crate::file_node::{Placed, Problems, Spot};
use crate::source::{Source, Speaks};
use crate::template::Expression;

/// What a type's file may say beside its schema and its form.
const KEYS: [&str; 12] = [
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
];

/// What every declared type can do, without saying so.
const FEATURES: [&str; 3] = ["remote_resource", "canonicalize", "custom_insync"];

/// The forms, by their keys.
const FORMS: [(&str, Speaks); 4] = [
    ("cli", Speaks::Commands),
    ("rest", Speaks::Rest),
    ("netconf", Speaks::Netconf),
    ("ovsdb", Speaks::Ovsdb),
];

impl DeclaredType {
    /// Reads a type's file in the form for what its family speaks, where that is known; `read` gives
    /// the text of another file of the family.
    pub(crate) fn read(
        top: &Spot<'_>,
        speaks: Option<Speaks>,
        read: &dyn Fn(&str) -> crate::Result<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let forms = FORMS.map(|(key, _)| key);
        top.only(&[&KEYS[..], &forms[..]].concat(), problems);
        let schema = schema(top, problems);
        let form = form(top, speaks, problems);
        if let Some((speaks, spot)) = &form {
            let mut keys = vec!["get", "create", "update", "delete"];
            keys.extend((*speaks == Speaks::Rest).then_some("join"));
            spot.only(&keys, problems);
        }
        let schema = schema?;
        let attributes: Vec<&str> = schema.attributes().keys().map(String::as_str).collect();
        let title = top
            .get("title")
            .and_then(|spot| spot.template(&attributes, problems));
        if title.is_none() && top.get("title").is_none() && schema.namevars().len() > 1 {
            let message =
                "a type with several namevars needs a `title`, which names what `get` finds";
            problems.push(top.problem(message));
        }
        let mut canonical = Vec::new();
        for (name, spot) in pairs(top.get("canonicalize"), problems) {
            if known_attribute(&schema, name, &spot, problems) {
                if schema.attributes()[name].sensitive {
                    problems.push(spot.problem("a secret cannot be brought into another form"));
                }
                let expression = spot.expression(&attributes, problems);
                canonical.extend(expression.map(|expression| (name.to_owned(), expression)));
            }
        }
        let (speaks, spot) = form?;
        let get = spot.required("get", problems);
        let get = get.iter().flat_map(Spot::items);
        let get: Vec<Option<Get>> = get
            .map(|spot| Get::read(&spot, speaks, &schema, read, problems))
            .collect();
        let get: Option<Vec<Get>> = get.into_iter().collect();
        let depth = get.iter().flatten().map(|get| get.source.depth()).next();
        let form = match speaks {
            Speaks::Commands | Speaks::Reads => {
                Cli::read(&spot, &schema, problems).map(|cli| Form::Cli(Box::new(cli)))
            }
            Speaks::Rest => Rest::read(&spot, &schema, problems).map(Form::data),
            Speaks::Netconf => {
                Netconf::read(&spot, &schema, depth.unwrap_or(0), problems).map(Form::data)
            }
            Speaks::Ovsdb => Ovsdb::read(&spot, &schema, problems).map(Form::data),
        };
        Some(Self(Arc::new(Definition {
            schema,
            title,
            canonical,
            get: get?,
            form: form?,
        })))
    }
}

impl Get {
    fn read(
        top: &Spot<'_>,
        speaks: Speaks,
        schema: &TypeSchema,
        read: &dyn Fn(&str) -> crate::Result<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let source = Source::read(top, speaks, "resource", read, problems);
        let resource = top.required("resource", problems);
        let source = source?;
        let names = source.names();
        let mut expressions: Vec<(String, Placed<Expression>)> = Vec::new();
        for (name, spot) in pairs(resource.clone(), problems) {
            if known_attribute(schema, name, &spot, problems) {
                let expression = spot.expression(&names, problems);
                expressions.extend(expression.map(|expression| (name.to_owned(), expression)));
            }
        }
        for namevar in schema.namevars() {
            if let Some(resource) = &resource
                && resource.get(namevar).is_none()
            {
                problems
                    .push(resource.problem(format!("missing key `{namevar}`: it is a namevar")));
            }
        }
        Some(Self {
            source,
            resource: expressions,
        })
    }
}

/// The one form of a type's file, which must be that of what its family speaks.
fn form<'a>(
    top: &Spot<'a>,
    speaks: Option<Speaks>,
    problems: &mut Problems,
) -> Option<(Speaks, Spot<'a>)> {
    let Some(speaks) = speaks else {
        let mut forms = FORMS.into_iter();
        return forms.find_map(|(key, speaks)| Some((speaks, top.get(key)?)));
    };
    let Some((wanted, _)) = FORMS.into_iter().find(|(_, form)| *form == speaks) else {
        let message = "this protocol only reads: there is no form for types over it";
        problems.push(top.problem(message));
        return None;
    };
    for (key, _) in FORMS.into_iter().filter(|(key, _)| *key != wanted) {
        if let Some(spot) = top.get(key) {
            let message = format!("the family's protocol has another form: expected `{wanted}`");
            problems.push(spot.problem(message));
        }
    }
    Some((speaks, top.required(wanted, problems)?))
}

/// The type's schema: what the file says, less what is not the schema's.
fn schema(top: &Spot<'_>, problems: &mut Problems) -> Option<TypeSchema> {
    let Value::Hash(mut definition) = top.node().to_value() else {
        return None;
    };
    for key in ["title", "canonicalize"] {
        definition.remove(key);
    }
    for (key, _) in FORMS {
        definition.remove(key);
    }
    add_features(&mut definition);
    match TypeSchema::register(&Value::Hash(definition)) {
        Ok(schema) => Some(schema),
        Err(found) => {
            for problem in found.iter() {
                problems.push(top.nearest(&problem.path).problem(&problem.message));
            }
            None
        }
    }
}

fn add_features(definition: &mut Hash) {
    let mut features = match definition.remove("features") {
        None => Vec::new(),
        Some(Value::Array(features)) => features,
        // The schema says what is wrong with it.
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

fn pairs<'a>(spot: Option<Spot<'a>>, problems: &mut Problems) -> Vec<(&'a str, Spot<'a>)> {
    spot.map_or_else(Vec::new, |spot| spot.pairs(problems))
}

fn known_attribute(
    schema: &TypeSchema,
    name: &str,
    spot: &Spot<'_>,
    problems: &mut Problems,
) -> bool {
    let known = schema.attributes().contains_key(name);
    if !known {
        let names = schema.attributes().keys().map(String::as_str);
        let hint = devgate_schemas::suggest(name, names);
        problems.push(spot.problem(format!(
            "`{}` has no attribute `{name}`{hint}",
            schema.name()
        )));
    }
    known
}
