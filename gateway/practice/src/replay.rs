//! Replays a recorded device: each command has the recorded answer.
//!
//! It has no state. Other commands are answered as the device answered an unknown command.

use std::sync::Arc;

use devgate_devices::Recording;

use super::device::{Device, Shell};
use super::editor::Editor;

/// The commands that end a session, unless the recording has another answer.
const EXIT_COMMANDS: [&str; 3] = ["exit", "quit", "logout"];

/// A recorded device.
#[derive(Debug)]
pub(super) struct Replay(pub(super) Arc<Recording>);

/// A session of a recorded device.
struct ReplayShell {
    recording: Arc<Recording>,
    editor: Editor,
    output: Vec<u8>,
    after_return: bool,
    closed: bool,
}

impl Device for Replay {
    fn shell(&self, _: &str) -> Box<dyn Shell> {
        Box::new(ReplayShell {
            recording: Arc::clone(&self.0),
            editor: Editor::default(),
            output: Vec::new(),
            after_return: false,
            closed: false,
        })
    }
}

impl Shell for ReplayShell {
    /// Recorded output keeps its width, and has no pager.
    fn resize(&mut self, _: u32, _: u32) {}

    fn greeting(&mut self) -> Vec<u8> {
        let greeting = self.recording.greeting.clone();
        self.print_lines(&greeting);
        self.prompt();
        std::mem::take(&mut self.output)
    }

    fn input(&mut self, bytes: &[u8]) -> Vec<u8> {
        for &byte in bytes {
            self.input_byte(byte);
        }
        std::mem::take(&mut self.output)
    }

    fn exec(&mut self, command: &str) -> Vec<u8> {
        self.answer(command.trim());
        self.closed = true;
        std::mem::take(&mut self.output)
    }

    fn is_closed(&self) -> bool {
        self.closed
    }
}

impl ReplayShell {
    fn input_byte(&mut self, byte: u8) {
        let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
        match byte {
            b'\n' if after_return => {}
            b'\r' | b'\n' => {
                let line = self.editor.take();
                self.print("\n");
                let command = line.trim();
                if !command.is_empty() {
                    self.answer(command);
                }
                if !self.closed {
                    self.prompt();
                }
            }
            0x03 => {
                self.editor.take();
                self.print("^C\n");
                self.prompt();
            }
            0x08 | 0x7F => self.output.extend(self.editor.erase()),
            0x15 => self.output.extend(self.editor.clear()),
            0x17 => self.output.extend(self.editor.erase_word()),
            b' '.. => self.output.extend(self.editor.push(byte, usize::MAX)),
            _ => {}
        }
    }

    fn answer(&mut self, command: &str) {
        let recording = Arc::clone(&self.recording);
        match recording.answer(command) {
            Some(output) => self.print_lines(output),
            None if EXIT_COMMANDS.contains(&command) => self.closed = true,
            None => self.print_lines(&recording.refusal(command)),
        }
    }

    fn prompt(&mut self) {
        let prompt = self.recording.prompt.clone();
        self.print(&prompt);
    }

    /// Prints lines. The last one always has a line end.
    fn print_lines(&mut self, text: &str) {
        self.print(text);
        if !text.is_empty() && !text.ends_with('\n') {
            self.print("\n");
        }
    }

    fn print(&mut self, text: &str) {
        self.output.extend(text.replace('\n', "\r\n").bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell() -> Box<dyn Shell> {
        let mut recording = Recording {
            greeting: "Hello.\n".to_owned(),
            prompt: "r1# ".to_owned(),
            unknown_command: "show nothing".to_owned(),
            unknown: "% Unknown command: show nothing\n".to_owned(),
            ..Recording::default()
        };
        recording.note("show version", "FRRouting 8.4.4\nr1".to_owned());
        recording.note("terminal length 0", String::new());
        Replay(Arc::new(recording)).shell("admin")
    }

    fn typed(shell: &mut dyn Shell, text: &str) -> String {
        String::from_utf8_lossy(&shell.input(text.as_bytes())).into_owned()
    }

    #[test]
    fn a_command_is_answered_as_it_was_recorded() {
        let mut shell = shell();
        assert_eq!(shell.greeting(), b"Hello.\r\nr1# ");
        assert_eq!(
            typed(&mut *shell, "show versiom\x7fn\r\n"),
            "show versiom\x08 \x08n\r\nFRRouting 8.4.4\r\nr1\r\nr1# "
        );
        assert_eq!(
            typed(&mut *shell, "terminal length 0\n"),
            "terminal length 0\r\nr1# "
        );
        assert_eq!(typed(&mut *shell, "   \r"), "   \r\nr1# ");
    }

    #[test]
    fn what_was_not_recorded_is_unknown_and_exit_ends_the_session() {
        let mut shell = shell();
        let answer = typed(&mut *shell, "reload\r");
        assert_eq!(answer, "reload\r\n% Unknown command: reload\r\nr1# ");
        assert!(!shell.is_closed());
        assert_eq!(typed(&mut *shell, "exit\r"), "exit\r\n");
        assert!(shell.is_closed());
        let mut other = self::shell();
        assert_eq!(other.exec("show version"), b"FRRouting 8.4.4\r\nr1\r\n");
        assert!(other.is_closed());
    }
}
