//! Reads the keys of a `bolt-project.yaml`.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use devgate_schemas::yaml::{self, Node};
use devgate_schemas::{Hash, Value, did_you_mean};

use super::format::Format;

pub(super) const PROJECT_FILE: &str = "bolt-project.yaml";

/// The files and folders of a project that are read. If one exists, the project's folder must be safe.
pub(super) const CHECKED_NAMES: [&str; 4] = [PROJECT_FILE, INVENTORY_FILE, "modules", ".modules"];

pub(super) const INVENTORY_FILE: &str = "inventory.yaml";

/// Every key that Bolt knows, and `textfsm-templates`. Those that do not concern a gateway are accepted and ignored.
const KNOWN_KEYS: [&str; 28] = [
    "analytics",
    "apply-settings",
    "color",
    "compile-concurrency",
    "concurrency",
    "disable-warnings",
    "format",
    "future",
    "hiera-config",
    "log",
    "modulepath",
    "module-install",
    "modules",
    "name",
    "plans",
    "plugin-cache",
    "plugin-hooks",
    "plugins",
    "policies",
    "puppetdb",
    "puppetdb-instances",
    "rerunfile",
    "save-rerun",
    "spinner",
    "stream",
    "tasks",
    "textfsm-templates",
    "trusted-external-command",
];

pub(super) struct ProjectReader<'n> {
    pub(super) document: &'n Node,
    pub(super) problems: Vec<yaml::Error>,
    pub(super) warnings: Vec<yaml::Error>,
}

impl<'n> ProjectReader<'n> {
    pub(super) fn keys(&mut self) {
        let Some(mapping) = self.document.as_mapping() else {
            if !self.document.is_undef() {
                self.type_error::<()>(self.document, "a mapping");
            }
            return;
        };
        for (node, _) in mapping.iter() {
            let Some(key) = node.as_str().filter(|key| !KNOWN_KEYS.contains(key)) else {
                continue;
            };
            let hint = did_you_mean(key, KNOWN_KEYS);
            self.warnings
                .push(node.error(format!("unknown key `{key}`{hint}")));
        }
    }

    fn type_error<T>(&mut self, node: &Node, expected: &str) -> Option<T> {
        self.problems.push(node.error(node.mismatch(expected)));
        None
    }

    pub(super) fn name(&mut self) -> Option<String> {
        let node = self.document.given("name")?;
        match node.as_str() {
            Some(name) if is_module_name(name) => Some(name.to_owned()),
            Some(_) => {
                let message = "expected a name of small letters, digits and underscores that starts \
                               with a letter";
                self.problems.push(node.error(message));
                None
            }
            None => self.type_error(node, "name to be a text"),
        }
    }

    pub(super) fn modulepath(&mut self, root: &Path) -> Vec<PathBuf> {
        let Some(node) = self.document.given("modulepath") else {
            return vec![root.join("modules"), root.join(".modules")];
        };
        if let Some(text) = node.as_str() {
            return std::env::split_paths(text)
                .map(|path| root.join(path))
                .collect();
        }
        let Some(items) = node.as_sequence() else {
            return self
                .type_error(node, "modulepath to be a text or a list of texts")
                .unwrap_or_default();
        };
        let mut paths = Vec::new();
        for item in items {
            match item.as_str() {
                Some(path) => paths.push(root.join(path)),
                None => paths.extend(self.type_error(item, "modulepath to be a list of texts")),
            }
        }
        paths
    }

    pub(super) fn concurrency(&mut self) -> Option<NonZeroUsize> {
        let node = self.document.given("concurrency")?;
        let number = node.as_scalar().and_then(Value::as_integer);
        match number
            .and_then(|number| usize::try_from(number).ok())
            .and_then(NonZeroUsize::new)
        {
            Some(number) => Some(number),
            None => self.type_error(node, "concurrency to be an integer from 1"),
        }
    }

    pub(super) fn plugins(&mut self) -> HashMap<String, Hash> {
        let mut plugins = HashMap::new();
        let Some(node) = self.document.given("plugins") else {
            return plugins;
        };
        let Some(mapping) = node.as_mapping() else {
            self.type_error::<()>(node, "plugins to be a mapping");
            return plugins;
        };
        for (plugin, node) in mapping.iter() {
            match node.to_value() {
                Value::Hash(config) => {
                    plugins.insert(plugin.key.to_string(), config);
                }
                Value::Undef => {}
                _ => {
                    self.type_error::<()>(node, "the options of a plugin as a mapping");
                }
            }
        }
        plugins
    }

    pub(super) fn flag(&mut self, key: &str) -> Option<bool> {
        let node = self.document.given(key)?;
        match node.as_scalar() {
            Some(Value::Boolean(flag)) => Some(*flag),
            _ => self.type_error(node, &format!("{key} to be true or false")),
        }
    }

    pub(super) fn texts(&mut self, key: &str) -> Option<Vec<String>> {
        let node = self.document.given(key)?;
        let texts = node.as_sequence().map(|items| {
            let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
            texts.collect::<Option<Vec<String>>>()
        });
        match texts.flatten() {
            Some(texts) => Some(texts),
            None => self.type_error(node, &format!("{key} to be a list of texts")),
        }
    }

    /// In a folder that is not a project, no file is written unless it is requested.
    pub(super) fn rerunfile(&mut self, root: &Path) -> Option<PathBuf> {
        match self.document.given("rerunfile") {
            Some(_) => self.path(root, "rerunfile"),
            None => CHECKED_NAMES
                .iter()
                .any(|name| root.join(name).exists())
                .then(|| root.join(".rerun.json")),
        }
    }

    pub(super) fn path(&mut self, root: &Path, key: &str) -> Option<PathBuf> {
        let node = self.document.given(key)?;
        match node.as_str() {
            Some(path) => Some(root.join(path)),
            None => self.type_error(node, &format!("{key} to be a path")),
        }
    }

    pub(super) fn format(&mut self) -> Option<Format> {
        let node = self.document.given("format")?;
        match node.as_str() {
            // `rainbow` is for people, too.
            Some("human" | "rainbow") => Some(Format::Human),
            Some("json") => Some(Format::Json),
            Some("jsonl") => Some(Format::Jsonl),
            Some(_) => self.type_error(node, "format to be human, rainbow, json or jsonl"),
            None => self.type_error(node, "format to be a text"),
        }
    }
}

/// Whether a name is a module's, as in the task specification.
fn is_module_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
