//! A running task on a host: waits for its end, or ends it.

use std::time::Duration;

use devgate_core::cancel::Stage;
use devgate_schemas::task::{CapturedOutput, Exit, Outcome};
use devgate_transports::ssh_host;
use nix::sys::signal::Signal;
use tokio::time::{Instant, timeout_at};

use super::Shell;
use super::talk::Talk;
use crate::hosts::TaskControl;
use crate::process::{GRACE, Stream};
use crate::tasks::{TaskError, TaskOutputs};

/// A task that may have been started. Unless it is known to have ended, it is ended when the host is closed.
pub(super) struct Running<'a, 'v> {
    host: &'a Shell<'v>,
    mark: &'a str,
    group: Option<u32>,
}

impl<'a, 'v> Running<'a, 'v> {
    pub(super) fn new(host: &'a Shell<'v>, mark: &'a str) -> Self {
        host.running().insert(mark.to_owned(), None);
        Self {
            host,
            mark,
            group: None,
        }
    }

    pub(super) fn in_group(&mut self, group: &str) {
        // 0 would mean the caller's own group, and 1 is the host's.
        self.group = group.parse().ok().filter(|group| *group > 1);
        self.host.running().insert(self.mark.to_owned(), self.group);
    }

    pub(super) fn is_over(&self) {
        self.host.running().remove(self.mark);
    }

    /// Waits for the task's end, and ends it when its time is over or the run is cancelled.
    pub(super) async fn watch(
        &self,
        talk: &mut Talk<'_>,
        task: &str,
        order: TaskControl<'_>,
    ) -> Result<Outcome, TaskError> {
        let TaskControl { limits, stop, sink } = order;
        let (mut stdout, mut stderr) = (CapturedOutput::default(), CapturedOutput::default());
        let listen = talk.end(limits.drain, |stream, bytes| {
            sink.write(stream, bytes);
            match stream {
                Stream::Stdout => stdout.keep(bytes, limits.stdout),
                Stream::Stderr => stderr.keep(bytes, limits.stderr),
            }
        });
        let mut listen = Box::pin(listen);
        let until = async {
            match limits
                .time
                .and_then(|time| Instant::now().checked_add(time))
            {
                Some(until) => timeout_at(until, &mut listen).await,
                None => Ok((&mut listen).await),
            }
        };
        let ended = tokio::select! {
            ended = until => ended.map_err(|_| limits.time),
            () = stop.reaches(Stage::End) => Err(None),
        };
        let ended = match ended {
            Ok(ended) => Ok(ended),
            Err(limit) => {
                // The output is still read while the task ends, so that it does not block on a full pipe.
                let mut stopped = Box::pin(self.stop(task, limit, order));
                Err(tokio::select! {
                    stopped = &mut stopped => stopped,
                    _ = &mut listen => stopped.await,
                })
            }
        };
        drop(listen);
        let said = TaskOutputs::new(stdout, stderr);
        match ended {
            Ok(Ok(exit)) => {
                self.is_over();
                let [stdout, stderr] = said.into_outputs();
                Ok(Outcome {
                    exit: exit_of(exit),
                    stdout,
                    stderr,
                })
            }
            Ok(Err(error)) => Err(self.host.lost(task, &error, said)),
            Err(stopped) => Err(stopped(said)),
        }
    }

    /// Ends the task because its time is over or the run is cancelled. The caller adds the task's output to the error.
    pub(super) async fn stop(
        &self,
        task: &str,
        limit: Option<Duration>,
        order: TaskControl<'_>,
    ) -> impl FnOnce(TaskOutputs) -> TaskError + use<> {
        let grace = if order.stop.stage() == Stage::Kill {
            Duration::ZERO
        } else {
            GRACE
        };
        let end = async |grace| self.host.end(self.mark, self.group, grace).await;
        let asked = end(grace);
        tokio::pin!(asked);
        let left = tokio::select! {
            left = &mut asked => left,
            () = order.stop.reaches(Stage::Kill), if !grace.is_zero() => end(Duration::ZERO).await,
        };
        let left = match left {
            Ok(left) if left.is_empty() => {
                self.is_over();
                None
            }
            Ok(left) => Some(format!("there are still {left}")),
            Err(why) => Some(format!("the host could not be asked: {why}")),
        };
        let (task, host) = (task.to_owned(), self.host.teller.name().to_owned());
        let stopped = order.stop.message_for_part();
        move |said| match (left, limit) {
            (Some(left), limit) => TaskError::Left {
                task,
                stopped,
                limit,
                host,
                left,
                said: Box::new(said),
            },
            (None, Some(limit)) => TaskError::TimedOut { task, limit, said },
            (None, None) => TaskError::Stopped {
                task,
                stopped,
                said,
            },
        }
    }
}

fn exit_of(exit: ssh_host::Exit) -> Exit {
    match exit {
        ssh_host::Exit::Code(code) => Exit::Code(i32::try_from(code).unwrap_or(-1)),
        ssh_host::Exit::Signal(name) => match format!("SIG{name}").parse::<Signal>() {
            Ok(signal) => Exit::Signal(signal as i32),
            Err(_) => Exit::Code(-1),
        },
        ssh_host::Exit::Unsaid => Exit::Code(-1),
    }
}
