//! `devgate session run`: a program with a shared session.

use std::ffi::OsString;

use clap::Args;
use devgate_core::failure::{ErrorContext, Failure};
use devgate_engine::process::{self, Program};
use devgate_engine::session;
use devgate_engine::tasks::SESSION_VARIABLE;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::follow::follow_until;
use devgate_front::printer::Printer;
use devgate_front::signals::SignalListener;
use devgate_schemas::Sensitive;
use devgate_transports::Mode;

use crate::complete;
use crate::session::source;
use crate::targets::DirectOption;
use crate::terminal_view::TerminalView;

#[derive(Args, Debug)]
#[command(after_help = "Example:\n  devgate session run -t switch1 -- ./nightly-checks.sh")]
pub struct Run {
    /// The target (only one)
    #[arg(short, long, value_name = "TARGET", add = complete::targets())]
    target: String,
    #[command(flatten)]
    direct: DirectOption,
    /// Refuse `devgate session exec --config` and `devgate session set`, as in a task under --noop
    #[arg(long)]
    noop: bool,
    /// The program and its arguments
    #[arg(required = true, last = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl Run {
    pub(super) async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let target = source::one_target(context, &self.target, self.direct).await?;
        let run = context.begin(None);
        let job = run.job(&target);
        let mode = if self.noop { Mode::Noop } else { Mode::Enforce };
        let program_name = self.program[0].display().to_string();
        let run_program = async |socket: Option<&str>| {
            let socket = socket.context("there is no shared session")?;
            let program = Program {
                argv: self.program,
                environment: vec![(
                    SESSION_VARIABLE.to_owned(),
                    Sensitive::new(socket.to_owned()),
                )],
                stdin: None,
            };
            // It shares our stderr.
            context.logger.queue().drain_blocking();
            let mut listener = SignalListener::listen()?;
            process::run_attached(&program, async || listener.signal().await)
                .await
                .map_err(|error| Failure::other(format!("cannot run {program_name}: {error}")))
        };
        let inventory = context.inventory().await?;
        let lending = run.with_sessions(&inventory, async |sessions| {
            job.prepare().await?;
            session::lend_session(sessions, &job, mode, run_program).await?
        });
        let view = &mut TerminalView::new(&context.logger, printer);
        // Signals go to the program after it was started. Before, they end this process.
        let (exit, signal) = follow_until(context, &run, view, lending, None, |_| None).await?;
        let of_program = || ExitStatus::Code(u8::try_from(exit.code()).unwrap_or(u8::MAX));
        Ok(signal.map_or_else(of_program, ExitStatus::Interrupted))
    }
}
