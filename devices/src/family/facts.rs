//! The facts of a family: sources of rows, and the facts in each row.

use devgate_schemas::{Facts, Value};
use devgate_transports::Context;

use crate::file_node::{FileNode, Problems, WithLocation};
use crate::source::{Answers, ProtocolKind, RecordedAnswer, Row, Source, Unanswered};
use crate::template::{Escape, Expression, Scope, Template};
use crate::{Error, Result};

/// The sources of a family's facts.
#[derive(Debug, Default)]
pub(crate) struct FactSources(Vec<FactSource>);

/// A source of rows, and the facts in each.
#[derive(Debug)]
struct FactSource {
    source: Source,
    facts: Vec<Fact>,
}

/// A fact: its path, and its value.
#[derive(Debug)]
struct Fact {
    /// The parts of `networking.interfaces.{{ NAME }}.mtu`; a name may have dots of its own.
    path: Vec<Part>,
    value: WithLocation<Expression>,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Template(Box<WithLocation<Template>>),
}

/// Facter's legacy flat facts, and the structured facts that they equal.
const FLAT: [(&str, &str); 14] = [
    ("operatingsystem", "os.name"),
    ("operatingsystemrelease", "os.release.full"),
    ("operatingsystemmajrelease", "os.release.major"),
    ("osfamily", "os.family"),
    ("hardwaremodel", "dmi.product.name"),
    ("manufacturer", "dmi.manufacturer"),
    ("serialnumber", "dmi.product.serial_number"),
    ("hostname", "networking.hostname"),
    ("domain", "networking.domain"),
    ("fqdn", "networking.fqdn"),
    ("ipaddress", "networking.ip"),
    ("macaddress", "networking.mac"),
    ("uptime", "system_uptime.uptime"),
    ("uptime_seconds", "system_uptime.seconds"),
];

impl FactSources {
    /// Reads the `facts` of a family's file.
    pub(super) fn read(
        file_node: &FileNode<'_>,
        protocol_kind: ProtocolKind,
        read: &dyn Fn(&str) -> Result<String>,
        problems: &mut Problems,
    ) -> Self {
        let sources = file_node.items();
        let sources = sources.iter();
        Self(
            sources
                .filter_map(|file_node| FactSource::read(file_node, protocol_kind, read, problems))
                .collect(),
        )
    }

    /// The commands or queries whose answers are read.
    pub(super) fn commands(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|source| source.source.queries())
    }

    /// The sources of rows.
    pub(super) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.0.iter().map(|fact_source| &fact_source.source)
    }

    /// Collects the facts of the device behind `ctx`. Facts that cannot be read are left out, with a warning.
    ///
    /// # Errors
    /// Fails when the session was lost before anything was read, or is of another kind.
    pub(super) async fn collect(
        &self,
        ctx: &Context<'_>,
        facts: &mut Facts,
    ) -> devgate_transports::Result<()> {
        let mut answers = Answers::default();
        let mut lost = Source::prefetch(ctx, self.sources(), &mut answers).await;
        for (number, source) in self.0.iter().enumerate() {
            let fetched = match source.source.is_answered(&answers) {
                false if lost.is_err() => std::mem::replace(&mut lost, Ok(())),
                _ => source.source.fetch(ctx, &|_| true, &mut answers).await,
            };
            let Err(error) = fetched else {
                source.add_facts(&answers, facts, &mut |problem| ctx.warning(problem));
                continue;
            };
            // After a refusal the next query may work; after a lost session it cannot.
            let is_refused = match &error {
                Error::Transport(error) => is_refusal(error),
                _ => true,
            };
            if !is_refused && number == 0 {
                return Err(into_transport(error));
            }
            ctx.warning(format!("facts of {} are omitted: {error}", source.label()));
            if !is_refused {
                break;
            }
        }
        add_flat(facts);
        Ok(())
    }

    /// Queries the device for everything that the facts are made of.
    ///
    /// # Errors
    /// Fails when the session is lost, and when answers do not match.
    pub(super) async fn record(
        &self,
        ctx: &Context<'_>,
        answers: &mut Answers,
        recorded: &mut Vec<RecordedAnswer>,
    ) -> Result<()> {
        for source in &self.0 {
            source.source.record(ctx, answers, recorded).await?;
        }
        Ok(())
    }

    /// The facts in these answers.
    pub(super) fn of_outputs<'o>(
        &self,
        output: impl Fn(&str) -> Option<&'o str>,
        mut report: impl FnMut(String),
    ) -> Facts {
        let mut facts = Facts::new();
        for source in &self.0 {
            let is_known = |query: &str| output(query).is_some();
            if let Some(query) = source.source.missing(&is_known) {
                report(format!("there is no output of `{query}`"));
                continue;
            }
            let mut answers = Answers::default();
            match source.source.replay(&mut answers, &output) {
                Ok(()) => source.add_facts(&answers, &mut facts, &mut report),
                Err(error) => report(format!("facts of {} are omitted: {error}", source.label())),
            }
        }
        add_flat(&mut facts);
        facts
    }

    /// The commands or queries that a recording still lacks.
    pub(super) fn unanswered<'o>(
        &self,
        known: impl Fn(&str) -> Option<&'o str> + Copy,
    ) -> impl Iterator<Item = Unanswered> {
        let sources = self.0.iter();
        sources.flat_map(move |source| source.source.unanswered(known))
    }

    /// Compiles the TextFSM templates.
    pub(super) fn check(&self) -> Result<()> {
        self.0.iter().try_for_each(|source| source.source.check())
    }
}

