//! The proof that a command has come to its end: a prompt that was asked for.

use super::dialect::Pattern;
use super::screen::Screen;

/// What is known of the end of an answer so far.
#[derive(Debug, Default)]
pub(crate) struct Proof {
    /// How many empty lines were sent to ask for a prompt.
    probes: usize,
    /// The prompt-like line that was last asked about.
    candidate: Option<Candidate>,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    line: usize,
    asked: usize,
}

/// What to do when a prompt-like line stands at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Ask for another prompt.
    Ask,
    /// What was asked for is still to come.
    Wait,
    /// The answer ends here, in the text's offset.
    Proven(usize),
}

/// How often a prompt is asked for within one answer.
const MOST_PROBES: usize = 6;

impl Proof {
    /// The proof of a session that stands at its prompt and has just been asked for another.
    pub(crate) fn asked_at(screen: &Screen) -> Self {
        let mut proof = Self::default();
        proof.ask(screen);
        proof
    }

    /// Notes that a prompt is asked for now.
    pub(crate) fn ask(&mut self, screen: &Screen) {
        self.probes += 1;
        let candidate = Candidate {
            line: screen.last_line_start(),
            asked: screen.text().len(),
        };
        self.candidate = Some(candidate);
    }

    /// Whether a prompt may still be asked for.
    pub(crate) fn may_ask(&self) -> bool {
        self.probes < MOST_PROBES
    }

    /// Whether a prompt was asked for.
    pub(crate) fn has_asked(&self) -> bool {
        self.probes > 0
    }

    /// Judges a last line that looks like a prompt; `same` tells whether another line is that one.
    ///
    /// Proven is a prompt when the line asked about was followed by nothing but another one, log
    /// messages aside. If more did follow, that line was part of the output and the question is
    /// still to be answered: then the end has one prompt for the command and one for each question.
    pub(crate) fn judge(
        &self,
        screen: &Screen,
        same: impl Fn(&str) -> bool,
        unsolicited: &[Pattern],
    ) -> Verdict {
        let (text, last) = (screen.text(), screen.last_line_start());
        let Some(Candidate { line, asked }) = self.candidate else {
            return Verdict::Ask;
        };
        if asked >= text.len() {
            return Verdict::Wait;
        }
        let asked_about = text[line..asked].trim_end_matches('\n');
        if last >= asked && same(asked_about) && is_silence(&text[asked..last], unsolicited) {
            return Verdict::Proven(line);
        }
        let mut start = last;
        for _ in 0..self.probes {
            let above = text[..start].trim_end_matches('\n');
            let line = above.rfind('\n').map_or(0, |at| at + 1);
            if start == 0 || !same(&above[line..]) {
                return Verdict::Wait;
            }
            start = line;
        }
        Verdict::Proven(start)
    }
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

    fn judged(proof: &Proof, screen: &Screen) -> Verdict {
        let log = [Pattern::new("^%SYS-").expect("a pattern")];
        proof.judge(screen, |line| line.trim_end() == "r1#", &log)
    }

    #[test]
    fn a_prompt_is_proven_by_the_one_that_was_asked_for() {
        let (mut screen, mut proof) = (Screen::default(), Proof::default());
        screen.push(b"out\r\nr1#");
        assert_eq!(judged(&proof, &screen), Verdict::Ask);
        proof.ask(&screen);
        assert_eq!(judged(&proof, &screen), Verdict::Wait);
        screen.push(b"\r\nr1#");
        assert_eq!(judged(&proof, &screen), Verdict::Proven(4));
    }

    #[test]
    fn a_log_message_in_between_is_not_the_output_going_on() {
        let (mut screen, mut proof) = (Screen::default(), Proof::default());
        screen.push(b"out\r\nr1#");
        proof.ask(&screen);
        screen.push(b"\r\n%SYS-5-CONFIG_I: by admin\r\nr1#");
        assert_eq!(judged(&proof, &screen), Verdict::Proven(4));
    }

    #[test]
    fn a_line_that_only_looked_like_the_prompt_is_output() {
        let (mut screen, mut proof) = (Screen::default(), Proof::default());
        screen.push(b"one\r\nr1#");
        proof.ask(&screen);
        screen.push(b"\r\ntwo\r\nr1#");
        assert_eq!(judged(&proof, &screen), Verdict::Wait);
        screen.push(b"\r\nr1#");
        assert_eq!(judged(&proof, &screen), Verdict::Proven(12));
        assert_eq!(&screen.text()[..12], "one\nr1#\ntwo\n");
    }
}
