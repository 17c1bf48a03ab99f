//! `devgate transport`: the transports, and what their connection info may hold.

use clap::Subcommand;
use devgate_schemas::{Attribute, TransportSchema};
use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use super::{Ending, Setting};
use crate::output::{self, Output};

/// Look at transports and what their connection info may hold.
#[derive(Debug, Subcommand)]
pub(super) enum Transport {
    /// Name every transport
    List,
    /// Show what a transport's connection info may hold
    Show {
        /// The transport's name, as in `remote-transport`
        name: String,
    },
}

impl Transport {
    pub(super) fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        match self {
            Self::List => {
                let rows: Vec<[String; 2]> = setting
                    .registry
                    .transports()
                    .map(|connect| {
                        let schema = connect.schema();
                        [schema.name().to_owned(), first_line(schema.desc())]
                    })
                    .collect();
                output.document(&json!({ "transports": rows }), || output::table(&rows));
            }
            Self::Show { name } => {
                let connect = setting.registry.transport(&name)?;
                let schema = connect.schema();
                output.document(&as_json(schema), || as_text(schema));
            }
        }
        Ok(Ending::Well)
    }
}

fn as_json(schema: &TransportSchema) -> Json {
    json!({
        "name": schema.name(),
        "desc": schema.desc(),
        "connection_info": attributes_json(schema.connection_info()),
    })
}

/// Attributes in the form in which a schema is written.
pub(super) fn attributes_json(attributes: &IndexMap<String, Attribute>) -> Json {
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
    let attributes = attributes_text(schema.connection_info());
    format!(
        "{name}: {}\n\nconnection_info:\n{attributes}\nIn an inventory:\n  config:\n    transport: \
         remote\n    remote:\n      remote-transport: {name}\n",
        schema.desc()
    )
}

/// Attributes as people read them: name and type, then what they are for.
pub(super) fn attributes_text(attributes: &IndexMap<String, Attribute>) -> String {
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
        let marks = output::in_brackets(&marks);
        text.push_str(&format!("  {name}: {}{marks}\n", attribute.data_type));
        for line in attribute.desc.lines() {
            text.push_str(&format!("      {line}\n"));
        }
    }
    text
}

/// The first line of a description, for lists.
pub(super) fn first_line(desc: &str) -> String {
    desc.lines().next().unwrap_or_default().to_owned()
}
