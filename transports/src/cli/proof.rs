//! The proof that a command has come to its end: a prompt that was asked for.
//!
//! A prompt is asked for by a line of a few blanks. At a real prompt the device's line editor shows
//! them behind it: the prompt, exactly so many blanks, the prompt again. That cannot be mistaken for
//! output, since how many blanks there are is new each time. On a device that does not show them,
//! the prompt must be followed by another one and nothing else.

use super::dialect::Pattern;
use super::screen::Screen;

/// What is known of the end of an answer so far.
#[derive(Debug, Default)]
pub(crate) struct Proof(Vec<Probe>);

/// One question for a prompt.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// Where the line begins that was asked about.
    line: usize,
    /// Where the text ended when it was asked.
    asked: usize,
    /// How many blanks were typed.
    blanks: usize,
}

/// Whether the device shows the blanks that are typed at its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blanks {
    /// Nothing was asked yet.
    Unknown,
    /// It does: a prompt without them proves nothing.
    Shown,
    /// It does not.
    Hidden,
}

/// What to do when a prompt-like line stands at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Ask for another prompt.
    Ask,
    /// What was asked for is still to come.
    Wait,
    /// The answer ends here, in the text's offset, and this is how the device treats blanks.
    Proven(usize, Blanks),
}

/// How often a prompt is asked for within one answer.
const MOST_PROBES: usize = 6;

/// After how many questions a device is believed to have stopped showing blanks.
const DOUBTFUL: usize = 3;

impl Proof {
    /// Notes that a prompt is asked for now, with so many blanks.
    pub(crate) fn ask(&mut self, screen: &Screen, blanks: usize) {
        let (line, asked) = (screen.last_line_start(), screen.text().len());
        self.0.push(Probe {
            line,
            asked,
            blanks,
        });
    }

    /// Whether a prompt may still be asked for.
    pub(crate) fn may_ask(&self) -> bool {
        self.0.len() < MOST_PROBES
    }

    /// Whether a prompt was asked for.
    pub(crate) fn has_asked(&self) -> bool {
        !self.0.is_empty()
    }

    /// Judges a last line that looks like a prompt; `same` tells whether another line is that one.
    pub(crate) fn judge(
        &self,
        screen: &Screen,
        same: impl Fn(&str) -> bool,
        blanks: Blanks,
        unsolicited: &[Pattern],
    ) -> Verdict {
        let Some(probe) = self.0.last() else {
            return Verdict::Ask;
        };
        let (text, last) = (screen.text(), screen.last_line_start());
        if probe.asked >= text.len() {
            return Verdict::Wait;
        }
        let ending = blanks_behind(screen.last_line());
        let is_answered = |line: &str| {
            let typed = blanks_behind(line).checked_sub(ending);
            same(line) && self.0.iter().any(|probe| Some(probe.blanks) == typed)
        };
        let mut start = last;
        while let Some(above) = line_above(text, start, unsolicited)
            && is_answered(text[above..start].lines().next().unwrap_or_default())
        {
            start = above;
        }
        if start < last {
            return Verdict::Proven(start, Blanks::Shown);
        }
        if blanks == Blanks::Shown && self.0.len() < DOUBTFUL {
            return Verdict::Wait;
        }
        self.judge_unseen(probe, screen, same, unsolicited)
    }

    /// Without the blanks to be seen: what was asked about is followed by nothing but a prompt. If
    /// more followed, it was output, and the question waits for its answer: then the end has one
    /// prompt for the command and one for each question.
    fn judge_unseen(
        &self,
        probe: &Probe,
        screen: &Screen,
        same: impl Fn(&str) -> bool,
        unsolicited: &[Pattern],
    ) -> Verdict {
        let (text, last) = (screen.text(), screen.last_line_start());
        let asked_about = text[probe.line..probe.asked].trim_end_matches('\n');
        if last >= probe.asked
            && same(asked_about)
            && is_silence(&text[probe.asked..last], unsolicited)
        {
            return Verdict::Proven(probe.line, Blanks::Hidden);
        }
        let mut start = last;
        for _ in &self.0 {
            match line_above(text, start, &[]) {
                Some(above) if same(text[above..start].trim_end_matches('\n')) => start = above,
                _ => return Verdict::Wait,
            }
        }
        Verdict::Proven(start, Blanks::Hidden)
    }

