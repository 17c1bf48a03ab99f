//! `devgate session exec`: commands on the command lines of devices.

use std::ffi::OsString;
use std::{io, thread};

use clap::Args;
use devgate_core::failure::{ErrorContext, Failure};
use devgate_engine::operations::{CommandKind, CommandOperation, CommandOutput, Operation};
use devgate_engine::project::Format;
use devgate_engine::session::SessionHandle;
use devgate_engine::tasks::SESSION_VARIABLE;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow::exit_status;
use devgate_front::options::GlobalOptions;
use devgate_front::printer::Printer;
use devgate_transports::reading;
use tokio::sync::mpsc;

use crate::session::source;
use crate::targets::TargetOptions;
use crate::terminal_view::run_operation;

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate session exec -t switch1 show version\n  \
                  devgate session exec -t switches show version\n  devgate session exec --config 'interface swp1' ' \
                  description uplink'\n  devgate session exec --answer y 'copy running-config startup-config'\n  \
                  devgate session exec --config --save - < lines.txt\n  printf 'show version\\nshow clock\\n' | \
                  devgate session exec -\n\nPut options before the command. If a word of the command begins with --, \
                  put -- before the command:\n  devgate session exec -t fw1 -- diag --brief\n\nPass secrets on stdin: \
                  all users of this node can read arguments."
)]
pub struct Exec {
    #[command(flatten)]
    targets: TargetOptions,
    /// Send configuration instead: each argument is a line; - reads lines from stdin
    #[arg(long)]
    config: bool,
    /// Save the running configuration afterwards
    #[arg(long, requires = "config")]
    save: bool,
    /// Send nothing: show what would be sent, without secrets of the target
    #[arg(long)]
    noop: bool,
    /// Answer to a question of the device, such as `[confirm]`; repeat the option for more questions
    ///
    /// A question without an answer ends the session. A family can define answers.
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
    /// Whether it uses named targets, instead of the shared session.
    pub(super) fn names_targets(&self) -> bool {
        !self.targets.targets.is_empty()
    }

    pub(super) async fn run(
        self,
        global: &GlobalOptions,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let names_targets = self.names_targets();
        let has_session = names_targets || std::env::var_os(SESSION_VARIABLE).is_some();
        let words = device_words(self.words, std::env::args_os().collect(), has_session)?;
        let mut stdin = (words == ["-"]).then(lines_of_stdin).transpose()?;
        let mut order = CommandOperation {
            lines: match (&stdin, self.config) {
                (Some(_), _) => Vec::new(),
                (None, true) => words,
                (None, false) => vec![words.join(" ")],
            },
            kind: match self.config {
                true => CommandKind::Configuration { save: self.save },
                false => CommandKind::Commands {
                    answers: self.answer,
                },
            },
            noop: self.noop,
        };
        let selection = if !names_targets {
            None
        } else {
            let context = CommandContext::load(global, printer)?;
            let chosen = self.targets.select(&context).await?;
            Some((context, chosen))
        };
        if let Some((context, chosen)) = &selection
            && (chosen.targets.len() != 1 || printer.format() != Format::Human)
        {
            if let Some(lines) = &mut stdin {
                order.lines.extend(read_all(lines).await?);
            }
            let (chosen, concurrency) = (chosen.clone(), self.targets.concurrency);
            let operation = Operation::Command(order);
            let done = run_operation(context, chosen, concurrency, operation, printer);
            return Ok(exit_status(&done.await?.targets));
        }
        let work = async |session: &mut SessionHandle<'_>| {
            let print = &mut |(value, text): CommandOutput| match printer.format() {
                // What a program reads is the device's output and nothing else.
                Format::Human => printer.unchanged(&text),
                Format::Json | Format::Jsonl => printer.document(&value, String::new),
            };
            match (&mut stdin, &order.kind) {
                // Each command is sent as soon as it was read.
                (Some(lines), CommandKind::Commands { .. }) => {
                    while let Some(command) = lines.recv().await {
                        order.lines = vec![command?];
                        order.send(session, print).await?;
                        printer.queue().wait_for_capacity().await;
                    }
                    return Ok(());
                }
                (Some(lines), CommandKind::Configuration { .. }) => {
                    order.lines = read_all(lines).await?
                }
                (Some(_), CommandKind::Show(_)) | (None, _) => {}
            }
            order.send(session, print).await
        };
        match &selection {
            None => source::with_shared_session(work).await,
            Some((context, chosen)) => {
                source::with_own_session(context, &chosen.targets[0], printer, work).await
            }
        }
    }
}

