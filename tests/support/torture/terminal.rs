//! One terminal: prompts, the line editor with its echo, and the answers as they are drawn.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::timeout_at;

use super::answer::{Answer, MESSAGES, Step};
use super::dice::Dice;
use super::habit::{Echo, LogMessages, Opening};
use super::journal::Journal;
use super::world::World;

/// What a terminal talks through.
pub(super) struct Line {
    pub(super) typed: mpsc::UnboundedReceiver<Vec<u8>>,
    pub(super) shown: mpsc::UnboundedSender<Vec<u8>>,
}

pub(super) struct Terminal {
    seed: u64,
    user: String,
    world: World,
    line: Line,
    /// How wide the client says its terminal is.
    width: usize,
    journal: Journal,
    dice: Dice,
    unread: VecDeque<u8>,
    after_return: bool,
    begun: Instant,
    /// How many lines were entered.
    count: usize,
    /// The prompt that stands.
    prompt: String,
    /// How many lines the page has.
    page: usize,
}

impl Terminal {
    pub(super) fn new(
        seed: u64,
        user: &str,
        session: usize,
        line: Line,
        width: usize,
        journal: Journal,
    ) -> Self {
        Self {
            seed,
            user: user.to_owned(),
            world: World::of(seed, user),
            line,
            width,
            journal,
            dice: Dice::of(seed, &format!("session {session} of {user}")),
            unread: VecDeque::new(),
            after_return: false,
            begun: Instant::now(),
            count: 0,
            prompt: String::new(),
            page: 0,
        }
    }

    /// Prompts, listens and answers until the client leaves.
    pub(super) async fn talk(mut self) {
        // Who has gone is told nothing more.
        let _ = self.work().await;
    }

    async fn work(&mut self) -> Option<()> {
        self.open().await?;
        loop {
            self.prompt()?;
            let line = self.read_line().await?;
            self.count += 1;
            self.page = 0;
            if !line.trim().is_empty() {
                self.journal.hear(&self.user, &line);
                self.answer(&line).await?;
            }
        }
    }

    async fn open(&mut self) -> Option<()> {
        let quoted = self.world.quoted(&mut self.dice);
        match self.world.habit.opening {
            Opening::Nothing => {}
            Opening::PromptLike => {
                self.print(&format!(
                    "Welcome to\n{quoted}\n{quoted} is not a prompt, nor is\n{quoted}\n\n"
                ))?;
            }
            Opening::Late => {
                self.prompt()?;
                let late = self.dice.between(20, 900);
                self.pause(late).await?;
                self.print("\n*** Authorised staff only ***\n* All is logged #\n\n")?;
            }
            Opening::Key => {
                self.print("ProCurve J9019A Switch 2510B-24\n\nPress any key to continue")?;
                self.byte().await?;
                self.print("\r\x1b[2K")?;
            }
        }
        Some(())
    }

    async fn answer(&mut self, line: &str) -> Option<()> {
        let Some(answer) = Answer::of(self.seed, &self.world_as_begun(), line) else {
            return self.print("% Unknown command\n");
        };
        for step in &answer.steps {
            match step {
                Step::Show(text) => self.show(text).await?,
                Step::Raw(bytes, _) => self.send(bytes.clone())?,
                Step::Pause(time) => self.pause(*time).await?,
                Step::Rename(name) => self.world.name.clone_from(name),
                Step::Ask(question) => {
                    self.print(question)?;
                    let key = self.byte().await?;
                    self.journal.consent(&self.user, line, key);
                    self.print("\n")?;
                }
            }
        }
        Some(())
    }

    /// What answers are drawn by: a device that was renamed quotes its old prompts.
    fn world_as_begun(&self) -> World {
        World::of(self.seed, &self.user)
    }

    /// Shows a part of an output, in pages where there is a pager.
    async fn show(&mut self, text: &str) -> Option<()> {
        let Some(pager) = &self.world.habit.pager else {
            return self.print(text);
        };
        for line in text.split_inclusive('\n') {
            if self.page == pager.lines {
                self.page = 0;
                self.print(pager.shown)?;
                match self.byte().await? {
                    // Return goes on by a line.
                    b'\r' | b'\n' => self.page = pager.lines - 1,
                    _ => {}
                }
                self.print(pager.wiped)?;
            }
            self.print(line)?;
            self.page += usize::from(line.ends_with('\n'));
        }
        Some(())
    }

    fn prompt(&mut self) -> Option<()> {
        self.prompt = self.world.prompt(self.begun.elapsed(), self.count);
        let (before, behind) = self.world.habit.around;
        let prompt = [self.world.habit.above, before, &self.prompt, behind].concat();
        self.print(&prompt)
    }

