//! The facts of a family: sources of rows, and the facts in each row.

use devgate_schemas::{Facts, Value};
use devgate_transports::Context;

use crate::file_node::{FileNode, Problems, WithLocation};
use crate::source::{Answers, ProtocolKind, Row, Source};
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
    Word(String),
    Made(Box<WithLocation<Template>>),
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
        self.0.iter().flat_map(|source| source.source.questions())
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
        for (number, source) in self.0.iter().enumerate() {
            let mut answers = Answers::default();
            let Err(error) = source.source.ask(ctx, &|_| true, &mut answers).await else {
                source.tell(&answers, facts, &mut |problem| ctx.warning(problem));
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
            ctx.warning(format!("facts of {} are omitted: {error}", source.named()));
            if !is_refused {
                break;
            }
        }
        add_flat(facts);
        Ok(())
    }

    /// The facts in these answers.
    pub(super) fn of_outputs<'o>(
        &self,
        output: impl Fn(&str) -> Option<&'o str>,
        mut tell: impl FnMut(String),
    ) -> Facts {
        let mut facts = Facts::new();
        for source in &self.0 {
            let mut missing = source.source.questions();
            missing.retain(|question| !question.contains("{{") && output(question).is_none());
            if let Some(question) = missing.first() {
                tell(format!("there is no output of `{question}`"));
                continue;
            }
            let mut answers = Answers::default();
            match source.source.replay(&mut answers, &output) {
                Ok(()) => source.tell(&answers, &mut facts, &mut tell),
                Err(error) => tell(format!("facts of {} are omitted: {error}", source.named())),
            }
        }
        add_flat(&mut facts);
        facts
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
        let source = Source::read(top, protocol_kind, "facts", read, problems);
        let told = top.required("facts", problems);
        let source = source?;
        let names = source.names();
        let mut facts = Vec::new();
        for (path, file_node) in told?.pairs(problems) {
            let value = file_node.expression(&names, problems);
            let path = parts(path, &file_node, &names, problems);
            facts.extend(value.zip(path).map(|(value, path)| Fact { path, value }));
        }
        Some(Self { source, facts })
    }

    /// The queries, for messages.
    fn named(&self) -> String {
        let questions = self.source.questions();
        format!("`{}`", questions.join("`, `"))
    }

    /// Adds the facts in the answers.
    fn tell(&self, answers: &Answers, facts: &mut Facts, tell: &mut dyn FnMut(String)) {
        let named = self.named();
        let rows = match self.source.rows(answers, &|_| true) {
            Ok(rows) => rows,
            Err(error) => return tell(format!("facts of {named} are omitted: {error}")),
        };
        if rows.is_empty() && self.source.is_output() {
            tell(format!("the output of {named} contains no facts"));
        }
        for row in rows {
            let scope = Scope::of_row(row.values());
            for fact in &self.facts {
                match fact.value(&scope) {
                    Ok(Some((path, value))) => facts.set_at(path.iter().map(String::as_str), value),
                    Ok(None) => {}
                    Err(error) => {
                        let location = self.location(fact, &row, answers);
                        tell(format!("a fact of {named}{location} is omitted: {error}"));
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
        let value = self.value.value.value(scope).map_err(failed)?;
        if value.is_undef() || value.as_str() == Some("") {
            return Ok(None);
        }
        let path = self.path.iter().map(|part| match part {
            Part::Word(word) => Ok(word.clone()),
            Part::Made(template) => {
                let text = template.value.text(scope);
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
    let mut words = vec![String::new()];
    let mut inside = false;
    for character in path.chars() {
        match character {
            '{' => inside = true,
            '}' => inside = false,
            _ => {}
        }
        if character == '.' && !inside {
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.push(character);
        }
    }
    let part = |word: String| {
        if word.contains("{{") {
            file_node
                .escaping_template(&word, names, Escape::None, problems)
                .map(|template| Part::Made(Box::new(template)))
        } else {
            Some(Part::Word(word))
        }
    };
    words.into_iter().map(part).collect()
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
