//! The protocol of a family, and its dialect.

use std::sync::Arc;

use devgate_schemas::{suggest, yaml};
use devgate_transports::{Connect, Dialect};

use super::folder::Folder;
use crate::command_line::check_config_text;
use crate::commit_check::check_dialect;
use crate::file_node::{FileNode, Problems};
use crate::source::has_command_line;

/// The family's dialect, if it has one. That of a built-in family is not checked: tests have done it.
pub(super) fn dialect(
    top: &FileNode<'_>,
    folder: &Folder,
    problems: &mut Problems,
) -> Option<Dialect> {
    let file_node = top.get("dialect")?;
    let dialect: Dialect = match yaml::from_node(file_node.node()) {
        Ok(dialect) => dialect,
        Err(error) => {
            problems.push(file_node.yaml_problem(error));
            return None;
        }
    };
    if let Folder::BuiltIn(_) = folder {
        return Some(dialect);
    }
    check_dialect(&file_node, &dialect, problems);
    check_config_text(&file_node, &dialect, problems);
    for key in ["leave_config", "commit"] {
        if let Some(other) = file_node.get(key).filter(|_| dialect.is_modeless()) {
            let message = "with `enter_config: none`, there is no mode to leave, and nothing to commit: leave it out";
            problems.push(other.problem(message));
        }
    }
    Some(dialect)
}

/// The family's protocol, with its dialect if it has one.
pub(super) fn protocol(
    top: &FileNode<'_>,
    dialect: Option<Dialect>,
    problems: &mut Problems,
) -> Option<Arc<dyn Connect>> {
    let file_node = top.required("protocol", problems)?;
    let name = file_node.text(problems)?;
    let known = devgate_transports::all();
    let Some(protocol) = known.iter().find(|one| one.name() == name) else {
        let hint = suggest(name, known.iter().map(|one| one.name()));
        problems.push(file_node.problem(format!("there is no protocol `{name}`{hint}")));
        return None;
    };
    let Some(dialect) = dialect else {
        return Some(Arc::clone(protocol));
    };
    let with_dialect = protocol.speaking(dialect);
    if with_dialect.is_none() && has_command_line(name) {
        // An API takes commands without a prompt.
        top.get("dialect")?
            .only(&["harmless", "filters", "text", "config_text"], problems);
        return Some(Arc::clone(protocol));
    }
    if with_dialect.is_none() {
        let message = format!("`{name}` has no command line, and so no dialect: leave it out");
        problems.push(top.nearest(&["dialect".to_owned()]).problem(message));
    }
    with_dialect
}
