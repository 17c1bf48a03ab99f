//! The awkward device's terminal.

use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use russh::ChannelId;
use russh::server::Handle;
use tokio::sync::{Notify, mpsc};

use super::{Log, pause};

/// A log message that may appear on the terminal at any time.
const SYSLOG: &str = "*Nov 21 09:48:53.123: %LINK-3-UPDOWN: Interface Gi0/3, changed state to up";

/// The number of lines on a page of the pager.
const PAGE: usize = 10;

/// The width of the screen, at which a long echo is wrapped.
const COLUMNS: usize = 80;

/// A terminal's behaviour: the name of its user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Habit {
    /// Any other user: well-behaved.
    None,
    /// `banner`: shows lines that look like its prompt before the first one.
    Banner,
    /// `colours`: the prompt and the output have ANSI sequences.
    Colours,
    /// `keyboard`: asks for the password only by keyboard-interactive.
    Keyboard,
    /// `lines-N`: supports N concurrent sessions and refuses more.
    Lines(usize),
    /// `no-echo`: does not echo input.
    NoEcho,
    /// `noisy`: a log message appears between each prompt and the echo of the input.
    Noisy,
    /// `resets-N`: resets the connection after N configuration lines.
    Resets(usize),
    /// `wraps` and `wraps-back`: a long echo is wrapped at the edge of the screen by a space and a carriage
    /// return or a backspace.
    Wraps(&'static str),
}

impl Habit {
    pub(super) fn of(user: &str) -> Self {
        match user {
            "banner" => Self::Banner,
            "colours" => Self::Colours,
            "keyboard" => Self::Keyboard,
            "no-echo" => Self::NoEcho,
            "noisy" => Self::Noisy,
            "wraps" => Self::Wraps(" \r"),
            "wraps-back" => Self::Wraps(" \x08"),
            other => {
                let behind = |prefix| other.strip_prefix(prefix)?.parse().ok();
                let lines = behind("lines-").map(Self::Lines);
                lines
                    .or_else(|| behind("resets-").map(Self::Resets))
                    .unwrap_or(Self::None)
            }
        }
    }
}

/// One terminal.
pub(super) struct Shell {
    habit: Habit,
    handle: Handle,
    id: ChannelId,
    typed: mpsc::UnboundedReceiver<Vec<u8>>,
    unread: VecDeque<u8>,
    after_return: bool,
    connection: usize,
    log: Log,
    cut: Arc<Notify>,
    hostname: String,
    configuring: bool,
    configured: usize,
}

impl Shell {
    pub(super) fn new(
        habit: Habit,
        handle: Handle,
        id: ChannelId,
        typed: mpsc::UnboundedReceiver<Vec<u8>>,
        connection: usize,
        log: Log,
        cut: Arc<Notify>,
    ) -> Self {
        Self {
            habit,
            handle,
            id,
            typed,
            unread: VecDeque::new(),
            after_return: false,
            connection,
            log,
            cut,
            hostname: "switch".to_owned(),
            configuring: false,
            configured: 0,
        }
    }

    /// Prompts, reads and answers until the client leaves or the habit ends the session.
    pub(super) async fn serve(mut self) {
        if self.habit == Habit::Banner {
            self.print("Welcome to\nswitch#\nswitch# is not a prompt, nor is\nswitch#\n\n")
                .await;
        }
        loop {
            self.prompt().await;
            let Some(line) = self.line().await else { break };
            self.log.add(self.connection, &line);
            if self.answer(&line).await.is_break() {
                break;
            }
        }
        self.close().await;
    }

    /// Answers a single command without a terminal.
    pub(super) async fn run_command(mut self, command: String) {
        self.log.add(self.connection, &command);
        let _ = self.answer(&command).await;
        self.close().await;
    }

