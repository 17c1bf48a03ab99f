//! The proof that a command has come to its end: a prompt that was asked for.
//!
//! A prompt is asked for by a line of a few blanks. At a real prompt the device's line editor shows
//! them behind it: the prompt, exactly so many blanks, the prompt again. That cannot be mistaken for
//! output, since how many blanks there are is new each time. On a device that does not show them,
//! the prompt must be followed by another one and nothing else.

#[cfg(test)]
mod tests;

use super::dialect::Pattern;
use super::screen::Screen;

/// What is known of the end of an answer so far.
#[derive(Clone, Debug, Default)]
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

/// How a device answers a line of blanks at its prompt, as its last answer has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Whether it shows the blanks; then a prompt without them proves nothing.
    pub(crate) blanks: Blanks,
    /// What stands between two prompts: nothing, an empty line, a line such as `[edit]`. It stands
    /// above the first prompt too and is no output.
    pub(crate) gap: String,
}

/// Whether a device shows the blanks that are typed at its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blanks {
    Shown,
    Hidden,
}

/// What to do when a prompt-like line stands at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Ask for another prompt.
    Ask,
    /// What was asked for is still to come.
    Wait,
    /// The answer ends here, in the text's offset.
    Proven(usize, Manner),
    /// The answer ends at this line, which needs no proof: what is typed next brings it.
    Ends,
}

