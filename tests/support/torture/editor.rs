//! The terminal's line editor, and its driver when no editor is running: how input is read and echoed.

use super::answer::MESSAGES;
use super::habit::{Echo, Keys, LogMessages};
use super::terminal::Terminal;

/// A broadcast message, in words that no pattern recognises.
const BROADCAST: &str = "\n\n***\n*** --- SHUTDOWN in 0:05:00 ---\n***";

const CTRL_U: u8 = 0x15;
const BACKSPACE: u8 = 0x08;
const DELETE: u8 = 0x7f;

impl Terminal {
    /// Reads a line at the prompt, with the messages in between.
    pub(super) async fn read_line(&mut self) -> Option<String> {
        self.is_reading = true;
        let log = self.world.habit.log;
        if let LogMessages::AtPrompt { .. } | LogMessages::Broadcast = log
            && self.dice.chance(60)
        {
            let quiet = self.dice.between(0, 500);
            if self.unread.is_empty() && self.is_left_alone(quiet).await? {
                self.log_message(log == LogMessages::AtPrompt { again: true }, b"")?;
            }
        }
        let amid = match log {
            LogMessages::AmidTyping { again } if self.dice.chance(40) => {
                Some((self.dice.between(0, 12), again))
            }
            _ => None,
        };
        let line = self.typed_line(amid).await?;
        self.is_reading = false;
        Some(line)
    }

    /// Reads a complete line, and echoes it according to the habit; `amid` is the place of a message.
    pub(super) async fn typed_line(&mut self, mut amid: Option<(usize, bool)>) -> Option<String> {
        let mut line = Vec::new();
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
            if let Some((_, again)) = amid.filter(|(at, _)| *at == line.len()) {
                amid = None;
                self.log_message(again, &line)?;
            }
            self.press(byte, &mut line)?;
        }
    }

    fn press(&mut self, key: u8, line: &mut Vec<u8>) -> Option<()> {
        let (keys, is_driven) = (self.world.keys, self.world.habit.echo == Echo::Driver);
        match key {
            BACKSPACE | DELETE if keys != Keys::Data && (!is_driven || self.erases(key)) => {
                match line.pop() {
                    Some(_) => self.take_back(line),
                    None if keys == (Keys::Edits { bell: true }) && !is_driven => {
                        self.send(b"\x07".to_vec())
                    }
                    None => Some(()),
                }
            }
            CTRL_U if matches!(keys, Keys::Edits { .. }) => {
                while line.pop().is_some() {
                    self.take_back(line)?;
                }
                Some(())
            }
            ..=0x1f | DELETE if keys != Keys::Data && !is_driven => Some(()),
            _ => {
                line.push(key);
                self.show_last(line)
            }
        }
    }

    /// Shows that the last character was removed.
    fn take_back(&mut self, line: &[u8]) -> Option<()> {
        match self.world.habit.echo {
            Echo::Nothing | Echo::Driver | Echo::Whole => Some(()),
            Echo::Redrawn => self.redraw(b"", line),
            _ => self.send(b"\x08 \x08".to_vec()),
        }
    }

    fn redraw(&mut self, before: &[u8], line: &[u8]) -> Option<()> {
        let prompt = self.prompt.clone();
        self.send([b"\r", prompt.as_bytes(), before, line, b"\x1b[K"].concat())
    }

    /// Shows the last character of a line that is being typed.
    fn show_last(&mut self, line: &[u8]) -> Option<()> {
        let wide = self.prompt.chars().count();
        let (last, column) = (line[line.len() - 1], wide + line.len());
        match self.world.habit.echo {
            Echo::Nothing | Echo::Driver | Echo::Whole => Some(()),
            Echo::Editor | Echo::Twice => self.send(vec![last]),
            Echo::Redrawn => self.redraw(b"", line),
            Echo::Wrapped { edge, most } => {
                self.send(vec![last])?;
                if column.is_multiple_of(self.width.min(most)) {
                    self.send(edge.as_bytes().to_vec())?;
                }
                Some(())
            }
            Echo::Scrolled { columns } if column > columns => {
                let free_columns = columns - wide - 1;
                self.redraw(b"$", &line[line.len() - free_columns..])
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

    /// Whether the driver removes a character with this key.
    fn erases(&self, key: u8) -> bool {
        key == DELETE || self.world.keys == Keys::TakesBack
    }

    /// Echoes input as the terminal's driver does: with visible control characters.
    pub(super) fn drive(&mut self, typed: &[u8]) -> Option<()> {
        for &byte in typed {
            match byte {
                b'\r' | b'\n' => {
                    self.driven = 0;
                    self.print("\n")?;
                }
                BACKSPACE | DELETE if self.erases(byte) => {
                    if self.driven > 0 {
                        self.driven -= 1;
                        self.send(b"\x08 \x08".to_vec())?;
                    }
                }
                ..=0x1f => {
                    self.driven += 2;
                    self.send(vec![b'^', byte + b'@'])?;
                }
                _ => {
                    self.driven += 1;
                    self.send(vec![byte])?;
                }
            }
        }
        Some(())
    }

    fn log_message(&mut self, again: bool, line: &[u8]) -> Option<()> {
        let message = match self.world.habit.log {
            LogMessages::Broadcast => BROADCAST,
            _ => *self.dice.pick(MESSAGES),
        };
        self.print(&format!("\n{message}\n"))?;
        if again {
            self.prompt()?;
            self.send(line.to_vec())?;
        }
        Some(())
    }
}
