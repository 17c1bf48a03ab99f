//! Configuration lines: the output of templates, and the input of CLI sessions.

mod batch;

use devgate_schemas::{REDACTED, Sensitive};

use crate::SecretVisibility;
use crate::template::{Escape, Revealed, Secrets};

pub(crate) use batch::send;

/// A line of configuration with its depth. It is typed in the mode that the nearest line above it with less
/// depth has entered.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    depth: usize,
    /// The line with its secrets redacted.
    shown: String,
    /// The line in clear and its secrets, if it has any.
    secret: Option<Revealed>,
}

/// The command that leaves a configuration mode, on every CLI with indented configuration.
const EXIT_MODE: &str = "exit";

impl Line {
    /// Splits a rendered text into lines: each line is a command, and an indented one is below the line
    /// above it.
    ///
    /// # Errors
    /// Fails with the number of a line, counted from 1, whose indentation matches no line above it.
    pub(crate) fn all(text: &str, secrets: &Secrets) -> Result<Vec<Self>, usize> {
        let mut lines = Vec::new();
        let mut indents: Vec<usize> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let content = line.trim_start_matches(' ');
            if content.trim_end().is_empty() {
                continue;
            }
            let indent = line.len() - content.len();
            let deepest = indents.len();
            indents.retain(|&above| above <= indent);
            if indents.last() != Some(&indent) {
                if indents.len() < deepest {
                    return Err(number);
                }
                indents.push(indent);
            }
            let (shown, secret) = secrets.redact(content.trim_end(), Escape::None);
            lines.push(Self {
                depth: indents.len() - 1,
                shown,
                secret,
            });
        }
        Ok(lines)
    }

    /// Creates a line that may be a secret as a whole.
    pub(crate) fn hidden(depth: usize, text: String) -> Self {
        let text = Sensitive::new(text);
        Self {
            depth,
            shown: REDACTED.to_owned(),
            secret: Some(Revealed {
                secrets: vec![text.clone()],
                text,
            }),
        }
    }

    /// Returns the line for people, indented by its depth.
    pub(crate) fn text(&self, secrets: SecretVisibility) -> String {
        let text = match (&self.secret, secrets) {
            (Some(revealed), SecretVisibility::InClear) => revealed.text.reveal(),
            _ => &self.shown,
        };
        format!("{}{text}", " ".repeat(self.depth))
    }

    /// Converts the line for a CLI session.
    pub(crate) fn to_transport(&self) -> devgate_transports::Line {
        match &self.secret {
            None => devgate_transports::Line::new(self.shown.clone()),
            Some(Revealed { text, secrets }) => {
                devgate_transports::Line::with_secrets(text.reveal().clone(), secrets.clone())
            }
        }
    }

    /// Returns the lines that must be typed after this one, so that `next` is read in its own mode.
    pub(crate) fn mode_exits_before(
        &self,
        next: &Self,
    ) -> impl Iterator<Item = devgate_transports::Line> {
        let exits = self.depth.saturating_sub(next.depth);
        std::iter::repeat_n(EXIT_MODE, exits).map(devgate_transports::Line::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn depths(text: &str) -> Result<Vec<(usize, String)>, usize> {
        let lines = Line::all(text, &Secrets::default())?;
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
        assert_eq!(depths("  a\n    b\n c\n"), Err(3));
        assert_eq!(depths("a\n    b\n  c\n"), Err(3));
    }

    #[test]
    fn modes_are_left_where_the_indentation_goes_back() {
        let lines = Line::all("a\n b\n  c\nd\n", &Secrets::default()).expect("lines");
        let exits = |at: usize| lines[at].mode_exits_before(&lines[at + 1]).count();
        assert_eq!([exits(0), exits(1), exits(2)], [0, 0, 2]);
    }
}
