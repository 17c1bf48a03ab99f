//! A terminal: prompts, the line editor with its echo, and the generated answers.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::timeout_at;

use super::answer::{Answer, Step};
use super::dice::Dice;
use super::habit::{Echo, Keys, Opening};
use super::journal::Journal;
use super::world::World;

/// A terminal's input and output.
pub(super) struct Line {
    pub(super) typed: mpsc::UnboundedReceiver<Vec<u8>>,
    pub(super) output: mpsc::UnboundedSender<Vec<u8>>,
}

pub(super) struct Terminal {
    seed: u64,
    user: String,
    pub(super) world: World,
    line: Line,
    /// The width of the client's terminal.
    pub(super) width: usize,
    pub(super) journal: Journal,
    pub(super) dice: Dice,
    pub(super) unread: VecDeque<u8>,
    pub(super) after_return: bool,
    /// Whether a line editor or a question reads the input, and not only the terminal's driver.
    pub(super) is_reading: bool,
    /// The number of characters of a line that the driver has echoed.
    pub(super) driven: usize,
    begun: Instant,
    /// The number of entered lines.
    count: usize,
    /// The current prompt.
    pub(super) prompt: String,
    /// The number of lines on the current page.
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
            is_reading: false,
            driven: 0,
            begun: Instant::now(),
            count: 0,
            prompt: String::new(),
            page: 0,
        }
    }

    /// Prompts, reads and answers until the client leaves.
    pub(super) async fn serve(mut self) {
        // If the client has gone, an error does not matter.
        let _ = self.work().await;
    }

    async fn work(&mut self) -> Option<()> {
        self.open().await?;
        loop {
            self.prompt()?;
            let line = self.read_line().await?;
            let line = line.trim();
            self.count += 1;
            self.page = 0;
            if !line.is_empty() {
                self.journal.record_line(&self.user, line);
                self.answer(line).await?;
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
                    let Some(key) = self.consent(question).await? else {
                        return Some(());
                    };
                    self.journal.consent(&self.user, line, key);
                }
            }
        }
        Some(())
    }

    /// Returns the key by which a question was answered with consent, if it was. A question that expects a
    /// key takes any other key as a refusal; a question that expects a line waits for its end.
    async fn consent(&mut self, question: &str) -> Option<Option<u8>> {
        self.is_reading = true;
        // The question stands before the input that follows.
        question.clone_into(&mut self.prompt);
        let wants_key = question.ends_with("[confirm]") || question.ends_with("(y/n) ");
        // If the terminal's driver echoes the input, it delivers only whole lines.
        let key = if wants_key && self.world.habit.echo != Echo::Driver {
            let key = self.byte().await?;
            self.print("\n")?;
            // If control characters are text, a client can probe only with blanks, which must not count as
            // consent.
            let is_consent = match key {
                b' ' => self.world.keys != Keys::Data,
                key => b"\r\nyY".contains(&key),
            };
            is_consent.then_some(key)
        } else {
            let line = self.typed_line(None).await?;
            let answer = line.trim_start_matches(|c: char| c.is_whitespace() || c.is_control());
            Some(answer.bytes().next().unwrap_or(b'\n'))
        };
        self.is_reading = false;
        Some(key)
    }

    /// Returns the device as it was at the beginning: a renamed device quotes its old prompts.
    fn world_as_begun(&self) -> World {
        World::of(self.seed, &self.user)
    }

    /// Shows a part of an output, in pages if there is a pager.
    async fn show(&mut self, text: &str) -> Option<()> {
        let Some(pager) = &self.world.habit.pager else {
            return self.print(text);
        };
        for line in text.split_inclusive('\n') {
            if self.page == pager.lines {
                self.page = 0;
                self.print(pager.text)?;
                match self.byte().await? {
                    // Return continues by one line.
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

    pub(super) fn prompt(&mut self) -> Option<()> {
        self.prompt = self.world.prompt(self.begun.elapsed(), self.count);
        let (before, behind) = self.world.habit.around;
        let behind = &behind.replace("{}", &(self.prompt.chars().count() + 1).to_string());
        let prompt = [self.world.habit.above, before, &self.prompt, behind].concat();
        self.print(&prompt)
    }

    /// Returns the next byte of input.
    pub(super) async fn byte(&mut self) -> Option<u8> {
        while self.unread.is_empty() {
            let typed = self.line.typed.recv().await?;
            self.arrive(&typed)?;
        }
        self.unread.pop_front()
    }

    fn arrive(&mut self, typed: &[u8]) -> Option<()> {
        self.unread.extend(typed);
        match self.world.habit.echo {
            Echo::Driver => self.drive(typed),
            Echo::Twice if !self.is_reading => self.drive(typed),
            _ => Some(()),
        }
    }

    /// Waits; input in the meantime is kept.
    async fn pause(&mut self, milliseconds: usize) -> Option<()> {
        let end = tokio::time::Instant::now() + Duration::from_millis(milliseconds as u64);
        while let Ok(typed) = timeout_at(end, self.line.typed.recv()).await {
            self.arrive(&typed?)?;
        }
        Some(())
    }

    /// Whether there is no input for this time.
    pub(super) async fn is_left_alone(&mut self, milliseconds: usize) -> Option<bool> {
        let end = tokio::time::Instant::now() + Duration::from_millis(milliseconds as u64);
        match timeout_at(end, self.line.typed.recv()).await {
            Ok(typed) => self.arrive(&typed?).map(|()| false),
            Err(_) => Some(true),
        }
    }

    pub(super) fn print(&self, text: &str) -> Option<()> {
        self.send(text.replace('\n', self.world.habit.line_end).into_bytes())
    }

    pub(super) fn send(&self, bytes: Vec<u8>) -> Option<()> {
        if bytes.is_empty() {
            return Some(());
        }
        self.line.output.send(bytes).ok()
    }
}
