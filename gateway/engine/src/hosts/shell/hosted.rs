//! The programs of families on a host: they are uploaded as the files of tasks are, and answer on their own channel.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use devgate_core::failure::Failure;
use devgate_core::lock::locked;
use devgate_schemas::NullSink;
use devgate_transports::hosted_program::{
    Argument, HostedInput, HostedOutput, HostedProcess, HostedProgram,
};
use devgate_transports::ssh_host::Piece;
use devgate_transports::{Context, Error, RetryBudget};
use tokio::time::timeout;

use super::Shell;
use super::access::Stdin;
use super::programs::{SHORT_SCRIPT_LIMIT, ShellPrograms};
use super::running_script::{RunningScript, ScriptError};
use super::script::Script;

/// A process of a program. Unless it is known to have ended, it is ended when the host is closed.
struct ShellOutput {
    host: String,
    script: RunningScript,
    programs: Arc<ShellPrograms>,
    mark: String,
    group: Option<u32>,
}

impl Shell<'_> {
    /// Starts a program of a family. It has not been asked for anything yet.
    ///
    /// # Errors
    /// Fails when the host cannot run the program, or cannot be reached.
    pub(crate) async fn start_program(
        &self,
        program: &HostedProgram<'_>,
    ) -> Result<HostedProcess, Failure> {
        // Another connection may be opened for it.
        let limit = SHORT_SCRIPT_LIMIT + RetryBudget::LIMIT;
        self.prepare_once(limit).await?;
        let dir = self.upload_programs(program.files).await?;
        let argv = self.argv_of(program, &dir);
        self.check_interpreter(program, &argv).await?;
        let mut script = Script::run();
        script.set_task(&argv, &[], None, None);
        let (programs, mark) = (Arc::clone(&self.programs), script.mark.clone());
        programs.running().insert(mark.clone(), None);
        let ctx = self.host_context.ctx();
        let starting = timeout(SHORT_SCRIPT_LIMIT, programs.start_open(&ctx, &script)).await;
        let (script, sent) = match starting {
            Ok(Ok(started)) => started,
            Ok(Err(ScriptError::NotStarted(why))) => {
                programs.running().remove(&mark);
                return Err(why);
            }
            // It may have started, but gets no request.
            Ok(Err(ScriptError::Lost(error))) => return Err(error.into()),
            Err(_) => return Err(start_timeout()),
        };
        let group = script.group();
        programs.running().insert(mark.clone(), group);
        let stdin = sent.await.expect("sending input does not panic");
        let output = ShellOutput {
            host: self.host_context.name().to_owned(),
            script,
            programs,
            mark,
            group,
        };
        Ok(HostedProcess {
            stdin: Box::new(stdin),
            output: Box::new(output),
        })
    }

    /// Returns the words that start a program whose files are in this directory.
    fn argv_of(&self, program: &HostedProgram<'_>, dir: &str) -> Vec<String> {
        let name = program.executable.rsplit('/').next().unwrap_or_default();
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let configured =
            extension.and_then(|extension| Some(self.settings.interpreter(extension)?.to_vec()));
        let usual = || program.interpreter.iter().copied().map(str::to_owned);
        let mut argv = configured.unwrap_or_else(|| usual().collect());
        argv.push(format!("{dir}/{}", program.executable));
        argv.extend(program.arguments.iter().map(|argument| match argument {
            Argument::Text(text) => (*text).to_owned(),
            Argument::Paths(names) => {
                let paths = names.iter().map(|name| format!("{dir}/{name}"));
                paths.collect::<Vec<_>>().join(":")
            }
        }));
        argv
    }

    /// Checks that the host has the programs that run this one.
    async fn check_interpreter(
        &self,
        program: &HostedProgram<'_>,
        argv: &[String],
    ) -> Result<(), Failure> {
        let needed: Vec<&str> = match argv {
            [file, ..] if file.ends_with(program.executable) => {
                program.first_line.iter().map(String::as_str).collect()
            }
            [interpreter, ..] => vec![interpreter],
            [] => Vec::new(),
        };
        if needed
            .iter()
            .all(|name| locked(&self.found).contains(*name))
        {
            return Ok(());
        }
        let missing = Script::missing(&needed);
        let missing = self.run_short(&missing, SHORT_SCRIPT_LIMIT).await?;
        if missing.is_empty() {
            locked(&self.found).extend(needed.into_iter().map(str::to_owned));
            return Ok(());
        }
        let missing = missing.lines().map(|name| format!("`{name}`"));
        let message = format!(
            "the proxy {} has no {}: {}, or use --direct to run it on this node",
            self.host_context.name(),
            missing.collect::<Vec<_>>().join(" and no "),
            program.install
        );
        Err(Failure::new("devgate/program-error", message))
    }
}

/// Returns the error for a host that does not start a program in time.
fn start_timeout() -> Failure {
    Failure::new(
        "puppetlabs.tasks/connect-error",
        format!("it did not start the program within {SHORT_SCRIPT_LIMIT:?}"),
    )
}

#[async_trait]
impl HostedInput for Stdin {
    async fn write_all(&mut self, bytes: Bytes) -> io::Result<()> {
        Self::write_all(self, bytes).await
    }
}

#[async_trait]
impl HostedOutput for ShellOutput {
    fn proxy(&self) -> &str {
        &self.host
    }

    async fn next(&mut self) -> Result<Piece, Error> {
        let piece = self.script.next().await?;
        Ok(match piece {
            Piece::Ended(_) | Piece::Exit(_) => {
                self.programs.running().remove(&self.mark);
                piece
            }
            // The shell reports that it cannot execute the program.
            Piece::Stderr(bytes) => match bytes.strip_prefix(self.mark.as_bytes()) {
                Some(rest) => Piece::Stderr([self.host.as_bytes(), rest].concat().into()),
                None => Piece::Stderr(bytes),
            },
            Piece::Stdout(bytes) => Piece::Stdout(bytes),
        })
    }

    async fn end(self: Box<Self>, grace: Duration) -> Option<String> {
        // The run that has started the process may be over.
        let retry_budget = RetryBudget::default();
        let ctx = Context::new(&self.host, &NullSink, &retry_budget);
        let ended = self.programs.end(&ctx, &self.mark, self.group, grace);
        let host = &self.host;
        match ended.await {
            Ok(left) if left.is_empty() => {
                self.programs.running().remove(&self.mark);
                None
            }
            Ok(left) => Some(format!("these processes still run on {host}: {left}")),
            Err(why) => Some(format!("a process may still run on {host}: {why}")),
        }
    }
}

impl std::fmt::Debug for Stdin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stdin").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for ShellOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShellOutput")
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}
