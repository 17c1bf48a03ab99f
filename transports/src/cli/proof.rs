//! The proof that a command has ended: a prompt that was probed for.
//!
//! With a line editor, [`editor_probe`](super::editor_probe) probes without Enter. Otherwise, a probe is a line of a few
//! blanks. A device that shows typed text shows them behind its prompt: the prompt, exactly as many blanks, the
//! prompt again. Enter is pressed when the blanks are shown there. Then the probe is repeated with more blanks,
//! because output may contain one such line, but not two that match. On a device that shows nothing, the prompt
//! must be followed by another prompt and nothing else.

use std::time::Duration;

use tokio::time::Instant;

use super::editor_probe::{EditorProbes, UNREAD};
use super::screen::Screen;

/// The state of the proof that an answer has ended.
#[derive(Clone, Debug, Default)]
pub(crate) struct PromptProof {
    pub(super) probes: Vec<Probe>,
    pub(crate) editor_probes: EditorProbes,
    /// The start of the line at which Enter was pressed because a line editor reads at its end, although it is not
    /// the known prompt.
    fresh: Option<usize>,
    /// The number of times Return was pressed before, to wake the device.
    returns: usize,
    /// The number of excess blanks at the prompt, beyond those typed for it.
    untaken: usize,
    /// The time of the first and of the last probe.
    since: Option<(Instant, Instant)>,
}

/// One probe for a prompt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Probe {
    /// The start of the line that was probed.
    pub(super) line: usize,
    /// The length of the text when the probe was sent.
    pub(super) asked: usize,
    /// Where its blanks are shown, if they are shown before anything reads them.
    pub(super) at: usize,
    /// The number of blanks that were typed.
    pub(super) blanks: usize,
    /// The number of blanks that the line ended with before.
    pub(super) had: usize,
    /// Whether Enter was pressed behind them.
    pub(super) entered: bool,
}

/// The maximum number of probes within one answer.
const MAX_PROBES: usize = 6;

impl PromptProof {
    /// Creates the initial state after Return was pressed this many times.
    pub(crate) fn after(returns: usize) -> Self {
        Self {
            returns,
            ..Self::default()
        }
    }

    /// Returns whether anything was typed that a question may have taken for its answer.
    pub(crate) fn has_typed(&self) -> bool {
        self.returns > 0 || self.has_probed()
    }

    /// Records a probe with this many blanks, and whether Enter is pressed behind them. With Enter, blanks that were
    /// typed before and are perhaps unread belong to the same line.
    pub(crate) fn record_probe(&mut self, screen: &Screen, mut blanks: usize, entered: bool) {
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
            had: trailing_blanks(screen.last_line()),
            entered,
        });
    }

    /// Records that Enter is pressed behind the blanks that were typed last, or at a line from which the blanks were
    /// erased. `ending` is the number of blanks that belong to the prompt, if known.
    pub(crate) fn record_enter(&mut self, screen: &Screen, ending: Option<usize>) {
        let first = self.probes.iter().position(|probe| !probe.entered);
        let waiting = self.probes.iter().filter(|probe| !probe.entered);
        let typed: usize = waiting.map(|probe| probe.blanks).sum();
        let Some(probe) = first.and_then(|first| self.probes.get_mut(first)) else {
            self.fresh = Some(screen.last_line_start());
            return;
        };
        probe.entered = true;
        let now = trailing_blanks(screen.last_line());
        let ending = ending.unwrap_or_else(|| now.saturating_sub(probe.blanks));
        probe.blanks = now.saturating_sub(ending);
        self.untaken = probe.blanks.saturating_sub(typed);
        if screen.last_line_start() != probe.line {
            probe.at = screen.text().len() - probe.blanks;
        }
        self.probes.retain(|probe| probe.entered);
    }

    /// Returns whether a probe with Enter was sent.
    pub(crate) fn has_entered(&self) -> bool {
        self.entered_probes().next().is_some()
    }

    /// Returns whether exactly one probe was sent, and without Enter.
    pub(crate) fn is_first(&self) -> bool {
        matches!(&*self.probes, [probe] if !probe.entered)
    }

    /// Records the time of a probe.
    pub(crate) fn record_time(&mut self) {
        let now = Instant::now();
        self.since = Some((self.since.map_or(now, |(first, _)| first), now));
    }

    /// Returns the number of excess blanks at the prompt where Enter was pressed, beyond those typed for it.
    pub(crate) fn excess_blanks(&self) -> usize {
        self.untaken
    }

    /// Returns the time since the first probe and since the last one. Returns `None` if a probe was sent before the end
    /// of the answer, because the time may have passed with output.
    pub(crate) fn round_trip(&self, end: usize) -> Option<(Duration, Duration)> {
        let (first, last) = self.since?;
        let was_before = self.probed_before(end).is_some();
        (!was_before).then(|| (first.elapsed(), last.elapsed()))
    }

    /// Returns where the first probe was sent, if that was before the end of the answer.
    pub(crate) fn probed_before(&self, end: usize) -> Option<usize> {
        let probed = self.probes.first().map(|probe| probe.asked);
        let first = probed
            .into_iter()
            .chain(self.editor_probes.first_position())
            .min()?;
        (first < end).then_some(first)
    }

    /// Returns the probes with Enter.
    pub(super) fn entered_probes(&self) -> impl DoubleEndedIterator<Item = &Probe> {
        self.probes.iter().filter(|probe| probe.entered)
    }

    /// Returns whether another probe is allowed.
    pub(crate) fn may_probe(&self) -> bool {
        self.probe_count() < MAX_PROBES
    }

    /// Returns the number of probes.
    pub(crate) fn probe_count(&self) -> usize {
        self.probes.len() + self.editor_probes.probe_count()
    }

    /// Returns whether any probe was sent.
    pub(crate) fn has_probed(&self) -> bool {
        self.probe_count() > 0
    }

    /// Returns the start of the line at which Enter was pressed for a prompt that is not known yet.
    pub(crate) fn unknown_prompt_start(&self) -> Option<usize> {
        self.fresh
    }

    /// Removes the blanks of probes at mere lines of output from an output that began at `start`. Some
    /// systems show typed text before anything reads it.
    ///
    /// If a lead was typed (`has_lead`), the blanks follow it.
    pub(crate) fn remove_blanks(&self, output: &mut String, start: usize, has_lead: bool) {
        for Probe { at, blanks, .. } in self.entered_probes().rev() {
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

pub(super) fn trailing_blanks(line: &str) -> usize {
    line.len() - line.trim_end_matches(' ').len()
}
