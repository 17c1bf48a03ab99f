//! Reads the output of a template: commands, and the texts of several lines that some of them open.

use std::fmt;

use devgate_transports::Dialect;
use devgate_transports::dialect::TextEnd;

use super::Line;
use crate::template::{Secrets, VALUE_LINE_END};

/// Why the output of a template is no list of lines, with the number of the line, from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LineProblem {
    /// Its indentation matches no line above it.
    Indentation(usize),
    /// A value has a line end where no text of several lines is open.
    NoText(usize),
    /// What ends a text occurs before the text's own end.
    EndWithin(usize, TextEnd),
    /// A question mark at a prompt asks for help.
    QuestionMark(usize),
}

/// What was read so far.
struct RenderedLines<'r> {
    secrets: &'r Secrets,
    dialect: Option<&'r Dialect>,
    lines: Vec<Line>,
    /// The indentation of each depth.
    indents: Vec<usize>,
    text: TextState,
}

/// Whether a text of several lines is open.
enum TextState {
    None,
    /// Its end, and the indentation of the line that opened it.
    Open(TextEnd, usize),
    /// The line before ended it.
    Ended(TextEnd),
}

impl Line {
    /// Splits a rendered text into lines: each line is a command, and an indented one is below the line
    /// above it. Lines of a text that the dialect's `text` opens are typed as they are.
    ///
    /// # Errors
    /// Fails with the first line that cannot be typed.
    pub(crate) fn all(
        text: &str,
        secrets: &Secrets,
        dialect: Option<&Dialect>,
    ) -> Result<Vec<Self>, LineProblem> {
        let mut rendered = RenderedLines {
            secrets,
            dialect,
            lines: Vec::new(),
            indents: Vec::new(),
            text: TextState::None,
        };
        for (number, line) in (1..).zip(text.lines()) {
            let mut parts = line.split(VALUE_LINE_END);
            let first = parts.next().unwrap_or_default();
            match rendered.text {
                // The template may indent the text as much as the line that opens it.
                TextState::Open(_, indent) => {
                    let own = first.len() - first.trim_start_matches(' ').len();
                    rendered.text_line(number, &first[own.min(indent)..])?;
                }
                TextState::None | TextState::Ended(_) => rendered.command(number, first)?,
            }
            for part in parts {
                rendered.continuation(number, part)?;
            }
        }
        Ok(rendered.lines)
    }
}

impl RenderedLines<'_> {
    /// A line at the prompt, which may open a text.
    fn command(&mut self, number: usize, line: &str) -> Result<(), LineProblem> {
        let content = line.trim_start_matches(' ');
        let indent = line.len() - content.len();
        let content = content.trim_end();
        if let TextState::Ended(end) = std::mem::replace(&mut self.text, TextState::None)
            && content == end.as_str()
        {
            // A value ended the text, before the template's own end.
            return Err(LineProblem::EndWithin(number, end));
        }
        if content.is_empty() {
            return Ok(());
        }
        let deepest = self.indents.len();
        self.indents.retain(|&above| above <= indent);
        if self.indents.last() != Some(&indent) {
            if self.indents.len() < deepest {
                return Err(LineProblem::Indentation(number));
            }
            self.indents.push(indent);
        }
        let line = Line::new(self.indents.len() - 1, content, self.secrets);
        if let Some(dialect) = self.dialect {
            if dialect.literal.is_none() && line.clear().contains('?') {
                return Err(LineProblem::QuestionMark(number));
            }
            if let Some((end, begun)) = dialect.text_opened_by(line.clear()) {
                self.text = TextState::Open(end, indent);
                self.end_text(number, begun)?;
            }
        }
        self.lines.push(line);
        Ok(())
    }

    /// A line of the open text.
    fn text_line(&mut self, number: usize, text: &str) -> Result<(), LineProblem> {
        let depth = self.lines.last().map_or(0, |line| line.depth);
        let mut line = Line::new(depth, text, self.secrets);
        line.is_text = true;
        self.end_text(number, line.clear())?;
        self.lines.push(line);
        Ok(())
    }

    /// What follows a line end in a value.
    fn continuation(&mut self, number: usize, part: &str) -> Result<(), LineProblem> {
        match &self.text {
            TextState::Open(..) => self.text_line(number, part),
            TextState::Ended(end) => Err(LineProblem::EndWithin(number, end.clone())),
            TextState::None => Err(LineProblem::NoText(number)),
        }
    }

    /// Ends the open text if this part of it holds its end.
    fn end_text(&mut self, number: usize, text: &str) -> Result<(), LineProblem> {
        if let TextState::Open(end, _) = &self.text
            && end.is_in(text)
        {
            let end = end.clone();
            if !end.is_last_in(text) {
                return Err(LineProblem::EndWithin(number, end));
            }
            self.text = TextState::Ended(end);
        }
        Ok(())
    }
}

