//! A fake device for tests: a line editor, a few commands, and every bad habit on request.

mod bench;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::{Instant, timeout_at};

pub(crate) use bench::{TestBench, test_dialect};

/// A step of a device's reaction to a command.
#[derive(Clone, Debug)]
pub(crate) enum FakeStep {
    /// Writes this.
    Write(String),
    /// Writes this many lines.
    Lines(usize),
    /// Does nothing for this many milliseconds. Input waits meanwhile.
    Pause(u64),
    /// Waits for one key, which is not echoed.
    Key,
    /// Waits for one key, and records it as `key` and its number.
    KeyRecorded,
    /// Waits for a line, which is not echoed, and records it.
    Hidden,
    /// Waits for lines, which are echoed and recorded, until one contains this.
    Text(&'static str),
    /// Changes the prompt.
    Prompt(&'static str),
    /// Ends the connection.
    Close,
    /// Hangs forever.
    Hang,
}

/// How a device echoes what is typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FakeEcho {
    /// When it reads it, and it erases on request.
    Editor,
    /// Like `Editor`, but it redraws the prompt and the line for each key.
    Redrawn,
    /// When it reads it, including control characters.
    Blind,
    /// Like `Blind`, in rows of this many columns.
    Wrapped(usize),
    /// Unread input twice: at once by the terminal, and again by the editor when it reads it.
    Terminal,
    /// Only the line end.
    Never,
    /// Nothing, not even the line end.
    Nothing,
}

pub(crate) struct Fake {
    prompt: String,
    echo: FakeEcho,
    /// The number of lines that are echoed before the echo stops.
    echoes: usize,
    greeting: Vec<FakeStep>,
    /// The reactions to each command, in order. The last one is repeated.
    commands: HashMap<&'static str, VecDeque<Vec<FakeStep>>>,
    received: Arc<Mutex<Vec<String>>>,
    /// The input that was typed while nothing read it.
    typed_ahead: VecDeque<u8>,
}

pub(crate) fn write(text: &str) -> FakeStep {
    FakeStep::Write(text.to_owned())
}

impl Fake {
    pub(crate) fn new(prompt: &str) -> Self {
        let commands = HashMap::from([("terminal length 0", VecDeque::from([Vec::new()]))]);
        Self {
            prompt: prompt.to_owned(),
            echo: FakeEcho::Editor,
            echoes: usize::MAX,
            greeting: Vec::new(),
            commands,
            received: Arc::default(),
            typed_ahead: VecDeque::new(),
        }
    }

    pub(crate) fn greeting(mut self, steps: &[FakeStep]) -> Self {
        self.greeting = steps.to_vec();
        self
    }

    pub(crate) fn echo(mut self, echo: FakeEcho) -> Self {
        self.echo = echo;
        self
    }

    pub(crate) fn echoes(mut self, echoes: usize) -> Self {
        self.echoes = echoes;
        self
    }

    pub(crate) fn on(mut self, command: &'static str, steps: &[FakeStep]) -> Self {
        let reactions = VecDeque::from([steps.to_vec()]);
        self.commands.insert(command, reactions);
        self
    }

    /// Adds a reaction to the next time that a command is typed.
    pub(crate) fn then(mut self, command: &'static str, steps: &[FakeStep]) -> Self {
        let reactions = self.commands.entry(command).or_default();
        reactions.push_back(steps.to_vec());
        self
    }

    /// Returns the lines that the device has received, without empty ones.
    pub(crate) fn received(&self) -> Arc<Mutex<Vec<String>>> {
        Arc::clone(&self.received)
    }

    /// Starts the device and returns the other end of its stream.
    pub(crate) fn start(self) -> DuplexStream {
        let (near, far) = duplex(64 * 1024);
        tokio::spawn(async move {
            // A test that is done closes its end.
            let _ = self.run(far).await;
        });
        near
    }

    async fn run(mut self, mut line: DuplexStream) -> std::io::Result<()> {
        for step in std::mem::take(&mut self.greeting) {
            self.act(&step, &mut line).await?;
        }
        loop {
            line.write_all(self.prompt.as_bytes()).await?;
            self.echoes = self.echoes.saturating_sub(1);
            if self.echoes == 0 {
                self.echo = FakeEcho::Never;
            }
            let typed = self.read_line(&mut line).await?;
            if self.echo != FakeEcho::Nothing {
                line.write_all(b"\r\n").await?;
            }
            let command = typed.trim();
            if command.is_empty() {
                for step in self.reaction("").unwrap_or_default() {
                    self.act(&step, &mut line).await?;
                }
                continue;
            }
            self.received
                .lock()
                .expect("no poison")
                .push(command.to_owned());
            let unknown = vec![write("% Invalid input detected\r\n")];
            for step in self.reaction(command).unwrap_or(unknown) {
                self.act(&step, &mut line).await?;
            }
        }
    }

