//! Rollback on a command line: compares the running configuration with the saved one, and types the lines that
//! restore it.

use async_trait::async_trait;
use devgate_schemas::{Hash, Regexp, Value};
use devgate_transports::{Context, Dialect};

use super::blocks::{Step, StepKind, blocks, steps};
use super::device_rollback::{DeviceRollback, RestorePoint};
use crate::command_line::{exec, session};
use crate::file_node::{FileNode, Problems, WithLocation};
use crate::line::{self, Line, Typing};
use crate::template::{Expression, Scope};
use crate::{Error, Result};

/// How to show a device's configuration and how to remove a line: `checkpoint` in a family's file.
#[derive(Debug)]
pub(crate) struct CliRollback {
    show: String,
    ignore: Vec<Regexp>,
    /// The line that removes `LINE`.
    undo: WithLocation<Expression>,
    /// The line that leaves a mode.
    mode_exit: Option<String>,
}

/// How many times the difference is computed and applied: removing one line may remove others.
const ROUNDS: usize = 4;

/// How many differences an error lists.
const NAMED: usize = 5;

impl CliRollback {
    /// Reads the `checkpoint` of a family's file. `config_text` of the dialect shows the configuration if `show` is left
    /// out.
    pub(crate) fn read(
        top: &FileNode<'_>,
        dialect: Option<&Dialect>,
        problems: &mut Problems,
    ) -> Option<Self> {
        top.only(&["show", "ignore", "undo"], problems);
        let config_text = dialect.and_then(|dialect| dialect.config_text.as_deref());
        let show = match config_text.filter(|_| top.get("show").is_none()) {
            None => top.required_text("show", problems),
            config_text => config_text,
        };
        let undo = top
            .required("undo", problems)
            .and_then(|file_node| file_node.expression(&["LINE"], problems));
        let ignored = top
            .get("ignore")
            .into_iter()
            .flat_map(|file_node| file_node.items());
        let mut ignore = Vec::new();
        for file_node in ignored {
            match file_node.text(problems).map(Regexp::new) {
                Some(Ok(pattern)) => ignore.push(pattern),
                Some(Err(error)) => problems.push(file_node.problem(error.to_string())),
                None => {}
            }
        }
        Some(Self {
            show: show?.to_owned(),
            ignore,
            undo: undo?,
            mode_exit: line::mode_exit(dialect).map(str::to_owned),
        })
    }

    /// Whether a line of the configuration does not count, because it is none or changes by itself.
    pub(crate) fn is_ignored(&self, line: &str) -> bool {
        let mut patterns = self.ignore.iter();
        patterns.any(|pattern| pattern.is_match(line.trim()).unwrap_or(false))
    }

    async fn running_configuration(&self, ctx: &Context<'_>) -> Result<String> {
        Ok(exec(ctx, session(ctx)?, &self.show).await?)
    }

    async fn current(&self, ctx: &Context<'_>) -> Result<RestorePoint> {
        Ok(RestorePoint::new(self.running_configuration(ctx).await?))
    }

    /// The steps from one restore point to another.
    fn steps(&self, from: &RestorePoint, to: &RestorePoint) -> Result<Vec<Step>> {
        let [from, to] = [from, to]
            .map(|restore_point| blocks(restore_point.0.reveal(), |line| self.is_ignored(line)));
        steps(&from, &to, &|line| self.undo(line))
    }

    fn undo(&self, line: &str) -> Result<String> {
        let mut row = Hash::new();
        row.insert("LINE", Value::from(line));
        let value = self.undo.value.evaluate(&Scope::of_row(&row));
        match value {
            Ok(Value::String(line)) => Ok(line),
            // The error may quote the line, which may hold a secret.
            Ok(_) | Err(_) => {
                let problem = "makes no text of a line of the device's configuration";
                Err(Error::Data(self.undo.location.problem(problem)))
            }
        }
    }
}

#[async_trait]
impl DeviceRollback for CliRollback {
    async fn begin(&self, ctx: &Context<'_>) -> Result<RestorePoint> {
        let text = self.running_configuration(ctx).await?;
        let mut lines = text.lines();
        if let Some(at) = lines.position(|line| line.contains(char::REPLACEMENT_CHARACTER)) {
            return Err(Error::Unsupported(format!(
                "line {} of its configuration holds bytes that are no UTF-8, which could not be written back",
                at + 1
            )));
        }
        Ok(RestorePoint::new(text))
    }

    /// A refused line does not stop the rollback: only the resulting configuration counts.
    async fn restore(&self, ctx: &Context<'_>, restore_point: RestorePoint) -> Result<()> {
        session(ctx)?.await_rollback(ctx).await;
        let mut remaining = self.steps(&self.current(ctx).await?, &restore_point)?;
        for _ in 0..ROUNDS {
            if remaining.is_empty() {
                return Ok(());
            }
            let lines: Vec<Vec<Line>> = remaining.iter().map(Step::lines).collect();
            let refused = |_, outcome: std::result::Result<(), String>| {
                if let Err(message) = outcome {
                    ctx.debug(message);
                }
            };
            let typing = Typing {
                mode_exit: self.mode_exit.as_deref(),
                window: 1,
                transaction: None,
            };
            line::send(ctx, session(ctx)?, &lines, typing, refused).await?;
            remaining = self.steps(&self.current(ctx).await?, &restore_point)?;
        }
        if remaining.is_empty() {
            return Ok(());
        }
        let more = remaining.len().saturating_sub(NAMED);
        let mut named: Vec<String> = remaining
            .iter()
            .take(NAMED)
            .map(Step::description)
            .collect();
        if more > 0 {
            named.push(format!("{more} more"));
        }
        Err(Error::NotRestored(named.join(", ")))
    }
}

