//! Devices with a candidate configuration: SSH servers that keep a running configuration, candidates, a lock and a
//! pending confirmation, as their vendors' public documentation describes it.
//!
//! Each runs on a thread of its own, so that a test can run the binary against it. A test may plan a [`Fault`] at any
//! line that the device receives. Afterwards it reads what was typed and what the device holds. The clock of the device
//! can be put forward, so that no test waits for a confirmation that does not come.

use std::net::Ipv4Addr;
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use russh::keys::key::safe_rng;
use russh::keys::{Algorithm, PrivateKey};
use tokio::net::TcpListener;
use tokio::sync::oneshot;

mod config;
mod device;
mod eos;
mod fault;
mod iosxr;
mod junos;
mod nested;
mod ssh;
mod terminal;

pub(crate) use config::Statements;
pub(crate) use device::Device;
pub(crate) use fault::{Fault, Planned};

/// The user of every device.
pub(crate) const USER: &str = "netops";

/// The user's password; a device refuses any other.
pub(crate) const PASSWORD: &str = "canary-candidate";

/// The vendors that a device can be true to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vendor {
    Junos,
    IosXr,
    Eos,
}

/// A running device; it ends when it is dropped.
pub(crate) struct Candidate {
    port: u16,
    host_key: String,
    device: Arc<Mutex<Device>>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Candidate {
    /// Starts a device on a free port of the loopback interface.
    pub(crate) fn start(vendor: Vendor) -> Self {
        let key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519).expect("a key");
        let host_key = key
            .public_key()
            .to_openssh()
            .expect("a public key has a text");
        let device = Arc::new(Mutex::new(Device::new(vendor)));
        let (stop, stopped) = oneshot::channel();
        let (listening, port) = mpsc::channel();
        let served = Arc::clone(&device);
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            runtime.expect("a runtime").block_on(async move {
                let address = (Ipv4Addr::LOCALHOST, 0);
                let listener = TcpListener::bind(address).await.expect("a port is free");
                let address = listener.local_addr().expect("a listener has an address");
                listening
                    .send(address.port())
                    .expect("someone has started this");
                tokio::select! {
                    () = ssh::accept(listener, key, served) => {}
                    _ = stopped => {}
                }
            });
        });
        Self {
            port: port.recv().expect("the device listens"),
            host_key,
            device,
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    /// Returns its port on 127.0.0.1.
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Returns its line for a `known_hosts` file.
    pub(crate) fn known_hosts(&self) -> String {
        format!("[127.0.0.1]:{} {}\n", self.port, self.host_key)
    }

    /// Returns the device, to read it or to change it. It answers nobody as long as this is held.
    pub(crate) fn device(&self) -> MutexGuard<'_, Device> {
        self.device
            .lock()
            .expect("no test panics while it holds the device")
    }
}

impl Drop for Candidate {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // A panic of the device has already been reported.
            let _ = thread.join();
        }
    }
}
