//! A running task on a host: waits for its end, or ends it.

use std::time::Duration;

use devgate_core::cancel::Stage;
use devgate_schemas::task::{CapturedOutput, Outcome};
use tokio::time::{Instant, timeout_at};

use super::Shell;
use super::running_script::RunningScript;
use crate::hosts::TaskControl;
use crate::process::{GRACE, Stream, convert_exit};
use crate::tasks::{TaskError, TaskOutputs};

/// A task that may have been started. Unless it is known to have ended, it is ended when the host is closed.
pub(super) struct RunningTask<'a, 'v> {
    host: &'a Shell<'v>,
    mark: &'a str,
    group: Option<u32>,
}

impl<'a, 'v> RunningTask<'a, 'v> {
    pub(super) fn new(host: &'a Shell<'v>, mark: &'a str) -> Self {
        host.running().insert(mark.to_owned(), None);
        Self {
            host,
            mark,
            group: None,
        }
    }

    pub(super) fn set_group(&mut self, group: Option<u32>) {
        self.group = group;
        self.host.running().insert(self.mark.to_owned(), self.group);
    }

    pub(super) fn mark_ended(&self) {
        self.host.running().remove(self.mark);
    }

    /// Waits for the task's end, and ends it when its time is over or the run is cancelled.
    pub(super) async fn watch(
        &self,
        running_script: &mut RunningScript,
        task: &str,
        control: TaskControl<'_>,
    ) -> Result<Outcome, TaskError> {
        let TaskControl { limits, stop, sink } = control;
        let (mut stdout, mut stderr) = (CapturedOutput::default(), CapturedOutput::default());
        let output_end = running_script.end(limits.drain, |stream, bytes| {
            sink.write(stream, bytes);
            match stream {
                Stream::Stdout => stdout.keep(bytes, limits.stdout),
                Stream::Stderr => stderr.keep(bytes, limits.stderr),
            }
        });
        let mut output_end = Box::pin(output_end);
        let until = async {
            match limits
                .time
                .and_then(|time| Instant::now().checked_add(time))
            {
                Some(until) => timeout_at(until, &mut output_end).await,
                None => Ok((&mut output_end).await),
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
                let mut stopped = Box::pin(self.stop(task, limit, control));
                Err(tokio::select! {
                    stopped = &mut stopped => stopped,
                    _ = &mut output_end => stopped.await,
                })
            }
        };
        drop(output_end);
        let outputs = TaskOutputs::new(stdout, stderr);
        match ended {
            Ok(Ok(exit)) => {
                self.mark_ended();
                let [stdout, stderr] = outputs.into_outputs();
                Ok(Outcome {
                    exit: convert_exit(exit),
                    stdout,
                    stderr,
                })
            }
            Ok(Err(error)) => Err(self.host.connection_lost(task, &error, outputs)),
            Err(stopped) => Err(stopped(outputs)),
        }
    }

    /// Ends the task because its time is over or the run is cancelled. The caller adds the task's output to the error.
    pub(super) async fn stop(
        &self,
        task: &str,
        limit: Option<Duration>,
        control: TaskControl<'_>,
    ) -> impl FnOnce(TaskOutputs) -> TaskError + use<> {
        let grace = if control.stop.stage() == Stage::Kill {
            Duration::ZERO
        } else {
            GRACE
        };
        let end = async |grace| self.host.end(self.mark, self.group, grace).await;
        let request = end(grace);
        tokio::pin!(request);
        let left = tokio::select! {
            left = &mut request => left,
            () = control.stop.reaches(Stage::Kill), if !grace.is_zero() => end(Duration::ZERO).await,
        };
        let left = match left {
            Ok(left) if left.is_empty() => {
                self.mark_ended();
                None
            }
            Ok(left) => Some(format!("there are still {left}")),
            Err(why) => Some(format!("the host could not be asked: {why}")),
        };
        let (task, host) = (task.to_owned(), self.host.host_context.name().to_owned());
        let stopped = control.stop.message_for_part();
        move |outputs| match (left, limit) {
            (Some(left), limit) => TaskError::Left {
                task,
                stopped,
                limit,
                host,
                left,
                outputs: Box::new(outputs),
            },
            (None, Some(limit)) => TaskError::TimedOut {
                task,
                limit,
                outputs,
            },
            (None, None) => TaskError::Stopped {
                task,
                stopped,
                outputs,
            },
        }
    }
}
