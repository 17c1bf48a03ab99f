//! `devgate type`: the resource types of the families.

use anyhow::bail;
use clap::Subcommand;
use devgate_devices::ResourceType;
use serde_json::{Value as Json, json};

use super::transport::{attributes_json, attributes_text, first_sentence};
use super::{Ending, Setting};
use crate::output::{self, Output};

/// Look at resource types.
#[derive(Debug, Subcommand)]
pub(super) enum Types {
    /// Name every resource type
    List,
    /// Show a type's attributes
    Show {
        /// The type's name, with its family where several have one of that name
        #[arg(value_name = "[FAMILY/]NAME")]
        name: String,
    },
}

impl Types {
    pub(super) fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        match self {
            Self::List => {
                let mut rows = Vec::new();
                for family in setting.registry.families() {
                    for kind in family.types() {
                        let schema = kind.schema();
                        let name = format!("{}/{}", family.name(), schema.name());
                        rows.push([name, first_sentence(schema.desc())]);
                    }
                }
                output.document(&json!({ "types": rows }), || output::table(&rows));
            }
            Self::Show { name } => {
                let (family, kind) = find(setting, &name)?;
                output.document(&as_json(family, kind), || as_text(family, kind));
            }
        }
        Ok(Ending::Well)
    }
}

fn find<'a>(
    setting: &'a Setting,
    name: &'a str,
) -> anyhow::Result<(&'a str, &'a dyn ResourceType)> {
    if let Some((family, name)) = name.split_once('/') {
        return Ok((family, setting.registry.resource_type(family, name)?));
    }
    let known = || {
        let families = setting.registry.families();
        families.flat_map(|family| family.types().map(|kind| (family.name(), kind)))
    };
    let found: Vec<_> = known()
        .filter(|(_, kind)| kind.schema().name() == name)
        .collect();
    match found.as_slice() {
        [found] => Ok(*found),
        [] => bail!(
            "there is no resource type `{name}`{}; `devgate type list` names them all",
            devgate_schemas::did_you_mean(name, known().map(|(_, kind)| kind.schema().name()))
        ),
        _ => {
            let families: Vec<String> = found
                .iter()
                .map(|(family, _)| format!("{family}/{name}"))
                .collect();
            bail!(
                "several families have a type `{name}`: say which, {}",
                families.join(" or ")
            )
        }
    }
}

fn as_json(family: &str, kind: &dyn ResourceType) -> Json {
    let schema = kind.schema();
    let features: Vec<&str> = schema
        .features()
        .iter()
        .map(|feature| feature.name())
        .collect();
    let patterns: Vec<&str> = schema.title_patterns().iter().map(|p| p.source()).collect();
    json!({
        "name": schema.name(),
        "family": family,
        "desc": schema.desc(),
        "features": features,
        "title_patterns": patterns,
        "commands": kind.commands(),
        "attributes": attributes_json(schema.attributes()),
    })
}

fn as_text(family: &str, kind: &dyn ResourceType) -> String {
    let schema = kind.schema();
    let mut text = format!("{} (family {family}): {}\n", schema.name(), schema.desc());
    for pattern in schema.title_patterns() {
        text.push_str(&format!("\ntitle: /{}/\n", pattern.source()));
    }
    if !kind.commands().is_empty() {
        text.push_str(&format!("\nread with: {}\n", kind.commands().join(", ")));
    }
    text.push_str("\nattributes:\n");
    text.push_str(&attributes_text(schema.attributes()));
    text
}