impl fmt::Display for LineProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Indentation(line) => write!(
                f,
                "line {line} of what it makes is indented like no line above it"
            ),
            Self::NoText(line) => write!(
                f,
                "line {line} of what it makes holds a value with a line end, and is no text that \
                 the dialect's `text` opens"
            ),
            Self::EndWithin(line, end) => write!(
                f,
                "line {line} of what it makes holds a value with `{}`, which ends the text",
                end.as_str()
            ),
            Self::QuestionMark(line) => write!(
                f,
                "line {line} of what it makes holds `?`, which asks for help on a command line: \
                 the dialect has no `literal`"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depths(text: &str) -> Result<Vec<(usize, String)>, LineProblem> {
        let lines = Line::all(text, &Secrets::default(), None)?;
        Ok(lines
            .into_iter()
            .map(|line| (line.depth, line.shown))
            .collect())
    }

    #[test]
    fn indentation_is_depth() {
        let text = "router bgp 1\n  neighbor a\n   b\n\n  c \nd\n";
        let expected = [
            (0, "router bgp 1"),
            (1, "neighbor a"),
            (2, "b"),
            (1, "c"),
            (0, "d"),
        ];
        let expected = expected.map(|(depth, line)| (depth, line.to_owned()));
        assert_eq!(depths(text), Ok(expected.to_vec()));
    }

    #[test]
    fn a_text_that_is_indented_as_a_whole_is_not_deep() {
        assert_eq!(
            depths("  a\n   b\n"),
            Ok(vec![(0, "a".to_owned()), (1, "b".to_owned())])
        );
    }

    #[test]
    fn a_line_that_fits_under_none_is_refused() {
        assert_eq!(depths("  a\n    b\n c\n"), Err(LineProblem::Indentation(3)));
        assert_eq!(depths("a\n    b\n  c\n"), Err(LineProblem::Indentation(3)));
    }

    #[test]
    fn modes_are_left_where_the_indentation_goes_back() {
        let lines = Line::all("a\n b\n  c\nd\n", &Secrets::default(), None).expect("lines");
        let exits = |at: usize| {
            lines[at]
                .mode_exits_before(&lines[at + 1], Some("exit"))
                .count()
        };
        assert_eq!([exits(0), exits(1), exits(2)], [0, 0, 2]);
    }

    const BANNERS: &str = r#"{"text": ["^banner \\S+ (\\S)", {"opens": "^ banner$", "end": "EOF"},
        {"opens": "^banner$", "end": "EOF"}]}"#;

    /// Returns the lines for people of a text in which `|` is a line end of a value.
    fn typed(text: &str) -> Result<Vec<String>, LineProblem> {
        let dialect: Dialect = serde_json::from_str(BANNERS).expect("a dialect");
        let text = text.replace('|', &VALUE_LINE_END.to_string());
        let lines = Line::all(&text, &Secrets::default(), Some(&dialect))?;
        let shown = |line: &Line| line.text(crate::SecretVisibility::Redacted);
        Ok(lines.iter().map(shown).collect())
    }

    #[test]
    fn a_text_is_typed_as_it_is_up_to_its_end() {
        assert_eq!(
            typed("banner motd ^ a|  b ||c^\nhostname x\n"),
            Ok(["banner motd ^ a", "  b ", "", "c^", "hostname x"]
                .map(str::to_owned)
                .into())
        );
        assert_eq!(
            typed("vlan 1\n banner\n  one|  two?||EOF, no\n EOF\n mtu 1\n"),
            Ok([
                "vlan 1", " banner", " one", "  two?", "", "EOF, no", "EOF", " mtu 1"
            ]
            .map(str::to_owned)
            .into())
        );
        assert_eq!(
            typed("banner motd ^one^\nhostname x\n"),
            Ok(["banner motd ^one^", "hostname x"]
                .map(str::to_owned)
                .into())
        );
    }

    #[test]
    fn no_value_ends_its_text_or_begins_a_command() {
        let delimiter = || TextEnd::Delimiter("^".to_owned());
        let line = || TextEnd::Line("EOF".to_owned());
        for (text, expected) in [
            (
                "banner motd ^a^|reload^",
                LineProblem::EndWithin(1, delimiter()),
            ),
            (
                "banner motd ^a|b^|reload^",
                LineProblem::EndWithin(1, delimiter()),
            ),
            (
                "banner motd ^a|b^ reload^",
                LineProblem::EndWithin(1, delimiter()),
            ),
            (
                "banner motd ^a^ reload^",
                LineProblem::EndWithin(1, delimiter()),
            ),
            (
                "banner motd ^\na^\n^",
                LineProblem::EndWithin(3, delimiter()),
            ),
            (
                "banner\na|EOF|reload\nEOF",
                LineProblem::EndWithin(2, line()),
            ),
            ("banner\na| EOF \nEOF", LineProblem::EndWithin(3, line())),
            ("banner\nEOF\nEOF", LineProblem::EndWithin(3, line())),
            ("hostname a|reload", LineProblem::NoText(1)),
            ("banner motd ^why?^", LineProblem::QuestionMark(1)),
        ] {
            assert_eq!(typed(text), Err(expected), "{text}");
        }
    }
}
