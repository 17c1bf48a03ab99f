//! Sending and receiving, with the limits of one answer.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use super::state::{Cli, CliSettings, MOST_OUTPUT};
use crate::Context;
use crate::error::{Interruption, seconds};
use crate::telnet::NEGOTIATION;

/// How often silence is told.
const TOLD_EVERY: Duration = Duration::from_secs(5);

/// How much is read at once.
const CHUNK: usize = 8 * 1024;

/// The limits of one answer.
pub(super) struct Wait<'a> {
    ctx: &'a Context<'a>,
    doing: &'a str,
    idle: Duration,
    limit: Duration,
    deadline: Instant,
    heard: Instant,
    stirred: Instant,
    told: u32,
    /// How many bytes have come, whatever has become of them.
    received: usize,
    /// Not the session's, which is idle most of the time.
    chunk: Vec<u8>,
}

/// What came of waiting.
pub(super) enum Got {
    /// Something arrived and is on the screen.
    Bytes,
    /// Nothing came for as long as was asked.
    Quiet,
}

impl<'a> Wait<'a> {
    /// The limits of a command.
    pub(super) fn for_command(
        ctx: &'a Context<'a>,
        doing: &'a str,
        settings: &CliSettings,
    ) -> Self {
        Self::new(ctx, doing, settings.idle_timeout, settings.command_timeout)
    }

    /// Limits of one's own: of silence, and in all.
    pub(super) fn new(
        ctx: &'a Context<'a>,
        doing: &'a str,
        idle: Duration,
        limit: Duration,
    ) -> Self {
        let now = Instant::now();
        Self {
            ctx,
            doing,
            idle,
            limit,
            deadline: now + limit,
            heard: now,
            stirred: now,
            told: 0,
            received: 0,
            chunk: vec![0; CHUNK],
        }
    }

    /// Begins to measure quiet anew, since something was sent that will be answered.
    pub(super) fn stir(&mut self) {
        self.stirred = Instant::now();
    }

    fn tell_silence(&mut self, peer: &str) {
        self.told += 1;
        self.ctx.notice(format!(
            "nothing from {peer} for {} s during {}; giving up after {} s",
            (TOLD_EVERY * self.told).as_secs(),
            self.doing,
            seconds(self.idle),
        ));
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Sends text as it is.
    pub(super) async fn send(
        &mut self,
        text: &str,
        wait: &mut Wait<'_>,
    ) -> Result<(), Interruption> {
        let until = wait.deadline.min(Instant::now() + wait.idle);
        let sending = async {
            self.stream.write_all(text.as_bytes()).await?;
            self.stream.flush().await
        };
        match timeout_at(until, sending).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Interruption::Lost),
            Err(_) => Err(Interruption::Silent(wait.idle)),
        }
    }

    /// Waits for bytes and puts them on the screen, or for nothing to come for a while.
    pub(super) async fn receive(
        &mut self,
        wait: &mut Wait<'_>,
        quiet: Option<Duration>,
    ) -> Result<Got, Interruption> {
        loop {
            let idle = wait.heard + wait.idle;
            let telling = wait.heard + TOLD_EVERY * (wait.told + 1);
            let quiet_at = quiet.map_or(idle, |quiet| wait.heard.max(wait.stirred) + quiet);
            let until = idle.min(telling).min(quiet_at).min(wait.deadline);
            let coming = self.stream.read(&mut wait.chunk);
            match self.alarm.before(until, coming).await {
                Some(Err(error)) if error.kind() == io::ErrorKind::QuotaExceeded => {
                    return Err(Interruption::TooMuchOf(NEGOTIATION));
                }
                Some(Ok(0) | Err(_)) => return Err(Interruption::Lost),
                Some(Ok(length)) => {
                    self.screen.push(&wait.chunk[..length]);
                    wait.received += length;
                    if wait.received > MOST_OUTPUT {
                        return Err(Interruption::TooMuch(MOST_OUTPUT));
                    }
                    wait.heard = Instant::now();
                    // No alarm rings where there is always something to read.
                    if wait.heard >= wait.deadline {
                        return Err(Interruption::TooLong(wait.limit));
                    }
                    wait.told = 0;
                    return Ok(Got::Bytes);
                }
                None if until == wait.deadline => {
                    return Err(Interruption::TooLong(wait.limit));
                }
                None if until == idle => return Err(Interruption::Silent(wait.idle)),
                None if quiet.is_some() && until == quiet_at => return Ok(Got::Quiet),
                None => wait.tell_silence(&self.settings.peer),
            }
        }
    }
}