impl Step {
    /// The line, after the lines that enter its mode. Any of them may hold a secret.
    fn lines(&self) -> Vec<Line> {
        let all = self.parents.iter().chain([&self.typed]);
        all.enumerate()
            .map(|(depth, line)| Line::hidden(depth, line.clone()))
            .collect()
    }

    /// A description of the difference. It quotes only the first word of the line: the others may be secrets.
    fn description(&self) -> String {
        let verb = match self.kind {
            StepKind::Remove => "holds",
            StepKind::Add => "lacks",
        };
        let word = self.line.split(' ').next().unwrap_or_default();
        match self.parents.last() {
            Some(block) => format!("`{block}` {verb} `{word} …`"),
            None => format!("it {verb} `{word} …`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use devgate_transports::RetryBudget;

    use super::*;
    use crate::fake::{EventLog, FakeCandidate, FakeSession};
    use crate::file_node::YamlFile;

    const CHECKPOINT: &str = "show: show running-config\nignore: ['^!']\nundo: \"'no ' ~ LINE\"\n";

    #[tokio::test]
    async fn bytes_that_could_not_be_written_back_are_refused_before_anything_is_changed() {
        let file = YamlFile::parse("family.yaml", CHECKPOINT).expect("YAML");
        let checkpoint = CliRollback::read(&file.top(), None, &mut Vec::new()).expect("reads");
        let before =
            FakeSession::with_output("!\ninterface a\n description caf\u{fffd}\n", "bogus");
        let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
        let ctx = Context::new("router", &events, &retry_budget);
        let error = checkpoint
            .begin(&ctx.with_transport(&before))
            .await
            .expect_err("no way back");
        assert!(
            error.to_string().contains("line 3 of its configuration"),
            "{error}"
        );
    }

    #[tokio::test]
    async fn a_configuration_is_restored_with_one_commit() {
        const FLAT: &str =
            "show: show configuration | display set\nundo: \"'delete ' ~ LINE[4:]\"\n";
        let file = YamlFile::parse("family.yaml", FLAT).expect("YAML");
        let checkpoint = CliRollback::read(&file.top(), None, &mut Vec::new()).expect("reads");
        let device = FakeCandidate::with_running(&["set a 1", "set b 1"]);
        let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
        let ctx = Context::new("router", &events, &retry_budget);
        let ctx = ctx.with_transport(&device);
        let restore_point = checkpoint.begin(&ctx).await.expect("a mark");
        let lines = ["delete a 1", "set a 2", "set c 1"].map(devgate_transports::Line::new);
        let session = session(&ctx).expect("a command line");
        session.configure(&ctx, &lines).await.expect("changed");
        assert_eq!(device.running(), ["set b 1", "set a 2", "set c 1"]);
        let restored = checkpoint.restore(&ctx, restore_point).await;
        restored.expect("as before");
        let mut running = device.running();
        running.sort();
        assert_eq!(running, ["set a 1", "set b 1"]);
        assert_eq!(device.visits(), [3, 3]);
    }

    #[tokio::test]
    async fn remaining_differences_are_named_without_their_secrets() {
        let file = YamlFile::parse("family.yaml", CHECKPOINT).expect("YAML");
        let checkpoint = CliRollback::read(&file.top(), None, &mut Vec::new()).expect("reads");
        let before =
            FakeSession::with_output("!\npassword canary one\ninterface a\n mtu 1\n", "bogus");
        let after = FakeSession::with_output("interface a\n!\nenable password canary", "password");
        let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
        let error = {
            let ctx = Context::new("router", &events, &retry_budget);
            let restore_point = checkpoint
                .begin(&ctx.with_transport(&before))
                .await
                .expect("a mark");
            assert!(!format!("{restore_point:?}").contains("canary"));
            let outcome = checkpoint
                .restore(&ctx.with_transport(&before), restore_point.clone())
                .await;
            outcome.expect("nothing has changed");
            let outcome = checkpoint
                .restore(&ctx.with_transport(&after), restore_point)
                .await;
            outcome.expect_err("it does not change").to_string()
        };
        assert_eq!(
            error,
            "the device did not return to its configuration from before the run: it holds \
             `enable …`, it lacks `password …`, `interface a` lacks `mtu …`"
        );
        assert_eq!(before.typed(), ["> show running-config"; 2]);
        let rounds = after.typed();
        let rounds = rounds.iter().filter(|line| *line == "configure");
        assert_eq!(rounds.count(), ROUNDS);
        assert!(!events.into_lines().concat().contains("canary"));
    }
}
