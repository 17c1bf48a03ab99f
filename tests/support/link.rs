//! The network path to a port and its faults: `tests/lab/link.sh` with real packets.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::delay::Delay;
use super::lab::{command_for, output};
use super::line::{relay, slow_line};

/// The transport protocol that carries a protocol.
#[derive(Clone, Copy)]
pub(crate) enum Carrier {
    Tcp,
    Udp,
}

/// A separate path to a server that others use at the same time; its faults end when it is dropped.
pub(crate) struct Link {
    port: u16,
    delay: Option<Delay>,
}

impl Link {
    /// Creates a new path to the server at `port` of this machine.
    pub(crate) fn to(carrier: Carrier, port: u16) -> Self {
        let port = match carrier {
            Carrier::Tcp => slow_line(port, Duration::ZERO),
            Carrier::Udp => relay(port),
        };
        Self { port, delay: None }
    }

    /// Returns the port at which the path begins.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Causes a fault, with its number if it has one: `drop`, `loss 5`.
    pub(crate) fn fault(&self, fault: &str) {
        output(&mut self.command(fault));
    }

    fn command(&self, fault: &str) -> Command {
        let mut words = fault.split_whitespace();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/lab/link.sh");
        let mut command = command_for(&script.to_string_lossy());
        let port = self.port.to_string();
        command.args(words.next()).arg(port).args(words);
        command
    }

    /// Delays every packet by this time in each direction.
    pub(crate) fn slow(&mut self, time: Duration) {
        self.delay = Some(Delay::of(self.port, time));
        self.fault("queue");
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The test may already be failing: its error must stay visible.
        let _ = self.command("clear").status();
    }
}
