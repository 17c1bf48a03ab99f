//! `devgate family test`: runs the test cases of families.

use std::collections::BTreeMap;
use std::future::pending;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{env, fs};

use clap::Args;
use devgate_core::failure::Failure;
use devgate_devices::{CaseResult, Comparison, Family as Declared, UpdateExpected};
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;
use devgate_front::signals::{or_interrupted, stop_signal};
use devgate_schemas::Level;
use serde_json::{Value as Json, json};
use tokio::time::timeout;

use super::declared::declared_families;
use crate::complete;

/// Test families without a device: compare recorded output with the expected results
///
/// Without a name, all families are tested. A family is in MODULE/devices/FAMILY/ of the module path; its test cases are
/// in FAMILY/cases/. With UPDATE=1 in the environment, the actual results are saved as the expected results.
///
/// With `partial: true` in its case.yaml, or with --partial, a case compares what the expected file holds: the facts,
/// resources (found by their namevars), attributes and lines that it does not have may be anything.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate family test\n  devgate family test frr\n  devgate family test acme --watch\n  \
                  devgate family test frr --case recorded/r1\n  devgate family test frr --case all-cases --partial \
                  --format json"
)]
pub struct Test {
    /// Families to test
    #[arg(add = complete::families())]
    names: Vec<String>,
    /// Run the test cases in another folder, and in the folders in it, such as a recording of `devgate record`, for one
    /// family
    #[arg(long = "case", value_name = "DIR")]
    folders: Vec<PathBuf>,
    /// Compare only what the expected files hold
    #[arg(long)]
    partial: bool,
    /// Test again whenever a file changes, until Ctrl-C
    #[arg(long, requires = "names")]
    watch: bool,
}

/// How often files are looked at for changes.
const POLL: Duration = Duration::from_millis(300);

/// The files that are watched, with their sizes and the times of their last changes.
type Snapshot = BTreeMap<PathBuf, (u64, Option<SystemTime>)>;

impl Test {
    pub(super) async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        if !self.folders.is_empty() && self.names.len() != 1 {
            return Err(Failure::other("--case needs the name of one family"));
        }
        if self.watch {
            return self.watch(context, printer).await;
        }
        let families = declared_families(context, &self.names).await?;
        self.test(&families, printer)
    }

    fn test(&self, families: &[&Declared], printer: &Printer) -> Result<ExitStatus, Failure> {
        let comparison = if self.partial {
            Comparison::Part
        } else {
            Comparison::Whole
        };
        let mut cases = Vec::new();
        for family in families {
            let mut of_family = Vec::new();
            for folder in &self.folders {
                of_family.extend(family.test_folder(folder, update_expected(), comparison)?);
            }
            if self.folders.is_empty() {
                of_family = family.test(update_expected(), comparison)?;
            }
            if of_family.is_empty() && !self.names.is_empty() {
                let name = family.name();
                let message = format!(
                    "family `{name}` has no test cases, so nothing was tested: write one in its folder, \
                     cases/NAME/case.yaml (`desc: …`, and `type: …` unless it tests facts), with the output of each \
                     command in COMMAND.txt beside it; then `UPDATE=1 devgate family test {name}` writes the results \
                     for your review"
                );
                return Err(Failure::new("devgate/no-cases", message));
            }
            cases.extend(of_family.into_iter().map(|case| (*family, case)));
        }
        Ok(print_results(&cases, printer))
    }

    /// Tests again whenever a file of the families or the cases changes.
    async fn watch(
        &self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let mut folders = Vec::new();
        for name in &self.names {
            folders.push(family_folder(context, name).await?);
        }
        loop {
            let mut watched = self.snapshot(&folders);
            let families = folders.iter().map(|folder| Declared::load(folder));
            let tested = families
                .collect::<Result<Vec<_>, _>>()
                .map_err(Failure::from)
                .and_then(|families| self.test(&families.iter().collect::<Vec<_>>(), printer));
            if let Err(failure) = tested {
                printer.error(&failure.msg);
                printer.failure(failure);
            }
            if update_expected() == UpdateExpected::Yes {
                watched = self.snapshot(&folders);
            }
            let message = format!("watching {} files; Ctrl-C ends this", watched.len());
            context.logger.log(Level::Notice, &message);
            loop {
                let never = pending::<Result<(), Failure>>();
                if timeout(POLL, or_interrupted(never)).await.is_ok() || stop_signal().is_some() {
                    return Ok(ExitStatus::Success);
                }
                if self.snapshot(&folders) != watched {
                    break;
                }
            }
        }
    }

    fn snapshot(&self, folders: &[PathBuf]) -> Snapshot {
        let mut snapshot = Snapshot::new();
        for folder in folders.iter().chain(&self.folders) {
            add_files(folder, &mut snapshot);
        }
        snapshot
    }
}

/// The folder of a family, which need not be valid.
async fn family_folder(context: &CommandContext, name: &str) -> Result<PathBuf, Failure> {
    let modules = context.workspace.project().modulepath.iter();
    let modules = modules
        .filter_map(|folder| fs::read_dir(folder).ok())
        .flatten();
    let mut folders = modules
        .flatten()
        .map(|module| module.path().join("devices").join(name));
    if let Some(folder) = folders.find(|folder| folder.join("family.yaml").is_file()) {
        return Ok(folder);
    }
    let families = declared_families(context, &[name.to_owned()]).await?;
    let mut folders = families.iter().filter_map(|family| family.folder());
    folders.next().map(Path::to_owned).ok_or_else(|| {
        Failure::other(format!(
            "family `{name}` is built in, so none of its files changes: copy it to modules/{name}/devices/{name} to \
             work on it"
        ))
    })
}

fn add_files(folder: &Path, snapshot: &mut Snapshot) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => add_files(&path, snapshot),
            Ok(metadata) => {
                snapshot.insert(path, (metadata.len(), metadata.modified().ok()));
            }
            // It has gone since it was listed.
            Err(_) => {}
        }
    }
}

fn update_expected() -> UpdateExpected {
    match env::var_os("UPDATE") {
        Some(one) if one == "1" => UpdateExpected::Yes,
        _ => UpdateExpected::No,
    }
}

/// Prints the results of test cases.
fn print_results(cases: &[(&Declared, CaseResult)], printer: &Printer) -> ExitStatus {
    let cases = cases.iter().map(|(family, case)| {
        let problem = case.outcome.as_ref().err().cloned();
        json!({
            "family": family.name(), "case": case.name, "ok": problem.is_none(), "problem": problem,
            "written": case.written,
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
                let of = |key: &str| case[key].as_str().unwrap_or_default();
                let name = format!("{}/{}", of("family"), of("case"));
                match (case["problem"].as_str(), case["written"].as_str()) {
                    (Some(problem), _) => text.push_str(&format!("FAILED  {name}\n{problem}\n")),
                    (None, Some(written)) => {
                        text.push_str(&format!("written {name}\nreview {written}\n"));
                    }
                    (None, None) => text.push_str(&format!("ok      {name}\n")),
                }
            }
            text.push_str(&format!("{passed} passed, {failed} failed\n"));
            text
        },
    );
    if failed == 0 {
        ExitStatus::Success
    } else {
        ExitStatus::Failure
    }
}
