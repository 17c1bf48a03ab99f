//! The command line of the open session, and read-only commands.

use devgate_transports::{CommandLine, Context, Dialect};

use crate::file_node::{FileNode, Problems};
use crate::{Error, Result};

/// The output of a read-only command.
///
/// # Errors
/// Fails as [`CommandLine::exec`] does.
pub(crate) async fn exec(
    ctx: &Context<'_>,
    session: &dyn CommandLine,
    command: &str,
) -> devgate_transports::Result<String> {
    ctx.debug(format!("asks for `{command}`"));
    session.exec(ctx, command).await
}

/// The command line of the open session.
///
/// # Errors
/// Fails when the session has none.
pub(crate) fn session<'a>(ctx: &Context<'a>) -> Result<&'a dyn CommandLine> {
    ctx.command_line().ok_or_else(|| {
        Error::Unsupported("the open session is not one at a command line".to_owned())
    })
}

/// Reports a command of a source with a question mark, at which the device would show help instead of running it.
pub(crate) fn check_command(
    source: &FileNode<'_>,
    dialect: Option<&Dialect>,
    problems: &mut Problems,
) {
    let (each, join) = (source.get("each"), source.get("join"));
    for source in each
        .into_iter()
        .chain(join.iter().flat_map(FileNode::items))
    {
        check_command(&source, dialect, problems);
    }
    if let (Some(command), Some(dialect)) = (source.get("command"), dialect) {
        check_question_mark(&command, dialect, problems);
    }
}

/// Reports a `config_text` of a dialect that cannot be typed as a command.
pub(crate) fn check_config_text(
    file_node: &FileNode<'_>,
    dialect: &Dialect,
    problems: &mut Problems,
) {
    let (Some(command), Some(text)) = (file_node.get("config_text"), &dialect.config_text) else {
        return;
    };
    if text.trim().is_empty() || text.contains(char::is_control) {
        problems.push(command.problem("expected one command, in one line"));
    }
    check_question_mark(&command, dialect, problems);
}

fn check_question_mark(command: &FileNode<'_>, dialect: &Dialect, problems: &mut Problems) {
    let text = command.node().as_str().unwrap_or_default();
    if dialect.literal.is_none() && text.contains('?') {
        let message = "`?` asks for help on a command line: expected a command without it, or \
                       `literal` in the dialect";
        problems.push(command.problem(message));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use crate::Family;

    #[test]
    fn a_command_with_a_question_mark_is_refused_unless_the_dialect_has_a_key_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let file = folder.path().join(path);
            fs::create_dir_all(file.parent().expect("it has one")).expect("made");
            fs::write(file, text).expect("written");
        };
        let textfsm = "textfsm: \"Value A (\\\\d+)\\n\\nStart\\n  ^${A} -> Record\\n\"";
        let family = format!(
            "name: acme\ndesc: x\nprotocol: ssh_cli\ndialect: {{}}\nfacts:\n  - command: show a?\n    \
             {textfsm}\n    facts: {{ acme.a: A }}\n"
        );
        write("family.yaml", &family);
        let kind = format!(
            "name: acme_a\ndesc: x\nattributes:\n  a: {{ type: Integer, behaviour: namevar }}\n\
             cli:\n  get:\n    command: show a | i b?c\n    {textfsm}\n    resource: {{ a: A }}\n"
        );
        write("types/acme_a.yaml", &kind);
        let error = Family::load(folder.path())
            .expect_err("refused")
            .to_string();
        let error = error.replace(&format!("{}/", folder.path().display()), "");
        for expected in [
            "family.yaml:6:14: at facts[0].command: `?` asks for help",
            "types/acme_a.yaml:7:14: at cli.get.command: `?` asks for help",
        ] {
            assert!(error.contains(expected), "{error}");
        }
        assert_eq!(error.lines().count(), 2, "{error}");
        write("family.yaml", &family.replace("{}", "{ literal: ctrl-v }"));
        Family::load(folder.path()).expect("the mark is typed as one");
    }
}
