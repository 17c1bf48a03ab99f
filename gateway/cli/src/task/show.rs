//! `devgate task show`: lists tasks, or shows one.

use clap::Args;
use devgate_core::failure::Failure;
use devgate_engine::inventory::{Glob, TOO_LARGE};
use devgate_engine::tasks::{Catalogue, ListedTask, Task};
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::{self, Printer};
use devgate_front::summary::first_line;
use devgate_schemas::Level;
use devgate_schemas::task::Metadata;

use crate::complete;

/// List tasks, or show one.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate task show\n  devgate task show --filter vlan\n  devgate \
                        task show vlan::add"
)]
pub struct Show {
    /// Name of the task: MODULE::TASK, or MODULE for its init task
    #[arg(add = complete::tasks())]
    name: Option<String>,
    /// List only tasks with this text in their names
    #[arg(long, value_name = "TEXT", conflicts_with = "name")]
    filter: Option<String>,
    /// Also list private tasks, and tasks that the project does not list
    #[arg(long, conflicts_with = "name")]
    all: bool,
}

impl Show {
    pub(super) fn run(
        self,
        catalogue: &Catalogue,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        match &self.name {
            None => self.list(catalogue, context, printer)?,
            Some(name) => {
                let task = catalogue.find(name)?;
                printer.page(&task.to_json(), || show(&task));
            }
        }
        Ok(ExitStatus::Success)
    }
}

impl Show {
    fn list(
        &self,
        catalogue: &Catalogue,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<(), Failure> {
        let mut listing = catalogue.list()?;
        for (name, problem) in &listing.problems {
            let message = format!("task {name}: {problem}");
            context.logger.log(Level::Warning, &message);
        }
        let project = context.workspace.project();
        let listed: Option<Vec<Glob>> = project
            .tasks
            .as_ref()
            .filter(|_| !self.all)
            .map(|patterns| patterns.iter().map(|pattern| glob(pattern)).collect())
            .transpose()?;
        listing.tasks.retain(|task| {
            (self.all || !task.private)
                && self
                    .filter
                    .as_ref()
                    .is_none_or(|text| task.name.contains(text))
                && listed
                    .as_ref()
                    .is_none_or(|globs| globs.iter().any(|glob| glob.matches(&task.name)))
        });
        printer.page(&catalogue.listing_json(&listing), || {
            let path: Vec<String> = project
                .modulepath
                .iter()
                .map(|dir| dir.display().to_string())
                .collect();
            let path = path.join(":");
            if listing.tasks.is_empty() {
                return format!("No tasks in {path}\n");
            }
            let rows: Vec<[String; 2]> = listing.tasks.iter().map(as_row).collect();
            format!(
                "{}\nMODULEPATH\n{path}\n\n`devgate task show NAME` shows a task's parameters.\n",
                printer::table(&rows)
            )
        });
        Ok(())
    }
}

fn as_row(task: &ListedTask) -> [String; 2] {
    let description = first_line(task.description.as_deref().unwrap_or(""));
    let private = if task.private { "(private) " } else { "" };
    [task.name.clone(), format!("{private}{description}")]
}

fn show(task: &Task) -> String {
    let Task {
        name,
        metadata,
        module_dir,
        ..
    } = task;
    let Metadata {
        description,
        parameters,
        supports_noop,
        ..
    } = metadata;
    let description = description.as_deref().unwrap_or("No description");
    let mut text = format!("{name}\n  {description}\n");
    if metadata.private {
        text.push_str("  Private: for use by other tasks, and not listed.\n");
    }
    if metadata.remote {
        text.push_str("  Remote: runs on a proxy, for a remote target.\n");
    }
    text.push_str(&format!("\nUsage\n  devgate task run {name} -t TARGETS"));
    if *supports_noop {
        text.push_str(" [--noop]");
    }
    match parameters {
        None => text.push_str(" [any name=value]\n"),
        Some(parameters) => {
            for (parameter, definition) in parameters {
                let word = format!("{parameter}=<value>");
                let word = if definition.is_mandatory() {
                    word
                } else {
                    format!("[{word}]")
                };
                text.push_str(&format!(" {word}"));
            }
            text.push_str("\n\nParameters\n");
            for (parameter, definition) in parameters {
                let mut marks = Vec::new();
                if definition.sensitive {
                    marks.push("sensitive".to_owned());
                }
                if let Some(default) = &definition.default {
                    marks.push(format!("default {}", default.to_json()));
                } else if definition.is_mandatory() {
                    marks.push("required".to_owned());
                }
                let marks = printer::in_brackets(&marks);
                text.push_str(&format!("  {parameter}  {}{marks}\n", definition.data_type));
                if let Some(description) = &definition.description {
                    text.push_str(&format!("      {description}\n"));
                }
            }
        }
    }
    text.push_str(&format!("\nModule\n  {}\n", module_dir.display()));
    text
}

/// A pattern of the project's `tasks`.
fn glob(pattern: &str) -> Result<Glob, Failure> {
    Glob::new(pattern).ok_or_else(|| {
        let message = format!("the project's `tasks`: {TOO_LARGE}");
        Failure::new("bolt/validation-error", message)
    })
}
