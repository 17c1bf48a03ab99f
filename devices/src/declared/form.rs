//! How the changes of a declared type are made.

use devgate_schemas::{Name, Resource, TypeSchema};

use super::cli::Cli;
use super::crud::ChangeScope;
use super::data_form::DataForm;
use crate::template::Medium;
use crate::{Change, CurrentState, Result, SecretVisibility};

/// How changes are made.
#[derive(Debug)]
pub(super) enum Form {
    /// Lines of configuration.
    Cli(Box<Cli>),
    /// Requests that change data.
    Data(Box<dyn DataForm>),
}

impl Form {
    pub(super) fn data(form: impl DataForm + 'static) -> Self {
        Self::Data(Box::new(form))
    }

    pub(super) fn medium(&self) -> Medium {
        match self {
            Self::Cli(_) => Medium::CommandLine,
            Self::Data(form) => form.medium(),
        }
    }

    /// A change as people read it.
    pub(super) fn lines(
        &self,
        schema: &TypeSchema,
        name: &Name,
        change: &Change,
        secrets: SecretVisibility,
    ) -> Result<Vec<String>> {
        match self {
            Self::Cli(cli) => {
                let lines = cli.lines(schema, name, change)?;
                Ok(lines.iter().map(|line| line.text(secrets)).collect())
            }
            Self::Data(form) => form.lines(schema, name, change, secrets),
        }
    }

    /// Whether a desired resource can be written. It cannot where it can neither be created, nor updated
    /// by what says nothing of the present state.
    pub(super) fn check(&self, schema: &TypeSchema, name: &Name, should: &Resource) -> Result<()> {
        if !should.is_present() {
            return Ok(());
        }
        let change = |is| Change {
            is,
            should: Some(should.clone()),
        };
        let create = change(CurrentState::Absent);
        // A value that cannot be written is none in either case.
        ChangeScope::of(schema, name, &create, self.medium())?;
        let Err(error) = self.lines(schema, name, &create, SecretVisibility::Redacted) else {
            return Ok(());
        };
        let is_blind = match self {
            Self::Cli(cli) => cli.is_blind(schema, should),
            Self::Data(form) => form.is_blind(schema, should),
        };
        let update = change(CurrentState::Present(should.clone()));
        if is_blind
            && self
                .lines(schema, name, &update, SecretVisibility::Redacted)
                .is_err()
        {
            return Err(error);
        }
        Ok(())
    }
}