impl FactSource {
    fn read(
        top: &FileNode<'_>,
        protocol_kind: ProtocolKind,
        read: &dyn Fn(&str) -> Result<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let source = Source::read(top, protocol_kind, &["facts"], read, problems);
        let facts_node = top.required("facts", problems);
        let source = source?;
        let names = source.names();
        let mut facts = Vec::new();
        for (path, file_node) in facts_node?.pairs(problems) {
            let value = file_node.expression(&names, problems);
            let path = parts(path, &file_node, &names, problems);
            facts.extend(value.zip(path).map(|(value, path)| Fact { path, value }));
        }
        Some(Self { source, facts })
    }

    /// The queries, for messages.
    fn label(&self) -> String {
        let queries = self.source.queries();
        format!("`{}`", queries.join("`, `"))
    }

    /// Adds the facts in the answers, and reports those that are omitted.
    fn add_facts(&self, answers: &Answers, facts: &mut Facts, report: &mut dyn FnMut(String)) {
        let label = self.label();
        let rows = match self.source.rows(answers, &|_| true) {
            Ok(rows) => rows,
            Err(error) => return report(format!("facts of {label} are omitted: {error}")),
        };
        if rows.is_empty() && self.source.expects_rows() {
            report(format!("the output of {label} contains no facts"));
        }
        for row in rows {
            let scope = Scope::of_row(row.values());
            for fact in &self.facts {
                match fact.value(&scope) {
                    Ok(Some((path, value))) => facts.set_at(path.iter().map(String::as_str), value),
                    Ok(None) => {}
                    Err(error) => {
                        let location = self.location(fact, &row, answers);
                        report(format!("a fact of {label}{location} is omitted: {error}"));
                    }
                }
            }
        }
    }

    fn location(&self, fact: &Fact, row: &Row, answers: &Answers) -> String {
        let names = fact.value.value.names();
        row.location(answers, names.first().map_or("", String::as_str))
    }
}

impl Fact {
    /// The fact's path and value; `None` for an empty text.
    fn value(&self, scope: &Scope) -> Result<Option<(Vec<String>, Value)>> {
        let failed = |error| Error::Data(self.value.problem(&error));
        let value = self.value.value.evaluate(scope).map_err(failed)?;
        if value.is_undef() || value.as_str() == Some("") {
            return Ok(None);
        }
        let path = self.path.iter().map(|part| match part {
            Part::Text(text) => Ok(text.clone()),
            Part::Template(template) => {
                let text = template.value.render(scope);
                text.map_err(|error| Error::Data(template.problem(&error)))
            }
        });
        Ok(Some((path.collect::<Result<_>>()?, value)))
    }
}

/// The parts of a fact's path, separated by dots outside `{{ }}`.
fn parts(
    path: &str,
    file_node: &FileNode<'_>,
    names: &[&str],
    problems: &mut Problems,
) -> Option<Vec<Part>> {
    let mut texts = vec![String::new()];
    let mut in_braces = false;
    for character in path.chars() {
        match character {
            '{' => in_braces = true,
            '}' => in_braces = false,
            _ => {}
        }
        if character == '.' && !in_braces {
            texts.push(String::new());
        } else if let Some(text) = texts.last_mut() {
            text.push(character);
        }
    }
    let part = |text: String| {
        if text.contains("{{") {
            file_node
                .escaping_template(&text, names, Escape::None, problems)
                .map(|template| Part::Template(Box::new(template)))
        } else {
            Some(Part::Text(text))
        }
    };
    texts.into_iter().map(part).collect()
}

/// Adds the legacy flat facts.
fn add_flat(facts: &mut Facts) {
    for (flat, path) in FLAT {
        if let Some(value) = facts.get(path).cloned() {
            facts.set(flat, value);
        }
    }
}

/// Whether an error means that the device refused the query.
fn is_refusal(error: &devgate_transports::Error) -> bool {
    matches!(
        error,
        devgate_transports::Error::CommandFailed { .. } | devgate_transports::Error::Refused(_)
    )
}

fn into_transport(error: Error) -> devgate_transports::Error {
    match error {
        Error::Transport(error) => error,
        other => devgate_transports::Error::Unsupported(other.to_string()),
    }
}
