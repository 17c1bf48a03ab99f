//! The command line: `set` and `delete`, and what `show configuration … | display xml` shows.

use super::schema::{Kind, Schema, Statement};
use super::tree::Node;

/// Applies one line.
///
/// # Errors
/// Fails when a word is unknown, a value is missing, or what is deleted is not there.
pub(super) fn apply(root: &mut Node, schema: &Schema, line: &str) -> Result<(), String> {
    let words = words(line)?;
    let Some((verb, words)) = words.split_first() else {
        return Ok(());
    };
    let path = path(schema, words).map_err(|problem| format!("`{line}`: {problem}"))?;
    match verb.as_str() {
        "set" => {
            let mut node = root;
            for (statement, value) in &path {
                if value.is_none() && takes_value(statement) {
                    return Err(format!("missing argument: `{line}`"));
                }
                node = node.entered(statement, value.as_deref().unwrap_or_default());
            }
            Ok(())
        }
        "delete" => {
            let not_found = || format!("statement not found: `{line}`");
            let (last, above) = path.split_last().ok_or("everything would be deleted")?;
            let mut node = root;
            for (statement, value) in above {
                let value = value.as_deref().unwrap_or_default();
                let at = node.position(statement, value).ok_or_else(not_found)?;
                node = &mut node.below[at];
            }
            let before = node.below.len();
            match last {
                (statement, None) => node.below.retain(|child| child.name != statement.name),
                (statement, Some(value)) => {
                    let at = node.position(statement, value).ok_or_else(not_found)?;
                    node.below.remove(at);
                }
            }
            if node.below.len() == before {
                return Err(not_found());
            }
            Ok(())
        }
        other => Err(format!("unknown command: `{other}`")),
    }
}

/// What is shown of a part of the configuration, in the elements around it.
///
/// # Errors
/// Fails when the part is unknown.
pub(super) fn shown(root: &Node, schema: &Schema, part: &str) -> Result<Option<Node>, String> {
    let path = path(schema, &words(part)?)?;
    let mut node = root;
    let mut around = vec![Node::new(&root.name)];
    for (statement, value) in &path {
        let value = value.as_deref().unwrap_or_default();
        let Some(at) = node.position(statement, value) else {
            return Ok(None);
        };
        node = &node.below[at];
        let mut shell = Node::new(&statement.name);
        if matches!(statement.kind, Kind::List { .. }) {
            shell.below.push(Node::leaf("name", value));
        }
        around.push(shell);
    }
    around.pop();
    let mut shown = node.clone();
    while let Some(mut shell) = around.pop() {
        shell.below.push(shown);
        shown = shell;
    }
    Ok(Some(shown))
}

type Path<'s> = Vec<(&'s Statement, Option<String>)>;

/// The statements that words name, each with its value or name.
fn path<'s>(schema: &'s Schema, words: &[String]) -> Result<Path<'s>, String> {
    let (mut schema, mut path) = (schema, Vec::new());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (statement, value) = match (schema.get(word), schema.wordless_list()) {
            (Some(statement), _) if statement.kind != (Kind::List { is_typed: false }) => {
                let value = takes_value(statement)
                    .then(|| words.next().cloned())
                    .flatten();
                (statement, value)
            }
            (_, Some(list)) => (list, Some(word.clone())),
            (_, None) => return Err(format!("syntax error at `{word}`")),
        };
        path.push((statement, value));
        schema = &statement.below;
    }
    Ok(path)
}

fn takes_value(statement: &Statement) -> bool {
    match statement.kind {
        // `next-hop` has a value, what it excludes has not.
        Kind::Leaves => !matches!(statement.name.as_str(), "discard" | "reject"),
        Kind::Leaf | Kind::Wrapped(_) | Kind::List { .. } => true,
        Kind::Empty | Kind::Container { .. } => false,
    }
}

/// The words of a line: a text in quotes is one.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let Some(quoted) = rest.strip_prefix('"') else {
            let end = rest.find(' ').unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            rest = rest[end..].trim_start();
            continue;
        };
        let (mut word, mut end) = (String::new(), None);
        let mut characters = quoted.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '"' => {
                    end = Some(at + 1);
                    break;
                }
                // A backslash stands before a quote, or is shown as it is.
                '\\' => match characters.next() {
                    Some((_, quote @ ('"' | '\\'))) => word.push(quote),
                    Some((_, other)) => word.extend(['\\', other]),
                    None => word.push('\\'),
                },
                other => word.push(other),
            }
        }
        let end = end.ok_or_else(|| format!("a quote is open: `{line}`"))?;
        words.push(word);
        rest = quoted[end..].trim_start();
    }
    Ok(words)
}
