//! What a prompt-like line at the end of what has arrived means, by what was asked before.

#[cfg(test)]
mod tests;

use super::dialect::Pattern;
use super::gap::{behind_messages, chain, is_gap, prompt_above};
use super::manner::{Blanks, Manner, manner_of};
use super::prompt::Prompt;
use super::proof::{Probe, Proof, blanks_behind};
use super::screen::Screen;

/// What to do when a prompt-like line stands at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Ask for another prompt.
    Ask,
    /// Press Enter: what was typed is seen at a prompt.
    Enter,
    /// What was asked for is still to come.
    Wait,
    /// Some of what was asked for has come, and some has not.
    Doubtful,
    /// The answer ends here, in the text's offset.
    Proven(usize, Manner),
    /// The answer ends at this line, which needs no proof: what is typed next brings it.
    Ends,
}

/// How many blanks a prompt ends with at most, where it is not known.
const MOST_ENDING: usize = 2;

impl Proof {
    /// Judges a last line that is the prompt, where a line editor reads.
    pub(crate) fn judge_edited(&self, screen: &Screen, manner: &Manner) -> Verdict {
        if self.touches.is_answered(screen) {
            return Verdict::Proven(screen.last_line_start(), manner.clone());
        }
        if self.has_asked() {
            Verdict::Wait
        } else {
            Verdict::Ask
        }
    }

    /// Judges a last line at which blanks were typed without Enter, since nothing is known of the device: what looks
    /// like a prompt may be a line of its greeting, and a question may follow. Nothing, where that was not done.
    pub(crate) fn judge_first(&self, screen: &Screen) -> Option<Verdict> {
        let probe = self.probes.last().filter(|probe| !probe.entered)?;
        let now = blanks_behind(screen.last_line());
        let is_shown = if screen.last_line_start() == probe.line {
            now == probe.had + probe.blanks
        } else {
            // Typed while nobody read, they are shown at the prompt.
            (probe.blanks..=probe.blanks + MOST_ENDING).contains(&now)
        };
        Some(if is_shown {
            Verdict::Enter
        } else {
            Verdict::Wait
        })
    }

    /// Judges a last line that is the prompt and blanks, or the prompt, where what is typed is shown.
    pub(crate) fn judge_shown(
        &self,
        screen: &Screen,
        prompt: &Prompt,
        manner: &Manner,
        unsolicited: &[Pattern],
    ) -> Verdict {
        let ending = prompt.ending();
        let now = blanks_behind(screen.last_line());
        if let Some(probe) = self.probes.last().filter(|probe| !probe.entered) {
            let is_shown = if screen.last_line_start() == probe.line {
                // The blanks of the prompt itself may have come since.
                now == probe.had.max(ending) + probe.blanks
            } else {
                // Blanks that were typed while nobody read are all shown at the prompt.
                let waiting = self.probes.iter().filter(|probe| !probe.entered);
                now == ending + waiting.map(|probe| probe.blanks).sum::<usize>()
            };
            // What came by chance as blanks does not come again as others.
            let typed = self.probes.iter().filter(|probe| !probe.entered).count();
            return match (is_shown, typed) {
                (false, _) => Verdict::Wait,
                (true, 1) => Verdict::Ask,
                (true, _) => Verdict::Enter,
            };
        }
        if !self.has_entered() {
            return Verdict::Ask;
        }
        let (mut start, mut rows) = (screen.last_line_start(), 0);
        // The first may stand behind a line that was not ended.
        let same = |line: &str| prompt.is(line) || prompt.behind(line).is_some();
        for probe in self.entered().rev().take_while(|_| now == ending) {
            let below = screen.text()[start..].lines().next().unwrap_or_default();
            if !below.trim().is_empty() && !prompt.is(below) {
                break;
            }
            // A message may have come amid the blanks: some of them stand alone then, behind it.
            let is_row = |line: &str| match blanks_behind(line) {
                blanks if blanks == line.len() => (1..=probe.blanks).contains(&blanks),
                blanks => same(line) && blanks == ending + probe.blanks,
            };
            match prompt_above(screen.text(), start, is_row, &manner.gap, unsolicited) {
                Some((above, between)) if is_gap(between, &manner.gap, unsolicited) => {
                    let is_begun =
                        |line: &str| same(line) && blanks_behind(line) <= ending + probe.blanks;
                    let begun = behind_messages(screen.text(), above, is_begun, unsolicited);
                    (start, rows) = (begun.unwrap_or(above), rows + 1);
                }
                _ => break,
            }
        }
        match (rows, self.entered().count()) {
            (1, 1) => Verdict::Ask,
            (0 | 1, _) => Verdict::Wait,
            (rows, asked) if rows == asked => Verdict::Proven(start, manner.clone()),
            // A line of ours would be taken for output.
            _ => Verdict::Doubtful,
        }
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
        let Some(probe) = self.entered().next_back() else {
            return Verdict::Ask;
        };
        if probe.asked >= screen.text().len() {
            return Verdict::Wait;
        }
        let ending = blanks_behind(screen.last_line());
        let is_answered = |line: &str| {
            let typed = blanks_behind(line).checked_sub(ending);
            same(line) && self.entered().any(|probe| Some(probe.blanks) == typed)
        };
        // What was learnt without seeing the blanks may be wrong: seeing them is better.
        let seen = manner.filter(|manner| manner.blanks != Blanks::Hidden);
        let most = self.entered().count();
        let found = |manner| chain(screen, is_answered, manner, unsolicited, most);
        // A gap that a greeting has taught may be wrong, but none is as likely as it.
        let bare = manner.map(|manner| Manner {
            gap: String::new(),
            ..manner.clone()
        });
        if let Some((start, gap)) = found(manner).or_else(|| found(bare.as_ref())) {
            return Verdict::Proven(
                start,
                Manner {
                    blanks: seen.map_or(Blanks::Shown, |manner| manner.blanks),
                    gap,
                    lead: seen.is_some_and(|manner| manner.lead),
                },
            );
        }
        if seen.is_some() {
            return Verdict::Wait;
        }
        match self.judge_unseen(probe, screen, &same, manner, unsolicited) {
            // A greeting that looks like a prompt may have taught a wrong gap: one that is the same
            // between as many prompts as were asked for is right.
            Verdict::Wait if self.entered().count() > 1 => {
                let found = chain(screen, &same, None, unsolicited, self.entered().count());
                let found = found.filter(|found| self.is_answered(screen, found.0, &same));
                match self.answered_alike(screen) {
                    Some((start, manner)) if found.is_none() => Verdict::Proven(start, manner),
                    _ => hidden(found),
                }
            }
            verdict => verdict,
        }
    }

