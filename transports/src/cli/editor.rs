//! Learning at the first prompt, where it is safe, whether the device has a line editor.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::editor_probe::{BACK, LEAD};
use super::prompt_behaviour::{BlankDisplay, PromptBehaviour};
use super::proof::PromptProof;
use super::read::ExpectedPrompt;
use super::screen::Screen;
use super::state::{Cli, EchoState};
use super::wait::{AnswerWait, Received};
use crate::error::Interruption;

/// The silence after which a device counts as one that shows typed text in another way. It is longer if the
/// device answers slowly.
const QUIET_TIME: Duration = Duration::from_secs(3);

/// The maximum number of tries when messages interrupt them.
const MAX_ATTEMPTS: usize = 8;

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Learns how the device shows typed text: whether it erases on request, as a line editor does, or shows every
    /// key.
    ///
    /// Keys that must not be part of a command are used later only if an editor has shown here that it knows control
    /// characters. Enter follows them, so that a device that rejects them complains here and not at the first command.
    pub(super) async fn learn_editor(
        &mut self,
        wait: &mut AnswerWait<'_>,
    ) -> Result<(), Interruption> {
        let Some(prompt_behaviour) = self.prompt_behaviour.clone() else {
            return Ok(());
        };
        if matches!(
            prompt_behaviour.blanks,
            BlankDisplay::Hidden | BlankDisplay::AnsweredQuestion
        ) {
            return Ok(());
        }
        self.echo = EchoState::Yes;
        for _ in 0..MAX_ATTEMPTS {
            if self.try_editor(&prompt_behaviour, wait).await? {
                break;
            }
        }
        Ok(())
    }

    /// Makes one try. Returns whether no message interrupted it.
    async fn try_editor(
        &mut self,
        prompt_behaviour: &PromptBehaviour,
        wait: &mut AnswerWait<'_>,
    ) -> Result<bool, Interruption> {
        let dialect = Arc::clone(&self.settings.dialect);
        let is_message = |line: &str| {
            let mut patterns = dialect.unsolicited.iter();
            patterns.any(|pattern| pattern.is_found_in(line))
        };
        let has_message = |screen: &Screen| screen.text().lines().any(is_message);
        self.screen.keep_last_line();
        // More blanks than any that may still come from earlier probes.
        let blanks = " ".repeat(self.blanks(self.last_proof.probe_count()));
        let prompt = self.screen.last_line().to_owned();
        let shown = [&*prompt, &blanks].concat();
        let tabs = self.screen.vertical_tabs();
        self.send(&[LEAD, &blanks].concat(), wait).await?;
        let is_shown = |screen: &Screen| screen.last_line() == shown || has_message(screen);
        let is_late = !self.comes(is_shown, wait).await? || has_message(&self.screen);
        let is_blind = is_late || self.screen.vertical_tabs() != tabs;
        let back = if is_blind { "" } else { BACK };
        let newline = dialect.newline.as_str();
        let typed = [&back.repeat(blanks.len()), newline].concat();
        self.send(&typed, wait).await?;
        let known = self.prompt.clone().unwrap_or_default();
        let is_next =
            |screen: &Screen| screen.last_line_start() > 0 && known.is(screen.last_line());
        let is_row = |line: &str| line == shown || !is_blind;
        let is_next =
            |screen: &Screen| is_next(screen) && screen.text().lines().rev().skip(1).any(is_row);
        if has_message(&self.screen) || !self.comes(is_next, wait).await? {
            self.prompt_behaviour = Some(PromptBehaviour {
                blanks: BlankDisplay::Late,
                ..prompt_behaviour.clone()
            });
            let was_alone = !has_message(&self.screen);
            self.resume(wait).await?;
            return Ok(was_alone);
        }
        let text = &self.screen.text()[..self.screen.last_line_start()];
        // Anything but the gap is a complaint about the keys.
        let asked_at = text
            .strip_suffix(&*prompt_behaviour.gap)
            .and_then(|text| text.lines().next_back());
        let known = match (asked_at, is_blind) {
            (Some(line), true) if line == shown && is_late => Some(BlankDisplay::Late),
            (Some(line), true) if line == shown => Some(BlankDisplay::Shown),
            (Some(line), false) if prompt.starts_with(line) && known.is(line) => {
                Some(BlankDisplay::Edited)
            }
            _ => None,
        };
        self.prompt_behaviour = Some(PromptBehaviour {
            blanks: known.unwrap_or(BlankDisplay::Late),
            lead: known.is_some(),
            ..prompt_behaviour.clone()
        });
        Ok(known.is_some() || !has_message(&self.screen))
    }

    /// Returns to a prompt, whatever was typed.
    async fn resume(&mut self, wait: &mut AnswerWait<'_>) -> Result<(), Interruption> {
        let proof = PromptProof::default();
        self.read_answer(wait, ExpectedPrompt::Prompt, None, &mut [], proof)
            .await
            .map(drop)
    }

    /// Waits for a state of the screen. Returns `false` if there is silence first.
    async fn comes(
        &mut self,
        is_there: impl Fn(&Screen) -> bool,
        wait: &mut AnswerWait<'_>,
    ) -> Result<bool, Interruption> {
        wait.restart_silence();
        loop {
            if self.screen.is_settled() && is_there(&self.screen) {
                return Ok(true);
            }
            let quiet = QUIET_TIME.max(self.round_trip * 3 / 2);
            if let Received::Quiet = self.receive(wait, Some(quiet)).await? {
                return Ok(false);
            }
        }
    }
}