    /// Answers a line. Every awkward command is handled here.
    async fn answer(&mut self, line: &str) -> ControlFlow<()> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| word.parse().unwrap_or(0);
        if self.configuring {
            return self.configure(&words).await;
        }
        match words[..] {
            [] | ["enable" | "terminal", ..] => {}
            ["exit"] => return ControlFlow::Break(()),
            ["configure", "terminal"] => {
                self.configuring = true;
                self.print("Enter configuration commands, one per line.  End with CNTL/Z.\n")
                    .await;
            }
            ["write", "memory"] => self.print("Building configuration...\n[OK]\n").await,
            ["show", "version"] => self.print("Awkward OS, Version 1.0\n").await,
            ["show", "failure"] => self.print("% Invalid input detected\n").await,
            // A line like the prompt, a pause of this many milliseconds, and more output.
            ["show", "prompt-like", milliseconds] => {
                self.print("before\nswitch#").await;
                pause(Duration::from_millis(number(milliseconds))).await;
                self.print("\nafter\n").await;
            }
            // This many lines, one per second.
            ["show", "slow", lines] => {
                for line in 1..=number(lines) {
                    self.print(&format!("line {line}\n")).await;
                    pause(Duration::from_secs(1)).await;
                }
            }
            // Some output, and then the connection is lost.
            ["show", "drop-connection"] => {
                self.print("partial\nout").await;
                return self.reset().await;
            }
            // Some output, and then the channel is closed while the connection stays.
            ["show", "drop-channel"] => {
                self.print("partial\nout").await;
                return ControlFlow::Break(());
            }
            // Pages, regardless of `terminal length`.
            ["show", "pages"] => return self.pages().await,
            // The log message follows the prompt, and no new prompt follows the message.
            ["show", "syslog"] => {
                self.print("output\n").await;
                self.prompt().await;
                pause(Duration::from_millis(50)).await;
                self.print(&format!("\n{SYSLOG}\n")).await;
                return match self.line().await {
                    Some(line) => {
                        self.log.add(self.connection, &line);
                        Box::pin(self.answer(&line)).await
                    }
                    None => ControlFlow::Break(()),
                };
            }
            // The prompt follows the last line without a line end.
            ["show", "no-newline"] => self.print("first\noutput").await,
            // This many megabytes.
            ["show", "big", megabytes] => {
                let line = format!("{}\n", "x".repeat(1022));
                for _ in 0..number(megabytes) * 1024 {
                    self.print(&line).await;
                }
            }
            // Latin-1, and then a UTF-8 character in two halves.
            ["show", "bytes"] => {
                self.send(b"Z\xFCrich\r\ncaf\xC3").await;
                pause(Duration::from_millis(50)).await;
                self.send(b"\xA9\r\n").await;
            }
            ["show", "colours"] => self.print("\x1b[1;31mred\x1b[0m \x1b[Kplain\x1b[m\n").await,
            ["show", "slow-bytes", milliseconds] => {
                for byte in b"one byte at a time\r\n" {
                    self.send(&[*byte]).await;
                    pause(Duration::from_millis(number(milliseconds))).await;
                }
            }
            // A line of one mebibyte.
            ["show", "long-line"] => self.print(&format!("{}\n", "x".repeat(1 << 20))).await,
            // Disconnects after a confirmation.
            ["reload"] => {
                self.print("Proceed with reload? [confirm]").await;
                if self.byte().await.is_none() {
                    return ControlFlow::Break(());
                }
                self.log.add(self.connection, "confirmed");
                self.print("\nSystem is going down").await;
                return self.reset().await;
            }
            ["show", "silence"] => std::future::pending().await,
            ["show", "endless"] => {
                while self.send(b"and so on\r\n").await {
                    pause(Duration::from_millis(10)).await;
                }
                return ControlFlow::Break(());
            }
            // The prompt changes during the session.
            ["hostname", name] => self.hostname = name.to_owned(),
            _ => self.print("% Unknown command\n").await,
        }
        ControlFlow::Continue(())
    }

    async fn configure(&mut self, words: &[&str]) -> ControlFlow<()> {
        match words {
            ["end" | "exit"] => self.configuring = false,
            ["hostname", name] => self.hostname = (*name).to_owned(),
            ["bad", ..] => self.print("% Invalid input detected\n").await,
            _ => {}
        }
        self.configured += 1;
        match self.habit {
            Habit::Resets(lines) if self.configured >= lines => self.reset().await,
            _ => ControlFlow::Continue(()),
        }
    }

    async fn pages(&mut self) -> ControlFlow<()> {
        for line in 1..=3 * PAGE + 1 {
            self.print(&format!("line {line}\n")).await;
            if line % PAGE == 0 {
                // NULs as padding, which some devices send.
                self.print(" --More-- \0\0").await;
                let Some(key) = self.byte().await else {
                    return ControlFlow::Break(());
                };
                let back = "\x08".repeat(10);
                self.print(&format!("{back}{}{back}", " ".repeat(10))).await;
                if key == b'q' {
                    break;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Reads a line, and echoes it according to the habit.
    async fn line(&mut self) -> Option<String> {
        let mut line = vec![];
        loop {
            let byte = self.byte().await?;
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            if byte == b'\n' && after_return {
                continue;
            }
            if line.is_empty() && self.habit == Habit::Noisy {
                self.print(&format!("\n{SYSLOG}\n")).await;
            }
            let ends = matches!(byte, b'\r' | b'\n');
            match (self.habit, ends) {
                // The answer begins on a new line, with or without an echo.
                (_, true) => self.print("\n").await,
                (Habit::NoEcho, false) => {}
                (_, false) => {
                    self.send(&[byte]).await;
                }
            }
            if ends {
                return Some(String::from_utf8_lossy(&line).into_owned());
            }
            line.push(byte);
            let column = self.prompt_text().len() + line.len();
            if let Habit::Wraps(edge) = self.habit
                && column.is_multiple_of(COLUMNS)
            {
                self.send(edge.as_bytes()).await;
            }
        }
    }

    async fn byte(&mut self) -> Option<u8> {
        while self.unread.is_empty() {
            self.unread.extend(self.typed.recv().await?);
        }
        self.unread.pop_front()
    }

    async fn prompt(&mut self) {
        let prompt = self.prompt_text();
        if self.habit == Habit::Colours {
            self.print(&format!("\x1b[1m\x1b[32m{prompt}\x1b[0m")).await;
        } else {
            self.print(&prompt).await;
        }
    }

    fn prompt_text(&self) -> String {
        let mode = if self.configuring { "(config)" } else { "" };
        format!("{}{mode}#", self.hostname)
    }

    async fn print(&self, text: &str) {
        // If the client has gone, an error does not matter.
        self.send(text.replace('\n', "\r\n").as_bytes()).await;
    }

    /// Sends bytes, and returns whether the client is still connected.
    async fn send(&self, bytes: &[u8]) -> bool {
        self.handle.data(self.id, bytes.to_vec()).await.is_ok()
    }

    /// Cuts the connection after the output has had time to leave.
    async fn reset(&self) -> ControlFlow<()> {
        pause(Duration::from_millis(100)).await;
        self.cut.notify_one();
        std::future::pending().await
    }

    async fn close(&self) {
        let _ = self.handle.exit_status_request(self.id, 0).await;
        let _ = self.handle.eof(self.id).await;
        let _ = self.handle.close(self.id).await;
    }
}
