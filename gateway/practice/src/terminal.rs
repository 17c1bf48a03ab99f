//! The terminal that a person or a program uses: bytes in, bytes out.
//!
//! It has no clock and no socket: the server passes input and output.

use std::collections::VecDeque;

use super::commands::{answer, help};
use super::editor::Editor;
use super::grammar::ParseError;
use super::interpret;
use super::switch::Switch;
use super::vty::{Mode, Question, Reply, Vty};

/// How often `enable` asks for its password.
const MAX_PASSWORD_TRIES: u8 = 3;

const MORE: &str = " --More-- ";
/// Removes [`MORE`] like IOS.
const NO_MORE: &str =
    "\x08\x08\x08\x08\x08\x08\x08\x08\x08        \x08\x08\x08\x08\x08\x08\x08\x08\x08";

/// One session.
#[derive(Debug)]
pub(super) struct Terminal {
    vty: Vty,
    state: State,
    editor: Editor,
    after_return: bool,
    escape: Escape,
    output: Vec<u8>,
}

/// The meaning of the next byte.
#[derive(Debug)]
enum State {
    Command,
    Password { tries: u8 },
    Answer(Question),
    More(VecDeque<String>),
    Closed,
}

/// The position in an escape sequence, such as an arrow key. These sequences are ignored.
#[derive(Debug, PartialEq, Eq)]
enum Escape {
    None,
    Begun,
    Sequence,
}

impl Terminal {
    /// A terminal after the login.
    pub(super) fn new(user: &str, mode: Mode) -> Self {
        Self {
            vty: Vty {
                user: user.to_owned(),
                mode,
                rows: 24,
                width: 80,
            },
            state: State::Command,
            editor: Editor::default(),
            after_return: false,
            escape: Escape::None,
            output: vec![],
        }
    }

    /// Sets the size of the screen. 0 means unknown, and changes nothing.
    pub(super) fn resize(&mut self, columns: u32, rows: u32) {
        let size_if_known = |size: u32| usize::try_from(size).ok().filter(|size| *size > 0);
        self.vty.width = size_if_known(columns).unwrap_or(self.vty.width);
        self.vty.rows = size_if_known(rows).unwrap_or(self.vty.rows);
    }

    /// The output before the first input.
    pub(super) fn greeting(&mut self, switch: &Switch) -> Vec<u8> {
        self.print("\n");
        self.prompt(switch);
        std::mem::take(&mut self.output)
    }

    /// Takes input, and returns its output.
    pub(super) fn input(&mut self, switch: &mut Switch, bytes: &[u8]) -> Vec<u8> {
        for byte in bytes {
            self.input_byte(switch, *byte);
        }
        std::mem::take(&mut self.output)
    }

    /// Runs one command, as for `ssh host command`: without prompt and pager, and with the default answer to every
    /// question.
    pub(super) fn exec(&mut self, switch: &mut Switch, command: &str) -> Vec<u8> {
        self.print("\n");
        let reply = match self.run_line(switch, command) {
            Ok(Reply::Ask(question)) => answer(question, switch, &mut self.vty, ""),
            Ok(reply) => reply,
            Err(_) => Reply::line(format!("Line has invalid autocommand \"{command}\"")),
        };
        match reply {
            Reply::Text(text) => self.print(&text),
            Reply::Password => self.print("% Access denied\n"),
            Reply::Ask(_) | Reply::Exec { .. } | Reply::Close => {}
        }
        self.state = State::Closed;
        std::mem::take(&mut self.output)
    }

