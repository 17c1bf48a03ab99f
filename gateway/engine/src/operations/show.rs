//! Commands that show something: only harmless ones are sent, and their outputs are saved, compared and checked.

mod outputs;
mod parse;

use std::path::PathBuf;
use std::sync::Arc;

use devgate_core::failure::Failure;
use devgate_core::results::{Status, TargetResult};
use devgate_devices::{Family, has_command_line};
use devgate_schemas::Regexp;
use serde_json::{Value as Json, json};

use crate::inventory::Target;
use crate::job::TargetJob;
use crate::registry::Registry;
use crate::session::{self, SessionHandle, Sessions};
use outputs::Output;
pub use parse::Parse;
use parse::Parser;

/// How commands that show something are sent, and what is done with their outputs.
#[derive(Debug, Default)]
pub struct Show {
    /// Further commands, each for the targets of one family.
    pub for_families: Vec<(String, String)>,
    /// Whether the running configuration is read, too, with the command that the family declares.
    pub config: bool,
    /// How outputs are parsed, if they are.
    pub parse: Option<Parse>,
    /// Whether commands are sent that the family does not declare harmless.
    pub any: bool,
    /// The folder in which the outputs are saved.
    pub save: Option<PathBuf>,
    /// The folder with saved outputs, with which the outputs are compared.
    pub diff: Option<PathBuf>,
    /// The patterns that every output must match.
    pub expect: Vec<Regexp>,
}

/// What is asked of one target.
struct Plan<'r> {
    commands: Vec<String>,
    /// The family, if the configuration is read.
    configured: Option<&'r Family>,
    /// What parses the output of each command, if it is parsed.
    parsers: Vec<Parser<'r>>,
}

impl Show {
    /// Checks the request, and creates the folder for the outputs.
    ///
    /// # Errors
    /// Fails when a family is unknown, two outputs would have the same file, or a folder cannot be used.
    pub(super) fn prepare(
        &self,
        registry: &Registry,
        lines: &[String],
        targets: &[Arc<Target>],
    ) -> Result<(), Failure> {
        for (family, _) in &self.for_families {
            registry.transport(family)?;
        }
        let commands = lines
            .iter()
            .chain(self.for_families.iter().map(|(_, line)| line));
        if !self.config && commands.into_iter().all(|line| line.trim().is_empty()) {
            let message = "expected a command, such as 'show version', or --config";
            return Err(Failure::new("devgate/no-command", message));
        }
        if self.save.is_some() || self.diff.is_some() {
            outputs::check_names(targets.iter().map(|target| target.name.as_str()))?;
            let of_families = self.for_families.iter().map(|(_, command)| command);
            let names = lines.iter().chain(of_families).map(String::as_str);
            outputs::check_names(names.chain(self.config.then_some(outputs::CONFIG)))?;
        }
        if let Some(folder) = &self.save {
            outputs::make_folder(folder)?;
        }
        self.diff.as_deref().map_or(Ok(()), outputs::check_folder)
    }

