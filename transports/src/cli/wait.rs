//! Sending and receiving within the limits of one answer.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use super::state::{Cli, CliSettings, MAX_OUTPUT};
use crate::Context;
use crate::error::{Interruption, seconds};
use crate::held::HeldBytes;
use crate::telnet::NEGOTIATION;

/// The interval of notices about silence.
const REPORT_INTERVAL: Duration = Duration::from_secs(5);

/// The size of a read.
const CHUNK: usize = 8 * 1024;

/// The limits of one answer.
pub(super) struct AnswerWait<'a> {
    ctx: &'a Context<'a>,
    operation: &'a str,
    idle: Duration,
    limit: Duration,
    deadline: Instant,
    heard: Instant,
    stirred: Instant,
    reported: u32,
    /// The number of bytes received in total.
    received: usize,
    /// The received bytes, as part of the limit for all targets.
    held: HeldBytes,
    /// The read buffer. It is not part of the session, which is idle most of the time.
    chunk: Vec<u8>,
}

/// The result of waiting.
pub(super) enum Received {
    /// Data arrived and is on the screen.
    Bytes,
    /// Nothing arrived during the given time.
    Quiet,
}

impl<'a> AnswerWait<'a> {
    /// Creates the limits of a command.
    pub(super) fn for_command(
        ctx: &'a Context<'a>,
        operation: &'a str,
        settings: &CliSettings,
    ) -> Self {
        Self::new(
            ctx,
            operation,
            settings.idle_timeout,
            settings.command_timeout,
        )
    }

    /// Creates limits for silence and for the total time.
    pub(super) fn new(
        ctx: &'a Context<'a>,
        operation: &'a str,
        idle: Duration,
        limit: Duration,
    ) -> Self {
        let now = Instant::now();
        Self {
            ctx,
            operation,
            idle,
            limit,
            deadline: now + limit,
            heard: now,
            stirred: now,
            reported: 0,
            received: 0,
            held: HeldBytes::default(),
            chunk: vec![0; CHUNK],
        }
    }

    /// Restarts the measurement of silence, because something was sent that will be answered.
    pub(super) fn restart_silence(&mut self) {
        self.stirred = Instant::now();
    }

    fn report_silence(&mut self, peer: &str) {
        self.reported += 1;
        self.ctx.notice(format!(
            "nothing from {peer} for {} s during {}; giving up after {} s",
            (REPORT_INTERVAL * self.reported).as_secs(),
            self.operation,
            seconds(self.idle),
        ));
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Cli<S> {
    /// Sends text unchanged.
    pub(super) async fn send(
        &mut self,
        text: &str,
        wait: &mut AnswerWait<'_>,
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

    /// Waits for data and puts it on the screen, or returns after a time of silence.
    pub(super) async fn receive(
        &mut self,
        wait: &mut AnswerWait<'_>,
        quiet: Option<Duration>,
    ) -> Result<Received, Interruption> {
        if self.show_held_back() {
            return Ok(Received::Bytes);
        }
        loop {
            let idle = wait.heard + wait.idle;
            let telling = wait.heard + REPORT_INTERVAL * (wait.reported + 1);
            let quiet_at = quiet.map_or(idle, |quiet| wait.heard.max(wait.stirred) + quiet);
            let until = idle.min(telling).min(quiet_at).min(wait.deadline);
            let coming = self.stream.read(&mut wait.chunk);
            match self.alarm.before(until, coming).await {
                Some(Err(error)) if error.kind() == io::ErrorKind::QuotaExceeded => {
                    return Err(Interruption::TooMuchOf(NEGOTIATION));
                }
                Some(Ok(0) | Err(_)) => return Err(Interruption::Lost),
                Some(Ok(length)) => {
                    wait.held.reserve(length)?;
                    self.show(&wait.chunk[..length]);
                    wait.received += length;
                    if wait.received > MAX_OUTPUT {
                        return Err(Interruption::TooMuch(MAX_OUTPUT));
                    }
                    wait.heard = Instant::now();
                    // The timer never fires if there is always data to read.
                    if wait.heard >= wait.deadline {
                        return Err(Interruption::TooLong(wait.limit));
                    }
                    wait.reported = 0;
                    return Ok(Received::Bytes);
                }
                None if until == wait.deadline => {
                    return Err(Interruption::TooLong(wait.limit));
                }
                None if until == idle => return Err(Interruption::Silent(wait.idle)),
                None if quiet.is_some() && until == quiet_at => return Ok(Received::Quiet),
                None => wait.report_silence(&self.settings.peer),
            }
        }
    }
}
