//! The form for command lines: `show` commands to read, configuration lines to write.

use devgate_schemas::{Name, Resource, TypeSchema};
use devgate_transports::{CommandLine, Context};

use super::rows;
use crate::error::{Place, Problem};
use crate::family::Placed;
use crate::line::Line;
use crate::template::{Expression, Scope, Secrets, Template};
use crate::textfsm::{self, TextFsm};
use crate::{Change, Error, Result};

/// How a type is read and written on a command line.
#[derive(Debug)]
pub(crate) struct Cli {
    pub(super) get: Vec<Get>,
    pub(super) create: Placed<Template>,
    /// As `create`, where a new line replaces its predecessor.
    pub(super) update: Option<Placed<Template>>,
    /// What cannot be removed has none.
    pub(super) delete: Option<Placed<Template>>,
}

/// A command and what its output says.
#[derive(Debug)]
pub(super) struct Get {
    pub(super) command: String,
    pub(super) output: PlacedFsm,
    pub(super) resource: Vec<(String, Placed<Expression>)>,
}

/// A TextFSM template, and where it is written.
#[derive(Debug)]
pub(crate) struct PlacedFsm {
    pub(crate) fsm: TextFsm,
    /// Where its first line is.
    pub(crate) place: Place,
}

impl Cli {
    /// The commands whose output is read.
    pub(super) fn commands(&self) -> impl Iterator<Item = &str> {
        self.get.iter().map(|get| get.command.as_str())
    }

    /// The outputs of the commands, each asked once.
    pub(super) async fn outputs(&self, ctx: &Context<'_>) -> Result<Vec<String>> {
        let session = session(ctx)?;
        let mut outputs = Vec::new();
        for command in self.commands() {
            outputs.push(ask(ctx, session, command).await?);
        }
        Ok(outputs)
    }

    /// The resources that the outputs speak of, one for each row.
    pub(super) fn rows(&self, schema: &TypeSchema, outputs: &[String]) -> Result<Vec<Resource>> {
        let mut resources = Vec::new();
        for (get, output) in self.get.iter().zip(outputs) {
            for row in get.output.rows(&get.command, output)? {
                let made = rows::resource(schema, &get.resource, &row, &get.command, output);
                resources.push(made?);
            }
        }
        Ok(resources)
    }

    /// Compiles the TextFSM templates.
    pub(super) fn check(&self) -> Result<()> {
        self.get.iter().try_for_each(|get| get.output.check())
    }

    /// The lines that make a change. Nothing is sent.
    pub(super) fn lines(
        &self,
        schema: &TypeSchema,
        name: &Name,
        change: &Change,
    ) -> Result<Vec<Line>> {
        let is = change.is.resource().filter(|is| is.is_present());
        let should = change.should.as_ref().filter(|should| should.is_present());
        let template = match (is, should) {
            (Some(_), Some(_)) => self.update.as_ref().unwrap_or(&self.create),
            (None, Some(_)) => &self.create,
            (_, None) => self.delete.as_ref().ok_or_else(|| {
                Error::Unsupported(format!(
                    "`{}` cannot be removed, only changed",
                    schema.name()
                ))
            })?,
        };
        let named: Resource;
        let (is, should) = match (is, should) {
            // What is removed unseen has nothing but its name.
            (None, None) => {
                named = Resource::from(name.namevars().clone());
                (Some(&named), None)
            }
            other => other,
        };
        let mut secrets = Secrets::default();
        let scope = Scope::of_change(schema, is, should, &mut secrets);
        let scope = scope.map_err(|(attribute, character)| Error::Untypable {
            title: format!("{}[{name}]", schema.name()),
            attribute,
            character,
        })?;
        let failed = |error| Error::Data(template.problem(&error));
        let text = template.value.text(&scope).map_err(failed)?;
        Line::all(&text, &secrets).map_err(|line| {
            let message = format!("line {line} of what it makes is indented like no line above it");
            Error::Data(template.place.problem(message))
        })
    }
}

impl PlacedFsm {
    /// The rows of a command's output.
    pub(crate) fn rows(&self, command: &str, output: &str) -> Result<Vec<textfsm::Row>> {
        self.fsm.rows(output).map_err(|error| match error {
            textfsm::Error::Template { line, message } => Error::Data(self.problem(line, message)),
            textfsm::Error::Output { line, message } => Error::Output {
                command: command.to_owned(),
                line,
                column: 1,
                message,
            },
        })
    }

    /// Compiles the template.
    pub(crate) fn check(&self) -> Result<()> {
        match self.fsm.check() {
            Err(textfsm::Error::Template { line, message }) => {
                Err(Error::Data(self.problem(line, message)))
            }
            Err(textfsm::Error::Output { .. }) | Ok(()) => Ok(()),
        }
    }

    fn problem(&self, line: Option<usize>, message: String) -> Problem {
        self.place.line_of_text(line.unwrap_or(1)).problem(message)
    }
}

/// The output of a command that only reads.
///
/// # Errors
/// As [`CommandLine::exec`].
pub(crate) async fn ask(
    ctx: &Context<'_>,
    session: &dyn CommandLine,
    command: &str,
) -> devgate_transports::Result<String> {
    ctx.debug(format!("asks for `{command}`"));
    session.exec(ctx, command).await
}

/// The command line of the open session, if it is at one.
pub(crate) fn session<'a>(ctx: &Context<'a>) -> Result<&'a dyn CommandLine> {
    ctx.command_line().ok_or_else(|| {
        Error::Unsupported("the open session is not one at a command line".to_owned())
    })
}
