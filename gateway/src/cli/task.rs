//! `devgate task`: the tasks of the module path, and running them.

use std::fs;
use std::io::{self, Read};

use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand};
use devgate_schemas::task::Metadata;
use devgate_transports::Mode;

use super::{Ending, Setting, Targets};
use crate::hosts::{Host, Local, Settings};
use crate::output::{self, Output};
use crate::results::Action;
use crate::run;
use crate::session::Lender;
use crate::task_run::TaskRun;
use crate::tasks::{Catalogue, Task as Definition, given_parameters};

/// Look at tasks, and run them.
#[derive(Debug, Subcommand)]
pub(super) enum Task {
    /// Name every task, or show one
    Show {
        /// The task's name: MODULE::TASK, or MODULE for its init task
        name: Option<String>,
    },
    /// Run a task on targets
    ///
    /// A remote task (`"remote": true` in its metadata) runs on this node, with the target's
    /// connection info as `_target`. Parameters are name=value words, each JSON where it fits the
    /// parameter's type, or one JSON object with --params.
    Run(Run),
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate task run facts::collect -t routers\n  devgate task run \
                        vlan::add -t switch1 --params '{\"id\": 30}'\n  devgate task run vlan::add -t \
                        switch1 --params @vlan.json --noop"
)]
pub(super) struct Run {
    /// The task's name
    name: String,
    /// Parameters: name=value
    #[arg(value_name = "NAME=VALUE")]
    parameters: Vec<String>,
    #[command(flatten)]
    targets: Targets,
    /// Parameters as a JSON object; @FILE reads it from a file, - from stdin
    #[arg(long, value_name = "JSON")]
    params: Option<String>,
    /// Tell the task to change nothing; refused by tasks that do not support it
    #[arg(long)]
    noop: bool,
}

impl Task {
    pub(super) async fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        let catalogue = setting.catalogue();
        match self {
            Self::Show { name: None } => list(&catalogue, setting, output),
            Self::Show { name: Some(name) } => {
                let task = catalogue.find(&name)?;
                output.document(&task.to_json(), || show(&task));
                Ok(Ending::Well)
            }
            Self::Run(run) => run.run(&catalogue, setting, output).await,
        }
    }
}

fn list(catalogue: &Catalogue, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
    let listing = catalogue.list()?;
    for (name, problem) in &listing.problems {
        setting.voice.say(
            devgate_schemas::Level::Warning,
            &format!("task {name}: {problem}"),
        );
    }
    output.document(&catalogue.listing_json(&listing), || {
        let rows: Vec<[String; 2]> = listing
            .tasks
            .iter()
            .map(|(name, description)| {
                [
                    name.clone(),
                    super::transport::first_line(description.as_deref().unwrap_or("")),
                ]
            })
            .collect();
        if rows.is_empty() {
            let path: Vec<String> = setting
                .project
                .modulepath
                .iter()
                .map(|dir| dir.display().to_string())
                .collect();
            return format!("No tasks in {}\n", path.join(":"));
        }
        output::table(&rows)
    });
    Ok(Ending::Well)
}

fn show(task: &Definition) -> String {
    let Definition {
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
    let mut text = format!("{name}\n");
    if let Some(description) = description {
        text.push_str(&format!("  {description}\n"));
    }
    text.push_str(&format!("\nUsage:\n  devgate task run {name} -t TARGETS"));
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
            text.push_str("\n\nParameters:\n");
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
                let marks = output::in_brackets(&marks);
                text.push_str(&format!("  {parameter}: {}{marks}\n", definition.data_type));
                if let Some(description) = &definition.description {
                    text.push_str(&format!("      {description}\n"));
                }
            }
        }
    }
    text.push_str(&format!("\nModule:\n  {}\n", module_dir.display()));
    text
}

impl Run {
    async fn run(
        self,
        catalogue: &Catalogue,
        setting: &Setting,
        output: &Output,
    ) -> anyhow::Result<Ending> {
        let task = catalogue.find(&self.name)?;
        let json = self.params.as_deref().map(params).transpose()?;
        let given = given_parameters(&self.parameters, json.as_deref(), &task.metadata)?;
        let parameters = task.parameters(given)?;
        let targets = setting.select(&self.targets).await?;
        let host = Host::Local(Local::new(Settings::default()));
        let run = TaskRun {
            host: &host,
            lender: &Lender::default(),
            registry: &setting.registry,
            task: &task,
            parameters: &parameters,
            mode: if self.noop { Mode::Noop } else { Mode::Enforce },
        };
        let action = Action {
            object: Some(task.name.to_string()),
            ..Action::new("task")
        };
        run::over(
            setting,
            &targets,
            self.targets.concurrency,
            output,
            action,
            async |job| run.on(job).await,
        )
        .await
    }
}

/// The text of `--params`: itself, a file's, or stdin's.
fn params(option: &str) -> anyhow::Result<String> {
    if option == "-" {
        let mut text = String::new();
        io::stdin()
            .read_to_string(&mut text)
            .context("--params -: cannot read stdin")?;
        return Ok(text);
    }
    match option.strip_prefix('@') {
        None => Ok(option.to_owned()),
        Some(path) => {
            fs::read_to_string(path).map_err(|error| anyhow!("--params @{path}: {error}"))
        }
    }
}
