//! Finding the end of a command's echo, where the output begins.

use std::ops::Range;

use super::dialect::Pattern;
use super::prompt::Prompt;

/// The number of bytes searched for an echo. If there is none, the device does not echo.
pub(crate) const MAX_SEARCHED: usize = 64 * 1024;

/// Finds the end of a command's echo, including the line end, in the text that arrived since it was sent.
///
/// Text before the echo, such as a log message, was on its way already. An echo may be wrapped over
/// several lines, scrolled so that only its end is shown behind a `$`, or completed by the device
/// (`sh ver` becomes `show version`). In these cases its line must begin with the prompt.
pub(crate) fn end(
    text: &str,
    prompt: &Prompt,
    command: &str,
    unsolicited: &[Pattern],
) -> Option<usize> {
    let text = searched_text(text);
    let mut start = 0;
    let mut completed = None;
    while let Some(length) = text[start..].find('\n') {
        let line = &text[start..start + length];
        let end = start + length + 1;
        if line.trim() == command.trim() {
            return Some(end);
        }
        if let Some(typed) = prompt.strip(line) {
            let at = start + line.len() - typed.len();
            if let Some(length) = wrapped(&text[at..], command, unsolicited) {
                return Some(at + length);
            }
            if is_scrolled(typed, command) {
                return Some(end);
            }
            if completed.is_none() && is_completed(typed, command) {
                completed = Some(end);
            }
        }
        start = end;
    }
    completed
}

/// Finds the line in which a short command is echoed behind a prompt, exactly as it was typed. The range begins with the
/// prompt: a terminal may show in front of it what was typed while nothing read it.
pub(crate) fn behind_prompt(
    text: &str,
    prompt: &Prompt,
    is_prompt: impl Fn(&str) -> bool,
    command: &str,
) -> Option<Range<usize>> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let typed = line.strip_suffix('\n').map(str::trim_end);
        if let Some(before) = typed.and_then(|typed| typed.strip_suffix(command.trim())) {
            if prompt.is(before) || is_prompt(before) {
                return Some(start..end);
            }
            if let Some(at) = prompt.position_in(before) {
                return Some(start + at..end);
            }
        }
        start = end;
    }
    None
}

/// Finds the end of the echo of a text line, which follows no prompt and is shown unchanged.
pub(crate) fn end_of_text(text: &str, line: &str) -> Option<usize> {
    let mut start = 0;
    for shown in searched_text(text).split_inclusive('\n') {
        start += shown.len();
        if shown.ends_with('\n') && shown.trim() == line.trim() {
            return Some(start);
        }
    }
    None
}

/// Returns the part of a text that is searched.
fn searched_text(text: &str) -> &str {
    let mut end = MAX_SEARCHED.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the length of the command at the beginning of a text, including its line end. Blanks and line ends are
/// ignored, and messages that interrupted the typing are skipped.
fn wrapped(text: &str, command: &str, unsolicited: &[Pattern]) -> Option<usize> {
    let is_message = |line: &str| unsolicited.iter().any(|pattern| pattern.is_found_in(line));
    let mut expected = command.chars().filter(|c| !c.is_whitespace()).peekable();
    let mut length = 0;
    for line in text.split_inclusive('\n') {
        length += line.len();
        if length > line.len() && is_message(line) {
            continue;
        }
        for character in line.chars().filter(|c| !c.is_whitespace()) {
            if expected.next() != Some(character) {
                return None;
            }
        }
        if expected.peek().is_none() {
            return line.ends_with('\n').then_some(length);
        }
    }
    None
}

/// Returns whether a line editor shows only the end of a long command.
fn is_scrolled(typed: &str, command: &str) -> bool {
    const MIN_SHOWN: usize = 8;
    let shown = typed.trim().strip_prefix('$').map(str::trim);
    shown.is_some_and(|shown| shown.len() >= MIN_SHOWN && command.trim_end().ends_with(shown))
}

/// Returns whether all characters of the command appear in order, possibly with others in between.
fn is_completed(typed: &str, command: &str) -> bool {
    let mut shown = typed.chars();
    let mut typed = command
        .chars()
        .filter(|character| !character.is_whitespace());
    typed.all(|expected| shown.any(|character| character == expected))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text behind the echo.
    fn after<'t>(text: &'t str, command: &str) -> Option<&'t str> {
        let prompt = Prompt::learn("r1#", "r1#").expect("a prompt");
        let log = [Pattern::new(r"%[A-Z]+-\d-").expect("a pattern")];
        end(text, &prompt, command, &log).map(|end| &text[end..])
    }

    #[test]
    fn an_echo_follows_the_prompt() {
        assert_eq!(
            after("r1#show clock\n10:00\nr1#", "show clock"),
            Some("10:00\nr1#")
        );
        assert_eq!(
            after("r1# show  clock \n10:00", "show clock"),
            Some("10:00")
        );
        assert_eq!(after("r1#show clo", "show clock"), None);
        assert_eq!(after("r1#show clock", "show clock"), None);
        assert_eq!(after("r1#", "show clock"), None);
    }

    #[test]
    fn what_was_on_its_way_is_no_output() {
        let log = "r1#\n*Nov 21: %SYS-5-CONFIG_I: done\nr1#show clock\n10:00";
        assert_eq!(after(log, "show clock"), Some("10:00"));
        let log = "r1#\n*Nov 21: %SYS-5-CONFIG_I: done\nshow clock\n10:00";
        assert_eq!(after(log, "show clock"), Some("10:00"));
    }

    #[test]
    fn wrapped_scrolled_and_completed_echoes_are_known() {
        assert_eq!(
            after(
                "r1#show running\n-config interf\nace\nout",
                "show running-config interface"
            ),
            Some("out")
        );
        assert_eq!(
            after(
                "r1#$long description\nout",
                "description a long description"
            ),
            Some("out")
        );
        assert_eq!(after("r1#show version \nout", "sh ver"), Some("out"));
    }

    #[test]
    fn a_message_amid_the_typing_is_passed_over() {
        let amid = "r1#show\n*Nov 21: %SYS-5-CONFIG_I: done\n clock\n10:00";
        assert_eq!(after(amid, "show clock"), Some("10:00"));
        let again = "r1#show\n*Nov 21: %SYS-5-CONFIG_I: done\nr1#show clock\n10:00";
        assert_eq!(after(again, "show clock"), Some("10:00"));
    }

    #[test]
    fn another_command_is_no_echo() {
        assert_eq!(after("r1#show version\nout\n", "show clock"), None);
        assert_eq!(after("something show clock\nout\n", "show clock"), None);
    }
}
