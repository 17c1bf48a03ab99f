//! Programs on the proxy of a target: how they are started there, and what is said when that is not possible.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use devgate_schemas::task::CapturedOutput;
use devgate_schemas::{Hash, Value};
use devgate_transports::error::{Interrupted, Interruption, PartialOutput};
use devgate_transports::hosted_program::{
    Argument, HostedProcess, HostedProgram, ProgramNotStarted,
};
use devgate_transports::{Context, Dial, Error};

use super::action::Action;
use super::family_program::{FamilyProgram, Reply, encode_request, timed_out};
use super::results;
use crate::process::{HostedFailure, ProcessLimits, run_hosted};

/// Where the programs of a session run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place<'a> {
    /// On this node.
    Here,
    /// On a proxy of the target. None can be asked when no work needs the session.
    OnProxy(Option<&'a dyn Dial>),
}

/// Why a program was not started.
#[derive(Debug)]
pub(super) enum StartFailure {
    /// It cannot be started there, for this reason.
    Program(String),
    /// No proxy can be used.
    Transport(Error),
}

/// How much of a file is searched for its first line.
const FIRST_LINE: u64 = 256;

/// The words before the host of Ruby modules.
const RUBY: [&str; 2] = ["ruby", "--disable-gems"];

/// What to do on a proxy without Ruby.
const INSTALL_RUBY: &str = "install Ruby, Puppet and its Resource API there (on Debian, `apt-get install \
                            puppet-agent ruby-puppet-resource-api`), set `interpreters: {.rb: RUBY}` for it";

/// What to do on a proxy without another interpreter.
const INSTALL: &str = "install it there";

impl FamilyProgram {
    /// Starts the program on a proxy. Returns `None` if it is to be started here.
    pub(super) async fn start_at(
        &self,
        ctx: &Context<'_>,
        place: Place<'_>,
        action: Action,
    ) -> Result<Option<HostedProcess>, StartFailure> {
        let dialer = match place {
            Place::Here => return Ok(None),
            Place::OnProxy(Some(dialer)) => dialer,
            Place::OnProxy(None) => {
                let message = "it runs on a proxy, and no work on the target is in progress";
                return Err(StartFailure::Transport(Error::Unsupported(
                    message.to_owned(),
                )));
            }
        };
        let files = self.files().files().await;
        let files = files.map_err(StartFailure::Program)?;
        let file = self.file_for(action);
        let executable = match self.ruby() {
            Some(ruby) => Some(ruby.start_file.clone()),
            None => self.files().name_of(file),
        };
        let Some(executable) = executable else {
            let message = format!(
                "it is a link to {}, which does not go to a proxy: put the file into the folder of the family or into \
                 the `lib` of the module",
                file.display()
            );
            return Err(StartFailure::Program(message));
        };
        let (mut arguments, mut first_line) = (Vec::new(), Vec::new());
        match self.ruby() {
            Some(ruby) => {
                arguments.push(Argument::Text(&ruby.transport));
                arguments.push(Argument::Paths(&ruby.libs));
            }
            None => first_line = read_first_line(file),
        }
        arguments.push(Argument::Text(action.name()));
        let is_ruby = self.ruby().is_some();
        let program = HostedProgram {
            files: &files,
            executable: &executable,
            interpreter: if is_ruby { &RUBY } else { &[] },
            arguments: &arguments,
            first_line: &first_line,
            install: if is_ruby { INSTALL_RUBY } else { INSTALL },
        };
        dialer
            .start_program(ctx, &program)
            .await
            .map_err(|why| match why {
                ProgramNotStarted::Unsuitable(message) => StartFailure::Program(message),
                ProgramNotStarted::Unreachable(error) => StartFailure::Transport(error),
            })
    }

    /// Sends one request to a process of its own.
    ///
    /// # Errors
    /// Fails when no proxy can be used, or when it was lost. Every other failure is in the reply.
    pub(super) async fn request_once(
        &self,
        ctx: &Context<'_>,
        place: Place<'_>,
        action: Action,
        input: Hash,
        limits: &ProcessLimits,
    ) -> Result<Reply, Error> {
        let process = match self.start_at(ctx, place, action).await {
            Ok(None) => return Ok(self.run_once(action, input, limits).await),
            Ok(Some(process)) => process,
            Err(why) => return why.into_reply(),
        };
        let request = Value::Hash([("input", self.input(input))].into_iter().collect());
        let (failure, stderr) =
            match run_hosted(process, ctx, &encode_request(&request), limits).await {
                Ok(outcome) => {
                    return Ok(Reply {
                        results: results::of(&outcome),
                        stderr: outcome.stderr,
                    });
                }
                Err(failure) => failure,
            };
        let message = match failure {
            HostedFailure::TimedOut => timed_out(action, limits),
            HostedFailure::TooLong => results::too_long(limits.stdout),
            HostedFailure::Lost(proxy) => return Err(self.lost(action, &proxy)),
        };
        Ok(Reply::failed(message, stderr))
    }

    /// Returns the error for a program that was lost with its proxy.
    pub(super) fn lost(&self, action: Action, proxy: &str) -> Error {
        Error::Interrupted(Box::new(Interrupted {
            peer: format!("the proxy {proxy}"),
            operation: format!("{} {action}", self.file().display()),
            changing: action == Action::Set,
            why: Interruption::Lost,
            partial: PartialOutput::default(),
        }))
    }
}

impl StartFailure {
    pub(super) fn into_reply(self) -> Result<Reply, Error> {
        match self {
            Self::Program(message) => Ok(Reply::failed(message, CapturedOutput::default())),
            Self::Transport(error) => Err(error),
        }
    }
}

/// Returns the programs that the first line of a script names: its interpreter, and what `env` is to start.
fn read_first_line(file: &Path) -> Vec<String> {
    let mut head = Vec::new();
    let read = File::open(file).and_then(|file| file.take(FIRST_LINE).read_to_end(&mut head));
    match read {
        Ok(_) => interpreters_of(&head),
        // The upload reports it.
        Err(_) => Vec::new(),
    }
}

fn interpreters_of(head: &[u8]) -> Vec<String> {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let Some(line) = line.strip_prefix(b"#!") else {
        return Vec::new();
    };
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_ascii_whitespace();
    let Some(interpreter) = words.next() else {
        return Vec::new();
    };
    let mut found = vec![interpreter.to_owned()];
    if interpreter.ends_with("/env") {
        let is_program = |word: &&str| !word.starts_with('-') && !word.contains('=');
        found.extend(words.find(is_program).map(str::to_owned));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_names_an_interpreter_and_perhaps_the_program_of_env() {
        for (line, expected) in [
            ("#!/bin/sh\necho", vec!["/bin/sh"]),
            ("#! /usr/bin/python3 -E\n", vec!["/usr/bin/python3"]),
            ("#!/usr/bin/env python3\n", vec!["/usr/bin/env", "python3"]),
            (
                "#!/usr/bin/env -S A=1 ruby -w\n",
                vec!["/usr/bin/env", "ruby"],
            ),
            ("\u{7f}ELF", vec![]),
            ("#!", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(interpreters_of(line.as_bytes()), expected, "{line}");
        }
    }
}
