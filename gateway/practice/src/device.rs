//! The devices of a practice server, with a shell for each session.

use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use devgate_core::lock::locked;

use super::switch::Switch;
use super::terminal::Terminal;
use super::vty::Mode;

/// A device for several sessions.
pub(super) trait Device: Debug + Send + Sync {
    /// Opens a shell after a login.
    fn shell(&self, user: &str) -> Box<dyn Shell>;
}

/// The shell of one session: bytes in, bytes out.
pub(super) trait Shell: Send {
    /// Sets the size of the screen. 0 means unknown.
    fn resize(&mut self, columns: u32, rows: u32);

    /// The output before the first input.
    fn greeting(&mut self) -> Vec<u8>;

    /// Takes input, and returns its output.
    fn input(&mut self, bytes: &[u8]) -> Vec<u8>;

    /// Runs one command, as for `ssh host command`.
    fn exec(&mut self, command: &str) -> Vec<u8>;

    /// Whether the session is over.
    fn is_closed(&self) -> bool;
}

/// The practice switch, whose configuration all sessions share.
#[derive(Debug)]
pub(super) struct SharedSwitch {
    pub(super) switch: Arc<Mutex<Switch>>,
    /// The initial mode of sessions.
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

    fn greeting(&mut self) -> Vec<u8> {
        self.terminal.greeting(&locked(&self.switch))
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
