//! The learnt prompt of a session.

/// The maximum length of a last line that is matched against patterns.
pub(super) const MAX_PROMPT_LENGTH: usize = 512;

/// The device's current prompt, exactly as shown.
///
/// If two readings of it differed only in digits (a clock, a counter), digits are ignored when it is
/// compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Prompt {
    text: String,
    /// The number of blanks at its end.
    ending: usize,
    digits_vary: bool,
}

impl Prompt {
    /// Learns the prompt from two readings. Returns `None` if they cannot be the same prompt.
    pub(crate) fn learn(first: &str, second: &str) -> Option<Self> {
        let shown = second.len();
        let (first, second) = (first.trim_end(), second.trim_end());
        let digits_vary = first != second;
        (!first.is_empty() && (!digits_vary || same_shape(first, second))).then(|| Self {
            text: second.to_owned(),
            ending: shown - second.len(),
            digits_vary,
        })
    }

    /// Returns the number of blanks at its end.
    pub(crate) fn trailing_blanks(&self) -> usize {
        self.ending
    }

    /// Takes the line at which something is typed as the prompt.
    pub(crate) fn from_line(line: &str, like: Option<&Self>) -> Self {
        let digits_vary = like.is_some_and(|prompt| prompt.digits_vary);
        Self {
            text: line.trim_end().to_owned(),
            ending: line.len() - line.trim_end().len(),
            digits_vary,
        }
    }

    /// Returns the prompt of another mode, which ends with as many blanks as this one, at a line that may show more.
    pub(crate) fn of_mode(&self, line: &str) -> Self {
        Self {
            ending: self.ending,
            ..Self::from_line(line, Some(self))
        }
    }

    /// Returns this prompt with the digits of a line that otherwise equals it.
    pub(crate) fn with_digits_of(&self, line: &str) -> Self {
        Self {
            digits_vary: true,
            ..Self::from_line(line, Some(self))
        }
    }

    /// Returns whether a line is this prompt.
    pub(crate) fn is(&self, line: &str) -> bool {
        let line = line.trim_end();
        line == self.text
            || (self.digits_vary
                && same_shape(line, &self.text)
                && leading_digits(line) <= max_leading_digits(&self.text))
    }

