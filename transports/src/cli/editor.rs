//! Learning at the first prompt, where it is safe, whether the device has a line editor.

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};

use super::manner::{Blanks, Manner};
use super::proof::Proof;
use super::read::Expect;
use super::screen::Screen;
use super::state::{Cli, Echo};
use super::touch::{BACK, LEAD};
use super::wait::{Got, Wait};
use crate::error::Interruption;

/// The silence after which a device counts as one that shows typed text in another way. It is longer if the
/// device answers slowly.
const QUIET: Duration = Duration::from_secs(3);

/// The maximum number of tries when messages interrupt them.
const MOST_ATTEMPTS: usize = 8;

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Learns how the device shows typed text: whether it erases on request, as a line editor does, or shows every
    /// key.
    ///
    /// Keys that must not be part of a command are used later only if an editor has shown here that it knows control
    /// characters. Enter follows them, so that a device that rejects them complains here and not at the first command.
    pub(super) async fn learn_editor(&mut self, wait: &mut Wait<'_>) -> Result<(), Interruption> {
        let Some(manner) = self.manner.clone() else {
            return Ok(());
        };
        if matches!(manner.blanks, Blanks::Hidden | Blanks::Answered) {
            return Ok(());
        }
        self.echo = Echo::Yes;
        for _ in 0..MOST_ATTEMPTS {
            if self.try_editor(&manner, wait).await? {
                break;
            }
        }
        Ok(())
    }

    /// Makes one try. Returns whether no message interrupted it.
    async fn try_editor(
        &mut self,
        manner: &Manner,
        wait: &mut Wait<'_>,
    ) -> Result<bool, Interruption> {
        let dialect = Arc::clone(&self.settings.dialect);
        let is_message = |line: &str| {
            let mut patterns = dialect.unsolicited.iter();
            patterns.any(|pattern| pattern.is_found_in(line))
        };
        let has_message = |screen: &Screen| screen.text().lines().any(is_message);
        self.screen.keep_last_line();
        // More blanks than any that may still come from earlier probes.
        let blanks = " ".repeat(self.blanks(self.last_proof.asked()));
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
            self.manner = Some(Manner {
                blanks: Blanks::Late,
                ..manner.clone()
            });
            let was_alone = !has_message(&self.screen);
            self.resume(wait).await?;
            return Ok(was_alone);
        }
        let text = &self.screen.text()[..self.screen.last_line_start()];
        // Anything but the gap is a complaint about the keys.
        let asked_at = text
            .strip_suffix(&*manner.gap)
            .and_then(|text| text.lines().next_back());
        let known = match (asked_at, is_blind) {
            (Some(line), true) if line == shown && is_late => Some(Blanks::Late),
            (Some(line), true) if line == shown => Some(Blanks::Shown),
            (Some(line), false) if prompt.starts_with(line) && known.is(line) => {
                Some(Blanks::Edited)
            }
            _ => None,
        };
        self.manner = Some(Manner {
            blanks: known.unwrap_or(Blanks::Late),
            lead: known.is_some(),
            ..manner.clone()
        });
        Ok(known.is_some() || !has_message(&self.screen))
    }

    /// Returns to a prompt, whatever was typed.
    async fn resume(&mut self, wait: &mut Wait<'_>) -> Result<(), Interruption> {
        let proof = Proof::default();
        self.read_answer(wait, Expect::Prompt, None, &mut [], proof)
            .await
            .map(drop)
    }

    /// Waits for a state of the screen. Returns `false` if there is silence first.
    async fn comes(
        &mut self,
        is_there: impl Fn(&Screen) -> bool,
        wait: &mut Wait<'_>,
    ) -> Result<bool, Interruption> {
        wait.stir();
        loop {
            if self.screen.is_settled() && is_there(&self.screen) {
                return Ok(true);
            }
            let quiet = QUIET.max(self.round_trip * 3 / 2);
            if let Got::Quiet = self.receive(wait, Some(quiet)).await? {
                return Ok(false);
            }
        }
    }
}
