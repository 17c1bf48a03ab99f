//! `devgate session exec`: commands on a device's command line.

use std::io;
use std::thread;

use anyhow::Context as _;
use clap::Args;
use serde_json::json;
use tokio::sync::mpsc;

use super::With;
use crate::cli::{Ending, Global};
use crate::output::Output;
use crate::project::Format;
use crate::session::Asked;

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate session exec show version\n  devgate session exec -t switch1 \
                  show version\n  devgate session exec --config 'interface swp1' ' description \
                  uplink'\n  devgate session exec --answer y 'copy running-config \
                  startup-config'\n  devgate session exec --config --save - < lines.txt\n  printf 'show \
                  version\\nshow clock\\n' | devgate session exec -\n\nOptions stand before the \
                  command. A secret belongs on stdin: everybody on this host can read arguments."
)]
pub(in crate::cli) struct Exec {
    #[command(flatten)]
    with: With,
    /// Type configuration instead: each argument is a line, or each line of stdin with -
    #[arg(long)]
    config: bool,
    /// Save the running configuration behind it
    #[arg(long, requires = "config")]
    save: bool,
    /// Type this when the command makes the device ask, such as `[confirm]`; each question takes the next
    ///
    /// A question that nobody answers ends the session. Families may know answers of their own.
    #[arg(
        long,
        value_name = "TEXT",
        conflicts_with = "config",
        allow_hyphen_values = true
    )]
    answer: Vec<String>,
    /// The command, its words joined with spaces; - reads one command from each line of stdin
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "COMMAND"
    )]
    words: Vec<String>,
}

impl Exec {
    pub(super) async fn run(self, global: &Global, output: &Output) -> anyhow::Result<Ending> {
        let Self {
            with,
            config,
            save,
            answer,
            words,
        } = self;
        let work = async |session: &mut Asked<'_>| {
            let mut lines = (words == ["-"]).then(lines_of_stdin).transpose()?;
            match (&mut lines, config) {
                (None, false) => exec(session, &words.join(" "), &answer, output).await?,
                (Some(lines), false) => {
                    while let Some(command) = lines.recv().await {
                        let command = command?;
                        if !command.trim().is_empty() {
                            exec(session, &command, &answer, output).await?;
                        }
                    }
                }
                (None, true) => configure(session, words, save, output).await?,
                (Some(lines), true) => {
                    let mut all = Vec::new();
                    while let Some(line) = lines.recv().await {
                        all.push(line?);
                    }
                    configure(session, all, save, output).await?;
                }
            }
            Ok(())
        };
        with.session(global, output, work).await
    }
}

async fn exec(
    session: &mut Asked<'_>,
    command: &str,
    answers: &[String],
    output: &Output,
) -> anyhow::Result<()> {
    let said = session.exec(command, answers).await?;
    match output.format() {
        // What a program reads is the device's output and nothing else.
        Format::Human => output.exact(&super::ended(said)),
        _ => output.document(&json!({ "command": command, "output": said }), String::new),
    }
    Ok(())
}

async fn configure(
    session: &mut Asked<'_>,
    lines: Vec<String>,
    save: bool,
    output: &Output,
) -> anyhow::Result<()> {
    let configured = lines.len();
    session.configure(lines).await?;
    if save {
        session.save().await?;
    }
    let done = json!({ "configured": configured, "saved": save });
    output.document(&done, String::new);
    Ok(())
}

/// The lines of stdin, each as soon as it comes. Blank ones may belong to a banner.
fn lines_of_stdin() -> io::Result<mpsc::Receiver<anyhow::Result<String>>> {
    let (tells, hears) = mpsc::channel(1);
    // A thread of its own: nothing waits for one that still reads when the program ends.
    thread::Builder::new().spawn(move || {
        for line in io::stdin().lines() {
            let line = line.context("cannot read stdin");
            if tells.blocking_send(line).is_err() {
                break;
            }
        }
    })?;
    Ok(hears)
}
