//! The text between two prompts: empty, an empty line, a line such as `[edit]`, or the device's answer to a line of
//! blanks. Messages may come in between at any time.

use super::dialect::{Pattern, is_question};
use super::prompt_behaviour::{MAX_GAP, PromptBehaviour};
use super::screen::Screen;

/// Finds the chain of prompts that ends with the last line: at least one more prompt above it, at most `most`, with
/// nothing but the gap and messages in between. Returns the start of the first prompt, and the gap.
pub(super) fn chain(
    screen: &Screen,
    is_prompt: impl Fn(&str) -> bool,
    prompt_behaviour: Option<&PromptBehaviour>,
    unsolicited: &[Pattern],
    most: usize,
) -> Option<(usize, String)> {
    let text = screen.text();
    let mut start = screen.last_line_start();
    let mut gap = prompt_behaviour.map(|prompt_behaviour| prompt_behaviour.gap.clone());
    for found in 0..most {
        let known = gap.as_deref().unwrap_or_default();
        let Some((above, between)) = prompt_above(text, start, &is_prompt, known, unsolicited)
        else {
            return (found > 0).then(|| (start, gap.unwrap_or_default()));
        };
        match &gap {
            Some(gap) if !is_gap(between, gap, unsolicited) => {
                return (found > 0).then(|| (start, gap.clone()));
            }
            Some(_) => {}
            // The input typed for the second prompt may have answered a question between the two.
            None if between.lines().any(is_question) => {
                return (found > 0).then(|| (start, String::new()));
            }
            None => gap = Some(without_messages(between, unsolicited)),
        }
        start = above;
    }
    Some((start, gap.unwrap_or_default()))
}

/// Finds the nearest prompt above an offset. Returns its start and the text in between. A known gap may be of any
/// length.
pub(super) fn prompt_above<'t>(
    text: &'t str,
    below: usize,
    is_prompt: impl Fn(&str) -> bool,
    gap: &str,
    unsolicited: &[Pattern],
) -> Option<(usize, &'t str)> {
    let above = text[..below].strip_suffix(gap).filter(|_| !gap.is_empty());
    if let Some(above) = above.and_then(|above| above.strip_suffix('\n')) {
        let start = above.rfind('\n').map_or(0, |at| at + 1);
        if is_prompt(&above[start..]) {
            return Some((start, &text[above.len() + 1..below]));
        }
    }
    let (mut end, mut lines) = (below, 0);
    while end > 0 && lines <= MAX_GAP {
        let start = text[..end - 1].rfind('\n').map_or(0, |at| at + 1);
        let line = &text[start..end];
        if is_prompt(line.trim_end_matches('\n')) {
            return Some((start, &text[end..below]));
        }
        lines += usize::from(!is_only_messages(line, unsolicited) || line.trim().is_empty());
        end = start;
    }
    None
}

/// Finds the line above an offset with nothing but messages in between. Returns its start.
pub(super) fn behind_messages(
    text: &str,
    below: usize,
    is_line: impl Fn(&str) -> bool,
    unsolicited: &[Pattern],
) -> Option<usize> {
    let mut end = below;
    while end > 0 {
        let start = text[..end - 1].rfind('\n').map_or(0, |at| at + 1);
        let line = text[start..end].trim_end_matches('\n');
        if end < below && is_line(line) {
            return Some(start);
        }
        if line.trim().is_empty() || !is_only_messages(line, unsolicited) {
            return None;
        }
        end = start;
    }
    None
}

/// Returns whether a text between two prompts is the gap. If it contains a message, empty lines do not
/// count, because messages come with their own.
pub(super) fn is_gap(between: &str, gap: &str, unsolicited: &[Pattern]) -> bool {
    if between == gap {
        return true;
    }
    let rest = without_messages(between, unsolicited);
    let full = |text: &str| -> Vec<String> {
        text.lines()
            .filter(|line| !line.trim().is_empty())
            .map(str::to_owned)
            .collect()
    };
    rest != between && full(&rest) == full(gap)
}

fn without_messages(text: &str, unsolicited: &[Pattern]) -> String {
    let is_message = |line: &&str| unsolicited.iter().any(|pattern| pattern.is_found_in(line));
    text.split_inclusive('\n')
        .filter(|line| !is_message(line))
        .collect()
}

/// Returns whether a text consists of empty lines and unsolicited messages only.
pub(crate) fn is_only_messages(text: &str, unsolicited: &[Pattern]) -> bool {
    text.lines().all(|line| {
        line.trim().is_empty() || unsolicited.iter().any(|pattern| pattern.is_found_in(line))
    })
}
