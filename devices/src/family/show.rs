//! What shows a device: commands that only read, the running configuration, and the rows of outputs.

use devgate_transports::Dialect;

use super::definition::Family;
use crate::declared::DeclaredType;
use crate::{Result, Table};

impl Family {
    /// Whether its dialect declares that a command changes nothing.
    pub fn is_harmless(&self, command: &str) -> bool {
        let dialect = self.dialect.as_ref();
        dialect.is_some_and(|dialect| dialect.is_harmless(command))
    }

    /// Whether its devices can tell what lines would change, without changing anything.
    pub fn previews(&self) -> bool {
        self.dialect.as_ref().is_some_and(Dialect::previews)
    }

    /// The command that shows the whole running configuration, if the dialect has one.
    pub fn config_text(&self) -> Option<&str> {
        self.dialect.as_ref()?.config_text.as_deref()
    }

    /// The name that collections of TextFSM templates have for its devices, if it declares one.
    pub fn textfsm_platform(&self) -> Option<&str> {
        self.textfsm_platform.as_deref()
    }

    /// The table of a command's output, if facts or a type of the family read this command.
    ///
    /// # Errors
    /// Fails when the family's template is invalid, or refuses the output.
    pub fn table(&self, command: &str, output: &str) -> Option<Result<Table>> {
        let types = self.types.iter().flat_map(DeclaredType::sources);
        let mut sources = self.facts.sources().chain(types);
        sources.find_map(|source| source.table(command, output))
    }

    /// The lines of a configuration that count when it is compared with another one: those that `checkpoint.ignore` does
    /// not name.
    pub fn lines_that_count(&self, config: &str) -> String {
        let checkpoint = self.checkpoint.as_ref();
        let is_ignored = |line: &str| checkpoint.is_some_and(|it| it.is_ignored(line));
        let lines = config.split_inclusive('\n');
        lines.filter(|line| !is_ignored(line)).collect()
    }
}
