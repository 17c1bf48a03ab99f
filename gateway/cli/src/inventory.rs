//! `devgate inventory`: targets, and how they are reached.

use clap::Subcommand;
use devgate_core::failure::Failure;
use devgate_core::results::counted;
use devgate_engine::inventory::{self, Listed, Target};
use devgate_engine::project::Format;
use devgate_engine::session::{self, ProxyCheck, Sessions};
use devgate_engine::workspace::missing;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::paint::BAD;
use devgate_front::printer::{self, Printer};
use devgate_front::signals::or_interrupted;
use devgate_schemas::Value;
use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use crate::complete;

/// Show the inventory.
#[derive(Debug, Subcommand)]
#[command(after_help = "Example:\n  devgate inventory show")]
pub enum Inventory {
    /// Show targets, their transports, addresses and groups
    ///
    /// An invalid target is shown with its error, and the exit code is 1. A target is invalid if its family is unknown
    /// or its settings do not fit. Without --detail or --strict, no plugin and no external program runs, so their data
    /// is neither shown nor checked. `inventory show --strict` checks everything: it looks up every reference, so it
    /// also finds a variable that is not set, and may prompt for a password.
    #[command(
        after_help = "Examples:\n  devgate inventory show\n  devgate inventory show -t routers --detail\n  devgate inventory show --format json | jq -r .targets[]"
    )]
    Show {
        /// Names, groups, globs or URIs, separated by commas (default: all)
        #[arg(short, long, value_name = "TARGETS", default_value = "all", add = complete::targets())]
        targets: Vec<String>,
        /// Show all data of each target; secrets and possible secrets are redacted
        #[arg(long)]
        detail: bool,
    },
}

impl Inventory {
    /// Runs the command: prints results, and returns the exit status.
    ///
    /// # Errors
    /// The command failed as a whole.
    pub async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let Self::Show {
            targets: words,
            detail,
        } = self;
        let registry = &context.workspace.registry;
        let inventory = context.inventory().await?;
        let words = super::targets::words(&words)?;
        let targets = if detail || inventory.is_strict() {
            or_interrupted(async {
                let targets = inventory.inspect(&words).await?;
                registry.prepare(&targets).await;
                Ok(targets)
            })
            .await?
        } else {
            inventory.select_without_plugins(&words)?
        };
        match (missing(&inventory), targets.is_empty()) {
            (Some(missing), true) => return Err(Failure::new("devgate/no-targets", missing)),
            _ => context.workspace.report_missing(&inventory),
        }
        let proxies = ProxyCheck::new(&inventory);
        let faults: IndexMap<&str, Failure> = targets
            .iter()
            .filter_map(|target| {
                let fault = match &target.fault {
                    Some(fault) => Failure::from(&**fault),
                    None => session::connection_problem(registry, target)
                        .or_else(|| proxies.problem(target))?,
                };
                Some((target.name.as_str(), fault))
            })
            .collect();
        let targets: Vec<&Target> = targets.iter().map(|target| &**target).collect();
        let mut document = if detail {
            let ways = ways(context, &inventory, &targets).await;
            let details = targets.iter().zip(ways).map(|(target, way)| {
                let mut details = details(context, target);
                if let Some(way) = way {
                    details["way"] = way;
                }
                if let Some(fault) = faults.get(target.name.as_str()) {
                    details["_error"] = json!(fault);
                }
                details
            });
            json!({ "targets": details.collect::<Vec<_>>(), "count": targets.len() })
        } else if printer.format() == Format::Human {
            // People read the table. The other document is slow for many targets.
            json!({})
        } else {
            names(context, &inventory, &targets)
        };
        if !faults.is_empty() {
            document["faults"] = json!(faults);
        }
        printer.page(&document, || {
            let body = if detail {
                let each = document["targets"].as_array().into_iter().flatten();
                each.map(paragraph).collect()
            } else {
                table(&targets, &faults)
            };
            format!("{body}{}\n", counted(targets.len()))
        });
        Ok(if faults.is_empty() {
            ExitStatus::Success
        } else {
            ExitStatus::Failure
        })
    }
}

