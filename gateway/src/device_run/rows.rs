//! Rows: what a device is known to hold of one type, each checked against the type's schema.

use std::collections::HashMap;
use std::slice;

use devgate_devices::Provider;
use devgate_schemas::{Name, Resource, TypeSchema};
use devgate_transports::Context;
use indexmap::IndexMap;

use super::words::inspected;

/// What becomes of a provider that does not keep to its type: Puppet's setting `strict`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Strict {
    /// It is told at `debug`.
    Off,
    /// It is told as a warning.
    Warning,
    /// The resource fails.
    #[default]
    Error,
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

impl Strict {
    /// Tells what is wrong, as loud as it is to be told.
    ///
    /// # Errors
    /// The message, where it is an error.
    pub(super) fn refuse(self, ctx: &Context<'_>, message: String) -> Result<(), String> {
        match self {
            Self::Off => ctx.debug(message),
            Self::Warning => ctx.warning(message),
            Self::Error => return Err(message),
        }
        Ok(())
    }
}

impl Rows {
    /// Checks what a provider's `get` returned, secrets wrapped from then on.
    ///
    /// # Errors
    /// That the rows cannot be brought into their one form.
    pub(super) async fn read(
        ctx: &Context<'_>,
        schema: &TypeSchema,
        provider: &mut dyn Provider,
        strict: Strict,
        rows: Vec<Resource>,
    ) -> Result<Self, String> {
        let mut read = Self::default();
        let mut sound = Vec::with_capacity(rows.len());
        for mut row in rows {
            let checked = schema.check_rows(slice::from_mut(&mut row));
            let refused = checked.map_err(|invalid| invalid.to_string());
            let name = Name::new("", schema.namevars_of(&row));
            let is_named = name.namevars().len() == schema.namevars().len();
            match refused.or_else(|message| strict.refuse(ctx, message)) {
                Ok(()) if is_named => sound.push(row),
                Ok(()) => {}
                Err(message) if is_named => {
                    read.wrong.insert(name, message);
                }
                Err(message) => read.nameless = Some(message),
            }
        }
        let mut standard = sound.clone();
        let outcome = provider.canonicalize(ctx, &mut standard).await;
        outcome.map_err(|error| error.to_string())?;
        for (row, standard) in sound.iter().zip(standard) {
            let name = Name::new("", schema.namevars_of(&standard));
            if strict != Strict::Off && *row != standard {
                let title = schema.check_row(row).unwrap_or_else(|_| name.clone());
                let message = format!(
                    "{}[{title}]#get has not provided canonicalized values.\n\
                     Returned values:       {}\n\
                     Canonicalized values:  {}",
                    schema.name(),
                    inspected(row),
                    inspected(&standard)
                );
                if let Err(message) = strict.refuse(ctx, message) {
                    read.wrong.insert(name, message);
                    continue;
                }
            }
            // Of two rows of one name the first counts.
            read.known.entry(name).or_insert(standard);
        }
        Ok(read)
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