    /// Takes out of an output (which began at `start`) the blanks that were shown behind lines that
    /// were no prompts after all: some systems show what is typed before anybody reads it.
    pub(crate) fn without_blanks(&self, output: &mut String, start: usize) {
        for Probe { asked, blanks, .. } in self.0.iter().rev() {
            let Some(at) = asked.checked_sub(start) else {
                continue;
            };
            let shown = [&" ".repeat(*blanks), "\n"].concat();
            if output
                .get(at..)
                .is_some_and(|rest| rest.starts_with(&shown))
            {
                output.replace_range(at..at + shown.len(), "");
            }
        }
    }
}

/// Where the last line above an offset begins, empty lines and messages not counted.
fn line_above(text: &str, below: usize, unsolicited: &[Pattern]) -> Option<usize> {
    let mut end = below;
    while end > 0 {
        let start = text[..end - 1].rfind('\n').map_or(0, |at| at + 1);
        let line = &text[start..end];
        if !is_silence(line, unsolicited) {
            return Some(start);
        }
        end = start;
    }
    None
}

fn blanks_behind(line: &str) -> usize {
    line.len() - line.trim_end_matches(' ').len()
}

/// Whether a text has nothing but empty lines and messages that may come at any time.
pub(crate) fn is_silence(text: &str, unsolicited: &[Pattern]) -> bool {
    text.lines().all(|line| {
        line.trim().is_empty() || unsolicited.iter().any(|pattern| pattern.is_found_in(line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(proof: &Proof, screen: &Screen, blanks: Blanks) -> Verdict {
        let log = [Pattern::new("^%SYS-").expect("a pattern")];
        proof.judge(screen, |line| line.trim_end() == "r1#", blanks, &log)
    }

    fn asked(text: &str) -> (Screen, Proof) {
        let (mut screen, mut proof) = (Screen::default(), Proof::default());
        screen.push(text.as_bytes());
        proof.ask(&screen, 5);
        (screen, proof)
    }

    #[test]
    fn a_prompt_is_proven_by_the_one_that_was_asked_for() {
        let mut screen = Screen::default();
        screen.push(b"out\r\nr1# ");
        assert_eq!(
            judged(&Proof::default(), &screen, Blanks::Unknown),
            Verdict::Ask
        );
        for (blanks, shown) in [("     ", Blanks::Shown), ("", Blanks::Hidden)] {
            let (mut screen, proof) = asked("out\r\nr1# ");
            assert_eq!(judged(&proof, &screen, Blanks::Unknown), Verdict::Wait);
            screen.push(format!("{blanks}\r\nr1# ").as_bytes());
            assert_eq!(
                judged(&proof, &screen, Blanks::Unknown),
                Verdict::Proven(4, shown)
            );
        }
    }

    #[test]
    fn where_blanks_are_shown_a_prompt_without_them_proves_nothing() {
        let (mut screen, proof) = asked("out\r\nr1#");
        screen.push(b"\r\nr1#");
        assert_eq!(judged(&proof, &screen, Blanks::Shown), Verdict::Wait);
        screen.push(b"\r\nr1#\r\nmore\r\nr1#     \r\nr1#");
        assert_eq!(
            judged(&proof, &screen, Blanks::Shown),
            Verdict::Proven(21, Blanks::Shown)
        );
    }

    #[test]
    fn a_log_message_in_between_is_not_the_output_going_on() {
        for blanks in ["     ", ""] {
            let (mut screen, proof) = asked("out\r\nr1#");
            screen.push(format!("{blanks}\r\n%SYS-5-CONFIG_I: by admin\r\nr1#").as_bytes());
            let verdict = judged(&proof, &screen, Blanks::Unknown);
            assert!(matches!(verdict, Verdict::Proven(4, _)), "{verdict:?}");
        }
    }

    #[test]
    fn a_line_that_only_looked_like_the_prompt_is_output() {
        let (mut screen, proof) = asked("one\r\nr1#");
        screen.push(b"\r\ntwo\r\nr1#");
        assert_eq!(judged(&proof, &screen, Blanks::Hidden), Verdict::Wait);
        screen.push(b"\r\nr1#");
        assert_eq!(
            judged(&proof, &screen, Blanks::Hidden),
            Verdict::Proven(12, Blanks::Hidden)
        );
        assert_eq!(&screen.text()[..12], "one\nr1#\ntwo\n");
    }

    #[test]
    fn blanks_that_were_shown_too_early_are_taken_out() {
        let (mut screen, proof) = asked("one\r\nr1#");
        screen.push(b"     \r\n\r\ntwo\r\n");
        let mut output = screen.text().to_owned();
        proof.without_blanks(&mut output, 0);
        assert_eq!(output, "one\nr1#\ntwo\n");
    }
}