    /// Whether the session is over.
    pub(super) fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed)
    }

    fn input_byte(&mut self, switch: &mut Switch, byte: u8) {
        let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        if (byte == b'\n' && after_return) || self.is_escape(byte) {
            return;
        }
        match (&mut self.state, byte) {
            (State::Closed, _) => {}
            (State::More(lines), key) => {
                let lines = std::mem::take(lines);
                self.turn_page(switch, lines, key);
            }
            (_, b'\r' | b'\n') => self.enter(switch),
            (_, 0x03) => self.interrupt(switch),
            (State::Command, 0x1A) => self.end_of_configuration(switch),
            (State::Command, b'?') => self.help(switch),
            (State::Command, b'\t') => self.complete(switch),
            (_, byte) => self.edit(switch, byte),
        }
    }

    fn is_escape(&mut self, byte: u8) -> bool {
        self.escape = match (&self.escape, byte) {
            (Escape::None, 0x1B) => Escape::Begun,
            (Escape::None, _) => return false,
            (Escape::Begun, b'[' | b'O') => Escape::Sequence,
            (Escape::Sequence, b'0'..=b'9' | b';') => Escape::Sequence,
            (Escape::Begun | Escape::Sequence, _) => Escape::None,
        };
        true
    }

    fn edit(&mut self, switch: &Switch, byte: u8) {
        let prompt = self.vty.mode.prompt(&switch.running.hostname).len();
        let columns_left = match self.vty.width {
            0 => usize::MAX,
            width => width.saturating_sub(prompt),
        };
        let echo = match byte {
            0x08 | 0x7F => self.editor.erase(),
            0x15 | 0x18 => self.editor.clear(),
            0x17 => self.editor.erase_word(),
            byte if byte >= b' ' => self.editor.push(byte, columns_left),
            _ => vec![],
        };
        if !matches!(self.state, State::Password { .. }) {
            self.output.extend(echo);
        }
    }

    fn enter(&mut self, switch: &mut Switch) {
        let line = self.editor.take();
        self.print("\n");
        match std::mem::replace(&mut self.state, State::Command) {
            State::Password { tries } => self.password(switch, &line, tries),
            State::Answer(question) => {
                let reply = answer(question, switch, &mut self.vty, &line);
                self.apply_reply(switch, reply);
            }
            _ => self.command(switch, &line),
        }
    }

    fn password(&mut self, switch: &Switch, password: &str, tries: u8) {
        if switch.accepts_enable_password(password) {
            self.vty.mode = Mode::Privileged;
        } else if tries + 1 < MAX_PASSWORD_TRIES {
            self.print("Password: ");
            self.state = State::Password { tries: tries + 1 };
            return;
        } else {
            self.print("% Access denied\n\n");
        }
        self.prompt(switch);
    }

    fn command(&mut self, switch: &mut Switch, line: &str) {
        let reply = match self.run_line(switch, line) {
            Ok(reply) => reply,
            Err(message) => Reply::Text(message),
        };
        self.apply_reply(switch, reply);
    }

    fn apply_reply(&mut self, switch: &Switch, reply: Reply) {
        match reply {
            Reply::Text(text) => {
                self.page(
                    switch,
                    text.lines().map(str::to_owned).collect(),
                    self.vty.rows,
                );
            }
            Reply::Password => {
                self.print("Password: ");
                self.state = State::Password { tries: 0 };
            }
            Reply::Ask(question) => {
                self.print(question.text());
                self.state = State::Answer(question);
            }
            // The interpreter has run it.
            Reply::Exec { .. } => {}
            Reply::Close => self.state = State::Closed,
        }
    }

    /// Runs a line in the current mode. An error is the text of the refusal.
    fn run_line(&mut self, switch: &mut Switch, line: &str) -> Result<Reply, String> {
        let prompt = self.vty.mode.prompt(&switch.running.hostname).len();
        interpret::run(switch, &mut self.vty, line, prompt)
    }

    /// Prints lines until the screen is full.
    fn page(&mut self, switch: &Switch, mut lines: VecDeque<String>, rows: usize) {
        let count = if rows == 0 {
            lines.len()
        } else {
            lines.len().min(rows.max(2) - 1)
        };
        for line in lines.drain(..count) {
            self.print(&line);
            self.print("\n");
        }
        if lines.is_empty() {
            self.state = State::Command;
            self.prompt(switch);
        } else {
            self.print(MORE);
            self.state = State::More(lines);
        }
    }

    fn turn_page(&mut self, switch: &Switch, lines: VecDeque<String>, key: u8) {
        self.print(NO_MORE);
        match key {
            b' ' => self.page(switch, lines, self.vty.rows),
            b'\r' | b'\n' => self.page(switch, lines, 2),
            _ => self.page(switch, VecDeque::new(), 0),
        }
    }

    fn interrupt(&mut self, switch: &Switch) {
        self.editor.clear();
        if self.vty.mode.is_config() {
            self.vty.mode = Mode::Privileged;
        }
        self.state = State::Command;
        self.print("^C\n");
        self.prompt(switch);
    }

    /// Ctrl-Z runs the typed line, then leaves the configuration mode.
    fn end_of_configuration(&mut self, switch: &mut Switch) {
        self.print("^Z");
        if !self.vty.mode.is_config() {
            self.editor.take();
            self.print("\n");
            self.prompt(switch);
            return;
        }
        let line = self.editor.take();
        self.print("\n");
        let reply = self.run_line(switch, &line);
        self.vty.mode = Mode::Privileged;
        let reply = reply.unwrap_or_else(Reply::Text);
        self.apply_reply(switch, reply);
    }

    fn help(&mut self, switch: &Switch) {
        let line = self.editor.text();
        self.print("?\n");
        match interpret::expected(&self.vty.mode, &line) {
            Ok(tokens) if line.is_empty() || line.ends_with(' ') => {
                let width = tokens.iter().map(|token| token.len()).max().unwrap_or(0);
                for token in tokens {
                    let row = format!("  {token:width$}  {}", help(token));
                    self.print(row.trim_end());
                    self.print("\n");
                }
            }
            Ok(tokens) if tokens.is_empty() => self.print("% Unrecognized command\n"),
            Ok(tokens) => self.print(&format!("{}\n", tokens.join("  "))),
            Err(ParseError::Ambiguous) => {
                self.print(&format!("% Ambiguous command:  \"{line}\"\n"));
            }
            Err(_) => self.print("% Unrecognized command\n"),
        }
        self.print("\n");
        self.editor.set(&line);
        self.prompt(switch);
        self.print(&line);
    }

    /// Tab completes a keyword if it is unique.
    fn complete(&mut self, switch: &Switch) {
        let mut line = self.editor.text();
        let word = line.rsplit(' ').next().unwrap_or_default().len();
        if let Ok(tokens) = interpret::expected(&self.vty.mode, &line)
            && let ([keyword], true) = (&tokens[..], word > 0)
        {
            line.truncate(line.len() - word);
            line = format!("{line}{keyword} ");
            self.editor.set(&line);
        }
        self.print("\n");
        self.prompt(switch);
        self.print(&line);
    }

    fn prompt(&mut self, switch: &Switch) {
        let prompt = self.vty.mode.prompt(&switch.running.hostname);
        self.print(&prompt);
    }

    fn print(&mut self, text: &str) {
        self.output.extend(text.replace('\n', "\r\n").bytes());
    }
}

#[cfg(test)]
mod tests;
