//! The line editor, and its effect on the screen.

/// The maximum length of a line in IOS.
const MAX_LENGTH: usize = 254;

/// How far a line is moved to the left when it reaches the right margin.
const SCROLL: usize = 10;

/// A line that is edited at its end.
#[derive(Debug, Default)]
pub(super) struct Editor {
    line: Vec<u8>,
    /// How many characters are hidden on the left, behind a `$`.
    hidden: usize,
}

impl Editor {
    /// The typed text.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.line).into_owned()
    }

    /// Takes the typed text, and starts an empty line.
    pub(super) fn take(&mut self) -> String {
        let text = self.text();
        *self = Self::default();
        text
    }

    /// Adds a character, if the line is not full. `columns` is its width on the screen. Returns the echo.
    pub(super) fn push(&mut self, byte: u8, columns: usize) -> Vec<u8> {
        if self.line.len() == MAX_LENGTH {
            return vec![b'\x07'];
        }
        self.line.push(byte);
        let width = self.width();
        if width < columns || width <= SCROLL {
            return vec![byte];
        }
        let before = width - 1;
        self.hidden = self.line.len() - (columns - SCROLL).max(1).min(self.line.len());
        self.redrawn(before)
    }

    /// Removes the last character.
    pub(super) fn erase(&mut self) -> Vec<u8> {
        let before = self.width();
        if self.line.is_empty() {
            return vec![];
        }
        // A character of several bytes is one on the screen.
        while self.line.pop().is_some_and(|byte| byte & 0xC0 == 0x80) {}
        if self.hidden > 0 && self.line.len() <= self.hidden + 1 {
            self.hidden = 0;
            return self.redrawn(before);
        }
        b"\x08 \x08".to_vec()
    }

    /// Removes the last word.
    pub(super) fn erase_word(&mut self) -> Vec<u8> {
        let mut echo = vec![];
        while self.line.last() == Some(&b' ') {
            echo.extend(self.erase());
        }
        while self.line.last().is_some_and(|byte| *byte != b' ') {
            echo.extend(self.erase());
        }
        echo
    }

    /// Removes everything.
    pub(super) fn clear(&mut self) -> Vec<u8> {
        let before = self.width();
        *self = Self::default();
        self.redrawn(before)
    }

    /// Replaces the line without an output.
    pub(super) fn set(&mut self, text: &str) {
        *self = Self {
            line: text.as_bytes().to_vec(),
            hidden: 0,
        };
    }

    /// How many columns the line takes; the `$` is one.
    fn width(&self) -> usize {
        self.line.len() - self.hidden + usize::from(self.hidden > 0)
    }

    /// Moves back over the old text and redraws the line.
    fn redrawn(&self, before: usize) -> Vec<u8> {
        let mut echo = vec![b'\x08'; before];
        if self.hidden > 0 {
            echo.push(b'$');
        }
        echo.extend(&self.line[self.hidden..]);
        let surplus = before.saturating_sub(self.width());
        echo.extend(std::iter::repeat_n(b' ', surplus));
        echo.extend(std::iter::repeat_n(b'\x08', surplus));
        echo
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(editor: &mut Editor, text: &str, columns: usize) -> String {
        let echo = text
            .bytes()
            .flat_map(|byte| editor.push(byte, columns))
            .collect();
        String::from_utf8(echo).expect("text")
    }

    #[test]
    fn typed_characters_come_back_and_can_be_taken_away() {
        let mut editor = Editor::default();
        assert_eq!(typed(&mut editor, "show ver", 60), "show ver");
        assert_eq!(editor.erase(), b"\x08 \x08");
        assert_eq!(editor.text(), "show ve");
        assert_eq!(editor.erase_word(), b"\x08 \x08\x08 \x08");
        assert_eq!(editor.text(), "show ");
        assert_eq!(
            editor.clear(),
            b"\x08\x08\x08\x08\x08     \x08\x08\x08\x08\x08"
        );
        assert!(editor.erase().is_empty());
    }

    #[test]
    fn a_line_at_the_margin_scrolls_behind_a_dollar() {
        let mut editor = Editor::default();
        let echo = typed(&mut editor, "abcdefghijklmnopqrst", 20);
        let tail = "$klmnopqrst";
        let expected = format!(
            "abcdefghijklmnopqrs{}{tail}{}{}",
            "\x08".repeat(19),
            " ".repeat(8),
            "\x08".repeat(8)
        );
        assert_eq!(echo, expected);
        assert_eq!(editor.take(), "abcdefghijklmnopqrst");
    }

    #[test]
    fn a_line_has_an_end() {
        let mut editor = Editor::default();
        let echo = typed(&mut editor, &"x".repeat(MAX_LENGTH + 1), usize::MAX);
        assert!(echo.ends_with("x\x07"));
        assert_eq!(editor.take().len(), MAX_LENGTH);
    }
}
