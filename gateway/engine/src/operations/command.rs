//! What a person would type on a device: commands, or configuration.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::inventory::Target;
use crate::job::TargetJob;
use crate::run::{Run, RunSummary};
use crate::session::{self, SessionHandle, SessionPool};
use devgate_core::failure::Failure;
use devgate_core::results::{Action, Status, TargetResult};

/// What is typed, and what becomes of it.
#[derive(Debug)]
pub struct CommandOrder {
    /// What is typed, line by line.
    pub lines: Vec<String>,
    /// As what it is typed.
    pub how: CommandKind,
    /// Whether it is only shown.
    pub noop: bool,
}

/// As what lines are typed.
#[derive(Debug)]
pub enum CommandKind {
    /// Each is a command, whose questions take these answers.
    Commands {
        /// What is answered to questions, in this order.
        answers: Vec<String>,
    },
    /// They are configuration, which may be saved.
    Configuration {
        /// Whether it is saved.
        save: bool,
    },
}

/// What came of a command, or of configuration: for programs, and for people.
pub type CommandOutput = (Json, String);

impl CommandOrder {
    /// The lines that are commands.
    fn commands(&self) -> impl Iterator<Item = &String> {
        self.lines.iter().filter(|line| !line.trim().is_empty())
    }

    /// Types it in a session, and gives what comes of it, bit by bit.
    ///
    /// # Errors
    /// What the device or the gateway says; what came before was given.
    pub async fn with(
        &self,
        session: &mut SessionHandle<'_>,
        give: &mut impl FnMut(CommandOutput),
    ) -> Result<(), Failure> {
        match &self.how {
            CommandKind::Commands { answers } => {
                for command in self.commands() {
                    give(if self.noop {
                        let shown = session.shown(command.as_str().into());
                        let text = format!("would send: {}\n", shown.as_str().unwrap_or_default());
                        (json!({ "noop": true, "command": shown }), text)
                    } else {
                        let said = session.exec(command, answers).await?;
                        (json!({ "command": command, "output": said }), ended(said))
                    });
                }
            }
            CommandKind::Configuration { save } if self.noop => {
                let shown = session.shown(self.lines.join("\n").into());
                let mut text = ended(shown.as_str().unwrap_or_default().to_owned());
                text.insert_str(0, "would send, as configuration:\n");
                if *save {
                    text.push_str("would save the running configuration\n");
                }
                give((
                    json!({ "noop": true, "configure": shown, "save": save }),
                    text,
                ));
            }
            CommandKind::Configuration { save } => {
                session.configure(self.lines.clone()).await?;
                if *save {
                    session.save().await?;
                }
                let done = json!({ "configured": self.lines.len(), "saved": save });
                give((done, String::new()));
            }
        }
        Ok(())
    }

    /// Types it on every target, and gives what comes of it.
    pub async fn run(&self, run: &Run, targets: &[Arc<Target>]) -> RunSummary {
        let on_each = async |job: &TargetJob<'_>| self.on(run.sessions(), job).await;
        run.on_targets(targets, Action::new("command"), on_each)
            .await
    }

    /// What comes of it on one of many targets.
    async fn on(
        &self,
        sessions: &SessionPool,
        job: &TargetJob<'_>,
    ) -> Result<TargetResult, Failure> {
        let (mut values, mut text) = (Vec::new(), String::new());
        let give = &mut |(value, said): CommandOutput| {
            values.push(value);
            text.push_str(&said);
        };
        let work = async |session: &mut SessionHandle<'_>| self.with(session, give).await;
        let outcome = session::with_handle(sessions, job, work).await;
        // The form is that of what was asked, however far it came.
        let value = match &self.how {
            CommandKind::Commands { .. } if self.commands().count() != 1 => {
                json!({ "commands": values })
            }
            _ => values.pop().unwrap_or_else(|| json!({})),
        };
        let mut answer = TargetResult::success(value);
        if let (CommandKind::Configuration { save }, true, false) =
            (&self.how, outcome.is_ok(), self.noop)
        {
            text = match self.lines.len() {
                1 => "1 line was typed".to_owned(),
                lines => format!("{lines} lines were sent"),
            };
            text.push_str(if *save { ", and saved" } else { "" });
        }
        // Where it has failed, people read why, and what the device said until then.
        answer.text = Some(text).filter(|text| !text.is_empty() || outcome.is_err());
        if let Err(error) = outcome {
            answer.status = Status::Failure;
            answer.value["_error"] = json!(error);
        }
        Ok(answer)
    }
}

/// A text that ends with a newline, unless it is empty.
pub fn ended(mut text: String) -> String {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}
