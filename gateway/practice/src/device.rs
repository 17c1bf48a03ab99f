//! What a practice server can play: a device, and a shell on it for each session.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use super::switch::Switch;
use super::terminal::Terminal;
use super::vty::Mode;
use devgate_core::lock::locked;

/// A device at which several may be logged in.
pub(super) trait Device: Debug + Send + Sync {
    /// A shell for someone who has just logged in.
    fn shell(&self, user: &str) -> Box<dyn Shell>;
}

/// What one session sees: bytes in, bytes out.
pub(super) trait Shell: Send {
    /// Takes the size of the screen; 0 means that it is not known.
    fn resize(&mut self, columns: u32, rows: u32);

    /// What is shown before anything is typed.
    fn greet(&mut self) -> Vec<u8>;

    /// Takes what was typed, and tells what is shown for it.
    fn input(&mut self, bytes: &[u8]) -> Vec<u8>;

    /// Runs one command as `ssh host command` does.
    fn exec(&mut self, command: &str) -> Vec<u8>;

    /// Whether the session is over.
    fn is_closed(&self) -> bool;
}

/// The practice switch: what one session configures, the others see.
#[derive(Debug)]
pub(super) struct SharedSwitch {
    pub(super) switch: Arc<Mutex<Switch>>,
    /// In which mode sessions start.
    pub(super) mode: Mode,
}

/// A session on the practice switch.
struct SwitchShell {
    switch: Arc<Mutex<Switch>>,
    terminal: Terminal,
}

impl Device for SharedSwitch {
    fn shell(&self, user: &str) -> Box<dyn Shell> {
        Box::new(SwitchShell {
            switch: Arc::clone(&self.switch),
            terminal: Terminal::new(user, self.mode.clone()),
        })
    }
}

impl Shell for SwitchShell {
    fn resize(&mut self, columns: u32, rows: u32) {
        self.terminal.resize(columns, rows);
    }

    fn greet(&mut self) -> Vec<u8> {
        self.terminal.greet(&locked(&self.switch))
    }

    fn input(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.terminal.input(&mut locked(&self.switch), bytes)
    }

    fn exec(&mut self, command: &str) -> Vec<u8> {
        self.terminal.exec(&mut locked(&self.switch), command)
    }

    fn is_closed(&self) -> bool {
        self.terminal.is_closed()
    }
}
