//! The form for command lines: configuration lines, typed in one configuration session unless one is refused.

use std::sync::Arc;

use devgate_schemas::{Name, Resource, TypeSchema, Value};
use devgate_transports::{Context, Dialect, Error as TransportError};

use super::crud::{ChangeKind, ChangeScope, Crud, change_names};
use super::line_templates::LineTemplates;
use super::on_device::TypeOnDevice;
use crate::command_line::session;
use crate::file_node::{FileNode, Problems};
use crate::keys::{MAX_WINDOW, MIN_WINDOW};
use crate::line::{self, Line, LineProblem, Transaction, Typing};
use crate::template::Medium;
use crate::{Change, Error, Result};

/// The lines that change a resource.
#[derive(Debug)]
pub(super) struct Cli {
    crud: Crud<LineTemplates>,
    /// The attributes whose values may have several lines.
    texts: Vec<String>,
    /// The number of lines that may be sent before the first of them is answered.
    window: usize,
    transaction: Option<Transaction>,
    dialect: Option<Arc<Dialect>>,
}

impl Cli {
    /// Its keys beside those of every form.
    pub(super) const KEYS: [&str; 5] = ["texts", "mode", "lines", "window", "transaction"];

    pub(super) fn read(
        top: &FileNode<'_>,
        schema: &TypeSchema,
        dialect: Option<Arc<Dialect>>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let crud = match top.get("lines") {
            None => {
                if let Some(mode) = top.get("mode") {
                    problems.push(mode.problem("`mode` belongs to `lines`, which is missing"));
                }
                Crud::read(top, schema, problems, LineTemplates::read)
            }
            Some(lines) => {
                if let Some(create) = top.get("create") {
                    problems.push(create.problem("`create` and `lines` exclude each other"));
                }
                let (mode, names) = (top.get("mode"), change_names(schema));
                let (mode, dialect) = (mode.as_ref(), dialect.as_deref());
                let lines =
                    LineTemplates::read_short(&lines, mode, schema, dialect, &names, problems);
                let lines = lines.map(Some);
                Crud::with_create(lines, top, schema, problems, LineTemplates::read)
            }
        };
        let texts = top.get("texts");
        if let Some(texts) = &texts
            && dialect
                .as_ref()
                .is_none_or(|dialect| dialect.text.is_empty())
        {
            let message = "the family's dialect has no `text`: expected the lines that open a \
                           text of several lines, and what ends it";
            problems.push(texts.problem(message));
        }
        let mut names = Vec::new();
        for file_node in texts.iter().flat_map(FileNode::items) {
            if let Some(name) = file_node.text(problems)
                && file_node.is_attribute(schema, name, problems)
            {
                names.push(name.to_owned());
            }
        }
        let window = top.get("window").map_or(Some(1), |file_node| {
            let number = file_node.integer(MIN_WINDOW..=MAX_WINDOW, problems)?;
            usize::try_from(number).ok()
        });
        let transaction = top.optional("transaction", |file_node| {
            file_node.only(&["begin", "end"], problems);
            let begin = file_node.required_text("begin", problems)?.to_owned();
            let end = file_node.required_text("end", problems)?.to_owned();
            Some(Transaction { begin, end })
        });
        Some(Self {
            crud: crud?,
            texts: names,
            window: window?,
            transaction: transaction?,
            dialect,
        })
    }

