//! Judging a prompt-like last line by the probes that were sent before.

#[cfg(test)]
mod tests;

use super::dialect::Pattern;
use super::gap::{behind_messages, chain, is_gap, prompt_above};
use super::manner::{Blanks, Manner, manner_of};
use super::prompt::Prompt;
use super::proof::{Probe, Proof, blanks_behind};
use super::screen::Screen;

/// What to do about a prompt-like last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Send a probe.
    Ask,
    /// Press Enter: the typed blanks are shown at a prompt.
    Enter,
    /// Wait for the reply to a probe.
    Wait,
    /// Some replies to probes have come, and some have not.
    Doubtful,
    /// The answer ends at this offset of the text.
    Proven(usize, Manner),
    /// The answer ends at this line. It needs no proof: the echo of the next command proves it.
    Ends,
}

/// The maximum number of blanks that a prompt ends with, if that is unknown.
const MOST_ENDING: usize = 2;

impl Proof {
    /// Judges a last line that is the prompt, on a device with a line editor.
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

    /// Judges a last line at which blanks were typed without Enter because nothing is known about the device yet: the
    /// line may belong to its greeting, and a question may follow. Returns `None` if no such probe was sent.
    pub(crate) fn judge_first(&self, screen: &Screen) -> Option<Verdict> {
        let probe = self.probes.last().filter(|probe| !probe.entered)?;
        let now = blanks_behind(screen.last_line());
        let is_shown = if screen.last_line_start() == probe.line {
            now == probe.had + probe.blanks
        } else {
            // Typed while nothing read them, the blanks are shown at the prompt.
            (probe.blanks..=probe.blanks + MOST_ENDING).contains(&now)
        };
        Some(if is_shown {
            Verdict::Enter
        } else {
            Verdict::Wait
        })
    }

    /// Judges a last line that is the prompt, perhaps with blanks, on a device that shows typed text.
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
                // The prompt's own blanks may have arrived since.
                now == probe.had.max(ending) + probe.blanks
            } else {
                // Blanks that were typed while nothing read them are all shown at the prompt.
                let waiting = self.probes.iter().filter(|probe| !probe.entered);
                now == ending + waiting.map(|probe| probe.blanks).sum::<usize>()
            };
            // A chance match of the blanks does not repeat with another number of them.
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
        // The first prompt may follow output without a line end.
        let same = |line: &str| prompt.is(line) || prompt.behind(line).is_some();
        for probe in self.entered().rev().take_while(|_| now == ending) {
            let below = screen.text()[start..].lines().next().unwrap_or_default();
            if !below.trim().is_empty() && !prompt.is(below) {
                break;
            }
            // A message may have interrupted the blanks. Then some of them are alone in a line behind it.
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
            // A line of our own probe would be taken for output.
            _ => Verdict::Doubtful,
        }
    }

    /// Judges a last line that looks like a prompt. `same` tells whether another line is the same prompt.
    ///
    /// Without a known `manner`, any short text between two prompts is taken for the gap.
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
        // A manner that was learnt without seeing the blanks may be wrong. Seeing them is better evidence.
        let seen = manner.filter(|manner| manner.blanks != Blanks::Hidden);
        let most = self.entered().count();
        let found = |manner| chain(screen, is_answered, manner, unsolicited, most);
        // A gap learnt from a greeting may be wrong. Then an empty gap is the most likely one.
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
            // A greeting that looks like a prompt may have taught a wrong gap. A gap that is the same
            // between as many prompts as there were probes is right.
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

    /// Returns whether there are as many prompts as probes between an offset and the last line.
    fn is_answered(&self, screen: &Screen, start: usize, same: impl Fn(&str) -> bool) -> bool {
        let text = &screen.text()[start..screen.last_line_start()];
        text.lines().filter(|line| same(line)).count() >= self.entered().count()
    }

    /// Returns the start of the prompt at the last but one probe, if the device answered the last two probes with the
    /// same text, after the blanks or without them. Also returns the manner with that text as the gap.
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

    /// Judges a last line that is the prompt, on a device that answers each probe with the same text right behind the
    /// probed prompt.
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

    /// Judges without visible blanks: nothing but a prompt follows the probed line. If more followed, the
    /// line was output, and the probe is still unanswered. Then the answer ends with one prompt for the
    /// command and one for each probe.
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
            // This is the probed line: its blanks are perhaps still being shown.
            return Verdict::Wait;
        }
        // A line that was redrawn since is not the probed one, and the offset may cut it anywhere.
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

/// Returns the verdict for a device that does not show blanks.
fn hidden(found: Option<(usize, String)>) -> Verdict {
    found.map_or(Verdict::Wait, |(start, gap)| {
        Verdict::Proven(start, manner_of(Blanks::Hidden, gap))
    })
}
