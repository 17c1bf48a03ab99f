//! The form for command lines: configuration lines, typed in one configuration session unless one is refused.

use devgate_schemas::{Name, Resource, TypeSchema};
use devgate_transports::Context;

use super::crud::{ChangeKind, ChangeScope, Crud};
use crate::command_line::session;
use crate::commit_check::check_lines;
use crate::file_node::{FileNode, Problems, WithLocation};
use crate::line::{self, Line};
use crate::template::{Medium, Template};
use crate::{Change, Error, Result};

/// The lines that change a resource.
#[derive(Debug)]
pub(super) struct Cli(Crud<WithLocation<Template>>);

impl Cli {
    pub(super) fn read(
        top: &FileNode<'_>,
        schema: &TypeSchema,
        problems: &mut Problems,
    ) -> Option<Self> {
        Crud::read(top, schema, problems, |file_node, names, problems| {
            check_lines(file_node, problems);
            file_node.template(names, problems)
        })
        .map(Self)
    }

    /// The lines for a change. Nothing is sent.
    pub(super) fn lines(
        &self,
        schema: &TypeSchema,
        name: &Name,
        change: &Change,
    ) -> Result<Vec<Line>> {
        let template = self.0.for_change(schema, change)?;
        let values = ChangeScope::of(schema, name, change, Medium::CommandLine)?;
        let failed = |error| template.failure(schema, error);
        let text = template.value.render(&values.scope).map_err(failed)?;
        Line::all(&text, &values.secrets).map_err(|line| {
            let message = format!("line {line} of what it makes is indented like no line above it");
            Error::Data(template.location.problem(message))
        })
    }

    /// Whether an update is independent of the current state.
    pub(super) fn is_stateless(&self, schema: &TypeSchema, should: &Resource) -> bool {
        self.0.is_stateless(schema, should)
    }

    /// Applies changes. A resource whose lines are refused fails; the others continue. Nothing is sent
    /// twice.
    ///
    /// # Errors
    /// Fails when the session was lost. Every change that was not reported as done has failed, or is in
    /// doubt.
    pub(super) async fn set(
        &self,
        ctx: &Context<'_>,
        schema: &TypeSchema,
        changes: Vec<(Name, Change)>,
    ) -> Result<()> {
        let (mut prepared, mut lines) = (Vec::new(), Vec::new());
        for (name, change) in changes {
            match self.lines(schema, &name, &change) {
                Ok(rendered) => {
                    prepared.push((ChangeKind::of(&change), name));
                    lines.push(rendered);
                }
                Err(error) => ctx.failed(name.title(), error.to_string()),
            }
        }
        if ctx.noop() {
            return Ok(());
        }
        line::send(ctx, session(ctx)?, &lines, |at, outcome| {
            let (kind, name) = &prepared[at];
            match outcome {
                Ok(()) => kind.report(ctx, name.title()),
                Err(message) => ctx.failed(name.title(), message),
            }
        })
        .await
    }
}
