//! The proof that a command has come to its end: a prompt that was asked for.
//!
//! Where a line editor reads, [`touch`](super::touch) asks it without Enter. Elsewhere a prompt is asked for by
//! a line of a few blanks. A device that shows what is typed shows them behind its prompt: the prompt, exactly
//! so many blanks, the prompt again. Enter is pressed when the blanks are seen there, and then all is done once
//! more with more blanks: an output may have such a line, but not two that fit. On a device that shows nothing,
//! the prompt must be followed by another one and nothing else.

use std::time::Duration;

use tokio::time::Instant;

use super::screen::Screen;
use super::touch::{Touches, UNREAD};

/// What is known of the end of an answer so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Proof {
    pub(super) probes: Vec<Probe>,
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
pub(super) struct Probe {
    /// Where the line begins that was asked about.
    pub(super) line: usize,
    /// Where the text ended when it was asked.
    pub(super) asked: usize,
    /// Where its blanks are shown, if they are shown before anybody reads.
    pub(super) at: usize,
    /// How many blanks were typed.
    pub(super) blanks: usize,
    /// How many the line had then.
    pub(super) had: usize,
    /// Whether Enter was pressed behind them.
    pub(super) entered: bool,
}

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
    pub(super) fn entered(&self) -> impl DoubleEndedIterator<Item = &Probe> {
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

pub(super) fn blanks_behind(line: &str) -> usize {
    line.len() - line.trim_end_matches(' ').len()
}
