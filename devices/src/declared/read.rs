//! Reads a type's file.

use std::sync::Arc;

use devgate_schemas::{Hash, TypeSchema, Value};

use super::cli::{Cli, Get};
use super::{DeclaredType, Definition};
use crate::family::{Placed, Problems, Spot, read_textfsm};
use crate::template::Expression;

/// What a type's file may say beside its schema.
const KEYS: [&str; 12] = [
    "name",
    "desc",
    "features",
    "attributes",
    "title_patterns",
    "autorequire",
    "autobefore",
    "autosubscribe",
    "autonotify",
    "title",
    "canonicalize",
    "cli",
];

/// What every declared type can do, without saying so.
const FEATURES: [&str; 3] = ["remote_resource", "canonicalize", "custom_insync"];

impl DeclaredType {
    /// Reads a type's file; `read` gives the text of another file of the family.
    pub(crate) fn read(
        top: &Spot<'_>,
        read: &dyn Fn(&str) -> crate::Result<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        top.only(&KEYS, problems);
        let schema = schema(top, problems);
        let cli = top.required("cli", problems);
        if let Some(cli) = &cli {
            cli.only(&["get", "create", "update", "delete"], problems);
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
        let cli = Cli::read(&cli?, &schema, read, problems)?;
        Some(Self(Arc::new(Definition {
            schema,
            title,
            canonical,
            cli,
        })))
    }
}

impl Cli {
    fn read(
        top: &Spot<'_>,
        schema: &TypeSchema,
        read: &dyn Fn(&str) -> crate::Result<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let get = top.required("get", problems);
        let get = get
            .iter()
            .flat_map(Spot::items)
            .map(|spot| Get::read(&spot, schema, read, problems));
        let get: Vec<Option<Get>> = get.collect();
        let mut names: Vec<&str> = schema.attributes().keys().map(String::as_str).collect();
        names.extend(["is", "should"]);
        let create = top.required("create", problems);
        let create = create.and_then(|spot| spot.template(&names, problems));
        let update = top
            .get("update")
            .and_then(|spot| spot.template(&names, problems));
        let delete = top
            .get("delete")
            .and_then(|spot| spot.template(&names, problems));
        if schema.is_ensurable() && top.get("delete").is_none() {
            problems.push(top.problem("missing key `delete`: the type has `ensure`"));
        }
        Some(Self {
            get: get.into_iter().collect::<Option<_>>()?,
            create: create?,
            update,
            delete,
        })
    }
}

impl Get {
    fn read(
        top: &Spot<'_>,
        schema: &TypeSchema,
        read: &dyn Fn(&str) -> crate::Result<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        top.only(
            &["command", "textfsm", "textfsm_file", "resource"],
            problems,
        );
        let command = top
            .required("command", problems)
            .and_then(|spot| spot.text(problems));
        let output = read_textfsm(top, read, problems);
        let resource = top.required("resource", problems);
        let output = output?;
        let names: Vec<&str> = output.fsm.names().iter().map(String::as_str).collect();
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
            command: command?.to_owned(),
            output,
            resource: expressions,
        })
    }
}

/// The type's schema: what the file says, less what is not the schema's.
fn schema(top: &Spot<'_>, problems: &mut Problems) -> Option<TypeSchema> {
    let Value::Hash(mut definition) = top.node().to_value() else {
        return None;
    };
    for key in ["title", "canonicalize", "cli"] {
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