    /// Runs the commands for one target.
    ///
    /// # Errors
    /// Fails when a command is not declared harmless, or the target has no command line. Nothing was sent then.
    pub(super) async fn run(
        &self,
        lines: &[String],
        sessions: Sessions<'_, '_>,
        job: &TargetJob<'_>,
    ) -> Result<TargetResult, Failure> {
        let plan = self.plan(&job.run.registry, lines, job.target.remote_transport())?;
        if plan.commands.is_empty() {
            let text = "no command is for this target".to_owned();
            return Ok(TargetResult::success(json!({ "commands": [] })).with_text(text));
        }
        let mut entries = Vec::new();
        // What is saved must not hold the secrets of the run's other targets either.
        let emit = &mut |command: &str, output: String| {
            entries.push(job.without_secrets(json!({ "command": command, "output": output })));
        };
        let work = async |session: &mut SessionHandle<'_>| {
            if !self.any {
                return session.exec_all(&plan.commands, emit).await;
            }
            // Any of them may ask something.
            for command in &plan.commands {
                let output = session.exec(command, &[]).await?;
                emit(command, output);
            }
            Ok(())
        };
        let outcome = session::with_handle(sessions, job, work).await;
        Ok(self.result(&job.target.name, &plan, entries, outcome.err()))
    }

    /// Plans the commands of a target with this transport.
    fn plan<'r>(
        &self,
        registry: &'r Registry,
        lines: &[String],
        transport: Option<&str>,
    ) -> Result<Plan<'r>, Failure> {
        let family = transport.and_then(|transport| registry.family(transport).ok()?.declared());
        let config = family.filter(|_| self.config).and_then(Family::config_text);
        let commands = self.commands(config, lines, transport);
        if let Some(transport) = transport {
            self.check(registry, transport, &commands)?;
        }
        let parsers = match &self.parse {
            Some(parse) => {
                let parsers = commands.iter();
                let parsers = parsers.map(|command| parse.parser(family, command));
                parsers.collect::<Result<_, _>>()?
            }
            None => Vec::new(),
        };
        Ok(Plan {
            commands,
            configured: family.filter(|_| config.is_some()),
            parsers,
        })
    }

    /// Returns the commands for a target with this transport, each once: the one that shows the configuration first.
    fn commands(
        &self,
        config: Option<&str>,
        lines: &[String],
        transport: Option<&str>,
    ) -> Vec<String> {
        let of_families = self.for_families.iter();
        let of_family = of_families.filter(|(family, _)| Some(family.as_str()) == transport);
        let mut commands = Vec::from_iter(config.map(str::to_owned));
        for command in lines.iter().chain(of_family.map(|(_, command)| command)) {
            let command = command.trim();
            if !command.is_empty() && !commands.iter().any(|known| known == command) {
                commands.push(command.to_owned());
            }
        }
        commands
    }

    /// Checks that the devices of a transport have a command line, and that all commands are harmless there.
    fn check(
        &self,
        registry: &Registry,
        transport: &str,
        commands: &[String],
    ) -> Result<(), Failure> {
        registry.transport(transport)?;
        let family = registry.family(transport).ok();
        let has_command_line = match family {
            Some(family) => family.has_command_line(),
            None => has_command_line(transport),
        };
        if !has_command_line && (self.config || !commands.is_empty()) {
            let message = format!(
                "transport `{transport}` has no command line; `devgate session get` and `devgate facts` read from its \
                 devices"
            );
            return Err(Failure::new("devgate/not-a-command-line", message));
        }
        let declared = family.and_then(|family| family.declared());
        if self.config && declared.and_then(Family::config_text).is_none() {
            let why = match declared {
                Some(family) => format!("add `config_text` to the dialect in {}", family.file()),
                None => "`config_text` in the dialect of a family does".to_owned(),
            };
            let message = format!(
                "nothing says how the running configuration of `{transport}` is read: {why}, or name the command instead \
                 of --config"
            );
            return Err(Failure::new("devgate/no-config-text", message));
        }
        let is_harmless =
            |command: &str| declared.is_some_and(|family| family.is_harmless(command));
        let refused = commands.iter().find(|command| !is_harmless(command));
        let Some(refused) = refused.filter(|_| !self.any) else {
            return Ok(());
        };
        let joined = commands.join(" ");
        let is_one = commands.len() > 1 && !commands.iter().any(|command| command.contains(' '));
        let why = match declared {
            _ if is_one && is_harmless(&joined) => {
                format!("a command of several words is one argument: '{joined}'")
            }
            Some(family) => format!(
                "family `{transport}` does not declare it harmless. Its file, {}, has patterns in its dialect: \
                 `harmless` for whole commands, `filters` for what follows a `|`; a command with `>`, `;`, `[`, `{{` or a \
                 line end is never harmless. --any sends any command",
                family.file()
            ),
            None => format!(
                "no family declares it harmless, because transport `{transport}` is none. --any sends any command"
            ),
        };
        let message = format!("`{refused}` was refused, and nothing was sent: {why}");
        Err(Failure::new("devgate/not-harmless", message))
    }

    /// Saves, compares, checks and parses the outputs of a target. `failure` is why there is no further output.
    fn result(
        &self,
        target: &str,
        plan: &Plan<'_>,
        entries: Vec<Json>,
        failure: Option<Failure>,
    ) -> TargetResult {
        let mut failures = Vec::from_iter(failure);
        let (mut text, mut commands) = (String::new(), Vec::new());
        for (number, mut entry) in entries.into_iter().enumerate() {
            let parser = plan.parsers.get(number);
            let output = Output::new(self, target, plan.configured, &entry).parsed_with(parser);
            text.push_str(&output.process(&mut entry, &mut failures));
            commands.push(entry);
        }
        let mut result = TargetResult::success(json!({ "commands": commands })).with_text(text);
        let messages: Vec<String> = failures.iter().map(|one| one.msg.clone()).collect();
        if let Some(mut failure) = failures.into_iter().next() {
            failure.msg = messages.join("; ");
            result.status = Status::Failure;
            result.value["_error"] = json!(failure);
        }
        result
    }
}