    fn typing(&self) -> Typing<'_> {
        Typing {
            mode_exit: line::mode_exit(self.dialect.as_deref()),
            window: self.window,
            transaction: self.transaction.as_ref(),
        }
    }

    /// How the values of an attribute are written.
    pub(super) fn medium(&self, attribute: &str) -> Medium {
        let dialect = self.dialect.as_ref();
        match dialect.and_then(|dialect| dialect.literal) {
            _ if self.texts.iter().any(|text| text == attribute) => Medium::Text,
            Some(_) => Medium::LiteralCommandLine,
            None => Medium::CommandLine,
        }
    }

    /// The lines for a change. Nothing is sent.
    pub(super) fn lines(
        &self,
        kind: &TypeOnDevice<'_>,
        name: &Name,
        change: &Change,
    ) -> Result<Vec<Line>> {
        let templates = self.crud.for_change(kind, change)?;
        let medium = |attribute: &str| self.medium(attribute);
        let values = ChangeScope::of(kind, name, change, medium)?;
        let text = templates.render(kind, &values.scope)?;
        let lines = Line::all(&text, &values.secrets, self.dialect.as_deref());
        lines.map_err(|problem| {
            let title = || format!("{}[{name}]", kind.name());
            self.blamed(&problem, change, title)
                .unwrap_or_else(|| templates.error(problem.to_string()))
        })
    }

    /// The error in a desired value that makes no line, if it is a value's.
    fn blamed(
        &self,
        problem: &LineProblem,
        change: &Change,
        title: impl Fn() -> String,
    ) -> Option<Error> {
        let should = change.should.as_ref()?;
        let held = |is_wrong: &dyn Fn(&str) -> bool| {
            let text = |name: &String| should.get(name).and_then(Value::as_str);
            let mut texts = self.texts.iter();
            texts.find(|name| text(name).is_some_and(is_wrong)).cloned()
        };
        match problem {
            LineProblem::EndWithin(_, end) => Some(Error::TextEnd {
                title: title(),
                attribute: held(&|text| text.lines().any(|line| end.is_in(line)))?,
                end: end.as_str().to_owned(),
            }),
            LineProblem::QuestionMark(_) => Some(Error::Unwritable {
                title: title(),
                attribute: held(&|text| text.contains('?'))?,
                character: '?',
                medium: Medium::Text.name(),
            }),
            LineProblem::Indentation(_) | LineProblem::NoText(_) => None,
        }
    }

    /// Whether an update is independent of the current state.
    pub(super) fn is_stateless(&self, schema: &TypeSchema, should: &Resource) -> bool {
        self.crud.is_stateless(schema, should)
    }

    /// Whether the lines depend on the device's facts.
    pub(super) fn uses_facts(&self) -> bool {
        self.crud.uses_facts()
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
        kind: &TypeOnDevice<'_>,
        changes: Vec<(Name, Change)>,
    ) -> Result<()> {
        let (mut prepared, mut lines) = (Vec::new(), Vec::new());
        for (name, change) in changes {
            match self.lines(kind, &name, &change) {
                Ok(rendered) => {
                    prepared.push((ChangeKind::of(&change), name));
                    lines.push(rendered);
                }
                Err(error) => ctx.failed(name.title(), error.to_string()),
            }
        }
        if ctx.noop() {
            return self.preview(ctx, &prepared, &lines).await;
        }
        line::send(ctx, session(ctx)?, &lines, self.typing(), |at, outcome| {
            let (kind, name) = &prepared[at];
            match outcome {
                Ok(()) => kind.report(ctx, name.title()),
                Err(message) => ctx.failed(name.title(), message),
            }
        })
        .await
    }

    /// Whether the device can tell what lines would change.
    pub(super) fn previews(&self) -> bool {
        self.dialect.as_deref().is_some_and(Dialect::previews)
    }

    /// Shows what the device says that changes would change. A resource whose lines are refused fails.
    ///
    /// # Errors
    /// Fails when the session was lost. It is only a warning if the candidate cannot be used.
    async fn preview(
        &self,
        ctx: &Context<'_>,
        prepared: &[(ChangeKind, Name)],
        lines: &[Vec<Line>],
    ) -> Result<()> {
        if !self.previews() {
            return Ok(());
        }
        let shown = line::preview(ctx, session(ctx)?, lines, self.typing(), |at, outcome| {
            if let Err(message) = outcome {
                ctx.failed(prepared[at].1.title(), message);
            }
        });
        match shown.await {
            Ok(shown) => shown.iter().for_each(|diff| ctx.preview(diff)),
            Err(Error::Transport(TransportError::Configuration(problem)))
                if problem.is_candidate_unavailable() =>
            {
                ctx.warning(format!("the device's own diff cannot be shown: {problem}"));
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }
}