    /// Returns the rest of a line that begins with this prompt.
    pub(crate) fn strip<'l>(&self, line: &'l str) -> Option<&'l str> {
        if let Some(rest) = line.strip_prefix(self.text.as_str()) {
            return Some(rest);
        }
        if !self.digits_vary {
            return None;
        }
        let last = self.text.chars().next_back()?;
        let ends = line
            .char_indices()
            .filter(|(_, character)| *character == last);
        ends.map(|(at, character)| line.split_at(at + character.len_utf8()))
            .find(|(prompt, _)| same_shape(prompt, &self.text))
            .map(|(_, rest)| rest)
    }

    /// Returns where this prompt begins in a line that starts with something else: output without a line
    /// end.
    ///
    /// A clock or a counter may have advanced. If digits precede the prompt's leading digits, the prompt gets as many
    /// digits as it had before.
    pub(crate) fn position_in(&self, line: &str) -> Option<usize> {
        let line = line.trim_end();
        if let Some(before) = line.strip_suffix(self.text.as_str()) {
            return (!before.is_empty()).then_some(before.len());
        }
        if line.len() > MAX_PROMPT_LENGTH || !self.text.contains(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let starts = line.char_indices().map(|(at, _)| at);
        let at = starts
            .rev()
            .find(|&at| same_shape(&line[at..], &self.text))?;
        // The shortest match has only one digit of a number.
        let more = leading_digits(&self.text).saturating_sub(1);
        let before = line[..at].bytes().rev().take(more);
        let at = at - before.take_while(u8::is_ascii_digit).count();
        (at > 0).then_some(at)
    }

    /// Returns whether a line is this prompt, possibly with other digits.
    pub(crate) fn resembles(&self, line: &str) -> bool {
        same_shape(line.trim_end(), &self.text)
    }

    /// Returns whether a text may contain this prompt: a quick test before a thorough one.
    pub(crate) fn may_be_in(&self, text: &str) -> bool {
        self.digits_vary || text.contains(&self.text)
    }

    /// Returns whether this prompt may have changed to a line: no question, and no more words.
    pub(crate) fn may_become(&self, line: &str) -> bool {
        let words = |text: &str| text.split_whitespace().count();
        !line.contains('?') && words(line) <= words(&self.text).max(1)
    }
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Returns the maximum number of leading digits of a prompt with this text: a counter grows, a clock does not. More
/// digits are the end of unterminated output.
fn max_leading_digits(text: &str) -> usize {
    match leading_digits(text) {
        count @ (0 | 1) => count * 3,
        count if text[..count].bytes().all(|digit| digit == b'9') => count + 1,
        count => count,
    }
}

/// Returns whether two texts differ at most in runs of digits.
fn same_shape(one: &str, other: &str) -> bool {
    let shape = |text: &str| {
        let mut shape: Vec<char> = text
            .chars()
            .map(|c| if c.is_ascii_digit() { '0' } else { c })
            .collect();
        shape.dedup_by(|a, b| *a == '0' && *b == '0');
        shape
    };
    shape(one) == shape(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_matched_to_the_letter() {
        let prompt = Prompt::learn("r1# ", "r1#").expect("a prompt");
        assert!(prompt.is("r1# ") && prompt.is("r1#"));
        assert!(!prompt.is("r2#") && !prompt.is("xr1#") && !prompt.is("r1# x"));
        assert_eq!(prompt.strip("r1# show"), Some(" show"));
        assert_eq!(prompt.strip("r2# show"), None);
    }

    #[test]
    fn a_clock_in_the_prompt_is_no_difference() {
        let prompt = Prompt::learn("[09:59:59] r1(9)#", "[10:00:00] r1(10)#").expect("a prompt");
        assert!(prompt.is("[23:10:07] r1(11)# "));
        assert!(!prompt.is("[23:10:07] r2x(11)#"));
        let clock = Prompt::learn("09:59:59 r1#", "10:00:00 r1#").expect("a prompt");
        assert!(clock.is("11:00:00 r1#") && clock.is("1:00:00 r1#"));
        assert!(!clock.is("1411:00:00 r1#"));
        assert_eq!(clock.position_in("1411:00:00 r1#"), Some(2));
        assert_eq!(prompt.strip("[23:10:07] r1(11)#show"), Some("show"));
    }

    #[test]
    fn a_prompt_is_found_behind_an_output_that_did_not_end_its_line() {
        for (prompt, line, before) in [
            ("r1#", "omegar1#", Some(5)),
            ("r1#", "r1#", None),
            ("12:01:02.345 sw1# ", "omega13:56:43.480 sw1# ", Some(5)),
            ("12:01:02.345 sw1# ", "value 4213:56:43.480 sw1# ", Some(8)),
            ("12:01:02.345 sw1# ", "13:56:43.480 sw1# ", None),
            ("sw1:17# ", "omegasw1:18# ", Some(5)),
            ("sw1:9# ", "omega 7sw1:10# ", Some(7)),
            ("r1#", "omega", None),
        ] {
            let prompt = Prompt::learn(prompt, prompt).expect("a prompt");
            assert_eq!(prompt.position_in(line), before, "{line}");
        }
    }

    #[test]
    fn different_lines_are_no_prompt() {
        assert_eq!(Prompt::learn("banner#", "r1#"), None);
        assert_eq!(Prompt::learn("", ""), None);
    }

    #[test]
    fn a_question_is_no_new_prompt() {
        let prompt = Prompt::learn("r1#", "r1#").expect("a prompt");
        assert!(prompt.may_become("r2#"));
        assert!(!prompt.may_become("Overwrite? [y]>") && !prompt.may_become("delete it now>"));
    }
}
