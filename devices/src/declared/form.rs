//! How a declared type applies changes.

use devgate_schemas::{Name, Resource};

use super::cli::Cli;
use super::crud::ChangeScope;
use super::data_form::DataForm;
use super::on_device::TypeOnDevice;
use crate::template::Medium;
use crate::{Change, CurrentState, Error, Result, SecretVisibility};

/// How changes are applied.
#[derive(Debug)]
pub(super) enum Form {
    /// Lines of configuration.
    Cli(Box<Cli>),
    /// Requests of a data protocol.
    Data(Box<dyn DataForm>),
}

impl Form {
    pub(super) fn data(form: impl DataForm + 'static) -> Self {
        Self::Data(Box::new(form))
    }

    /// How the values of an attribute are written.
    pub(super) fn medium(&self, attribute: &str) -> Medium {
        match self {
            Self::Cli(cli) => cli.medium(attribute),
            Self::Data(form) => form.medium(),
        }
    }

    /// Whether changes depend on the device's facts.
    pub(super) fn uses_facts(&self) -> bool {
        match self {
            Self::Cli(cli) => cli.uses_facts(),
            Self::Data(form) => form.uses_facts(),
        }
    }

    /// A change, for display.
    pub(super) fn lines(
        &self,
        kind: &TypeOnDevice<'_>,
        name: &Name,
        change: &Change,
        secrets: SecretVisibility,
    ) -> Result<Vec<String>> {
        match self {
            Self::Cli(cli) => {
                let lines = cli.lines(kind, name, change)?;
                Ok(lines.iter().map(|line| line.text(secrets)).collect())
            }
            Self::Data(form) => form.lines(kind, name, change, secrets),
        }
    }

    /// Checks that a desired resource can be written: it can be created, or updated without reference to its
    /// current state.
    pub(super) fn check(
        &self,
        kind: &TypeOnDevice<'_>,
        name: &Name,
        should: &Resource,
    ) -> Result<()> {
        if !should.is_present() {
            return Ok(());
        }
        let change = |is| Change {
            is,
            should: Some(should.clone()),
        };
        let create = change(CurrentState::Absent);
        // A value that cannot be written fails in both cases.
        ChangeScope::of(kind, name, &create, |attribute| self.medium(attribute))?;
        let Err(error) = self.lines(kind, name, &create, SecretVisibility::Redacted) else {
            return Ok(());
        };
        // So does one that ends its text.
        if matches!(error, Error::Unwritable { .. } | Error::TextEnd { .. }) {
            return Err(error);
        }
        // What depends on the device is checked there.
        if kind.facts.is_none() && self.uses_facts() {
            return Ok(());
        }
        let is_stateless = match self {
            Self::Cli(cli) => cli.is_stateless(kind, should),
            Self::Data(form) => form.is_stateless(kind, should),
        };
        let update = change(CurrentState::Present(should.clone()));
        if is_stateless
            && self
                .lines(kind, name, &update, SecretVisibility::Redacted)
                .is_err()
        {
            return Err(error);
        }
        Ok(())
    }
}
