//! Sessions of families with programs: requests to programs about a target.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, Hash, Level, Mask, TransportSchema, Value};
use devgate_transports::{Connect, Context, Error, Result, Transport};

use super::action::Action;
use super::event;
use super::program::Program;
use super::results::Problem;
use super::talk::Talks;
use crate::process::ProcessLimits;

/// Connects to the targets of a family with programs.
#[derive(Debug)]
pub(super) struct Reaching {
    pub(super) schema: TransportSchema,
    pub(super) way: Way<Arc<dyn Connect>>,
}

/// How a target is reached.
#[derive(Debug)]
pub(super) enum Way<P> {
    /// By a program.
    Program(Asked),
    /// By a protocol: its factory, or its session.
    Protocol(P),
}

/// A program, and whether it is persistent.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) program: Program,
    pub(super) stays: bool,
}

impl Asked {
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
pub(super) struct Session {
    way: Way<Box<dyn Transport>>,
    info: ConnectionInfo,
    limits: ProcessLimits,
    talks: Talks,
}

/// The default time limit of a program.
const TIME: Duration = Duration::from_secs(300);

#[async_trait]
impl Connect for Reaching {
    fn schema(&self) -> &TransportSchema {
        &self.schema
    }

    async fn connect(
        &self,
        ctx: &Context<'_>,
        info: &ConnectionInfo,
    ) -> Result<Box<dyn Transport>> {
        let way = match &self.way {
            // A program connects when it gets its first request.
            Way::Program(asked) => Way::Program(asked.clone()),
            Way::Protocol(protocol) => Way::Protocol(protocol.connect(ctx, info).await?),
        };
        Ok(Box::new(Session {
            way,
            info: info.clone(),
            limits: limits(info),
            talks: Talks::default(),
        }))
    }
}

/// Returns the limits of programs for a target with this connection info.
fn limits(info: &ConnectionInfo) -> ProcessLimits {
    let time = info.number("task-timeout");
    // A number of seconds that is too large for a duration means no limit.
    let time = time.map_or(Some(TIME), |time| Duration::try_from_secs_f64(time).ok());
    let limits = ProcessLimits::default();
    let output = info.integer("output-limit");
    let output = output.and_then(|bytes| usize::try_from(bytes).ok());
    ProcessLimits {
        time,
        stdout: output.unwrap_or(limits.stdout),
        ..limits
    }
}

impl Session {
    /// Sends a request about the target to a program. Reports its events, and returns its results.
    ///
    /// # Errors
    /// Fails with the program's own failure, or when it violates its contract.
    pub(super) async fn ask(
        &self,
        ctx: &Context<'_>,
        Asked { program, stays }: &Asked,
        action: Action,
        mut input: Hash,
    ) -> Result<Hash> {
        let mut target = self.info.to_hash();
        target.insert("name", Value::from(ctx.target()));
        input.insert("_target", Value::Hash(target));
        let mask = &Mask::new(input.secrets());
        let reply = if *stays {
            let tell = |event: &Value| event::tell(ctx, mask, event);
            let talks = &self.talks;
            talks.ask(program, action, input, &self.limits, tell).await
        } else {
            program.once(action, input, &self.limits).await
        };
        for line in reply.stderr.text().lines() {
            ctx.log(Level::Info, format!("stderr: {}", mask.text(line)));
        }
        let results = reply.results.and_then(|mut results| {
            match results.remove("events") {
                None => {}
                Some(events) => event::tell_all(ctx, mask, &events).map_err(Problem::new)?,
            }
            Ok(results)
        });
        results.map_err(|problem| program.error(action, problem.masked(mask)))
    }
}

#[async_trait]
impl Transport for Session {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        match &self.way {
            Way::Protocol(session) => session.verify(ctx).await,
            Way::Program(asked) => {
                let asked = self.ask(ctx, asked, Action::Verify, Hash::new());
                asked.await.map(drop)
            }
        }
    }

    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let asked = match &self.way {
            Way::Protocol(session) => return session.facts(ctx).await,
            Way::Program(asked) => asked,
        };
        let mut results = self.ask(ctx, asked, Action::Facts, Hash::new()).await?;
        let Some(Value::Hash(told)) = results.remove("facts") else {
            let problem = Problem::new("expected `facts` as an object");
            return Err(asked.program.error(Action::Facts, problem));
        };
        let mut facts = Facts::new();
        for (name, value) in told {
            facts.set_at([name.to_string().as_str()], value);
        }
        Ok(facts)
    }

    async fn close(self: Box<Self>, ctx: &Context<'_>) {
        self.talks.end().await;
        if let Way::Protocol(session) = self.way {
            session.close(ctx).await;
        }
    }

    fn inner(&self) -> Option<&dyn Transport> {
        match &self.way {
            Way::Program(_) => None,
            Way::Protocol(session) => Some(&**session),
        }
    }
}

/// Returns the session in which programs act.
pub(super) fn of<'c>(ctx: &Context<'c>) -> Result<&'c Session> {
    ctx.transport::<Session>().ok_or_else(|| {
        Error::Unsupported("the session is none of a family that has programs".to_owned())
    })
}
