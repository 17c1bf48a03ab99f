//! `devgate resource`: a resource type without a device.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use devgate_core::failure::{ErrorContext, Failure};
use devgate_devices::{Change, SecretVisibility};
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;
use devgate_schemas::{Facts, Hash, Name, Value, yaml};
use devgate_transports::reading;
use serde_json::json;

use crate::complete;

/// Test a resource type without a device.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  devgate resource parse frr frr_static_route --from show.txt")]
pub enum Resource {
    /// Print the resources that `get` would find in a device's output
    ///
    /// The output must come from the commands of the type: `devgate type show FAMILY/TYPE` lists them.
    #[command(
        after_help = "Examples:\n  devgate session exec -t r1 show running-config staticd > show.txt\n  devgate resource parse frr frr_static_route --from show.txt"
    )]
    Parse {
        #[command(flatten)]
        #[expect(missing_docs, reason = "help would show it")]
        resource_type: ResourceTypeArgs,
        /// A file with the device's output, or - for stdin
        #[arg(long, value_name = "FILE")]
        from: PathBuf,
        /// A file with the device's facts as JSON or YAML, for types that use them
        ///
        /// Without facts, the device has all that the type knows.
        #[arg(long, value_name = "FILE")]
        facts: Option<PathBuf>,
    },
    /// Print the configuration lines that `set` would send
    #[command(
        after_help = "Example:\n  devgate resource render frr frr_static_route --should '{\"title\": \"10.9.0.0/16 via Null0\", \"distance\": 20}'"
    )]
    Render {
        #[command(flatten)]
        #[expect(missing_docs, reason = "help would show it")]
        resource_type: ResourceTypeArgs,
        /// The desired state as JSON, with `title` or the namevars
        #[arg(long, value_name = "JSON")]
        should: String,
        /// The current state as JSON; without it, the resource is created
        #[arg(long, value_name = "JSON")]
        is: Option<String>,
        /// A file with the device's facts as JSON or YAML, for types that use them
        #[arg(long, value_name = "FILE")]
        facts: Option<PathBuf>,
        /// Print secrets in clear text
        #[arg(long)]
        show_sensitive: bool,
    },
}

#[derive(Args, Debug)]
#[expect(missing_docs, reason = "help would show it")]
pub struct ResourceTypeArgs {
    /// The family
    #[arg(add = complete::families())]
    family: String,
    /// The resource type
    #[arg(value_name = "TYPE", add = complete::types())]
    type_name: String,
}

impl Resource {
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
            Self::Parse {
                resource_type,
                from,
                facts,
            } => {
                let kind = resource_type.find(context).await?;
                let text = read(&from)?;
                let facts = facts.as_deref().map(read_facts).transpose()?;
                let rows = kind.parse(&text, facts.as_ref())?;
                printer.document(&json!({ "resources": rows }), || {
                    serde_json::to_string_pretty(&rows).expect("rows have text keys") + "\n"
                });
            }
            Self::Render {
                resource_type,
                should,
                is,
                facts,
                show_sensitive,
            } => {
                let kind = resource_type.find(context).await?;
                let (name, change) = change(kind, &should, is.as_deref())?;
                let facts = facts.as_deref().map(read_facts).transpose()?;
                let secrets = if show_sensitive {
                    SecretVisibility::InClear
                } else {
                    SecretVisibility::Redacted
                };
                let lines = kind.render(&name, &change, facts.as_ref(), secrets)?;
                printer.document(&json!({ "lines": lines }), || {
                    lines.iter().map(|line| format!("{line}\n")).collect()
                });
            }
        }
        Ok(ExitStatus::Success)
    }
}

/// The change to a desired state, in canonical form.
fn change(
    kind: &dyn devgate_devices::ResourceType,
    should: &str,
    is: Option<&str>,
) -> Result<(Name, Change), Failure> {
    let mut should = hash("--should", should)?;
    let title = should.remove("title").map(|title| match title {
        Value::String(title) => title,
        other => other.to_json().to_string(),
    });
    let (name, should) = kind
        .schema()
        .desire(title.as_deref(), should)
        .map_err(|e| Failure::other(format!("--should: {e}")))?;
    let is = is.map(|is| hash("--is", is)).transpose()?;
    Ok(kind.canonical_change(&name, is, should)?)
}

/// The facts in a file.
fn read_facts(path: &Path) -> Result<Facts, Failure> {
    let text = read(path)?;
    let invalid = |error: String| Failure::other(format!("--facts: {}: {error}", path.display()));
    let node = yaml::parse(&text).map_err(|error| invalid(error.to_string()))?;
    match node.to_value() {
        // As `devgate facts parse --format json` prints them.
        Value::Hash(hash) => match hash.get("facts") {
            Some(Value::Hash(facts)) => Ok(Facts::from(facts.clone())),
            _ => Ok(Facts::from(hash)),
        },
        _ => Err(invalid("expected a mapping of facts".to_owned())),
    }
}

impl ResourceTypeArgs {
    async fn find<'a>(
        &self,
        context: &'a CommandContext,
    ) -> Result<&'a dyn devgate_devices::ResourceType, Failure> {
        context.read_schema(&self.family).await?;
        context
            .workspace
            .registry
            .resource_type(&self.family, &self.type_name)
    }
}

fn hash(option: &str, text: &str) -> Result<Hash, Failure> {
    let json: serde_json::Value =
        serde_json::from_str(text).with_context(|| format!("{option}: expected JSON"))?;
    match Value::from(json) {
        Value::Hash(hash) => Ok(hash),
        _ => Err(Failure::other(format!(
            "{option}: expected a JSON object of attributes"
        ))),
    }
}

/// The text in a file, or on stdin for `-`.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    if path.as_os_str() == "-" {
        return reading::text_of(io::stdin()).context("cannot read stdin");
    }
    reading::text(path).with_context(|| format!("cannot read {}", path.display()))
}