/// The words that are sent to the device. A word that begins with `--` is refused, because it was probably meant as an
/// option of devgate, unless a `--` precedes it. Without a session, the same applies to `-t`. `arguments` are all
/// arguments of this program; they end with these words.
fn device_words(
    words: Vec<String>,
    arguments: Vec<OsString>,
    has_session: bool,
) -> Result<Vec<String>, Failure> {
    let before = arguments.len().checked_sub(words.len() + 1);
    if before.is_some_and(|at| arguments[at] == "--") {
        return Ok(words);
    }
    let (mut checked, mut literal) = (words, Vec::new());
    if let Some(at) = checked.iter().position(|word| word == "--") {
        literal = checked.split_off(at);
        literal.remove(0);
    }
    let is_option = |word: &&String| word.starts_with("--") || (*word == "-t" && !has_session);
    if let Some(option) = checked.iter().find(is_option) {
        let message = format!(
            "`{option}` is after the command, where devgate reads no options: put it before the command, or after \
             `--` to send it to the device; nothing was sent"
        );
        return Err(Failure::new("devgate/usage", message));
    }
    checked.append(&mut literal);
    Ok(checked)
}

/// Lines of stdin, each as soon as it was read. Blank lines may belong to a banner.
type Lines = mpsc::Receiver<Result<String, Failure>>;

/// All remaining lines.
async fn read_all(lines: &mut Lines) -> Result<Vec<String>, Failure> {
    let (mut all, mut size) = (Vec::new(), 0);
    while let Some(line) = lines.recv().await {
        let line = line?;
        // An empty line needs memory, too.
        size += line.len() + size_of::<String>();
        if size > reading::MAX_SIZE {
            return Err(reading::too_large()).context("cannot read stdin");
        }
        all.push(line);
    }
    Ok(all)
}

fn lines_of_stdin() -> io::Result<Lines> {
    let (sender, receiver) = mpsc::channel(1);
    // A separate thread, because nothing waits for it when the program ends.
    thread::Builder::new().spawn(move || {
        for line in reading::lines(io::stdin().lock()) {
            let line = line.context("cannot read stdin");
            if sender.blocking_send(line).is_err() {
                break;
            }
        }
    })?;
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(arguments: &[&str], words: usize) -> Result<Vec<String>, String> {
        let words = &arguments[arguments.len() - words..];
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let arguments = arguments.iter().map(OsString::from).collect();
        device_words(words, arguments, true).map_err(|failure| failure.msg)
    }

    #[test]
    fn an_option_behind_the_command_is_refused_unless_it_stands_behind_two_dashes() {
        for (arguments, words, expected) in [
            (
                &["exec", "show", "version"][..],
                2,
                &["show", "version"][..],
            ),
            (&["exec", "ping", "-c", "3"], 3, &["ping", "-c", "3"]),
            (&["exec", "--", "a", "--b"], 2, &["a", "--b"]),
            (&["exec", "--", "a", "--", "b"], 3, &["a", "--", "b"]),
            (&["exec", "a", "--", "--b", "--"], 4, &["a", "--b", "--"]),
            (&["exec", "-t", "r", "-"], 1, &["-"]),
        ] {
            let expected = expected.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(sent(arguments, words), Ok(expected), "{arguments:?}");
        }
        for (arguments, words) in [
            (&["exec", "--config", "a", " b", "--noop"][..], 3),
            (&["exec", "--nooop", "show"], 2),
            (&["exec", "a", "--b", "--", "--c"], 4),
        ] {
            let refused = sent(arguments, words).expect_err("it is an option");
            assert!(refused.ends_with("nothing was sent"), "{refused}");
        }
    }
}
