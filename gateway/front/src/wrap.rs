//! Wraps lines to the width of the terminal, between words.

use std::io::IsTerminal;
use std::os::fd::AsFd;

use rustix::termios::tcgetwinsize;

/// Below this width, wrapping is useless.
const MIN_WIDTH: usize = 20;

/// The width of the terminal of a stream; `None` for a pipe or a file.
pub fn width(stream: &(impl AsFd + IsTerminal)) -> Option<usize> {
    let columns = stream
        .is_terminal()
        .then(|| tcgetwinsize(stream).ok())
        .flatten()?
        .ws_col;
    (columns > 0).then(|| usize::from(columns).max(MIN_WIDTH))
}

/// Wraps the lines of a text at blanks to `width`. Continuation lines are indented like the last column, or else a
/// little more than the line. A longer word is not broken.
pub fn wrapped(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let mut wrapped = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (body, end) = match line.strip_suffix('\n') {
            Some(body) => (body, "\n"),
            None => (line, ""),
        };
        if display_width(body) <= width {
            wrapped.push_str(body);
        } else {
            wrapped.push_str(&wrap_line(body, width, ""));
        }
        wrapped.push_str(end);
    }
    wrapped
}

/// Wraps a shell command so that it stays a valid command.
pub fn command(line: &str, width: usize) -> String {
    // The comment after a command moves before it.
    let (command, comment) = match line.split_once("  #") {
        Some((command, comment)) => (command.trim_end(), Some(comment)),
        None => (line, None),
    };
    let indent: String = command.chars().take_while(|c| *c == ' ').collect();
    let mut text = match comment {
        Some(comment) if display_width(line) > width => {
            let comment = format!("{indent}#{comment}");
            // Each line of a comment begins with its mark.
            let comment = wrap_line(&comment, width, "").replace("\n  ", "\n");
            format!("{}\n", comment.replace('\n', &format!("\n{indent}# ")))
        }
        Some(_) => return line.to_owned(),
        None => String::new(),
    };
    if display_width(command) <= width {
        text.push_str(command);
    } else {
        text.push_str(&wrap_line(command, width - 2, " \\"));
    }
    text
}

/// Wraps one line at blanks, with `mark` at the end of each line except the last.
fn wrap_line(line: &str, width: usize, mark: &str) -> String {
    let indent = continuation_indent(line, width);
    let mut text = String::new();
    let mut column = 0;
    let mut is_first = true;
    for (blanks, word) in words(line) {
        let is_wide = column + blanks.len() + display_width(word) > width;
        if is_wide && !is_first {
            text.push_str(mark);
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else {
            text.push_str(blanks);
            column += blanks.len();
        }
        text.push_str(word);
        column += display_width(word);
        is_first = false;
    }
    text
}

/// The indentation of continuation lines.
fn continuation_indent(line: &str, width: usize) -> usize {
    let own = line.len() - line.trim_start_matches(' ').len();
    let columns = line.rmatch_indices("  ");
    let mut columns = columns.map(|(at, gap)| display_width(&line[..at + gap.len()]));
    let column = columns.next().filter(|column| *column > own);
    match column {
        Some(column) if column * 2 <= width => column,
        _ => (own + 2).min(width / 2),
    }
}

/// The words of a line, each with the blanks before it.
fn words(line: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = line;
    std::iter::from_fn(move || {
        let word = rest.trim_start_matches(' ');
        let blanks = &rest[..rest.len() - word.len()];
        if word.is_empty() {
            return None;
        }
        let end = word.find(' ').unwrap_or(word.len());
        rest = &word[end..];
        Some((blanks, &word[..end]))
    })
}

/// The width of a text in columns, without colours.
fn display_width(text: &str) -> usize {
    let mut columns = 0;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.find(char::is_ascii_alphabetic);
        } else {
            columns += 1;
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_broken_at_blanks_and_indented_as_it_stands() {
        let text = "  one two three four five six seven\nshort\n";
        assert_eq!(
            wrapped(text, Some(20)),
            "  one two three four\n    five six seven\nshort\n"
        );
        assert_eq!(wrapped(text, None), text);
        let row = "name  what it is for, told in many words";
        assert_eq!(
            wrapped(row, Some(24)),
            "name  what it is for,\n      told in many words"
        );
    }

    #[test]
    fn no_word_is_broken_and_colours_have_no_width() {
        let long = "x".repeat(60);
        let text = format!("see {long} there");
        assert_eq!(wrapped(&text, Some(40)), format!("see\n  {long}\n  there"));
        let coloured = "\u{1b}[31m0123456789\u{1b}[0m 0123456789";
        assert_eq!(wrapped(coloured, Some(21)), coloured);
    }

    #[test]
    fn a_command_that_is_broken_is_still_one() {
        let line = "  devgate device -t r1 --apply routes.yaml --noop  # what would change";
        assert_eq!(command(line, 80), line);
        assert_eq!(
            command(line, 40),
            "  # what would change\n  devgate device -t r1 --apply \\\n    routes.yaml --noop"
        );
    }
}
