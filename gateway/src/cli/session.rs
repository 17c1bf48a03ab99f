//! `devgate session`: using a session that is lent to this program, and lending one to another.

use std::ffi::OsString;
use std::io;

use anyhow::{Context as _, anyhow, bail};
use clap::{Args, Subcommand};
use devgate_schemas::Sensitive;
use devgate_transports::Mode;
use serde_json::json;

use super::{Ending, Global, Setting};
use crate::inventory::Overrides;
use crate::output::Output;
use crate::process::{self, Program};
use crate::run::Job;
use crate::session::{self, Borrowed, Lender, Reach};
use crate::stop::Stopper;

/// Use the session with a device that devgate holds for a task or a program
///
/// devgate can log in for you, keep the session open, and run your commands in it: once for all of
/// them instead of once for each. Two things are lent such a session, in DEVGATE_SESSION: a remote
/// task, for as long as it runs on this node, and what `devgate session run` starts.
#[derive(Debug, Subcommand)]
#[command(
    after_help = "Example, a task `uptime.sh` with `{\"remote\": true}` in uptime.json:\n  \
                  #!/bin/sh\n  devgate session exec show version | grep uptime\n\nA shell with a \
                  session of its own, on switch1:\n  devgate session run -t switch1 -- bash"
)]
pub(super) enum Session {
    /// Run a command on the device, in the session that this program was lent
    ///
    /// A remote task that devgate runs on this node need not log in by itself: DEVGATE_SESSION names
    /// a private socket, and this command uses the session behind it. The first use logs in, all
    /// others find the session open, one command at a time. The device's output goes to stdout as it
    /// is. No command is ever sent twice.
    Exec(Exec),
    /// Run a program that is lent one session with a target
    ///
    /// All that the program starts may use it with `devgate session exec`, and so may the tasks of
    /// every `devgate task run` in it whose target is the same: they log in once. The exit code is
    /// the program's.
    Run(Run),
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate session exec show version\n  devgate session exec --config \
                  'interface swp1' ' description uplink'\n  devgate session exec --config --save - \
                  < lines.txt\n  printf 'show version\\nshow clock\\n' | devgate session exec \
                  -\n\nOptions stand before the command. A secret belongs on stdin: everybody on this \
                  host can read arguments."
)]
pub(super) struct Exec {
    /// Type configuration instead: each argument is a line, or each line of stdin with -
    #[arg(long)]
    config: bool,
    /// Save the running configuration behind it
    #[arg(long, requires = "config")]
    save: bool,
    /// The command, its words joined with spaces; - reads one command from each line of stdin
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    words: Vec<String>,
}

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  devgate session run -t switch1 -- ./nightly-checks.sh")]
pub(super) struct Run {
    /// The target: one
    #[arg(short, long, value_name = "TARGET")]
    target: String,
    /// Refuse `devgate session exec --config`, as a task is refused under --noop
    #[arg(long)]
    noop: bool,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Session {
    pub(super) async fn run(self, global: &Global, output: &Output) -> anyhow::Result<Ending> {
        match self {
            // It needs no project: a task may run anywhere.
            Self::Exec(exec) => exec.run(output).await,
            Self::Run(run) => run.run(&Setting::load(global, output)?).await,
        }
    }
}

impl Exec {
    async fn run(self, output: &Output) -> anyhow::Result<Ending> {
        let mut session = Borrowed::from_environment().await?;
        let from_stdin = self.words == ["-"];
        if self.config {
            let lines = if from_stdin {
                lines_of_stdin().collect::<anyhow::Result<_>>()?
            } else {
                self.words
            };
            return configure(&mut session, lines, self.save, output).await;
        }
        if from_stdin {
            for command in lines_of_stdin() {
                exec(&mut session, &command?, output).await?;
            }
        } else {
            exec(&mut session, &self.words.join(" "), output).await?;
        }
        Ok(Ending::Well)
    }
}

async fn exec(session: &mut Borrowed, command: &str, output: &Output) -> anyhow::Result<()> {
    let said = session.exec(command).await?;
    output.document(&json!({ "command": command, "output": said }), || {
        let newline = if said.is_empty() || said.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        format!("{said}{newline}")
    });
    Ok(())
}

async fn configure(
    session: &mut Borrowed,
    lines: Vec<String>,
    save: bool,
    output: &Output,
) -> anyhow::Result<Ending> {
    let configured = lines.len();
    session.configure(lines).await?;
    if save {
        session.save().await?;
    }
    let done = json!({ "configured": configured, "saved": save });
    output.document(&done, String::new);
    Ok(Ending::Well)
}

/// The lines of stdin that are not blank, each as soon as it comes.
fn lines_of_stdin() -> impl Iterator<Item = anyhow::Result<String>> {
    let lines = io::stdin().lines();
    lines
        .map(|line| line.context("cannot read stdin"))
        .filter(|line| !line.as_ref().is_ok_and(|line| line.trim().is_empty()))
}

impl Run {
    async fn run(self, setting: &Setting) -> anyhow::Result<Ending> {
        let words = [self.target.clone()];
        let targets = setting.choose(&words, &Overrides::default()).await?;
        let [target] = targets.as_slice() else {
            bail!(
                "a session is with one target, and `{}` names {}",
                self.target,
                targets.len()
            );
        };
        let job = Job::new(target, &setting.voice, Stopper::default().stop());
        let reach = Reach::of(&setting.registry, &job)?;
        let mode = if self.noop { Mode::Noop } else { Mode::Enforce };
        let shown = self.program[0].display().to_string();
        let ctx = job.context();
        let lent = async |socket: Option<&str>| {
            let socket = socket.context("there is no session to lend")?;
            let program = Program {
                words: self.program,
                environment: vec![(
                    session::VARIABLE.to_owned(),
                    Sensitive::new(socket.to_owned()),
                )],
                stdin: None,
            };
            process::attached(&program)
                .await
                .map_err(|error| anyhow!("cannot run {shown}: {error}"))
        };
        let exit = Lender::default().lend(&ctx, &reach, mode, lent).await?;
        Ok(Ending::Of(u8::try_from(exit.code()).unwrap_or(u8::MAX)))
    }
}
