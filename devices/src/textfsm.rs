//! TextFSM: parses the output of `show` commands into rows.
//!
//! Specification: Google's implementation in Python, whose regular expressions and whose ends of lines are meant.
//! A template is compiled on first use and then kept, because compiling is expensive. The names of its
//! values are known without compiling, so that expressions over them can be checked at once.

mod collection;
mod error;
mod machine;
mod regexp;
mod row;
mod table;
mod template;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use template::{Template, ValueOption};

pub use collection::{CommandTemplates, TemplateCollection};
pub(crate) use error::Error;
pub(crate) use row::Row;
pub use table::Table;

/// A TextFSM template.
#[derive(Debug)]
pub(crate) struct TextFsm {
    source: String,
    names: Vec<String>,
    compiled: OnceLock<Result<Template, Error>>,
}

impl TextFsm {
    /// Creates a template without compiling it.
    pub(crate) fn new(source: impl Into<String>) -> Self {
        let source = source.into();
        Self {
            names: template::names(&source),
            source,
            compiled: OnceLock::new(),
        }
    }

    /// Returns the names of the template's values.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the names of the values that together distinguish the rows.
    ///
    /// # Errors
    /// Fails when the template is invalid.
    fn keys(&self) -> Result<Vec<String>, Error> {
        let values = self.template()?.values.iter();
        let keys = values.filter(|value| value.has(ValueOption::Key));
        Ok(keys.map(|value| value.name.clone()).collect())
    }

    /// Compiles the template, unless it already is.
    ///
    /// # Errors
    /// Fails when the template is invalid.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.template().map(|_| ())
    }

    /// Parses an output into records.
    ///
    /// # Errors
    /// Fails when the template is invalid, or when one of its `Error` rules refuses a line.
    pub(crate) fn rows(&self, text: &str) -> Result<Vec<Row>, Error> {
        machine::rows(self.template()?, text)
    }

    fn template(&self) -> Result<&Template, Error> {
        let compiled = self
            .compiled
            .get_or_init(|| Template::compile(&self.source));
        compiled.as_ref().map_err(Clone::clone)
    }
}
