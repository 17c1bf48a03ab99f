//! `devgate family`: device families, and what helps to write them: skeletons, schemas, lint, and tests without a device.

pub(crate) mod declared;
mod lint;
pub(crate) mod new;
mod record;
mod test;

use clap::{Subcommand, ValueEnum};
use devgate_core::failure::Failure;
use devgate_devices::FamilyDocument;
use devgate_engine::registry;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::{self, Printer};
use devgate_front::summary::first_sentence;
use serde_json::{Value as Json, json};

use crate::complete;
use crate::transport::{attributes_json, connection_info_text, groups_json};

/// Show device families, write and test them without a device.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Examples:\n  devgate family list\n  devgate family new acme --protocol ssh_cli\n  devgate family test \
                  acme --watch\n  devgate family lint acme"
)]
pub enum Family {
    /// List all families and their resource types
    #[command(after_help = "Example:\n  devgate family list")]
    List,
    /// Show the connection settings, facts and resource types of a family
    #[command(after_help = "Example:\n  devgate family show frr")]
    Show {
        /// Name of the family
        #[arg(add = complete::families())]
        name: String,
    },
    #[expect(missing_docs, reason = "its own help would be lost")]
    New(new::New),
    #[expect(missing_docs, reason = "its own help would be lost")]
    Test(test::Test),
    #[expect(missing_docs, reason = "its own help would be lost")]
    Lint(lint::Lint),
    #[expect(missing_docs, reason = "its own help would be lost")]
    Record(record::Record),
    /// Print the JSON Schema of a file of a family, for editors
    ///
    /// An editor that reads schemas then completes and checks keys while you type. Save the schema, and begin the file
    /// with `# yaml-language-server: $schema=PATH`. docs/reference/family.md lists the same keys.
    #[command(
        after_help = "Examples:\n  devgate family schema > family.schema.json\n  devgate family schema type > type.schema.json"
    )]
    Schema {
        /// Which file
        #[arg(default_value = "family")]
        file: SchemaOf,
    },
}

/// A file of a family.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum SchemaOf {
    /// `family.yaml`
    Family,
    /// `types/TYPE.yaml`
    Type,
    /// `cases/CASE/case.yaml`
    Case,
}

impl Family {
    /// Runs the command: prints results, and returns the exit status.
    ///
    /// # Errors
    /// The command failed as a whole.
    pub async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        match self {
            Self::New(new) => new.run(context, printer),
            Self::Test(test) => test.run(context, printer).await,
            Self::Lint(lint) => lint.run(context, printer).await,
            Self::Record(record) => record.run(context, printer).await,
            Self::Schema { file } => {
                let document = match file {
                    SchemaOf::Family => FamilyDocument::Family,
                    SchemaOf::Type => FamilyDocument::Type,
                    SchemaOf::Case => FamilyDocument::Case,
                };
                printer.text(&format!("{:#}\n", document.json_schema()));
                Ok(ExitStatus::Success)
            }
            Self::List => {
                context.read_all_schemas().await?;
                let rows: Vec<[String; 3]> = context
                    .workspace
                    .registry
                    .families()
                    .map(|family| {
                        let types: Vec<&str> =
                            family.types().map(|kind| kind.schema().name()).collect();
                        [
                            family.name().to_owned(),
                            first_sentence(family.schema().desc()),
                            types.join(", "),
                        ]
                    })
                    .collect();
                printer.page(&json!({ "families": rows }), || printer::table(&rows));
                Ok(ExitStatus::Success)
            }
            Self::Show { name } => {
                context.read_schema(&name).await?;
                let family = context.workspace.registry.family(&name)?;
                printer.page(&as_json(family), || as_text(family));
                Ok(ExitStatus::Success)
            }
        }
    }

    /// Whether it has one result per target.
    pub fn has_items(&self) -> bool {
        matches!(self, Self::Record(_))
    }
}

fn as_json(family: &registry::Family) -> Json {
    let schema = family.schema();
    let types = family.types().map(|kind| {
        let schema = kind.schema();
        json!({ "name": schema.name(), "desc": schema.desc(), "commands": kind.commands() })
    });
    json!({
        "name": family.name(),
        "desc": schema.desc(),
        "protocol": family.protocol(),
        "connection_info": attributes_json(schema.connection_info()),
        "groups": groups_json(schema),
        "facts": family.fact_commands().collect::<Vec<_>>(),
        "types": types.collect::<Vec<_>>(),
    })
}

fn as_text(family: &registry::Family) -> String {
    let (name, schema) = (family.name(), family.schema());
    let mut text = format!(
        "{name}: {}\n\nprotocol: {}\n",
        schema.desc(),
        family.protocol()
    );
    text.push_str(&connection_info_text(schema));
    let mut commands = family.fact_commands().peekable();
    if commands.peek().is_some() {
        text.push_str("\nfacts, in addition to those of the protocol, from:\n");
    }
    for command in commands {
        text.push_str(&format!("  {command}\n"));
    }
    text.push_str("\ntypes:\n");
    let types = family.types().map(|kind| {
        let schema = kind.schema();
        [
            format!("  {}", schema.name()),
            first_sentence(schema.desc()),
        ]
    });
    text.push_str(&printer::table(&types.collect::<Vec<_>>()));
    text
}