    /// Reads a line, and echoes it as the habit has it.
    async fn read_line(&mut self) -> Option<String> {
        let mut line = Vec::new();
        let log = self.world.habit.log;
        if let LogMessages::AtPrompt { again } = log
            && self.dice.chance(60)
        {
            let quiet = self.dice.between(0, 500);
            if self.unread.is_empty() && self.is_left_alone(quiet).await? {
                self.log_message(again, &line)?;
            }
        }
        let amid = self.dice.chance(40).then(|| self.dice.between(0, 12));
        loop {
            let byte = self.byte().await?;
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            if (byte == b'\n' && after_return) || byte == 0 {
                continue;
            }
            if matches!(byte, b'\r' | b'\n') {
                self.enter(&line)?;
                return Some(String::from_utf8_lossy(&line).into_owned());
            }
            if let LogMessages::AmidTyping { again } = log
                && amid == Some(line.len())
            {
                self.log_message(again, &line)?;
            }
            line.push(byte);
            self.echo(&line)?;
        }
    }

    fn log_message(&mut self, again: bool, line: &[u8]) -> Option<()> {
        let message = *self.dice.pick(MESSAGES);
        self.print(&format!("\n{message}\n"))?;
        if again {
            self.prompt()?;
            self.send(line.to_vec())?;
        }
        Some(())
    }

    /// Shows the last character of a line that is being typed.
    fn echo(&mut self, line: &[u8]) -> Option<()> {
        let (last, column) = (
            line[line.len() - 1],
            self.prompt.chars().count() + line.len(),
        );
        match self.world.habit.echo {
            Echo::Nothing | Echo::Driver | Echo::Whole => Some(()),
            Echo::Editor => self.send(vec![last]),
            Echo::Redrawn => {
                let prompt = self.prompt.clone();
                self.send([b"\r", prompt.as_bytes(), line, b"\x1b[K"].concat())
            }
            Echo::Wrapped { edge, most } => {
                self.send(vec![last])?;
                if column.is_multiple_of(self.width.min(most)) {
                    self.send(edge.as_bytes().to_vec())?;
                }
                Some(())
            }
            Echo::Scrolled { columns } if column > columns => {
                let room = columns - self.prompt.chars().count() - 1;
                let prompt = self.prompt.clone();
                self.send(
                    [
                        b"\r",
                        prompt.as_bytes(),
                        b"$",
                        &line[line.len() - room..],
                        b"\x1b[K",
                    ]
                    .concat(),
                )
            }
            Echo::Scrolled { .. } => self.send(vec![last]),
        }
    }

    fn enter(&mut self, line: &[u8]) -> Option<()> {
        match self.world.habit.echo {
            Echo::Driver => {}
            Echo::Whole => {
                self.send(line.to_vec())?;
                self.print("\n")?;
            }
            _ => self.print("\n")?,
        }
        self.send(self.world.habit.entered.as_bytes().to_vec())
    }

    /// The next byte that was typed.
    async fn byte(&mut self) -> Option<u8> {
        while self.unread.is_empty() {
            let typed = self.line.typed.recv().await?;
            self.arrive(&typed)?;
        }
        self.unread.pop_front()
    }

    fn arrive(&mut self, typed: &[u8]) -> Option<()> {
        self.unread.extend(typed);
        if self.world.habit.echo == Echo::Driver {
            let text = String::from_utf8_lossy(typed)
                .replace("\r\n", "\n")
                .replace('\r', "\n");
            self.print(&text)?;
        }
        Some(())
    }

    /// Lets time pass; what is typed meanwhile waits.
    async fn pause(&mut self, milliseconds: usize) -> Option<()> {
        let end = tokio::time::Instant::now() + Duration::from_millis(milliseconds as u64);
        while let Ok(typed) = timeout_at(end, self.line.typed.recv()).await {
            self.arrive(&typed?)?;
        }
        Some(())
    }

    /// Whether nothing is typed for so long.
    async fn is_left_alone(&mut self, milliseconds: usize) -> Option<bool> {
        let end = tokio::time::Instant::now() + Duration::from_millis(milliseconds as u64);
        match timeout_at(end, self.line.typed.recv()).await {
            Ok(typed) => self.arrive(&typed?).map(|()| false),
            Err(_) => Some(true),
        }
    }

    fn print(&self, text: &str) -> Option<()> {
        self.send(text.replace('\n', self.world.habit.line_end).into_bytes())
    }

    fn send(&self, bytes: Vec<u8>) -> Option<()> {
        if bytes.is_empty() {
            return Some(());
        }
        self.line.shown.send(bytes).ok()
    }
}
