//! The facts of a family: commands, and what their outputs tell.

use devgate_schemas::{Facts, Value};
use devgate_transports::Context;

use super::spot::{Placed, Problems, Spot};
use crate::declared::{PlacedFsm, ask, session};
use crate::template::{Expression, Scope, Template};
use crate::textfsm::Row;
use crate::{Error, Result};

/// Where a family's facts come from.
#[derive(Debug, Default)]
pub(crate) struct FactSources(Vec<FactSource>);

/// A command, and the facts in its output.
#[derive(Debug)]
struct FactSource {
    command: String,
    output: PlacedFsm,
    facts: Vec<Fact>,
}

/// A fact: its path, and its value.
#[derive(Debug)]
struct Fact {
    /// The parts of `networking.interfaces.{{ NAME }}.mtu`; a name may have dots of its own.
    path: Vec<Part>,
    value: Placed<Expression>,
}

#[derive(Debug)]
enum Part {
    Word(String),
    Made(Box<Placed<Template>>),
}

/// The flat facts of old, and the structured ones that they are.
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
        spot: Option<&Spot<'_>>,
        read: &dyn Fn(&str) -> Result<String>,
        problems: &mut Problems,
    ) -> Self {
        let sources = spot.into_iter().flat_map(Spot::items);
        Self(
            sources
                .filter_map(|spot| FactSource::read(&spot, read, problems))
                .collect(),
        )
    }

    /// The commands whose outputs are read.
    pub(super) fn commands(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|source| source.command.as_str())
    }

    /// Adds what the device behind `ctx` tells; what cannot be read is absent, and told.
    ///
    /// # Errors
    /// That the session is lost before anything was read, or is none at a command line.
    pub(super) async fn collect(
        &self,
        ctx: &Context<'_>,
        facts: &mut Facts,
    ) -> devgate_transports::Result<()> {
        if self.0.is_empty() {
            // The protocol's own facts need no command line.
            add_flat(facts);
            return Ok(());
        }
        let session = session(ctx).map_err(into_transport)?;
        for (number, source) in self.0.iter().enumerate() {
            match ask(ctx, session, &source.command).await {
                Ok(output) => source.tell(&output, facts, &mut |problem| ctx.warning(problem)),
                Err(error) => {
                    // What the device refuses says nothing of the next command; what was lost does.
                    let refused = matches!(error, devgate_transports::Error::CommandFailed { .. });
                    if !refused && number == 0 {
                        return Err(error);
                    }
                    ctx.warning(format!(
                        "facts of `{}` are left out: {error}",
                        source.command
                    ));
                    if !refused {
                        break;
                    }
                }
            }
        }
        add_flat(facts);
        Ok(())
    }

    /// The facts in these outputs.
    pub(super) fn of_outputs<'o>(
        &self,
        output: impl Fn(&str) -> Option<&'o str>,
        mut tell: impl FnMut(String),
    ) -> Facts {
        let mut facts = Facts::new();
        for source in &self.0 {
            match output(&source.command) {
                Some(output) => source.tell(output, &mut facts, &mut tell),
                None => tell(format!("there is no output of `{}`", source.command)),
            }
        }
        add_flat(&mut facts);
        facts
    }

    /// Compiles the TextFSM templates.
    pub(super) fn check(&self) -> Result<()> {
        self.0.iter().try_for_each(|source| source.output.check())
    }
}

impl FactSource {
    fn read(
        top: &Spot<'_>,
        read: &dyn Fn(&str) -> Result<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        top.only(&["command", "textfsm", "textfsm_file", "facts"], problems);
        let command = top
            .required("command", problems)
            .and_then(|spot| spot.text(problems));
        let output = super::read_textfsm(top, read, problems);
        let told = top.required("facts", problems);
        let output = output?;
        let names: Vec<&str> = output.fsm.names().iter().map(String::as_str).collect();
        let mut facts = Vec::new();
        for (path, spot) in told?.pairs(problems) {
            let value = spot.expression(&names, problems);
            let path = parts(path, &spot, &names, problems);
            facts.extend(value.zip(path).map(|(value, path)| Fact { path, value }));
        }
        Some(Self {
            command: command?.to_owned(),
            output,
            facts,
        })
    }

    /// Adds the facts of an output.
    fn tell(&self, output: &str, facts: &mut Facts, tell: &mut dyn FnMut(String)) {
        let rows = match self.output.rows(&self.command, output) {
            Ok(rows) => rows,
            Err(error) => {
                return tell(format!("facts of `{}` are left out: {error}", self.command));
            }
        };
        if rows.is_empty() {
            tell(format!("the output of `{}` tells no facts", self.command));
        }
        for row in rows {
            let scope = Scope::of_row(&row.values);
            for fact in &self.facts {
                match fact.value(&scope) {
                    Ok(Some((path, value))) => facts.set_at(path.iter().map(String::as_str), value),
                    Ok(None) => {}
                    Err(error) => {
                        let place = self.place(fact, &row, output);
                        tell(format!(
                            "a fact of `{}`{place} is left out: {error}",
                            self.command
                        ));
                    }
                }
            }
        }
    }

    fn place(&self, fact: &Fact, row: &Row, output: &str) -> String {
        let names = fact.value.value.names();
        let place = row.place(output, names.first().map_or("", String::as_str));
        format!(", output line {}, column {}", place.line, place.column)
    }
}

impl Fact {
    /// Where the fact belongs and what it is; nothing for an empty text.
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

/// The parts of a fact's path, which dots outside of `{{ }}` divide.
fn parts(
    path: &str,
    spot: &Spot<'_>,
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
            spot.template_of(&word, names, problems)
                .map(|template| Part::Made(Box::new(template)))
        } else {
            Some(Part::Word(word))
        }
    };
    words.into_iter().map(part).collect()
}

/// Adds the flat facts that the structured ones give.
fn add_flat(facts: &mut Facts) {
    for (flat, path) in FLAT {
        if let Some(value) = facts.get(path).cloned() {
            facts.set(flat, value);
        }
    }
}

fn into_transport(error: Error) -> devgate_transports::Error {
    match error {
        Error::Transport(error) => error,
        other => devgate_transports::Error::Unsupported(other.to_string()),
    }
}
