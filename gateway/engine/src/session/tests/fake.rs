//! A fake device.

use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Event, EventSink, Facts, TransportSchema, Value};
use devgate_transports::error::{Interrupted, Interruption, PartialOutput, Phase};
use devgate_transports::{
    CommandLine, Connect, Context, DataRequest, DataStore, Document, Error, Line, Mode, Result,
    RetryBudget, Transport,
};
use serde_json::json;

use crate::inventory::Target;
use crate::job::RunId;
use crate::registry::RegistryId;
use crate::session::connection_spec::{SessionKey, SessionLimits};
use crate::session::{ConnectionSpec, RetryScope, SessionBroker, SessionPool};

/// A device that answers with the request, and counts logins.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) schema: TransportSchema,
    pub(super) seen: &'static Recorder,
    pub(super) ability: Ability,
    pub(super) refuses: bool,
    pub(super) is_down: bool,
}

/// What a session can do in addition to the basic operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ability {
    CommandLine,
    Data,
    Neither,
}

/// What the device has recorded.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    pub(super) logins: AtomicUsize,
    pub(super) closes: AtomicUsize,
    pub(super) tests: AtomicUsize,
    /// Whether its sessions are dead when they are tested.
    pub(super) dead: AtomicBool,
    typed: Mutex<Vec<String>>,
}

#[derive(Debug)]
struct Session {
    seen: &'static Recorder,
    ability: Ability,
}

impl Device {
    pub(super) fn new() -> Self {
        let schema = "{name: fake, desc: A fake., connection_info: {host: {type: String}}}";
        Self {
            schema: TransportSchema::built_in(schema),
            // The tests' devices are few, and their sessions need a static lifetime.
            seen: Box::leak(Box::default()),
            ability: Ability::CommandLine,
            refuses: false,
            is_down: false,
        }
    }

