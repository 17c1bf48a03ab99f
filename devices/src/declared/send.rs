//! Sends changes to a command line: all in one visit to configuration mode, as long as nothing is
//! refused.

use devgate_schemas::{Name, TypeSchema};
use devgate_transports::error::{ConfigurationProblem, RefusedLine};
use devgate_transports::{self as transports, Context};

use super::cli::{Cli, session};
use crate::line::Line;
use crate::{Change, Result};

/// A change that is ready to be sent.
struct Ready {
    name: Name,
    what: What,
    lines: Vec<Line>,
}

/// What a change does to its resource.
#[derive(Clone, Copy)]
enum What {
    Create,
    Update,
    Delete,
}

/// The lines of several changes as they are typed, with what leaves modes in between.
struct Batch {
    lines: Vec<transports::Line>,
    /// For each line, the index of the change that it belongs to.
    owners: Vec<usize>,
}

impl Cli {
    /// Makes changes. A resource whose lines are refused has failed, and the others go on; nothing
    /// is sent twice.
    ///
    /// # Errors
    /// The loss of the session; what is not told as done has then failed, or is in doubt.
    pub(super) async fn set(
        &self,
        ctx: &Context<'_>,
        schema: &TypeSchema,
        changes: Vec<(Name, Change)>,
    ) -> Result<()> {
        let mut ready = Vec::new();
        for (name, change) in changes {
            match self.lines(schema, &name, &change) {
                Ok(lines) => ready.push(Ready {
                    name,
                    what: What::of(&change),
                    lines,
                }),
                Err(error) => ctx.failed(name.title(), error.to_string()),
            }
        }
        if ctx.noop() {
            return Ok(());
        }
        let session = session(ctx)?;
        let mut rest = ready.as_slice();
        while !rest.is_empty() {
            let batch = Batch::of(rest);
            let outcome = session.configure(ctx, &batch.lines).await;
            let done = match &outcome {
                Ok(()) => rest.len(),
                Err(error) => batch.done_before(error),
            };
            for change in &rest[..done] {
                change.what.tell(ctx, change.name.title());
            }
            match outcome {
                Ok(()) => break,
                Err(error) => {
                    let Some((problem, line)) = refused(&error) else {
                        return Err(error.into());
                    };
                    let failed = &rest[done];
                    ctx.failed(failed.name.title(), refusal(problem, line, &failed.lines));
                    rest = &rest[done + 1..];
                }
            }
        }
        Ok(())
    }
}

impl Batch {
    fn of(changes: &[Ready]) -> Self {
        let (mut lines, mut owners) = (Vec::new(), Vec::new());
        let mut last: Option<&Line> = None;
        for (owner, change) in changes.iter().enumerate() {
            for line in &change.lines {
                let leave = last.map(|last| last.leaving_for(line));
                lines.extend(leave.into_iter().flatten());
                lines.push(line.typed());
                owners.resize(lines.len(), owner);
                last = Some(line);
            }
        }
        Self { lines, owners }
    }

    /// How many changes were made in full before the one that is refused or in doubt: that of the
    /// last line that was sent.
    fn done_before(&self, error: &transports::Error) -> usize {
        let transports::Error::Configuration(problem) = error else {
            return 0;
        };
        let last = problem.sent.checked_sub(1);
        last.and_then(|last| self.owners.get(last))
            .copied()
            .unwrap_or(0)
    }
}

/// The line that the device refused and what it said, if that is all that happened.
fn refused(error: &transports::Error) -> Option<(&ConfigurationProblem, &RefusedLine)> {
    match error {
        transports::Error::Configuration(problem) if problem.interrupted.is_none() => {
            problem.refused.as_ref().map(|line| (&**problem, line))
        }
        _ => None,
    }
}

/// What a refusal means for the resource with these lines.
fn refusal(problem: &ConfigurationProblem, refused: &RefusedLine, lines: &[Line]) -> String {
    let said: Vec<&str> = refused
        .said
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let before = lines
        .iter()
        .take_while(|line| line.typed().shown() != refused.line)
        .count();
    let stands = match (before, lines.len()) {
        (_, 1) => String::new(),
        (0, _) => "; its other lines were not sent".to_owned(),
        (before, all) => format!("; {before} of its {all} lines stand, those after were not sent"),
    };
    format!(
        "{} refuses `{}`: {}{stands}",
        problem.peer,
        refused.line,
        said.join(" / ")
    )
}

impl What {
    fn of(change: &Change) -> Self {
        match (&change.should, change.is.resource()) {
            (None, _) => Self::Delete,
            (Some(should), _) if !should.is_present() => Self::Delete,
            (Some(_), Some(is)) if is.is_present() => Self::Update,
            (Some(_), _) => Self::Create,
        }
    }

    fn tell(self, ctx: &Context<'_>, title: &str) {
        match self {
            Self::Create => ctx.created(title),
            Self::Update => ctx.updated(title),
            Self::Delete => ctx.deleted(title),
        }
    }
}
