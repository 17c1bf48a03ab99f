//! The way to a port, and what can be wrong with it: `tests/lab/link.sh` with real packets.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::delay::Delay;
use super::lab::{command_for, output};
use super::line::{relay, slow_line};

/// What carries a protocol.
#[derive(Clone, Copy)]
pub(crate) enum Carrier {
    Tcp,
    Udp,
}

/// A way of its own to a server that others use at the same time; it is healed when it is dropped.
pub(crate) struct Link {
    port: u16,
    delay: Option<Delay>,
}

impl Link {
    /// A new way to the server at `port` of this node.
    pub(crate) fn to(carrier: Carrier, port: u16) -> Self {
        let port = match carrier {
            Carrier::Tcp => slow_line(port, Duration::ZERO),
            Carrier::Udp => relay(port),
        };
        Self { port, delay: None }
    }

    /// The port at which it begins.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Brings a fault about, with its number where it has one: `drop`, `loss 5`.
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

    /// Makes every packet take this long, in either direction.
    pub(crate) fn slow(&mut self, time: Duration) {
        self.delay = Some(Delay::of(self.port, time));
        self.fault("queue");
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The test may be failing already: that must stay what is told.
        let _ = self.command("clear").status();
    }
}
