//! Keys without effect: those that need another one, those that repeat a default, those that say nothing.

use super::{Lint, form};
use crate::file_node::{FileNode, YamlFile};

/// Keys of `family.yaml` that only work beside another one.
const NEEDS: [(&[&str], &[&str]); 4] = [
    (&["dialect", "leave_config"], &["dialect", "enter_config"]),
    (
        &["dialect", "prompt", "config"],
        &["dialect", "enter_config"],
    ),
    (&["dialect", "literal"], &["dialect", "enter_config"]),
    (&["dialect", "filters"], &["dialect", "harmless"]),
];

/// Keys of `family.yaml` with the value that they have anyway.
const DEFAULTS: [(&[&str], &str); 3] = [
    (&["dialect", "newline"], "lf"),
    (&["dialect", "enable", "required"], "false"),
    (&["dialect", "commit", "saves"], "true"),
];

impl Lint<'_> {
    /// Finds keys without effect.
    pub(super) fn keys(&mut self, family: &YamlFile, types: &[YamlFile]) {
        let top = family.top();
        for (key, other) in NEEDS {
            if let (Some(at), None) = (at(&top, key), at(&top, other)) {
                let other = other.join(".");
                self.found(
                    "dead-key",
                    &at,
                    format!("it needs `{other}`, which is missing"),
                );
            }
        }
        for (key, default) in DEFAULTS {
            if let Some(at) = at(&top, key)
                && scalar(&at).as_deref() == Some(default)
            {
                let message = format!("`{default}` is the default: leave the key out");
                self.found("dead-key", &at, message);
            }
        }
        for file in types {
            self.type_keys(&file.top());
        }
    }

    fn type_keys(&mut self, top: &FileNode<'_>) {
        let canonicalize = top.get("canonicalize");
        for (name, expression) in canonicalize
            .iter()
            .flat_map(|all| all.pairs(&mut Vec::new()))
        {
            if scalar(&expression).as_deref() == Some(name) {
                let message = "it leaves the value as it is: leave the key out";
                self.found("dead-key", &expression, message);
            }
        }
        let Some(form) = form(top) else {
            return;
        };
        if let (Some(create), Some(update)) = (form.get("create"), form.get("update"))
            && create.node().to_value() == update.node().to_value()
        {
            let message = "it is the same as `create`, which also updates: leave the key out";
            self.found("dead-key", &update, message);
        }
        for source in form.get("get").iter().flat_map(FileNode::items) {
            let keep = source
                .get("keep")
                .filter(|keep| scalar(keep).as_deref() == Some("true"));
            if let Some(keep) = keep {
                self.found("dead-key", &keep, "it keeps every row: leave the key out");
            }
        }
        for item in form.get("lines").iter().flat_map(FileNode::items) {
            let when = item
                .get("when")
                .filter(|when| scalar(when).as_deref() == Some("true"));
            if let Some(when) = when {
                self.found("dead-key", &when, "it is always so: leave the key out");
            }
        }
    }
}

/// The node at a path of keys.
fn at<'a>(top: &FileNode<'a>, path: &[&str]) -> Option<FileNode<'a>> {
    path.iter().try_fold(top.clone(), |node, key| node.get(key))
}

/// A scalar as a text.
fn scalar(file_node: &FileNode<'_>) -> Option<String> {
    Some(file_node.node().as_scalar()?.interpolated())
}
