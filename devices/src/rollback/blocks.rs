//! Configurations as nested blocks of lines, and the difference between two of them.

use std::iter::Peekable;
use std::vec;

use crate::Result;

/// A configuration line, and the lines nested in it.
#[derive(Debug, PartialEq)]
pub(super) struct Block<'t> {
    line: &'t str,
    children: Vec<Self>,
}

/// One line to type, after the lines that enter its mode.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) parents: Vec<String>,
    /// The configuration line that is added or removed.
    pub(super) line: String,
    /// The text to type.
    pub(super) typed: String,
    pub(super) kind: StepKind,
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StepKind {
    Remove,
    Add,
}

/// The blocks of a configuration: an indented line is inside the line above.
pub(super) fn blocks(text: &str, is_ignored: impl Fn(&str) -> bool) -> Vec<Block<'_>> {
    let lines = text.lines().filter_map(|line| {
        let content = line.trim();
        let indent = line.len() - line.trim_start().len();
        (!content.is_empty() && !is_ignored(content)).then_some((indent, content))
    });
    let lines: Vec<(usize, &str)> = lines.collect();
    nested(&mut lines.into_iter().peekable(), None)
}

/// The blocks that are indented more than the line above them.
fn nested<'t>(
    lines: &mut Peekable<vec::IntoIter<(usize, &'t str)>>,
    above: Option<usize>,
) -> Vec<Block<'t>> {
    let mut blocks = Vec::new();
    while let Some((indent, line)) =
        lines.next_if(|(indent, _)| above.is_none_or(|above| *indent > above))
    {
        let children = nested(lines, Some(indent));
        blocks.push(Block { line, children });
    }
    blocks
}

/// The steps from one configuration to another. Surplus lines are removed first, innermost and last line
/// first, because later lines depend on earlier ones. Then missing lines are added in order.
///
/// `undo` returns the line that removes a line.
///
/// # Errors
/// Fails as `undo` does.
pub(super) fn steps(
    from: &[Block<'_>],
    to: &[Block<'_>],
    undo: &dyn Fn(&str) -> Result<String>,
) -> Result<Vec<Step>> {
    let mut steps = Vec::new();
    remove(from, to, undo, &mut Vec::new(), &mut steps)?;
    add(from, to, &mut Vec::new(), &mut steps);
    Ok(steps)
}

fn remove(
    from: &[Block<'_>],
    to: &[Block<'_>],
    undo: &dyn Fn(&str) -> Result<String>,
    parents: &mut Vec<String>,
    steps: &mut Vec<Step>,
) -> Result<()> {
    for block in from.iter().rev() {
        let kept = find(to, block);
        parents.push(block.line.to_owned());
        remove(
            &block.children,
            kept.map_or(&[], |to| &to.children),
            undo,
            parents,
            steps,
        )?;
        parents.pop();
        if kept.is_none() {
            steps.push(Step {
                parents: parents.clone(),
                line: block.line.to_owned(),
                typed: undo(block.line)?,
                kind: StepKind::Remove,
            });
        }
    }
    Ok(())
}

fn add(from: &[Block<'_>], to: &[Block<'_>], parents: &mut Vec<String>, steps: &mut Vec<Step>) {
    for block in to {
        let existing = find(from, block);
        if existing.is_none() {
            steps.push(Step {
                parents: parents.clone(),
                line: block.line.to_owned(),
                typed: block.line.to_owned(),
                kind: StepKind::Add,
            });
        }
        parents.push(block.line.to_owned());
        add(
            existing.map_or(&[], |from| &from.children),
            &block.children,
            parents,
            steps,
        );
        parents.pop();
    }
}

fn find<'b, 't>(blocks: &'b [Block<'t>], wanted: &Block<'_>) -> Option<&'b Block<'t>> {
    blocks.iter().find(|block| block.line == wanted.line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<Block<'_>> {
        blocks(text, |line| line == "!" || line == "exit")
    }

    fn typed(from: &str, to: &str) -> Vec<String> {
        let undo = |line: &str| Ok(format!("no {line}"));
        let steps = steps(&read(from), &read(to), &undo).expect("steps");
        let shown = |step: Step| [step.parents, vec![step.typed]].concat().join(" / ");
        steps.into_iter().map(shown).collect()
    }

    const BGP: &str = "router bgp 1\n neighbor a remote-as 2\n neighbor a password x\n !\n \
                       address-family ipv4\n  network n\n exit\nexit\n";

    #[test]
    fn equal_blocks_need_no_step_whatever_is_between_them() {
        assert_eq!(typed(BGP, &BGP.replace(" !\n", "")), Vec::<String>::new());
    }

    #[test]
    fn a_block_goes_from_its_inside_and_comes_from_its_outside() {
        assert_eq!(
            typed(BGP, ""),
            [
                "router bgp 1 / address-family ipv4 / no network n",
                "router bgp 1 / no address-family ipv4",
                "router bgp 1 / no neighbor a password x",
                "router bgp 1 / no neighbor a remote-as 2",
                "no router bgp 1",
            ]
        );
        assert_eq!(
            typed("", BGP),
            [
                "router bgp 1",
                "router bgp 1 / neighbor a remote-as 2",
                "router bgp 1 / neighbor a password x",
                "router bgp 1 / address-family ipv4",
                "router bgp 1 / address-family ipv4 / network n",
            ]
        );
    }

    #[test]
    fn a_line_that_changed_goes_before_it_comes() {
        assert_eq!(
            typed(
                "interface e\n mtu 1\nhostname a\n",
                "interface e\n mtu 2\nhostname a\n"
            ),
            ["interface e / no mtu 1", "interface e / mtu 2"]
        );
    }
}
