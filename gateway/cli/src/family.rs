//! `devgate family`: device families, and their tests without a device.

use std::env;
use std::path::PathBuf;

use clap::Subcommand;
use devgate_core::failure::Failure;
use devgate_devices::{CaseResult, Family as Declared, UpdateExpected};
use devgate_engine::registry;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::{self, Printer};
use devgate_front::summary::first_sentence;
use serde_json::{Value as Json, json};

use crate::complete;
use crate::transport::{attributes_json, connection_info_text, groups_json};

/// Show device families, and test them without a device.
#[derive(Debug, Subcommand)]
#[command(after_help = "Examples:\n  devgate family list\n  devgate family test frr")]
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
    /// Test families without a device: compare recorded output with the expected results
    ///
    /// Without a name, all families are tested. A family is in MODULE/devices/FAMILY/ of the module path; its test
    /// cases are in FAMILY/cases/. With UPDATE=1 in the environment, the actual results are saved as the expected
    /// results.
    #[command(
        after_help = "Examples:\n  devgate family test\n  devgate family test frr\n  devgate family test frr --case recorded/r1"
    )]
    Test {
        /// Families to test
        #[arg(add = complete::families())]
        names: Vec<String>,
        /// Run a test case from another folder, such as a recording of `devgate record`, for one family
        #[arg(long = "case", value_name = "DIR")]
        folders: Vec<PathBuf>,
    },
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
        match &self {
            Self::Show { name } => context.read_schema(name).await?,
            Self::Test { names, .. } if !names.is_empty() => {
                for name in names {
                    context.read_schema(name).await?;
                }
            }
            Self::List | Self::Test { .. } => context.read_all_schemas().await?,
        }
        match self {
            Self::List => {
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
                let family = context.workspace.registry.family(&name)?;
                printer.page(&as_json(family), || as_text(family));
                Ok(ExitStatus::Success)
            }
            Self::Test { names, folders } if !folders.is_empty() => {
                let [name] = names.as_slice() else {
                    return Err(Failure::other("--case needs the name of one family"));
                };
                let family = declared(context, name)?;
                let cases = folders.iter();
                let cases = cases
                    .map(|folder| Ok((family, family.test_folder(folder, update_expected())?)));
                print_results(&cases.collect::<Result<Vec<_>, Failure>>()?, printer)
            }
            Self::Test { names, .. } => {
                let families: Vec<_> = if names.is_empty() {
                    let families = context.workspace.registry.valid_families()?;
                    families.filter_map(registry::Family::declared).collect()
                } else {
                    let found = names.iter().map(|name| declared(context, name));
                    found.collect::<Result<_, _>>()?
                };
                test(&families, !names.is_empty(), printer)
            }
        }
    }
}

/// The declared part of a family, which can be tried without a device. Programs cannot.
pub(crate) fn declared<'s>(
    context: &'s CommandContext,
    name: &str,
) -> Result<&'s Declared, Failure> {
    context.workspace.registry.family(name)?.declared().ok_or_else(|| {
        let message = format!(
            "family `{name}` consists of programs: only families that are declared as data have test cases, and facts \
             without a device"
        );
        Failure::new("devgate/no-cases", message)
    })
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

fn update_expected() -> UpdateExpected {
    match env::var_os("UPDATE") {
        Some(one) if one == "1" => UpdateExpected::Yes,
        _ => UpdateExpected::No,
    }
}

fn test(families: &[&Declared], are_named: bool, printer: &Printer) -> Result<ExitStatus, Failure> {
    let mut cases = Vec::new();
    for family in families {
        let of_family = family.test(update_expected())?;
        if of_family.is_empty() && are_named {
            let name = family.name();
            let message = format!(
                "family `{name}` has no test cases, so nothing was tested: write one in its folder, \
                 cases/NAME/case.yaml (`desc: …`, and `type: …` unless it tests facts), with the output of each \
                 command in COMMAND.txt beside it; then `UPDATE=1 devgate family test {name}` writes the results for \
                 your review"
            );
            return Err(Failure::new("devgate/no-cases", message));
        }
        cases.extend(of_family.into_iter().map(|case| (*family, case)));
    }
    print_results(&cases, printer)
}

/// Prints the results of test cases.
fn print_results(
    cases: &[(&Declared, CaseResult)],
    printer: &Printer,
) -> Result<ExitStatus, Failure> {
    let cases = cases.iter().map(|(family, case)| {
        let problem = case.outcome.as_ref().err().cloned();
        json!({
            "family": family.name(), "case": case.name, "ok": problem.is_none(), "problem": problem,
        })
    });
    let cases: Vec<Json> = cases.collect();
    let failed = cases.iter().filter(|case| case["ok"] == false).count();
    let passed = cases.len() - failed;
    printer.document(
        &json!({ "cases": cases, "passed": passed, "failed": failed }),
        || {
            let mut text = String::new();
            for case in &cases {
                let (family, name) = (&case["family"], &case["case"]);
                let name = format!(
                    "{}/{}",
                    family.as_str().unwrap_or(""),
                    name.as_str().unwrap_or("")
                );
                match case["problem"].as_str() {
                    None => text.push_str(&format!("ok      {name}\n")),
                    Some(problem) => text.push_str(&format!("FAILED  {name}\n{problem}\n")),
                }
            }
            text.push_str(&format!("{passed} passed, {failed} failed\n"));
            text
        },
    );
    Ok(if failed == 0 {
        ExitStatus::Success
    } else {
        ExitStatus::Failure
    })
}
