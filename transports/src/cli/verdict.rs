//! Judging a prompt-like last line by the probes that were sent before.

#[cfg(test)]
mod tests;

use super::dialect::Pattern;
use super::gap::{behind_messages, chain, is_gap, prompt_above};
use super::prompt::Prompt;
use super::prompt_behaviour::{BlankDisplay, PromptBehaviour, prompt_behaviour_of};
use super::proof::{Probe, PromptProof, trailing_blanks};
use super::screen::Screen;

/// What to do about a prompt-like last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PromptVerdict {
    /// Send a probe.
    Ask,
    /// Press Enter: the typed blanks are shown at a prompt.
    Enter,
    /// Wait for the reply to a probe.
    AnswerWait,
    /// Some replies to probes have come, and some have not.
    Doubtful,
    /// The answer ends at this offset of the text.
    Proven(usize, PromptBehaviour),
    /// The answer ends at this line. It needs no proof: the echo of the next command proves it.
    Ends,
}

/// The maximum number of blanks that a prompt ends with, if that is unknown.
const MAX_TRAILING_BLANKS: usize = 2;

impl PromptProof {
    /// Judges a last line that is the prompt, on a device with a line editor.
    pub(crate) fn judge_edited(
        &self,
        screen: &Screen,
        prompt_behaviour: &PromptBehaviour,
    ) -> PromptVerdict {
        if self.editor_probes.is_answered(screen) {
            return PromptVerdict::Proven(screen.last_line_start(), prompt_behaviour.clone());
        }
        if self.has_probed() {
            PromptVerdict::AnswerWait
        } else {
            PromptVerdict::Ask
        }
    }

    /// Judges a last line at which blanks were typed without Enter because nothing is known about the device yet: the
    /// line may belong to its greeting, and a question may follow. Returns `None` if no such probe was sent.
    pub(crate) fn judge_first(&self, screen: &Screen) -> Option<PromptVerdict> {
        let probe = self.probes.last().filter(|probe| !probe.entered)?;
        let now = trailing_blanks(screen.last_line());
        let is_shown = if screen.last_line_start() == probe.line {
            now == probe.had + probe.blanks
        } else {
            // Typed while nothing read them, the blanks are shown at the prompt.
            (probe.blanks..=probe.blanks + MAX_TRAILING_BLANKS).contains(&now)
        };
        Some(if is_shown {
            PromptVerdict::Enter
        } else {
            PromptVerdict::AnswerWait
        })
    }

