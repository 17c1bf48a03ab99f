//! Rows: the resources of one type on a device, each checked against the type's schema.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use devgate_devices::Provider;
use devgate_schemas::{Name, Resource, Row, TypeSchema};
use devgate_transports::Context;
use indexmap::IndexMap;

use super::canonical;

/// How violations of a type's schema by its provider are treated: Puppet's setting `strict`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strict {
    /// Violations are reported at `debug`.
    Off,
    /// Violations are reported as warnings.
    Warning,
    /// The resource fails.
    #[default]
    Error,
}

/// The strictness in one run on one device. It counts the warnings.
#[derive(Debug)]
pub(crate) struct Strictness {
    strict: Strict,
    warnings: AtomicUsize,
}

/// Checked rows: those with a known name that conform to their type, as far as `strict` requires it, and the others.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// The usable rows.
    pub(crate) valid: Vec<Row>,
    /// The rows that violate their type, and why.
    pub invalid: Vec<(Name, String)>,
    /// Why some rows cannot be identified.
    pub(crate) unidentified: Option<String>,
}

/// The resources of one type on a device.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The valid resources, by name.
    valid: IndexMap<Name, Resource>,
    /// The invalid resources, and why.
    invalid: HashMap<Name, String>,
    /// Why some rows cannot be identified.
    unidentified: Option<String>,
}

impl Strictness {
    /// The number of warnings in a run, as in Puppet. A table may have a hundred thousand rows.
    const MAX_WARNINGS: usize = 100;

    pub(crate) fn new(strict: Strict) -> Self {
        Self {
            strict,
            warnings: AtomicUsize::new(0),
        }
    }

    /// Reports a violation at the level for the strictness.
    ///
    /// # Errors
    /// Fails with the message when violations are errors.
    pub(super) fn refuse(&self, ctx: &Context<'_>, message: String) -> Result<(), String> {
        match self.strict {
            Strict::Off => ctx.debug(message),
            Strict::Error => return Err(message),
            Strict::Warning => {
                let warnings = self.warnings.fetch_add(1, Ordering::Relaxed) + 1;
                if warnings <= Self::MAX_WARNINGS {
                    ctx.warning(message);
                } else {
                    ctx.debug(message);
                }
                if warnings == Self::MAX_WARNINGS {
                    ctx.warning("further warnings of this kind are logged at level `debug`");
                }
            }
        }
        Ok(())
    }
}

impl Checked {
    /// Checks the result of a provider's `get`, and wraps its secrets.
    pub(crate) fn read(
        ctx: &Context<'_>,
        schema: &TypeSchema,
        strict: &Strictness,
        rows: Vec<Resource>,
    ) -> Self {
        let mut checked = Self::default();
        for row in rows {
            match schema.read_row(row) {
                Err(unidentified) => {
                    let refused = strict.refuse(ctx, unidentified.to_string());
                    checked.unidentified = refused.err().or(checked.unidentified);
                }
                Ok(row) => {
                    let mut doubts = row.doubts.iter().cloned();
                    match doubts.try_for_each(|problem| strict.refuse(ctx, problem)) {
                        Ok(()) => checked.valid.push(row),
                        Err(message) => checked.invalid.push((row.name, message)),
                    }
                }
            }
        }
        checked
    }

    /// Moves the rows whose name occurs several times on the device to the invalid ones, because it is unknown which of
    /// them is meant.
    pub(crate) fn without_ambiguous(mut self, schema: &TypeSchema) -> Self {
        let mut counts: IndexMap<Name, usize> = IndexMap::new();
        for row in self.valid.iter().filter(|row| row.resource.is_present()) {
            *counts.entry(row.name.clone()).or_default() += 1;
        }
        counts.retain(|_, count| *count > 1);
        self.valid.retain(|row| !counts.contains_key(&row.name));
        let ambiguous = counts.into_iter().map(|(name, count)| {
            let message = format!(
                "the device has {count} resources named {}[{name}], which its type cannot distinguish: none of them \
                 is changed; keep one of them on the device, or manage them there",
                schema.name()
            );
            (name, message)
        });
        self.invalid.extend(ambiguous);
        self
    }
}