    /// Whether as many prompts as were asked for stand between an offset and the last line.
    fn is_answered(&self, screen: &Screen, start: usize, same: impl Fn(&str) -> bool) -> bool {
        let text = &screen.text()[start..screen.last_line_start()];
        text.lines().filter(|line| same(line)).count() >= self.entered().count()
    }

    /// Where the prompt stands that was asked about before the last question, if both were answered by the same
    /// text, with the blanks before it or without; and that text.
    fn answered_alike(&self, screen: &Screen) -> Option<(usize, Manner)> {
        let mut entered = self.entered().rev();
        let (last, before) = (entered.next()?, entered.next()?);
        let first = screen.text().get(before.asked..last.asked)?;
        let second = screen.text().get(last.asked..)?;
        let shown = |answer, probe: &Probe| {
            let rest = str::strip_prefix(answer, &*" ".repeat(probe.blanks))?;
            rest.strip_prefix('\n')
        };
        let (blanks, [first, second]) = match (shown(first, before), shown(second, last)) {
            (Some(first), Some(second)) => (Blanks::Shown, [first, second]),
            _ => (Blanks::Answered, [first, second]),
        };
        let gap = second.strip_suffix(screen.last_line())?;
        let is_alike = first == second && !gap.is_empty();
        is_alike.then(|| (before.line, manner_of(blanks, gap.to_owned())))
    }

    /// Judges a last line that is the prompt, where each question is answered by the same text, right behind the
    /// prompt at which it was asked.
    pub(crate) fn judge_answered(&self, screen: &Screen, manner: &Manner) -> Verdict {
        if !self.has_entered() {
            return Verdict::Ask;
        }
        let (start, prompt) = (screen.last_line_start(), screen.last_line());
        let asked_at = self.entered().try_fold(&screen.text()[..start], |text, _| {
            text.strip_suffix(&*manner.gap)?.strip_suffix(prompt)
        });
        match asked_at {
            Some(output) if output.is_empty() || output.ends_with('\n') => {
                Verdict::Proven(output.len(), manner.clone())
            }
            _ => Verdict::Wait,
        }
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
        let found = match chain(screen, &same, manner, unsolicited, self.entered().count()) {
            Some(found) if same(asked_about) && found.0 <= probe.line => {
                Some((probe.line, found.1))
            }
            Some(found) if self.is_answered(screen, found.0, &same) => Some(found),
            _ => None,
        };
        hidden(found)
    }
}

/// The verdict where blanks are not shown.
fn hidden(found: Option<(usize, String)>) -> Verdict {
    found.map_or(Verdict::Wait, |(start, gap)| {
        Verdict::Proven(start, manner_of(Blanks::Hidden, gap))
    })
}