/// How often a prompt is asked for within one answer.
const MOST_PROBES: usize = 6;

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

    /// How often a prompt was asked for.
    pub(crate) fn asked(&self) -> usize {
        self.0.len()
    }

    /// Whether a prompt was asked for.
    pub(crate) fn has_asked(&self) -> bool {
        !self.0.is_empty()
    }

    /// Judges a last line that looks like a prompt; `same` tells whether another line is that one.
    ///
    /// Without a known `manner`, what little may stand between two prompts is taken as it is.
    pub(crate) fn judge(
        &self,
        screen: &Screen,
        same: impl Fn(&str) -> bool,
        manner: Option<&Manner>,
        unsolicited: &[Pattern],
    ) -> Verdict {
        let Some(probe) = self.0.last() else {
            return Verdict::Ask;
        };
        if probe.asked >= screen.text().len() {
            return Verdict::Wait;
        }
        let ending = blanks_behind(screen.last_line());
        let is_answered = |line: &str| {
            let typed = blanks_behind(line).checked_sub(ending);
            same(line) && self.0.iter().any(|probe| Some(probe.blanks) == typed)
        };
        // What was learnt without seeing the blanks may be wrong: seeing them is better.
        let seen = manner.filter(|manner| manner.blanks == Blanks::Shown);
        if let Some((start, gap)) = chain(screen, is_answered, seen, unsolicited, self.0.len()) {
            return Verdict::Proven(
                start,
                Manner {
                    blanks: Blanks::Shown,
                    gap,
                },
            );
        }
        if seen.is_some() {
            return Verdict::Wait;
        }
        match self.judge_unseen(probe, screen, &same, manner, unsolicited) {
            // A greeting that looks like a prompt may have taught a wrong gap: one that is the same
            // between as many prompts as were asked for is right.
            Verdict::Wait if self.0.len() > 1 => {
                let found = chain(screen, &same, None, unsolicited, self.0.len());
                let found = found.filter(|found| self.is_answered(screen, found.0, &same));
                hidden(found)
            }
            verdict => verdict,
        }
    }

    /// Whether as many prompts as were asked for stand between an offset and the last line.
    fn is_answered(&self, screen: &Screen, start: usize, same: impl Fn(&str) -> bool) -> bool {
        let text = &screen.text()[start..screen.last_line_start()];
        text.lines().filter(|line| same(line)).count() >= self.0.len()
    }

    /// Without the blanks to be seen: what was asked about is followed by nothing but a prompt. If
    /// more followed, it was output, and the question waits for its answer: then the end has one
    /// prompt for the command and one for each question.
    fn judge_unseen(
        &self,
        probe: &Probe,
        screen: &Screen,
        same: impl Fn(&str) -> bool,
        manner: Option<&Manner>,
        unsolicited: &[Pattern],
    ) -> Verdict {
        let (text, last) = (screen.text(), screen.last_line_start());
        if last < probe.asked {
            // The line that was asked about: its blanks are perhaps still being shown.
            return Verdict::Wait;
        }
        // A line that was drawn anew since is not the one that was asked about, and may be cut anywhere.
        let asked_about = text.get(probe.line..probe.asked).unwrap_or_default();
        let asked_about = asked_about.trim_end_matches('\n');
        let found = match chain(screen, &same, manner, unsolicited, self.0.len()) {
            Some(found) if same(asked_about) && found.0 <= probe.line => {
                Some((probe.line, found.1))
            }
            Some(found) if self.is_answered(screen, found.0, &same) => Some(found),
            _ => None,
        };
        hidden(found)
    }

    /// Whether a text shows the answer to one of these questions, where `same` tells prompts.
    pub(crate) fn is_answered_in(
        &self,
        text: &str,
        last_line: &str,
        same: impl Fn(&str) -> bool,
    ) -> bool {
        let ending = blanks_behind(last_line);
        text.lines().any(|line| {
            let typed = blanks_behind(line).checked_sub(ending);
            self.0.iter().any(|probe| Some(probe.blanks) == typed) && same(line)
        })
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

/// How many lines may stand between two prompts.
const LONGEST_GAP: usize = 3;

/// Where the prompts begin of which the last line is the last, and the gap between them: one or
/// more above it, at most `most`, with nothing in between but the gap and messages.
fn chain(
    screen: &Screen,
    is_prompt: impl Fn(&str) -> bool,
    manner: Option<&Manner>,
    unsolicited: &[Pattern],
    most: usize,
) -> Option<(usize, String)> {
    let text = screen.text();
    let mut start = screen.last_line_start();
    let mut gap = manner.map(|manner| manner.gap.clone());
    for found in 0..most {
        let Some((above, between)) = prompt_above(text, start, &is_prompt, unsolicited) else {
            return (found > 0).then(|| (start, gap.unwrap_or_default()));
        };
        match &gap {
            Some(gap) if !is_gap(between, gap, unsolicited) => {
                return (found > 0).then(|| (start, gap.clone()));
            }
            Some(_) => {}
            None => gap = Some(without_messages(between, unsolicited)),
        }
        start = above;
    }
    Some((start, gap.unwrap_or_default()))
}

/// The nearest prompt above an offset, and what stands in between.
fn prompt_above<'t>(
    text: &'t str,
    below: usize,
    is_prompt: impl Fn(&str) -> bool,
    unsolicited: &[Pattern],
) -> Option<(usize, &'t str)> {
    let (mut end, mut lines) = (below, 0);
    while end > 0 && lines <= LONGEST_GAP {
        let start = text[..end - 1].rfind('\n').map_or(0, |at| at + 1);
        let line = &text[start..end];
        if is_prompt(line.trim_end_matches('\n')) {
            return Some((start, &text[end..below]));
        }
        lines += usize::from(!is_silence(line, unsolicited) || line.trim().is_empty());
        end = start;
    }
    None
}

/// Whether this is what stands between two prompts. Where a message is in it, empty lines do not
/// count, since messages bring their own.
fn is_gap(between: &str, gap: &str, unsolicited: &[Pattern]) -> bool {
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

/// The verdict where blanks are not shown.
fn hidden(found: Option<(usize, String)>) -> Verdict {
    let manner = |gap| Manner {
        blanks: Blanks::Hidden,
        gap,
    };
    found.map_or(Verdict::Wait, |(start, gap)| {
        Verdict::Proven(start, manner(gap))
    })
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
