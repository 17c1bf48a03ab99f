//! Cleaning up the output of a command whose end is known: pagers and late messages are removed.

use super::dialect::{LinePattern, Pattern};
use super::gap::is_only_messages;
use super::prompt::Prompt;
use super::question::AnsweredQuestion;

/// Removes the pagers that the device did not erase from an output that began at `start`.
pub(super) fn without_pagers(output: &mut String, start: usize, answered: &[AnsweredQuestion]) {
    for AnsweredQuestion { at, line, .. } in answered.iter().rev() {
        let line = line.trim_end();
        let Some(at) = at.checked_sub(start) else {
            continue;
        };
        let Some(rest) = output.get(at..).and_then(|rest| rest.strip_prefix(line)) else {
            continue;
        };
        let blank = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let end = if rest[blank..].starts_with('\n') {
            blank + 1
        } else {
            0
        };
        output.replace_range(at..at + line.len() + end, "");
    }
}

/// Removes the line above a prompt that belongs to it, from the end of an output.
pub(super) fn without_line_above(output: &mut String, above: Option<&LinePattern>) {
    let text = output.trim_end_matches('\n');
    let start = text.rfind('\n').map_or(0, |at| at + 1);
    if above.is_some_and(|above| above.is(&text[start..])) {
        output.truncate(start);
    }
}

/// Removes `end` from the end of an output.
pub(super) fn without_end(output: &mut String, end: &str) {
    if let Some(length) = output.strip_suffix(end).map(str::len) {
        output.truncate(length);
    }
}

/// Removes the prompts that an extra Enter caused, with the gap above each. Enter is extra if the device took only the
/// first key of an answer.
pub(super) fn without_entered(
    output: &mut String,
    prompt: &Prompt,
    gap: &str,
    answered: &[AnsweredQuestion],
) {
    for _ in answered.iter().filter(|answered| answered.entered) {
        let last = output
            .trim_end_matches('\n')
            .rfind('\n')
            .map_or(0, |at| at + 1);
        if !prompt.is(output[last..].trim_end_matches('\n')) {
            return;
        }
        output.truncate(last);
        without_end(output, gap);
    }
}

/// Removes messages that the device wrote behind its prompt, with that prompt, as often as they occur. If it is known
/// that there are such messages (`is_late`), all text behind the last prompt is taken for messages.
pub(super) fn without_late_messages(
    output: &mut String,
    prompt: &Prompt,
    mut is_late: bool,
    unsolicited: &[Pattern],
) {
    if !prompt.may_be_in(output) {
        return;
    }
    let (mut end, mut has_message) = (output.len(), false);
    while end > 0 {
        let start = output[..end]
            .trim_end_matches('\n')
            .rfind('\n')
            .map_or(0, |at| at + 1);
        let line = &output[start..end];
        let line = line.trim_end_matches('\n');
        // The prompt may follow output without a line end.
        let at = if prompt.is(line) {
            Some(0)
        } else {
            prompt.position_in(line)
        };
        if let Some(at) = at.filter(|_| has_message) {
            output.truncate(start + at);
            (end, has_message, is_late) = (output.len(), false, false);
            if at > 0 {
                return;
            }
            continue;
        }
        if prompt.is(line) || !(is_late || is_only_messages(line, unsolicited)) {
            return;
        }
        has_message |= !line.trim().is_empty();
        end = start;
    }
}

#[cfg(test)]
mod tests {
    use super::super::dialect::Pattern;
    use super::*;

    fn cut(output: &str) -> String {
        let mut output = output.to_owned();
        let prompt = Prompt::learn("r1#", "r1#").expect("a prompt");
        let log = [Pattern::new("^%SYS-").expect("a pattern")];
        without_late_messages(&mut output, &prompt, false, &log);
        output
    }

    #[test]
    fn messages_behind_the_prompt_are_cut_off_and_others_kept() {
        assert_eq!(cut("out\nr1#\n%SYS-5: late\n"), "out\n");
        assert_eq!(cut("r1#\n%SYS-5: late\n"), "");
        assert_eq!(cut("out\nr1#\n%SYS-5: late\nr1#\n%SYS-5: later\n"), "out\n");
        assert_eq!(cut("out\nnot endedr1#\n%SYS-5: late\n"), "out\nnot ended");
        assert_eq!(
            cut("out\n%SYS-5: in the output\n"),
            "out\n%SYS-5: in the output\n"
        );
        assert_eq!(cut("out\nr1#\nmore\n"), "out\nr1#\nmore\n");
        assert_eq!(cut("out\nr1#\n\n"), "out\nr1#\n\n");
        assert_eq!(cut(""), "");
    }

    #[test]
    fn a_pager_that_was_left_standing_is_taken_out() {
        let answered = |at| {
            vec![AnsweredQuestion {
                at,
                line: "--More-- ".to_owned(),
                entered: false,
            }]
        };
        let mut output = "one\n--More--\ntwo\n".to_owned();
        without_pagers(&mut output, 10, &answered(14));
        assert_eq!(output, "one\ntwo\n");
        let mut output = "one\n--More--two\n".to_owned();
        without_pagers(&mut output, 10, &answered(14));
        assert_eq!(output, "one\ntwo\n");
        let mut output = "one\ntwo\n".to_owned();
        without_pagers(&mut output, 10, &answered(14));
        assert_eq!(output, "one\ntwo\n");
    }
}