    /// Returns how the device is reached with the credentials in `info`.
    pub(super) fn spec(&self, name: &str, info: ConnectionInfo) -> ConnectionSpec<'_> {
        let mut target = Target::default();
        name.clone_into(&mut target.name);
        let transport = self.schema.name().to_owned();
        ConnectionSpec {
            connect: self,
            key: Rc::new(SessionKey {
                transport,
                info,
                registry: RegistryId::default(),
            }),
            device_key: target.device_key(None),
            limits: SessionLimits {
                limit: NonZeroUsize::MIN,
                idle: Duration::from_secs(300),
            },
            run: RunId::default(),
        }
    }

    /// Lends a session with the device to `work`, as to a task.
    pub(super) async fn lend<T>(&self, mode: Mode, work: impl AsyncFnOnce(String) -> T) -> T {
        self.lend_for(mode, RetryScope::Run, work).await
    }

    /// Lends a session with the device to `work`.
    pub(super) async fn lend_for<T>(
        &self,
        mode: Mode,
        retry_scope: RetryScope,
        work: impl AsyncFnOnce(String) -> T,
    ) -> T {
        let (listen, retry_budget) = (NullSink, RetryBudget::new());
        let ctx = Context::new("r1", &listen, &retry_budget);
        let (pool, spec) = (
            SessionPool::default(),
            self.spec("r1", ConnectionInfo::default()),
        );
        let lent =
            async |socket: Option<&str>| work(socket.expect("there is a socket").to_owned()).await;
        SessionBroker::new(&pool, retry_scope)
            .lend(&ctx, &spec, mode, lent)
            .await
    }

    pub(super) fn counts(&self) -> [usize; 2] {
        [&self.seen.logins, &self.seen.closes].map(|count| count.load(Ordering::SeqCst))
    }

    pub(super) fn typed(&self) -> Vec<String> {
        let typed = self.seen.typed.lock();
        typed.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Connect for Device {
    fn schema(&self) -> &TransportSchema {
        &self.schema
    }

    async fn connect(&self, ctx: &Context<'_>, _: &ConnectionInfo) -> Result<Box<dyn Transport>> {
        self.seen.logins.fetch_add(1, Ordering::SeqCst);
        if self.is_down {
            let attempt = async || {
                Err(Error::Closed {
                    peer: "fake:22".to_owned(),
                    phase: Phase::KeyExchange,
                    message: String::new(),
                })
            };
            return ctx.retry_budget().retry(ctx, "connect", attempt).await;
        }
        if self.refuses {
            let problem = "the password is wrong".to_owned();
            return Err(Error::Setting {
                setting: "password",
                problem,
            });
        }
        Ok(Box::new(Session {
            seen: self.seen,
            ability: self.ability,
        }))
    }
}

#[async_trait]
impl Transport for Session {
    async fn verify(&self, _: &Context<'_>) -> Result<()> {
        self.seen.tests.fetch_add(1, Ordering::SeqCst);
        if self.seen.dead.load(Ordering::SeqCst) {
            return Err(Error::Unsupported("it is dead".to_owned()));
        }
        Ok(())
    }

    async fn facts(&self, _: &Context<'_>) -> Result<Facts> {
        Ok(Facts::new())
    }

    async fn close(self: Box<Self>, _: &Context<'_>) {
        self.seen.closes.fetch_add(1, Ordering::SeqCst);
    }

    fn command_line(&self) -> Option<&dyn CommandLine> {
        (self.ability == Ability::CommandLine).then_some(self)
    }

    fn data_store(&self) -> Option<&dyn DataStore> {
        (self.ability == Ability::Data).then_some(self)
    }
}

#[async_trait]
impl CommandLine for Session {
    async fn exec(&self, _: &Context<'_>, command: &str) -> Result<String> {
        panic!("`{command}` may change the device: it must be sent once");
    }

    async fn exec_once(&self, _: &Context<'_>, command: &Line) -> Result<String> {
        let command = command.shown();
        self.note(&format!("> {command}"));
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        if command == "hang" {
            std::future::pending::<()>().await;
        }
        if command == "lose" {
            let (peer, operation) = ("fake:22".to_owned(), "`lose`".to_owned());
            return Err(Error::Interrupted(Box::new(Interrupted {
                peer,
                operation,
                changing: false,
                why: Interruption::Lost,
                partial: "half".into(),
            })));
        }
        self.note(&format!("< {command}"));
        Ok(format!("{command}\n"))
    }

    async fn configure(&self, _: &Context<'_>, lines: &[Line]) -> Result<()> {
        lines.iter().for_each(|line| self.note(&line.shown()));
        Ok(())
    }

    async fn save(&self, _: &Context<'_>) -> Result<()> {
        self.note("save");
        Ok(())
    }
}

#[async_trait]
impl DataStore for Session {
    async fn get(&self, _: &Context<'_>, what: &str) -> Result<Document> {
        self.note(&format!("get {what}"));
        match what {
            "/xml" => Ok(Document::Text("<a/>".to_owned())),
            _ => Ok(Document::Data(Value::from(json!({ "asked": what })))),
        }
    }

    async fn set(&self, _: &Context<'_>, request: &DataRequest) -> Result<Document> {
        let DataRequest { what, method, body } = request;
        let (method, body) = (method.as_deref(), body.as_ref().map(Value::to_json));
        self.note(&format!("set {what} {method:?} {body:?}"));
        Err(Error::Interrupted(Box::new(Interrupted {
            peer: "fake:22".to_owned(),
            operation: "the request".to_owned(),
            changing: true,
            why: Interruption::Lost,
            partial: PartialOutput::default(),
        })))
    }
}

impl Session {
    fn note(&self, what: &str) {
        let typed = self.seen.typed.lock();
        typed
            .unwrap_or_else(PoisonError::into_inner)
            .push(what.to_owned());
    }
}

pub(super) struct NullSink;

impl EventSink for NullSink {
    fn emit(&self, _: Event) {}
}