/// The names in Bolt's form, then the data of the table.
fn names(context: &CommandContext, inventory: &inventory::Inventory, targets: &[&Target]) -> Json {
    let named = |listed: &[Listed]| -> Vec<&str> {
        let targets = targets.iter();
        let named = targets.filter(|target| listed.contains(&target.listed));
        named.map(|target| target.name.as_str()).collect()
    };
    let (listed_names, adhoc) = (named(&[Listed::Yes]), named(&[Listed::No]));
    let groups: Map<String, Json> = inventory
        .groups()
        .iter()
        .map(|group| (group.name.clone(), json!(inventory.members(&group.name))))
        .collect();
    let reached: Map<String, Json> = targets
        .iter()
        .map(|target| (target.name.clone(), reached(target)))
        .collect();
    json!({
        "inventory": {
            "targets": listed_names,
            "count": listed_names.len(),
            "file": context.workspace.inventory_name(),
        },
        "adhoc": { "targets": adhoc, "count": adhoc.len() },
        "targets": named(&[Listed::Yes, Listed::No]),
        "count": targets.len(),
        "groups": groups,
        "reached": reached,
    })
}

fn reached(target: &Target) -> Json {
    json!({
        "transport": target.kind.name(),
        "remote_transport": target.remote_transport(),
        "host": target.host().as_ref().map(Value::to_json),
        "port": target.port().as_ref().map(Value::to_json),
        "run_on": target.run_on(),
    })
}

/// The ways to remote targets, hop by hop. A target without a valid transport has none.
async fn ways(
    context: &CommandContext,
    inventory: &inventory::Inventory,
    targets: &[&Target],
) -> Vec<Option<Json>> {
    let run = context.begin(None);
    let find = async |sessions: Sessions<'_, '_>| {
        let mut ways = Vec::new();
        for target in targets {
            ways.push(sessions.describe_way(&run.job(target)).await.ok());
        }
        ways
    };
    run.with_sessions(inventory, find).await
}

/// All data of a target, redacted, with the schema of its transport if that is known.
fn details(context: &CommandContext, target: &Target) -> Json {
    let schema = target
        .remote_transport()
        .and_then(|name| {
            context
                .workspace
                .registry
                .find_transport(name)
                .ok()
                .flatten()
        })
        .map(|connect| connect.schema());
    target.detail(|key| {
        let attribute = schema.and_then(|schema| schema.connection_info().get(key));
        attribute.is_some_and(|attribute| attribute.sensitive)
    })
}

fn paragraph(target: &Json) -> String {
    let mut target = target.clone();
    let error = target
        .as_object_mut()
        .and_then(|members| members.shift_remove("_error"));
    let errors = error.map(|error| error_lines(error["msg"].as_str().unwrap_or_default()));
    let text = serde_json::to_string_pretty(&target).expect("keys are texts");
    let name = target["name"].as_str().unwrap_or_default();
    let lines: String = text.lines().map(|line| format!("  {line}\n")).collect();
    format!("{name}\n{}{lines}\n", errors.unwrap_or_default())
}

/// The targets, then the errors, which are visible at the end of a long list.
fn table(targets: &[&Target], faults: &IndexMap<&str, Failure>) -> String {
    let mut rows = vec![["TARGET", "TRANSPORT", "ADDRESS", "GROUPS"].map(str::to_owned)];
    let is_invalid = |target: &Target| faults.contains_key(target.name.as_str());
    rows.extend(targets.iter().map(|target| row(target, is_invalid(target))));
    let errors = faults.values().map(|fault| error_lines(&fault.msg));
    printer::table(&rows) + &errors.collect::<String>()
}

/// The error of a target, below its name or its row.
fn error_lines(message: &str) -> String {
    let lines = message
        .lines()
        .map(|line| format!("  {BAD}{line}{BAD:#}\n"));
    lines.collect()
}

fn row(target: &Target, is_invalid: bool) -> [String; 4] {
    let text = |value: Value| match value {
        Value::String(text) => text,
        Value::Sensitive(_) => "(secret)".to_owned(),
        other => other.to_json().to_string(),
    };
    let address = match (target.host().map(text), target.port().map(text)) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default(),
    };
    let address = match target.runs_on_localhost() {
        true => address,
        false => format!("{address} via {}", target.run_on())
            .trim_start()
            .to_owned(),
    };
    let transport = match target.remote_transport() {
        Some(name) => format!("{} ({name})", target.kind.name()),
        None => target.kind.name().to_owned(),
    };
    let transport = match is_invalid {
        true => format!("{transport} (wrong)"),
        false => transport,
    };
    [
        target.name.clone(),
        transport,
        address,
        target.groups.join(", "),
    ]
}
