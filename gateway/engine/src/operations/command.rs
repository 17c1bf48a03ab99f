//! Sends commands or configuration to devices, as a person would type them.

use std::sync::Arc;

use devgate_core::failure::Failure;
use devgate_core::results::{Action, Status, TargetResult};
use serde_json::{Value as Json, json};

use super::show::Show;
use crate::inventory::Target;
use crate::job::TargetJob;
use crate::run::{Run, RunSummary};
use crate::session::{self, SessionHandle, Sessions};

/// The lines to send, and how to send them.
#[derive(Debug)]
pub struct CommandOperation {
    /// The lines, in order.
    pub lines: Vec<String>,
    /// What the lines are.
    pub kind: CommandKind,
    /// Whether the lines are only shown.
    pub noop: bool,
}

/// How lines are sent.
#[derive(Debug)]
pub enum CommandKind {
    /// Each line is a command. The answers are for the questions that commands ask.
    Commands {
        /// The answers, in the order of the questions.
        answers: Vec<String>,
    },
    /// Each line is a command that shows something. Its output can be saved, compared and checked.
    Show(Box<Show>),
    /// The lines are configuration.
    Configuration {
        /// Whether the configuration is saved.
        save: bool,
    },
}

/// The outcome of a command or of configuration: JSON for programs, text for people.
pub type CommandOutput = (Json, String);

impl CommandOperation {
    /// Returns the lines that are commands.
    fn commands(&self) -> impl Iterator<Item = &String> {
        self.lines.iter().filter(|line| !line.trim().is_empty())
    }

    /// Sends the lines in a session, and passes each output to `emit` as soon as it is there.
    ///
    /// # Errors
    /// Fails when the device or the gateway reports an error. Earlier outputs have been passed to `emit`.
    pub async fn send(
        &self,
        session: &mut SessionHandle<'_>,
        emit: &mut impl FnMut(CommandOutput),
    ) -> Result<(), Failure> {
        let answers: &[String] = match &self.kind {
            CommandKind::Commands { answers } => answers,
            _ => &[],
        };
        match &self.kind {
            CommandKind::Commands { .. } | CommandKind::Show(_) => {
                for command in self.commands() {
                    emit(if self.noop {
                        let redacted = session.redacted(command.as_str().into());
                        let text =
                            format!("would send: {}\n", redacted.as_str().unwrap_or_default());
                        (json!({ "noop": true, "command": redacted }), text)
                    } else {
                        let output = session.exec(command, answers).await?;
                        (
                            json!({ "command": command, "output": output }),
                            with_newline(output),
                        )
                    });
                }
            }
            CommandKind::Configuration { save } if self.noop => {
                let redacted = session.redacted(self.lines.join("\n").into());
                let mut text = with_newline(redacted.as_str().unwrap_or_default().to_owned());
                text.insert_str(0, "would send, as configuration:\n");
                if *save {
                    text.push_str("would save the running configuration\n");
                }
                emit((
                    json!({ "noop": true, "configure": redacted, "save": save }),
                    text,
                ));
            }
            CommandKind::Configuration { save } => {
                session.configure(self.lines.clone()).await?;
                if *save {
                    session.save().await?;
                }
                let done = json!({ "configured": self.lines.len(), "saved": save });
                emit((done, String::new()));
            }
        }
        Ok(())
    }

    /// Sends the lines to every target.
    ///
    /// # Errors
    /// Fails when the request is invalid. Nothing was sent then.
    pub async fn run(
        &self,
        run: &Run,
        sessions: Sessions<'_, '_>,
        targets: &[Arc<Target>],
    ) -> Result<RunSummary, Failure> {
        if let CommandKind::Show(show) = &self.kind {
            show.prepare(run.registry(), &self.lines, targets)?;
        }
        let send_to_each = async |job: &TargetJob<'_>| match &self.kind {
            CommandKind::Show(show) => show.run(&self.lines, sessions, job).await,
            _ => self.send_to_target(sessions, job).await,
        };
        let action = Action::new("command");
        Ok(run.on_targets(targets, action, send_to_each).await)
    }

    /// Sends the lines to one of many targets.
    async fn send_to_target(
        &self,
        sessions: Sessions<'_, '_>,
        job: &TargetJob<'_>,
    ) -> Result<TargetResult, Failure> {
        let (mut values, mut text) = (Vec::new(), String::new());
        let emit = &mut |(value, output): CommandOutput| {
            values.push(value);
            text.push_str(&output);
        };
        let work = async |session: &mut SessionHandle<'_>| self.send(session, emit).await;
        let outcome = session::with_handle(sessions, job, work).await;
        // The form of the result depends on the request alone, not on how far the work came.
        let value = match &self.kind {
            CommandKind::Commands { .. } if self.commands().count() != 1 => {
                json!({ "commands": values })
            }
            _ => values.pop().unwrap_or_else(|| json!({})),
        };
        let mut result = TargetResult::success(value);
        if let (CommandKind::Configuration { save }, true, false) =
            (&self.kind, outcome.is_ok(), self.noop)
        {
            text = match self.lines.len() {
                1 => "1 line was typed".to_owned(),
                lines => format!("{lines} lines were sent"),
            };
            text.push_str(if *save { ", and saved" } else { "" });
        }
        // After a failure, people read the failure and the output until then.
        result.text = Some(text).filter(|text| !text.is_empty() || outcome.is_err());
        if let Err(error) = outcome {
            result.status = Status::Failure;
            result.value["_error"] = json!(error);
        }
        Ok(result)
    }
}

/// Appends a newline unless the text is empty or ends with one.
pub fn with_newline(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
