//! Rows: what a device is known to hold of one type, each checked against the type's schema.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use devgate_devices::Provider;
use devgate_schemas::{Name, Resource, Row, TypeSchema};
use devgate_transports::Context;
use indexmap::IndexMap;

use super::canonical;

/// What becomes of a provider that does not keep to its type: Puppet's setting `strict`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strict {
    /// It is told at `debug`.
    Off,
    /// It is told as a warning.
    Warning,
    /// The resource fails.
    #[default]
    Error,
}

/// The same for one run on one device, which counts how often it has warned.
#[derive(Debug)]
pub(crate) struct Strictness {
    strict: Strict,
    warned: AtomicUsize,
}

/// Rows whose names are known and that keep to their type, as far as somebody asks for that; and the
/// others.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// What can be used.
    pub(crate) sound: Vec<Row>,
    /// What does not keep to its type, and why.
    pub wrong: Vec<(Name, String)>,
    /// Why some rows cannot be told apart at all.
    pub(crate) nameless: Option<String>,
}

/// What a device is known to hold of one type.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// What keeps to the schema, by name.
    known: IndexMap<Name, Resource>,
    /// What does not, and why.
    wrong: HashMap<Name, String>,
    /// Why some rows cannot be told apart at all.
    nameless: Option<String>,
}

impl Strictness {
    /// As many warnings are told in a run as Puppet tells: a table may have a hundred thousand rows.
    const MOST_WARNINGS: usize = 100;

    pub(crate) fn new(strict: Strict) -> Self {
        Self {
            strict,
            warned: AtomicUsize::new(0),
        }
    }

    /// Tells what is wrong, as loud as it is to be told.
    ///
    /// # Errors
    /// The message, where it is an error.
    pub(super) fn refuse(&self, ctx: &Context<'_>, message: String) -> Result<(), String> {
        match self.strict {
            Strict::Off => ctx.debug(message),
            Strict::Error => return Err(message),
            Strict::Warning => {
                let warned = self.warned.fetch_add(1, Ordering::Relaxed) + 1;
                if warned <= Self::MOST_WARNINGS {
                    ctx.warning(message);
                } else {
                    ctx.debug(message);
                }
                if warned == Self::MOST_WARNINGS {
                    ctx.warning("further warnings of this kind are logged at level `debug`");
                }
            }
        }
        Ok(())
    }
}

impl Checked {
    /// Checks what a provider's `get` returned, secrets wrapped from then on.
    pub(crate) fn read(
        ctx: &Context<'_>,
        schema: &TypeSchema,
        strict: &Strictness,
        rows: Vec<Resource>,
    ) -> Self {
        let mut checked = Self::default();
        for row in rows {
            match schema.read_row(row) {
                Err(nameless) => {
                    let refused = strict.refuse(ctx, nameless.to_string());
                    checked.nameless = refused.err().or(checked.nameless);
                }
                Ok(row) => {
                    let mut doubts = row.doubts.iter().cloned();
                    match doubts.try_for_each(|doubt| strict.refuse(ctx, doubt)) {
                        Ok(()) => checked.sound.push(row),
                        Err(message) => checked.wrong.push((row.name, message)),
                    }
                }
            }
        }
        checked
    }

    /// Takes out the rows whose name the device holds several times: nobody can know which of them
    /// somebody means.
    pub(crate) fn without_ambiguous(mut self, schema: &TypeSchema) -> Self {
        let mut held: IndexMap<Name, usize> = IndexMap::new();
        for row in self.sound.iter().filter(|row| row.resource.is_present()) {
            *held.entry(row.name.clone()).or_default() += 1;
        }
        held.retain(|_, count| *count > 1);
        self.sound.retain(|row| !held.contains_key(&row.name));
        let told = held.into_iter().map(|(name, count)| {
            let message = format!(
                "the device has {count} resources named {}[{name}], which its type cannot distinguish: none of them \
                 is changed; keep one of them on the device, or manage them there",
                schema.name()
            );
            (name, message)
        });
        self.wrong.extend(told);
        self
    }
}

