//! The proof that a command has come to its end: a prompt that was asked for.
//!
//! Where a line editor reads, [`touch`](super::touch) asks it without Enter. Elsewhere a prompt is asked for by
//! a line of a few blanks. A device that shows what is typed shows them behind its prompt: the prompt, exactly
//! so many blanks, the prompt again. Enter is pressed when the blanks are seen there, and then all is done once
//! more with more blanks: an output may have such a line, but not two that fit. On a device that shows nothing,
//! the prompt must be followed by another one and nothing else.

#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::time::Instant;

use super::dialect::Pattern;
use super::gap::{LONGEST_GAP, behind_messages, chain, is_gap, prompt_above};
use super::prompt::Prompt;
use super::screen::Screen;
use super::touch::{Touches, UNREAD};

/// What is known of the end of an answer so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proof {
    probes: Vec<Probe>,
    pub(crate) touches: Touches,
    /// Where the line begins at which Enter was pressed, since its end is read by a line editor and it is not
    /// the prompt that was known.
    fresh: Option<usize>,
    /// How often Return was pressed before, to wake the device.
    returns: usize,
    /// How many blanks more than were typed for it stood at the prompt.
    untaken: usize,
    /// When it was asked first, and last.
    since: Option<(Instant, Instant)>,
}

/// One question for a prompt.
#[derive(Clone, Copy, Debug)]
struct Probe {
    /// Where the line begins that was asked about.
    line: usize,
    /// Where the text ended when it was asked.
    asked: usize,
    /// Where its blanks are shown, if they are shown before anybody reads.
    at: usize,
    /// How many blanks were typed.
    blanks: usize,
    /// How many the line had then.
    had: usize,
    /// Whether Enter was pressed behind them.
    entered: bool,
}

/// How a device answers a line of blanks at its prompt, as its last answer has shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Manner {
    /// Whether it shows the blanks; then a prompt without them proves nothing.
    pub(crate) blanks: Blanks,
    /// What stands between two prompts: nothing, an empty line, a line such as `[edit]`. It stands
    /// above the first prompt too and is no output.
    pub(crate) gap: String,
    /// Whether what [`touch`](super::touch) types first does no harm.
    pub(crate) lead: bool,
}

/// Whether a device shows the blanks that are typed at its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blanks {
    /// It shows them, and takes them back when it is told to: it has a line editor.
    Edited,
    Shown,
    /// It shows them when Enter is pressed behind them.
    Late,
    Hidden,
    /// It shows nothing at all, not even the end of the line, and answers such a line with the same text each
    /// time: an unknown command, perhaps.
    Answered,
}

impl Manner {
    /// What stands above each prompt, and is no output.
    pub(crate) fn above(&self) -> &str {
        if self.gap.lines().count() <= LONGEST_GAP {
            return &self.gap;
        }
        // Of an answer, that is the empty lines at its end.
        let answer = self.gap.trim_end_matches('\n').len();
        &self.gap[(answer + 1).min(self.gap.len())..]
    }
}

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

/// How often a prompt is asked for within one answer.
const MOST_PROBES: usize = 6;

impl Proof {
    /// That nothing is known but that Return was pressed so often.
    pub(crate) fn after(returns: usize) -> Self {
        Self {
            returns,
            ..Self::default()
        }
    }

    /// Whether anything was typed that a question may have taken for its answer.
    pub(crate) fn has_typed(&self) -> bool {
        self.returns > 0 || self.has_asked()
    }

    /// Notes that a prompt is asked for now with so many blanks, and whether Enter is pressed behind them: then
    /// blanks that were typed before, and are perhaps still to be read, belong to that line.
    pub(crate) fn ask(&mut self, screen: &Screen, mut blanks: usize, entered: bool) {
        let mut asked = screen.text().len();
        while let Some(waiting) = self.probes.pop_if(|probe| entered && !probe.entered) {
            blanks += waiting.blanks;
            asked = waiting.asked;
        }
        self.probes.push(Probe {
            line: screen.last_line_start(),
            asked,
            at: screen.text().len(),
            blanks,
            had: blanks_behind(screen.last_line()),
            entered,
        });
    }

