//! Sessions of families with programs: requests to programs about a target.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, Hash, Level, Mask, TransportSchema, Value};
use devgate_transports::{Connect, Context, Error, Result, Transport};

use super::action::Action;
use super::event;
use super::family_program::FamilyProgram;
use super::on_proxy::Place;
use super::persistent::{PersistentPrograms, PersistentRequest};
use super::results::ProgramFailure;
use crate::process::ProcessLimits;

/// Connects to the targets of a family with programs.
#[derive(Debug)]
pub(super) struct ExternalConnect {
    pub(super) schema: TransportSchema,
    pub(super) access: ExternalAccess<Arc<dyn Connect>>,
}

/// How a target is reached.
#[derive(Debug)]
pub(super) enum ExternalAccess<P> {
    /// By a program.
    Program(ProgramHandle),
    /// By a protocol: its factory, or its session.
    Protocol(P),
}

/// A program, and whether it is persistent.
#[derive(Clone, Debug)]
pub(super) struct ProgramHandle {
    pub(super) program: FamilyProgram,
    pub(super) is_persistent: bool,
}

impl ProgramHandle {
    /// Returns the same program for a resource type.
    pub(super) fn of_type(&self, name: &str) -> Self {
        Self {
            program: self.program.of_type(name),
            ..self.clone()
        }
    }
}

/// A session in which programs act on one target.
#[derive(Debug)]
pub(super) struct ProgramSession {
    access: ExternalAccess<Box<dyn Transport>>,
    info: ConnectionInfo,
    limits: ProcessLimits,
    programs: PersistentPrograms,
    /// Whether programs run on a proxy.
    is_behind_proxy: bool,
}

/// The default time limit of a program.
const DEFAULT_TIME: Duration = Duration::from_secs(300);

#[async_trait]
impl Connect for ExternalConnect {
    fn schema(&self) -> &TransportSchema {
        &self.schema
    }

    async fn connect(
        &self,
        ctx: &Context<'_>,
        info: &ConnectionInfo,
    ) -> Result<Box<dyn Transport>> {
        let access = match &self.access {
            // A program connects when it gets its first request.
            ExternalAccess::Program(handle) => ExternalAccess::Program(handle.clone()),
            ExternalAccess::Protocol(protocol) => {
                ExternalAccess::Protocol(protocol.connect(ctx, info).await?)
            }
        };
        Ok(Box::new(ProgramSession {
            access,
            info: info.clone(),
            limits: limits(info),
            programs: PersistentPrograms::default(),
            is_behind_proxy: ctx.dialer().is_some(),
        }))
    }
}

/// Returns the limits of programs for a target with this connection info.
fn limits(info: &ConnectionInfo) -> ProcessLimits {
    let time = info.number("task-timeout");
    // A number of seconds that is too large for a duration means no limit.
    let time = time.map_or(Some(DEFAULT_TIME), |time| {
        Duration::try_from_secs_f64(time).ok()
    });
    let limits = ProcessLimits::default();
    let output = info.integer("output-limit");
    let output = output.and_then(|bytes| usize::try_from(bytes).ok());
    ProcessLimits {
        time,
        stdout: output.unwrap_or(limits.stdout),
        ..limits
    }
}

impl ProgramSession {
    /// Sends a request about the target to a program. Reports its events, and returns its results.
    ///
    /// # Errors
    /// Fails with the program's own failure, or when it violates its contract.
    pub(super) async fn request(
        &self,
        ctx: &Context<'_>,
        ProgramHandle {
            program,
            is_persistent,
        }: &ProgramHandle,
        action: Action,
        mut input: Hash,
    ) -> Result<Hash> {
        let mut target = self.info.to_hash();
        target.insert("name", Value::from(ctx.target()));
        input.insert("_target", Value::Hash(target));
        let mask = &Mask::new(input.secrets());
        let place = if self.is_behind_proxy {
            Place::OnProxy(ctx.dialer())
        } else {
            Place::Here
        };
        let limits = &self.limits;
        let reply = if *is_persistent {
            let on_event = |event: &Value| event::report(ctx, mask, event);
            let request = PersistentRequest {
                program,
                action,
                input,
                limits,
            };
            self.programs.request(ctx, place, request, on_event).await?
        } else {
            let request = program.request_once(ctx, place, action, input, limits);
            request.await?
        };
        for line in reply.stderr.text().lines() {
            ctx.log(Level::Info, format!("stderr: {}", mask.text(line)));
        }
        let results = reply.results.and_then(|mut results| {
            match results.remove("events") {
                None => {}
                Some(events) => {
                    event::report_all(ctx, mask, &events).map_err(ProgramFailure::new)?
                }
            }
            Ok(results)
        });
        results.map_err(|problem| program.error(action, problem.masked(mask)))
    }
}

#[async_trait]
impl Transport for ProgramSession {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        match &self.access {
            ExternalAccess::Protocol(session) => session.verify(ctx).await,
            ExternalAccess::Program(handle) => {
                let request = self.request(ctx, handle, Action::Verify, Hash::new());
                request.await.map(drop)
            }
        }
    }

    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let handle = match &self.access {
            ExternalAccess::Protocol(session) => return session.facts(ctx).await,
            ExternalAccess::Program(handle) => handle,
        };
        let mut results = self
            .request(ctx, handle, Action::Facts, Hash::new())
            .await?;
        let Some(Value::Hash(describe_failure)) = results.remove("facts") else {
            let problem = ProgramFailure::new("expected `facts` as an object");
            return Err(handle.program.error(Action::Facts, problem));
        };
        let mut facts = Facts::new();
        for (name, value) in describe_failure {
            facts.set_at([name.to_string().as_str()], value);
        }
        Ok(facts)
    }

    async fn close(self: Box<Self>, ctx: &Context<'_>) {
        self.programs.end(ctx).await;
        if let ExternalAccess::Protocol(session) = self.access {
            session.close(ctx).await;
        }
    }

    fn inner(&self) -> Option<&dyn Transport> {
        match &self.access {
            ExternalAccess::Program(_) => None,
            ExternalAccess::Protocol(session) => Some(&**session),
        }
    }
}

/// Returns the session in which programs act.
pub(super) fn current<'c>(ctx: &Context<'c>) -> Result<&'c ProgramSession> {
    ctx.transport::<ProgramSession>().ok_or_else(|| {
        Error::Unsupported("the session is none of a family that has programs".to_owned())
    })
}
