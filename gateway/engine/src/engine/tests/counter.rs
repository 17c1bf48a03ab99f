//! Devices that count each configuration line, so that lines sent twice or concurrently are noticed.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use devgate_core::lock::locked;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema};
use devgate_transports::{CommandLine, Connect, Context, Error, Line, Result, Transport};
use tokio::time::timeout;

/// Many devices, which differ in the host of their connection info.
#[derive(Debug)]
pub(super) struct Counters {
    pub(super) schema: TransportSchema,
    /// How long a line takes.
    pub(super) line_duration: Duration,
    pub(super) seen: Mutex<DeviceLog>,
    /// The highest number of concurrent writers at one device.
    pub(super) most_writers: AtomicUsize,
    pub(super) logins: AtomicUsize,
    pub(super) closes: AtomicUsize,
    pub(super) refuses: bool,
}

/// What the devices have received.
#[derive(Debug, Default)]
pub(super) struct DeviceLog {
    /// Each line with its host, in order.
    pub(super) lines: Vec<(String, String)>,
    writers: std::collections::HashMap<String, usize>,
}

struct Session {
    counters: Arc<Counters>,
    host: String,
}

/// The transport that registers the devices.
#[derive(Debug)]
pub(super) struct Factory(pub(super) Arc<Counters>);

impl Counters {
    pub(super) fn new() -> Self {
        let schema = "{name: counter, desc: A counter., connection_info: {host: {type: String, desc: A host.}, \
                      port: {type: Integer, default: 7, desc: A port.}, password: {type: 'Optional[String]', \
                      sensitive: true, desc: A secret.}, token: {type: 'Optional[String]', sensitive: true, \
                      desc: Another.}}}";
        Self {
            schema: TransportSchema::built_in(schema),
            line_duration: Duration::ZERO,
            seen: Mutex::default(),
            most_writers: AtomicUsize::new(0),
            logins: AtomicUsize::new(0),
            closes: AtomicUsize::new(0),
            refuses: false,
        }
    }

    /// Returns the numbers of logins and goodbyes.
    pub(super) fn counts(&self) -> [usize; 2] {
        [&self.logins, &self.closes].map(|count| count.load(Ordering::SeqCst))
    }
}

/// Lets time pass.
pub(super) async fn wait_for(time: Duration) {
    let _ = timeout(time, std::future::pending::<()>()).await;
}

#[async_trait]
impl Connect for Factory {
    fn schema(&self) -> &TransportSchema {
        &self.0.schema
    }

    async fn connect(&self, _: &Context<'_>, info: &ConnectionInfo) -> Result<Box<dyn Transport>> {
        self.0.logins.fetch_add(1, Ordering::SeqCst);
        if self.0.refuses {
            let problem = "is wrong".to_owned();
            let setting = "password";
            return Err(Error::Setting { setting, problem });
        }
        Ok(Box::new(Session {
            counters: Arc::clone(&self.0),
            host: info.text("host").unwrap_or_default().to_owned(),
        }))
    }
}

#[async_trait]
impl Transport for Session {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        ctx.debug(format!("{} is there", self.host));
        Ok(())
    }

    async fn facts(&self, _: &Context<'_>) -> Result<Facts> {
        Ok(Facts::new())
    }

    async fn close(self: Box<Self>, _: &Context<'_>) {
        self.counters.closes.fetch_add(1, Ordering::SeqCst);
    }

    fn command_line(&self) -> Option<&dyn CommandLine> {
        Some(self)
    }
}

/// Counts one writer until it is dropped.
struct Writing<'s>(&'s Session);

impl<'s> Writing<'s> {
    fn new(session: &'s Session) -> Self {
        let mut seen = locked(&session.counters.seen);
        let writers = seen.writers.entry(session.host.clone()).or_insert(0);
        *writers += 1;
        let peak = &session.counters.most_writers;
        peak.fetch_max(*writers, Ordering::SeqCst);
        Self(session)
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        let mut seen = locked(&self.0.counters.seen);
        *seen.writers.entry(self.0.host.clone()).or_insert(1) -= 1;
    }
}

#[async_trait]
impl CommandLine for Session {
    async fn exec(&self, _: &Context<'_>, command: &str) -> Result<String> {
        Ok(format!("{command}\n"))
    }

    async fn exec_once(&self, _: &Context<'_>, command: &Line) -> Result<String> {
        Ok(format!("{}\n", command.shown()))
    }

    async fn configure(&self, _: &Context<'_>, lines: &[Line]) -> Result<()> {
        let _writing = Writing::new(self);
        for line in lines {
            let line = (self.host.clone(), line.shown());
            locked(&self.counters.seen).lines.push(line);
            wait_for(self.counters.line_duration).await;
        }
        Ok(())
    }

    async fn save(&self, _: &Context<'_>) -> Result<()> {
        Ok(())
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}