    /// Notes that Enter is pressed behind the blanks that were typed last, or at a line that no blanks are left
    /// on. `ending` is the number of blanks that belong to the prompt, where that is known.
    pub(crate) fn enter(&mut self, screen: &Screen, ending: Option<usize>) {
        let first = self.probes.iter().position(|probe| !probe.entered);
        let waiting = self.probes.iter().filter(|probe| !probe.entered);
        let typed: usize = waiting.map(|probe| probe.blanks).sum();
        let Some(probe) = first.and_then(|first| self.probes.get_mut(first)) else {
            self.fresh = Some(screen.last_line_start());
            return;
        };
        probe.entered = true;
        let now = blanks_behind(screen.last_line());
        let ending = ending.unwrap_or_else(|| now.saturating_sub(probe.blanks));
        probe.blanks = now.saturating_sub(ending);
        self.untaken = probe.blanks.saturating_sub(typed);
        if screen.last_line_start() != probe.line {
            probe.at = screen.text().len() - probe.blanks;
        }
        self.probes.retain(|probe| probe.entered);
    }

    /// Whether a whole line was typed.
    pub(crate) fn has_entered(&self) -> bool {
        self.entered().next().is_some()
    }

    /// Whether blanks were typed once, and no Enter.
    pub(crate) fn is_first(&self) -> bool {
        matches!(&*self.probes, [probe] if !probe.entered)
    }

    /// Notes when it is asked.
    pub(crate) fn stamp(&mut self) {
        let now = Instant::now();
        self.since = Some((self.since.map_or(now, |(first, _)| first), now));
    }

    /// How many blanks more than were typed for it stood at the prompt where Enter was pressed.
    pub(crate) fn untaken(&self) -> usize {
        self.untaken
    }

    /// How long the answer has taken since the first question, and since the last one; nothing where one was asked
    /// before the end, since output may have taken that long.
    pub(crate) fn round_trip(&self, end: usize) -> Option<(Duration, Duration)> {
        let (first, last) = self.since?;
        let was_before = self.asked_before(end).is_some();
        (!was_before).then(|| (first.elapsed(), last.elapsed()))
    }

    /// Where it was asked first, if that was not at the end of the answer.
    pub(crate) fn asked_before(&self, end: usize) -> Option<usize> {
        let probed = self.probes.first().map(|probe| probe.asked);
        let first = probed.into_iter().chain(self.touches.first()).min()?;
        (first < end).then_some(first)
    }

    /// The questions that are whole lines.
    fn entered(&self) -> impl DoubleEndedIterator<Item = &Probe> {
        self.probes.iter().filter(|probe| probe.entered)
    }

    /// Whether a prompt may still be asked for.
    pub(crate) fn may_ask(&self) -> bool {
        self.asked() < MOST_PROBES
    }

    /// How often a prompt was asked for.
    pub(crate) fn asked(&self) -> usize {
        self.probes.len() + self.touches.asked()
    }

    /// Whether a prompt was asked for.
    pub(crate) fn has_asked(&self) -> bool {
        self.asked() > 0
    }

    /// Where the line begins at which Enter was pressed for a prompt that is not known yet.
    pub(crate) fn fresh(&self) -> Option<usize> {
        self.fresh
    }

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

    /// Takes out of an output (which began at `start`) the blanks that were shown behind lines that
    /// were no prompts after all: some systems show what is typed before anybody reads it.
    ///
    /// Where a lead was typed (`has_lead`) they stand behind it.
    pub(crate) fn without_blanks(&self, output: &mut String, start: usize, has_lead: bool) {
        for Probe { at, blanks, .. } in self.entered().rev() {
            let Some(at) = at.checked_sub(start) else {
                continue;
            };
            let shown = [&" ".repeat(*blanks), "\n"].concat();
            let rest = output.get(at..).unwrap_or_default();
            let shown = [if has_lead { UNREAD[0] } else { "" }, &shown].concat();
            if rest.starts_with(&shown) {
                output.replace_range(at..at + shown.len(), "");
            }
        }
    }
}

/// The verdict where blanks are not shown.
fn hidden(found: Option<(usize, String)>) -> Verdict {
    found.map_or(Verdict::Wait, |(start, gap)| {
        Verdict::Proven(start, manner_of(Blanks::Hidden, gap))
    })
}

fn manner_of(blanks: Blanks, gap: String) -> Manner {
    Manner {
        blanks,
        gap,
        lead: false,
    }
}

fn blanks_behind(line: &str) -> usize {
    line.len() - line.trim_end_matches(' ').len()
}
