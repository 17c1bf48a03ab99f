//! `devgate type`: the resource types of the families.

mod import;
mod table;

use clap::Subcommand;
use devgate_core::failure::Failure;
use devgate_devices::ResourceType;
use devgate_engine::manifest;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::{self, Printer};
use devgate_front::summary::first_sentence;
use devgate_schemas::{Example, Resource, TypeSchema, Value};
use serde_json::{Value as Json, json};

use crate::complete;
use crate::transport::{attributes_json, attributes_text};

/// Show resource types, and make skeletons of new ones.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  devgate type list\n  devgate type show frr_static_route\n  devgate type import \
                  acme_vlan.csv --family acme"
)]
pub enum Types {
    /// List all resource types
    #[command(after_help = "Example:\n  devgate type list")]
    List,
    /// Show the attributes of a type, and a sample manifest
    #[command(
        after_help = "Examples:\n  devgate type show frr_static_route\n  devgate type show frr/frr_interface --format json"
    )]
    Show {
        /// Name of the type; with its family if several families have a type of this name
        #[arg(value_name = "[FAMILY/]NAME", add = complete::types())]
        name: String,
    },
    #[expect(missing_docs, reason = "its own help would be lost")]
    Import(import::Import),
}

impl Types {
    /// Runs the command: prints results, and returns the exit status.
    ///
    /// # Errors
    /// The command failed as a whole.
    pub async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        match &self {
            Self::Show { name } if let Some((family, _)) = name.split_once('/') => {
                context.read_schema(family).await?;
            }
            Self::List | Self::Show { .. } => context.read_all_schemas().await?,
            Self::Import(_) => {}
        }
        match self {
            Self::Import(import) => return import.run(context, printer).await,
            Self::List => {
                let mut rows = Vec::new();
                for family in context.workspace.registry.families() {
                    for kind in family.types() {
                        let schema = kind.schema();
                        let name = format!("{}/{}", family.name(), schema.name());
                        rows.push([name, first_sentence(schema.desc())]);
                    }
                }
                printer.page(&json!({ "types": rows }), || printer::table(&rows));
            }
            Self::Show { name } => {
                let (family, kind) = find(context, &name)?;
                printer.page(&as_json(family, kind), || as_text(family, kind));
            }
        }
        Ok(ExitStatus::Success)
    }
}

fn find<'a>(
    context: &'a CommandContext,
    name: &'a str,
) -> Result<(&'a str, &'a dyn ResourceType), Failure> {
    if let Some((family, name)) = name.split_once('/') {
        return Ok((
            family,
            context.workspace.registry.resource_type(family, name)?,
        ));
    }
    let types = || {
        let families = context.workspace.registry.families();
        families.flat_map(|family| family.types().map(|kind| (family.name(), kind)))
    };
    let found: Vec<_> = types()
        .filter(|(_, kind)| kind.schema().name() == name)
        .collect();
    match found.as_slice() {
        [found] => Ok(*found),
        [] => Err(Failure::other(format!(
            "there is no resource type `{name}`{}; `devgate type list` lists all types",
            devgate_schemas::did_you_mean(name, types().map(|(_, kind)| kind.schema().name()))
        ))),
        _ => {
            let families: Vec<String> = found
                .iter()
                .map(|(family, _)| format!("{family}/{name}"))
                .collect();
            Err(Failure::other(format!(
                "several families have a type `{name}`: specify {}",
                families.join(" or ")
            )))
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
    let example = schema.example();
    let patterns: Vec<&str> = schema.title_patterns().iter().map(|p| p.source()).collect();
    json!({
        "name": schema.name(),
        "family": family,
        "desc": schema.desc(),
        "features": features,
        "title_patterns": patterns,
        "commands": kind.commands(),
        "example": { schema.name(): { example.title: Value::Hash(example.attributes).to_json() } },
        "attributes": attributes_json(schema.attributes()),
    })
}

fn as_text(family: &str, kind: &dyn ResourceType) -> String {
    let schema = kind.schema();
    let mut text = format!("{} (family {family}): {}\n", schema.name(), schema.desc());
    if !kind.commands().is_empty() {
        text.push_str(&format!("\nread with: {}\n", kind.commands().join(", ")));
    }
    text.push_str("\nattributes:\n");
    text.push_str(&attributes_text(schema.attributes()));
    text.push_str(&sample_manifest(schema));
    text
}

/// A sample manifest in YAML. Comments mark what to fill in.
fn sample_manifest(schema: &TypeSchema) -> String {
    let Example {
        title,
        attributes,
        open,
    } = schema.example();
    let name = schema.name();
    let mut resource = Resource::from(attributes);
    resource.set("title", title.into());
    let mut manifest = manifest::to_yaml(schema, &[resource]);
    for name in open {
        let kind = schema.attributes().get(&name);
        let kind = kind.map_or_else(String::new, |attribute| attribute.data_type.to_string());
        manifest.push_str(&format!("    # fill in: {name}, {kind}\n"));
    }
    format!(
        "\nA sample manifest, {name}.yaml (preview: devgate device -t TARGET --apply {name}.yaml \
         --noop):\n\n{manifest}"
    )
}