impl Rows {
    /// Checks what a provider's `get` returned, secrets wrapped from then on.
    pub(super) async fn read(
        ctx: &Context<'_>,
        schema: &TypeSchema,
        provider: &mut dyn Provider,
        strict: &Strictness,
        rows: Vec<Resource>,
    ) -> Self {
        let Checked {
            sound,
            wrong,
            nameless,
        } = Checked::read(ctx, schema, strict, rows);
        let mut read = Self {
            known: IndexMap::new(),
            wrong: wrong.into_iter().collect(),
            nameless,
        };
        let rows = sound.iter().map(|row| row.resource.clone()).collect();
        let standard = canonical::each(ctx, provider, rows).await;
        let mut named = Checked::default();
        for (row, standard) in sound.into_iter().zip(standard) {
            let Row { name, resource, .. } = row;
            let standard = match standard {
                Ok(standard) => standard,
                Err(message) => {
                    read.wrong.insert(name, message);
                    continue;
                }
            };
            let canonical = Name::new(name.title(), schema.namevars_of(&standard));
            if strict.strict != Strict::Off && resource != standard {
                let message = format!(
                    "{}[{name}]#get has not provided canonicalized values.\n\
                     Returned values:       {}\n\
                     Canonicalized values:  {}",
                    schema.name(),
                    resource.inspect(),
                    standard.inspect()
                );
                if let Err(message) = strict.refuse(ctx, message) {
                    read.wrong.insert(canonical, message);
                    continue;
                }
            }
            named.sound.push(Row {
                name: canonical,
                resource: standard,
                doubts: Vec::new(),
            });
        }
        let named = named.without_ambiguous(schema);
        read.wrong.extend(named.wrong);
        for row in named.sound {
            // One row of a name may be there, others may say that nothing is.
            read.known.entry(row.name).or_insert(row.resource);
        }
        read
    }

    /// What the device holds of this name; nothing where it is not there.
    ///
    /// # Errors
    /// That what it holds does not keep to the schema.
    pub(super) fn of(&self, name: &Name) -> Result<Option<&Resource>, String> {
        if let Some(message) = self.wrong.get(name).or(self.nameless.as_ref()) {
            return Err(message.clone());
        }
        Ok(self.known.get(name).filter(|row| row.is_present()))
    }

    /// Everything that is there.
    ///
    /// # Errors
    /// That not everything can be read.
    pub(super) fn all(&self) -> Result<impl Iterator<Item = (&Name, &Resource)>, String> {
        if let Some(message) = self.nameless.iter().chain(self.wrong.values()).next() {
            return Err(message.clone());
        }
        Ok(self.known.iter().filter(|(_, row)| row.is_present()))
    }

    /// Takes over what was read again of these names.
    pub(super) fn renew(&mut self, names: &[Name], mut again: Self) {
        for name in names {
            self.known.shift_remove(name);
            self.wrong.remove(name);
            if let Some((name, row)) = again.known.shift_remove_entry(name) {
                self.known.insert(name, row);
            }
            if let Some((name, message)) = again.wrong.remove_entry(name) {
                self.wrong.insert(name, message);
            }
        }
        self.nameless = again.nameless.or_else(|| self.nameless.take());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use devgate_schemas::{Event, EventSink, Level};
    use devgate_transports::RetryBudget;

    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<Level>>);

    impl EventSink for Heard {
        fn emit(&self, event: Event) {
            let mut heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            heard.push(event.level);
        }
    }

    /// How often it is told at each level what 250 rows do wrong, and how often it is an error.
    fn told(strict: Strict) -> (usize, usize, usize) {
        let (heard, retry_budget) = (Heard::default(), RetryBudget::new());
        let ctx = Context::new("device", &heard, &retry_budget);
        let strict = Strictness::new(strict);
        let refused = (0..250).filter(|_| strict.refuse(&ctx, "wrong".to_owned()).is_err());
        let refused = refused.count();
        let heard = heard.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let at = |wanted| heard.iter().filter(|&&level| level == wanted).count();
        (at(Level::Debug), at(Level::Warning), refused)
    }

    #[test]
    fn strict_says_how_loud_it_is_told_and_a_run_warns_a_hundred_times() {
        assert_eq!(told(Strict::Off), (250, 0, 0));
        // And that there were more.
        assert_eq!(told(Strict::Warning), (150, 101, 0));
        assert_eq!(told(Strict::Error), (0, 0, 250));
    }
}
