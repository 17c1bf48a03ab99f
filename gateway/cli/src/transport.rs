//! `devgate transport`: transports and their connection settings.

use clap::Subcommand;
use devgate_core::failure::Failure;
use devgate_engine::hosts::TaskHostSettings;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::{self, Printer};
use devgate_front::summary::first_sentence;
use devgate_schemas::{Attribute, TransportSchema};
use devgate_transports::Connect;
use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use crate::complete;

/// Show transports and their connection settings.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  devgate transport list\n  devgate transport show ssh_cli")]
pub enum Transport {
    /// List all transports
    #[command(after_help = "Example:\n  devgate transport list")]
    List,
    /// Show the connection settings of a transport
    #[command(
        after_help = "Examples:\n  devgate transport show frr\n  devgate transport show ssh\n  devgate transport show --json-schema > inventory.schema.json"
    )]
    Show {
        /// Name of the transport, as in `remote-transport`; or `ssh` or `local`, for hosts (default: all those of devices)
        #[arg(add = complete::transports())]
        name: Option<String>,
        /// Print a JSON Schema (draft 2020-12) for editors, forms and validators
        ///
        /// Rules that JSON Schema cannot express are in the descriptions. Without a name, one document has the schemas
        /// of all transports in `$defs`.
        #[arg(long)]
        json_schema: bool,
    },
}

impl Transport {
    /// Runs the command: prints results, and returns the exit status.
    ///
    /// # Errors
    /// The command failed as a whole.
    pub async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let registry = &context.workspace.registry;
        match self {
            Self::List => {
                context.read_all_schemas().await?;
                let rows: Vec<[String; 2]> = registry
                    .transports()
                    .map(|connect| {
                        let schema = connect.schema();
                        [schema.name().to_owned(), first_sentence(schema.desc())]
                    })
                    .collect();
                printer.page(&json!({ "transports": rows }), || printer::table(&rows));
            }
            Self::Show { name, json_schema } => {
                match &name {
                    Some(name) => context.read_schema(name).await?,
                    None => context.read_all_schemas().await?,
                }
                let schemas: Vec<&TransportSchema> = match &name {
                    Some(name) => vec![match TaskHostSettings::schema_of(name) {
                        Some(schema) => schema,
                        None => registry.transport(name)?.schema(),
                    }],
                    None => registry.transports().map(Connect::schema).collect(),
                };
                let one = schemas.first().filter(|_| name.is_some());
                let json = match (one, json_schema) {
                    (Some(schema), false) => as_json(schema),
                    (Some(schema), true) => schema.json_schema(),
                    (None, false) => {
                        let all: Vec<Json> = schemas.iter().map(|schema| as_json(schema)).collect();
                        json!({ "transports": all })
                    }
                    (None, true) => definitions(&schemas),
                };
                if json_schema {
                    printer.document(&json, || format!("{json:#}\n"));
                    return Ok(ExitStatus::Success);
                }
                printer.page(&json, || {
                    let texts: Vec<String> = schemas.iter().map(|schema| as_text(schema)).collect();
                    texts.join("\n")
                });
            }
        }
        Ok(ExitStatus::Success)
    }
}

fn as_json(schema: &TransportSchema) -> Json {
    json!({
        "name": schema.name(),
        "desc": schema.desc(),
        "connection_info": attributes_json(schema.connection_info()),
        "groups": groups_json(schema),
    })
}

/// The schemas of several transports as one document of JSON Schema.
fn definitions(schemas: &[&TransportSchema]) -> Json {
    let mut document = json!({ "title": "connection_info of each transport" });
    for schema in schemas {
        let mut one = schema.json_schema();
        document["$schema"] = one["$schema"].take();
        if let Some(members) = one.as_object_mut() {
            members.shift_remove("$schema");
        }
        document["$defs"][schema.name()] = one;
    }
    document
}

/// Groups in the form of a schema file.
pub fn groups_json(schema: &TransportSchema) -> Json {
    let groups = schema.groups().iter();
    groups
        .map(|group| json!({ group.rule.word(): group.members }))
        .collect()
}

/// Connection info for people: its attributes and groups.
pub fn connection_info_text(schema: &TransportSchema) -> String {
    let mut text = format!(
        "connection_info:\n{}",
        attributes_text(schema.connection_info())
    );
    if !schema.groups().is_empty() {
        text.push_str("\ngroups:\n");
        for group in schema.groups() {
            text.push_str(&format!("  {group}\n"));
        }
    }
    text
}

/// Attributes in the form of a schema file.
pub fn attributes_json(attributes: &IndexMap<String, Attribute>) -> Json {
    attributes
        .iter()
        .map(|(name, attribute)| {
            let mut json = Map::new();
            json.insert("type".into(), attribute.data_type.to_string().into());
            json.insert("desc".into(), attribute.desc.as_str().into());
            if let Some(default) = &attribute.default {
                json.insert("default".into(), default.to_json());
            }
            if attribute.sensitive {
                json.insert("sensitive".into(), true.into());
            }
            if attribute.behaviour != devgate_schemas::Behaviour::Property {
                json.insert("behaviour".into(), attribute.behaviour.to_string().into());
            }
            (name.clone(), Json::Object(json))
        })
        .collect::<Map<_, _>>()
        .into()
}

fn as_text(schema: &TransportSchema) -> String {
    let name = schema.name();
    let info = connection_info_text(schema);
    let config = match TaskHostSettings::schema_of(name) {
        Some(_) => format!("    transport: {name}\n    {name}:\n      SETTING: VALUE\n"),
        None => {
            format!("    transport: remote\n    remote:\n      remote-transport: {name}\n")
        }
    };
    format!(
        "{name}: {}\n\n{info}\nIn an inventory:\n  config:\n{config}",
        schema.desc()
    )
}

/// Attributes for people: name and type, then the description.
pub fn attributes_text(attributes: &IndexMap<String, Attribute>) -> String {
    let mut text = String::new();
    for (name, attribute) in attributes {
        let mut marks = Vec::new();
        if attribute.behaviour != devgate_schemas::Behaviour::Property {
            marks.push(attribute.behaviour.to_string());
        }
        if attribute.sensitive {
            marks.push("sensitive".to_owned());
        }
        if let Some(default) = &attribute.default {
            marks.push(format!("default {}", default.to_json()));
        } else if attribute.is_mandatory() {
            marks.push("required".to_owned());
        }
        let marks = printer::in_brackets(&marks);
        text.push_str(&format!("  {name}: {}{marks}\n", attribute.data_type));
        for line in attribute.desc.lines() {
            text.push_str(&format!("      {line}\n"));
        }
    }
    text
}
