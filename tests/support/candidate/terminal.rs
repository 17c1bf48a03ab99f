//! A terminal of a device: bytes in, bytes out.

use super::device::{Device, Draft};
use super::fault::Fault;
use super::{Vendor, eos, iosxr, junos};

/// A session at a terminal.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The number of its connection.
    pub(super) connection: usize,
    pub(super) mode: Mode,
    /// The lines that opened the submodes.
    pub(super) context: Vec<String>,
    /// A candidate of its own.
    pub(super) draft: Option<Draft>,
    /// The name of its configuration session.
    pub(super) name: String,
    /// What the device has asked, and the command that asked it.
    pub(super) question: Option<Question>,
    /// The lines of a text that has not ended.
    pub(super) text: Option<Vec<String>>,
    /// Why the last commit failed.
    pub(super) failed: String,
    /// What was committed when the session began, or by itself since then.
    pub(super) seen: Option<super::Statements>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    #[default]
    Exec,
    Config,
}

/// A question that waits for its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Whether to leave although there are uncommitted changes.
    Leave,
    /// Whether to commit although others have committed; with the whole command.
    CommitAnyway(String),
}

/// What follows a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// The output, whose last line ends, and the prompt.
    Text(String),
    /// A question, without a prompt.
    Ask(String, Question),
    /// The session ends.
    Close,
}

impl Reply {
    pub(super) fn none() -> Self {
        Self::Text(String::new())
    }

    pub(super) fn lines(text: &str) -> Self {
        Self::Text(format!("{text}\n"))
    }
}

/// What becomes of the connection after some input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Stays,
    Ends,
    IsLost,
    /// It is lost after the output.
    IsLostWithin,
}

/// What a device tells everybody.
const MESSAGE: &str = "\nBroadcast Message from root@edge\n        (no tty) at 3:04 UTC...\n\nCommit was not confirmed; \
                       automatic rollback complete.\n\n";

/// A terminal.
pub(super) struct Terminal {
    session: Session,
    line: Vec<u8>,
    after_return: bool,
    hangs: bool,
    output: Vec<u8>,
}

impl Terminal {
    pub(super) fn new(connection: usize) -> Self {
        Self {
            session: Session {
                connection,
                ..Session::default()
            },
            line: Vec::new(),
            after_return: false,
            hangs: false,
            output: Vec::new(),
        }
    }

    /// Returns the output before any input.
    pub(super) fn greeting(&mut self, device: &mut Device) -> Vec<u8> {
        self.prompt(device);
        std::mem::take(&mut self.output)
    }

    /// Takes input, and returns the output and what becomes of the connection.
    pub(super) fn input(&mut self, device: &mut Device, bytes: &[u8]) -> (Vec<u8>, Fate) {
        let mut fate = Fate::Stays;
        for byte in bytes {
            if self.hangs || fate != Fate::Stays {
                break;
            }
            fate = self.byte(device, *byte);
        }
        (std::mem::take(&mut self.output), fate)
    }

    fn byte(&mut self, device: &mut Device, byte: u8) -> Fate {
        let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        match byte {
            b'\n' if after_return => {}
            b'\r' | b'\n' => {
                self.print("\n");
                let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
                return self.enter(device, &line);
            }
            0x08 | 0x7F if self.line.pop().is_some() => self.print("\x08 \x08"),
            byte if byte >= b' ' && byte != 0x7F => {
                self.line.push(byte);
                self.output.push(byte);
            }
            _ => {}
        }
        Fate::Stays
    }

    fn enter(&mut self, device: &mut Device, line: &str) -> Fate {
        let asked = self.session.question.is_some() || self.session.text.is_some();
        if line.trim().is_empty() && !asked {
            self.prompt(device);
            return Fate::Stays;
        }
        let fault = device.receive(self.session.connection, line);
        match fault {
            Some(Fault::LoseBefore | Fault::RebootConfirmed | Fault::RebootRunning) => {
                return Fate::IsLost;
            }
            Some(Fault::HangBefore) => {
                self.hangs = true;
                return Fate::Stays;
            }
            _ => {}
        }
        let reply = if fault == Some(Fault::Refuse) && self.session.text.is_none() {
            Reply::Text(self.refusal(device, line))
        } else {
            self.answer(device, line)
        };
        device.fails_commit = false;
        match fault {
            Some(Fault::LoseAfter) => return Fate::IsLost,
            Some(Fault::HangAfter) => {
                self.hangs = true;
                return Fate::Stays;
            }
            Some(Fault::Message) => self.print(MESSAGE),
            _ => {}
        }
        let begin = self.output.len();
        let fate = self.reply(device, reply);
        if matches!(fault, Some(Fault::LoseWithin | Fault::HangWithin)) {
            let half = (self.output.len() - begin) / 2;
            self.output.truncate(begin + half);
            self.hangs = true;
            if fault == Some(Fault::LoseWithin) {
                return Fate::IsLostWithin;
            }
        }
        fate
    }

    fn reply(&mut self, device: &mut Device, reply: Reply) -> Fate {
        match reply {
            Reply::Text(text) => {
                self.print(&text);
                if self.session.text.is_none() {
                    self.prompt(device);
                }
            }
            Reply::Ask(text, question) => {
                self.print(&text);
                self.session.question = Some(question);
            }
            Reply::Close => return Fate::Ends,
        }
        Fate::Stays
    }

    fn answer(&mut self, device: &mut Device, line: &str) -> Reply {
        let session = &mut self.session;
        match device.vendor {
            Vendor::Junos => junos::answer(session, device, line),
            Vendor::IosXr => iosxr::answer(session, device, line),
            Vendor::Eos => eos::answer(session, device, line),
        }
    }

    fn refusal(&self, device: &mut Device, line: &str) -> String {
        let column = line.trim_end().rfind(' ').map_or(0, |at| at + 1);
        match device.vendor {
            Vendor::Junos => junos::refusal(&self.session, device, column),
            Vendor::IosXr => iosxr::refusal(&self.session, device, column),
            Vendor::Eos => eos::REFUSAL.to_owned(),
        }
    }

    fn prompt(&mut self, device: &mut Device) {
        let session = &self.session;
        let prompt = match device.vendor {
            Vendor::Junos => junos::prompt(session, device),
            Vendor::IosXr => iosxr::prompt(session, device),
            Vendor::Eos => eos::prompt(session, device),
        };
        self.print(&prompt);
    }

    fn print(&mut self, text: &str) {
        self.output.extend(text.replace('\n', "\r\n").bytes());
    }
}