    /// Judges a last line that is the prompt, perhaps with blanks, on a device that shows typed text.
    pub(crate) fn judge_shown(
        &self,
        screen: &Screen,
        prompt: &Prompt,
        prompt_behaviour: &PromptBehaviour,
        unsolicited: &[Pattern],
    ) -> PromptVerdict {
        let ending = prompt.trailing_blanks();
        let now = trailing_blanks(screen.last_line());
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
                (false, _) => PromptVerdict::AnswerWait,
                (true, 1) => PromptVerdict::Ask,
                (true, _) => PromptVerdict::Enter,
            };
        }
        if !self.has_entered() {
            return PromptVerdict::Ask;
        }
        let (mut start, mut rows) = (screen.last_line_start(), 0);
        // The first prompt may follow output without a line end.
        let same = |line: &str| prompt.is(line) || prompt.position_in(line).is_some();
        for probe in self.entered_probes().rev().take_while(|_| now == ending) {
            let below = screen.text()[start..].lines().next().unwrap_or_default();
            if !below.trim().is_empty() && !prompt.is(below) {
                break;
            }
            // A message may have interrupted the blanks. Then some of them are alone in a line behind it.
            let is_row = |line: &str| match trailing_blanks(line) {
                blanks if blanks == line.len() => (1..=probe.blanks).contains(&blanks),
                blanks => same(line) && blanks == ending + probe.blanks,
            };
            match prompt_above(
                screen.text(),
                start,
                is_row,
                &prompt_behaviour.gap,
                unsolicited,
            ) {
                Some((above, between)) if is_gap(between, &prompt_behaviour.gap, unsolicited) => {
                    let is_begun =
                        |line: &str| same(line) && trailing_blanks(line) <= ending + probe.blanks;
                    let begun = behind_messages(screen.text(), above, is_begun, unsolicited);
                    (start, rows) = (begun.unwrap_or(above), rows + 1);
                }
                _ => break,
            }
        }
        match (rows, self.entered_probes().count()) {
            (1, 1) => PromptVerdict::Ask,
            (0 | 1, _) => PromptVerdict::AnswerWait,
            (rows, asked) if rows == asked => {
                PromptVerdict::Proven(start, prompt_behaviour.clone())
            }
            // A line of our own probe would be taken for output.
            _ => PromptVerdict::Doubtful,
        }
    }

    /// Judges a last line that looks like a prompt. `same` tells whether another line is the same prompt.
    ///
    /// Without a known `manner`, any short text between two prompts is taken for the gap.
    pub(crate) fn judge(
        &self,
        screen: &Screen,
        same: impl Fn(&str) -> bool,
        prompt_behaviour: Option<&PromptBehaviour>,
        unsolicited: &[Pattern],
    ) -> PromptVerdict {
        let Some(probe) = self.entered_probes().next_back() else {
            return PromptVerdict::Ask;
        };
        if probe.asked >= screen.text().len() {
            return PromptVerdict::AnswerWait;
        }
        let ending = trailing_blanks(screen.last_line());
        let is_answered = |line: &str| {
            let typed = trailing_blanks(line).checked_sub(ending);
            same(line)
                && self
                    .entered_probes()
                    .any(|probe| Some(probe.blanks) == typed)
        };
        // A manner that was learnt without seeing the blanks may be wrong. Seeing them is better evidence.
        let seen = prompt_behaviour
            .filter(|prompt_behaviour| prompt_behaviour.blanks != BlankDisplay::Hidden);
        let most = self.entered_probes().count();
        let found =
            |prompt_behaviour| chain(screen, is_answered, prompt_behaviour, unsolicited, most);
        // A gap learnt from a greeting may be wrong. Then an empty gap is the most likely one.
        let bare = prompt_behaviour.map(|prompt_behaviour| PromptBehaviour {
            gap: String::new(),
            ..prompt_behaviour.clone()
        });
        if let Some((start, gap)) = found(prompt_behaviour).or_else(|| found(bare.as_ref())) {
            return PromptVerdict::Proven(
                start,
                PromptBehaviour {
                    blanks: seen.map_or(BlankDisplay::Shown, |prompt_behaviour| {
                        prompt_behaviour.blanks
                    }),
                    gap,
                    lead: seen.is_some_and(|prompt_behaviour| prompt_behaviour.lead),
                },
            );
        }
        if seen.is_some() {
            return PromptVerdict::AnswerWait;
        }
        match self.judge_without_blanks(probe, screen, &same, prompt_behaviour, unsolicited) {
            // A greeting that looks like a prompt may have taught a wrong gap. A gap that is the same
            // between as many prompts as there were probes is right.
            PromptVerdict::AnswerWait if self.entered_probes().count() > 1 => {
                let found = chain(
                    screen,
                    &same,
                    None,
                    unsolicited,
                    self.entered_probes().count(),
                );
                let found = found.filter(|found| self.is_answered(screen, found.0, &same));
                match self.same_answers(screen) {
                    Some((start, prompt_behaviour)) if found.is_none() => {
                        PromptVerdict::Proven(start, prompt_behaviour)
                    }
                    _ => hidden(found),
                }
            }
            verdict => verdict,
        }
    }

    /// Returns whether there are as many prompts as probes between an offset and the last line.
    fn is_answered(&self, screen: &Screen, start: usize, same: impl Fn(&str) -> bool) -> bool {
        let text = &screen.text()[start..screen.last_line_start()];
        text.lines().filter(|line| same(line)).count() >= self.entered_probes().count()
    }

    /// Returns the start of the prompt at the last but one probe, if the device answered the last two probes with the
    /// same text, after the blanks or without them. Also returns the manner with that text as the gap.
    fn same_answers(&self, screen: &Screen) -> Option<(usize, PromptBehaviour)> {
        let mut entered = self.entered_probes().rev();
        let (last, before) = (entered.next()?, entered.next()?);
        let first = screen.text().get(before.asked..last.asked)?;
        let second = screen.text().get(last.asked..)?;
        let shown = |answer, probe: &Probe| {
            let rest = str::strip_prefix(answer, &*" ".repeat(probe.blanks))?;
            rest.strip_prefix('\n')
        };
        let (blanks, [first, second]) = match (shown(first, before), shown(second, last)) {
            (Some(first), Some(second)) => (BlankDisplay::Shown, [first, second]),
            _ => (BlankDisplay::AnsweredQuestion, [first, second]),
        };
        let gap = second.strip_suffix(screen.last_line())?;
        let is_alike = first == second && !gap.is_empty();
        is_alike.then(|| (before.line, prompt_behaviour_of(blanks, gap.to_owned())))
    }

    /// Judges a last line that is the prompt, on a device that answers each probe with the same text right behind the
    /// probed prompt.
    pub(crate) fn judge_answered(
        &self,
        screen: &Screen,
        prompt_behaviour: &PromptBehaviour,
    ) -> PromptVerdict {
        if !self.has_entered() {
            return PromptVerdict::Ask;
        }
        let (start, prompt) = (screen.last_line_start(), screen.last_line());
        let asked_at = self
            .entered_probes()
            .try_fold(&screen.text()[..start], |text, _| {
                text.strip_suffix(&*prompt_behaviour.gap)?
                    .strip_suffix(prompt)
            });
        match asked_at {
            Some(output) if output.is_empty() || output.ends_with('\n') => {
                PromptVerdict::Proven(output.len(), prompt_behaviour.clone())
            }
            _ => PromptVerdict::AnswerWait,
        }
    }

    /// Judges without visible blanks: nothing but a prompt follows the probed line. If more followed, the
    /// line was output, and the probe is still unanswered. Then the answer ends with one prompt for the
    /// command and one for each probe.
    fn judge_without_blanks(
        &self,
        probe: &Probe,
        screen: &Screen,
        same: impl Fn(&str) -> bool,
        prompt_behaviour: Option<&PromptBehaviour>,
        unsolicited: &[Pattern],
    ) -> PromptVerdict {
        let (text, last) = (screen.text(), screen.last_line_start());
        if last < probe.asked {
            // This is the probed line: its blanks are perhaps still being shown.
            return PromptVerdict::AnswerWait;
        }
        // A line that was redrawn since is not the probed one, and the offset may cut it anywhere.
        let asked_about = text.get(probe.line..probe.asked).unwrap_or_default();
        let asked_about = asked_about.trim_end_matches('\n');
        let found = match chain(
            screen,
            &same,
            prompt_behaviour,
            unsolicited,
            self.entered_probes().count(),
        ) {
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
fn hidden(found: Option<(usize, String)>) -> PromptVerdict {
    found.map_or(PromptVerdict::AnswerWait, |(start, gap)| {
        PromptVerdict::Proven(start, prompt_behaviour_of(BlankDisplay::Hidden, gap))
    })
}
