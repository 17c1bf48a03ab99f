//! The options of a reference for its plugin.

use std::path::{Path, PathBuf};

use devgate_schemas::{Hash, Value, did_you_mean};
use devgate_transports::{Environment, reading};

use crate::inventory::PluginError;

/// The options of one reference, merged over the project's configuration of the plugin.
#[derive(Debug)]
pub(super) struct Options<'a> {
    pub(super) plugin: &'a str,
    pub(super) values: Hash,
    /// The environment of plugins.
    pub(super) environment: &'a Environment,
}

impl Options<'_> {
    /// Refuses all other options.
    pub(super) fn refuse_unknown(&self, allowed: &[&str]) -> Result<(), PluginError> {
        for (key, _) in self.values.iter() {
            let key = key.to_string();
            if !allowed.contains(&key.as_str()) {
                let hint = did_you_mean(&key, allowed.iter().copied());
                return Err(self.invalid(format!("unknown option `{key}`{hint}")));
            }
        }
        Ok(())
    }

    /// Returns a required text.
    pub(super) fn required(&self, key: &str) -> Result<&str, PluginError> {
        let missing = || self.invalid(format!("expected `{key}`, a text"));
        self.text(key)?.ok_or_else(missing)
    }

    /// Returns an optional text.
    pub(super) fn text(&self, key: &str) -> Result<Option<&str>, PluginError> {
        match self.values.get(key) {
            None | Some(Value::Undef) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.invalid(format!("expected `{key}` to be a text"))),
        }
    }

    /// Returns a boolean, which is false by default.
    pub(super) fn flag(&self, key: &str) -> Result<bool, PluginError> {
        match self.values.get(key) {
            None | Some(Value::Undef) => Ok(false),
            Some(Value::Boolean(flag)) => Ok(*flag),
            Some(_) => Err(self.invalid(format!("expected `{key}` to be true or false"))),
        }
    }

    /// Returns a path: relative to a folder, unless it is absolute or begins with `~`.
    pub(super) fn path(&self, key: &str, folder: &Path) -> Result<Option<PathBuf>, PluginError> {
        let path = self.text(key)?;
        Ok(path.map(|path| folder.join(self.environment.path(path))))
    }

    pub(super) fn invalid(&self, message: impl Into<String>) -> PluginError {
        PluginError::invalid(self.plugin, message)
    }

    pub(super) fn failed(&self, message: impl Into<String>) -> PluginError {
        PluginError::failed(self.plugin, message)
    }
}

/// Reads a file for a plugin.
pub(super) fn read(options: &Options<'_>, what: &str, path: &Path) -> Result<Vec<u8>, PluginError> {
    reading::bytes(path)
        .map_err(|error| options.failed(format!("cannot read {what} {}: {error}", path.display())))
}