    fn reaction(&mut self, command: &str) -> Option<Vec<FakeStep>> {
        let reactions = self.commands.get_mut(command)?;
        match reactions.len() {
            0 | 1 => reactions.front().cloned(),
            _ => reactions.pop_front(),
        }
    }

    async fn key(&mut self, line: &mut DuplexStream) -> std::io::Result<u8> {
        match self.typed_ahead.pop_front() {
            Some(byte) => Ok(byte),
            None => line.read_u8().await,
        }
    }

    async fn read_line(&mut self, line: &mut DuplexStream) -> std::io::Result<String> {
        let mut typed = Vec::new();
        let mut column = self.prompt.len();
        let mut is_literal = false;
        loop {
            let byte = match self.typed_ahead.pop_front() {
                Some(byte) => byte,
                None => line.read_u8().await?,
            };
            if byte == b'\n' {
                return Ok(String::from_utf8_lossy(&typed).into_owned());
            }
            let edits = [FakeEcho::Editor, FakeEcho::Redrawn, FakeEcho::Terminal];
            let was_literal = std::mem::replace(&mut is_literal, byte == 0x16);
            // Ctrl-V makes it a character. A text has no prompt, and no help.
            if byte == b'?' && !was_literal && !self.prompt.is_empty() {
                line.write_all(b"?\r\n  <cr>\r\n\r\n").await?;
                line.write_all(&[self.prompt.as_bytes(), &typed].concat())
                    .await?;
                continue;
            }
            if edits.contains(&self.echo) && byte < b' ' {
                if byte == 0x08 && typed.pop().is_some() {
                    match self.echo {
                        FakeEcho::Redrawn => self.redraw(&typed, line).await?,
                        _ => line.write_all(b"\x08 \x08").await?,
                    }
                }
                continue;
            }
            typed.push(byte);
            if self.echo == FakeEcho::Redrawn {
                self.redraw(&typed, line).await?;
            } else if !matches!(self.echo, FakeEcho::Never | FakeEcho::Nothing) {
                line.write_all(&[byte]).await?;
            }
            column += 1;
            if let FakeEcho::Wrapped(width) = self.echo
                && column.is_multiple_of(width)
            {
                line.write_all(b"\r\n").await?;
            }
        }
    }

    async fn redraw(&self, typed: &[u8], line: &mut DuplexStream) -> std::io::Result<()> {
        let drawn = [b"\r", self.prompt.as_bytes(), typed, b"\x1b[K"].concat();
        line.write_all(&drawn).await
    }

    async fn act(&mut self, step: &FakeStep, line: &mut DuplexStream) -> std::io::Result<()> {
        match step {
            FakeStep::Write(text) => line.write_all(text.as_bytes()).await?,
            FakeStep::Lines(count) => {
                for number in 0..*count {
                    line.write_all(format!("line {number} of the output\r\n").as_bytes())
                        .await?;
                }
            }
            FakeStep::Pause(milliseconds) => {
                let end = Instant::now() + Duration::from_millis(*milliseconds);
                while self.echo == FakeEcho::Terminal {
                    let Ok(byte) = timeout_at(end, line.read_u8()).await else {
                        break;
                    };
                    let byte = byte?;
                    self.typed_ahead.push_back(byte);
                    match byte {
                        b'\n' => line.write_all(b"\r\n").await?,
                        0..b' ' => line.write_all(&[b'^', byte + b'@']).await?,
                        byte => line.write_all(&[byte]).await?,
                    }
                }
                let _ = timeout_at(end, std::future::pending::<()>()).await;
            }
            FakeStep::Key => drop(self.key(line).await?),
            FakeStep::KeyRecorded => {
                let key = self.key(line).await?;
                let noted = format!("key {key}");
                self.received.lock().expect("no poison").push(noted);
            }
            FakeStep::Hidden => {
                let mut hidden = String::new();
                loop {
                    match line.read_u8().await? {
                        b'\n' => break,
                        byte => hidden.push(char::from(byte)),
                    }
                }
                self.received.lock().expect("no poison").push(hidden);
            }
            FakeStep::Text(end) => {
                let prompt = std::mem::take(&mut self.prompt);
                loop {
                    let typed = self.read_line(line).await?;
                    line.write_all(b"\r\n").await?;
                    let is_last = typed.contains(end);
                    self.received.lock().expect("no poison").push(typed);
                    if is_last {
                        break;
                    }
                }
                self.prompt = prompt;
            }
            FakeStep::Prompt(prompt) => (*prompt).clone_into(&mut self.prompt),
            FakeStep::Close => return Err(std::io::ErrorKind::ConnectionReset.into()),
            FakeStep::Hang => std::future::pending().await,
        }
        Ok(())
    }
}