impl Rows {
    /// Reads the rows with a provider's `get`, checks them, and wraps their secrets.
    pub(super) async fn read(
        ctx: &Context<'_>,
        schema: &TypeSchema,
        provider: &mut dyn Provider,
        strict: &Strictness,
        rows: Vec<Resource>,
    ) -> Self {
        let Checked {
            valid,
            invalid,
            unidentified,
        } = Checked::read(ctx, schema, strict, rows);
        let mut result = Self {
            valid: IndexMap::new(),
            invalid: invalid.into_iter().collect(),
            unidentified,
        };
        let rows = valid.iter().map(|row| row.resource.clone()).collect();
        let standard = canonical::canonicalize_each(ctx, provider, rows).await;
        let mut named = Checked::default();
        for (row, standard) in valid.into_iter().zip(standard) {
            let Row { name, resource, .. } = row;
            let standard = match standard {
                Ok(standard) => standard,
                Err(message) => {
                    result.invalid.insert(name, message);
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
                    result.invalid.insert(canonical, message);
                    continue;
                }
            }
            named.valid.push(Row {
                name: canonical,
                resource: standard,
                doubts: Vec::new(),
            });
        }
        let named = named.without_ambiguous(schema);
        result.invalid.extend(named.invalid);
        for row in named.valid {
            // One row may describe an existing resource while others of the same name are absent.
            result.valid.entry(row.name).or_insert(row.resource);
        }
        result
    }

    /// Returns the resource of this name, if it exists.
    ///
    /// # Errors
    /// Fails when the resource on the device is invalid.
    pub(super) fn get(&self, name: &Name) -> Result<Option<&Resource>, String> {
        if let Some(message) = self.invalid.get(name).or(self.unidentified.as_ref()) {
            return Err(message.clone());
        }
        Ok(self.valid.get(name).filter(|row| row.is_present()))
    }

    /// Returns all existing resources.
    ///
    /// # Errors
    /// Fails when some cannot be read.
    pub(super) fn all(&self) -> Result<impl Iterator<Item = (&Name, &Resource)>, String> {
        if let Some(message) = self.unidentified.iter().chain(self.invalid.values()).next() {
            return Err(message.clone());
        }
        Ok(self.valid.iter().filter(|(_, row)| row.is_present()))
    }

    /// Replaces the rows of these names by a later reading.
    pub(super) fn replace(&mut self, names: &[Name], mut new: Self) {
        for name in names {
            self.valid.shift_remove(name);
            self.invalid.remove(name);
            if let Some((name, row)) = new.valid.shift_remove_entry(name) {
                self.valid.insert(name, row);
            }
            if let Some((name, message)) = new.invalid.remove_entry(name) {
                self.invalid.insert(name, message);
            }
        }
        self.unidentified = new.unidentified.or_else(|| self.unidentified.take());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use devgate_schemas::{Event, EventSink, Level};
    use devgate_transports::RetryBudget;

    use super::*;

    #[derive(Default)]
    struct EventLog(Mutex<Vec<Level>>);

    impl EventSink for EventLog {
        fn emit(&self, event: Event) {
            let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            events.push(event.level);
        }
    }

    /// Counts the messages at each level, and the errors, for 250 invalid rows.
    fn ambiguous(strict: Strict) -> (usize, usize, usize) {
        let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
        let ctx = Context::new("device", &events, &retry_budget);
        let strict = Strictness::new(strict);
        let refused = (0..250).filter(|_| strict.refuse(&ctx, "wrong".to_owned()).is_err());
        let refused = refused.count();
        let events = events
            .0
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let at = |wanted| events.iter().filter(|&&level| level == wanted).count();
        (at(Level::Debug), at(Level::Warning), refused)
    }

    #[test]
    fn strict_says_how_loud_it_is_told_and_a_run_warns_a_hundred_times() {
        assert_eq!(ambiguous(Strict::Off), (250, 0, 0));
        // And that there were more.
        assert_eq!(ambiguous(Strict::Warning), (150, 101, 0));
        assert_eq!(ambiguous(Strict::Error), (0, 0, 250));
    }
}
