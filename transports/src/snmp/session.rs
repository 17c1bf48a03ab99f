//! A session with an agent. There is no connection, only an address and credentials.

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema};
use serde_json::Value as Json;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::agent::{Agent, Unanswered};
use super::facts;
use super::link::Link;
use super::oid::Oid;
use super::pdu::{Object, Pdu};
use super::settings::{Credentials, Settings};
use super::v3::Complaint;
use crate::error::{
    AuthenticationProblem, Interrupted, Interruption, PartialOutput, Phase, Refused,
};
use crate::{Context, Destination, Error, ProtocolSession, Result, Transport, dial, resolve};
use crate::{DataRequest, DataStore, Document};

/// A session with an SNMP agent. It handles one request at a time.
#[derive(Debug)]
pub struct SnmpSession {
    settings: Settings,
    agent: Mutex<Agent>,
}

/// The number of objects requested at once in a walk.
const REPETITIONS: i64 = 25;

/// The maximum number of objects in a walk. The whole tree of a large device has several hundred thousand.
const MOST: usize = 500_000;

/// The maximum size of their names and values in bytes.
const MOST_BYTES: usize = 64 << 20;

/// `sysUpTime.0` (RFC 3418), which every agent has.
const UP_TIME: &[u32] = &[1, 3, 6, 1, 2, 1, 1, 3, 0];

impl ProtocolSession for SnmpSession {
    const NAME: &'static str = "snmp";

    fn schema() -> TransportSchema {
        TransportSchema::built_in(include_str!("schema.yaml"))
    }

    async fn open(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        let settings = Settings::read(info)?;
        if let Credentials::Community(_) = settings.credentials {
            let open =
                "nothing is encrypted with `version: v2c`, and the community is sent in clear text";
            match ctx.dialer() {
                None => ctx.debug(open),
                Some(_) => ctx.warning(format!(
                    "{open}: everyone on the way behind the proxy can read it, and so can the proxy"
                )),
            }
        }
        let what = format!("reach the agent at {}", settings.peer());
        let reaching = ctx
            .retry_budget()
            .retry(ctx, what, || reach(ctx, &settings));
        let agent = reaching.await?;
        ctx.debug(format!("the agent at {} answers", settings.peer()));
        Ok(Self {
            settings,
            agent: Mutex::new(agent),
        })
    }
}

impl SnmpSession {
    /// Returns the values of these objects, in this order. Retries if no answer arrives.
    pub(super) async fn get(&self, ctx: &Context<'_>, oids: &[Oid]) -> Result<Vec<Object>> {
        self.ask(ctx, &Pdu::get(oids)).await
    }

    /// Returns all objects below one.
    ///
    /// # Errors
    /// Fails as every request can, and with [`Error::Protocol`] when the agent's objects are not in order.
    pub(super) async fn walk(&self, ctx: &Context<'_>, root: &Oid) -> Result<Vec<Object>> {
        let limit = self.settings.command_timeout;
        let walking = timeout(limit, self.walk_on(ctx, root)).await;
        walking.unwrap_or_else(|_| Err(self.interrupted(root, Interruption::TooLong(limit))))
    }

    async fn walk_on(&self, ctx: &Context<'_>, root: &Oid) -> Result<Vec<Object>> {
        let mut found: Vec<Object> = Vec::new();
        let mut bytes = 0;
        loop {
            let last = found.last().map_or(root, |object| &object.oid);
            let some = self.ask(ctx, &Pdu::get_bulk(last, REPETITIONS)).await?;
            let is_end = some.is_empty();
            for object in some {
                let last = found.last().map_or(root, |object| &object.oid);
                if object.oid.below(root).is_none() || !object.value.is_there() {
                    return Ok(found);
                }
                if object.oid <= *last {
                    return Err(self.broken(format!("{} comes behind {last}", object.oid)));
                }
                bytes += object.length();
                found.push(object);
            }
            if bytes > MOST_BYTES {
                return Err(self.interrupted(root, Interruption::TooMuch(MOST_BYTES)));
            }
            if is_end {
                return Ok(found);
            }
            if found.len() > MOST {
                let problem =
                    format!("more than {MOST} objects lie below {root}: walk below longer names");
                return Err(self.broken(problem));
            }
        }
    }

    async fn ask(&self, ctx: &Context<'_>, request: &Pdu) -> Result<Vec<Object>> {
        let settings = &self.settings;
        let mut agent = self.agent.lock().await;
        let what = format!("get an answer of {}", settings.peer());
        let mut attempts = ctx.retry_budget().attempts(ctx, what);
        loop {
            let asking = ask_once(settings, &mut agent, request);
            match attempts.attempt(asking).await {
                Ok(objects) => return Ok(objects),
                Err(error) => attempts.pause(error).await?,
            }
        }
    }

    fn interrupted(&self, root: &Oid, why: Interruption) -> Error {
        Error::Interrupted(Box::new(Interrupted {
            peer: self.settings.peer(),
            operation: format!("the walk below {root}"),
            changing: false,
            why,
            partial: PartialOutput::default(),
        }))
    }

    /// Returns the error for a missing object without objects below it (RFC 3416, 4.2.1).
    fn absent(&self, object: &Object) -> Error {
        Error::Refused(Box::new(Refused {
            peer: self.settings.peer(),
            request: format!("get {}", object.oid),
            status: object.value.kind().to_owned(),
            message: String::new(),
            hint: "there is no such object, and none below it, that the agent shows to this user"
                .to_owned(),
            details: None,
            busy: false,
        }))
    }

    fn broken(&self, problem: String) -> Error {
        Error::Protocol {
            peer: self.settings.peer(),
            protocol: "SNMP",
            phase: Phase::Request,
            problem,
        }
    }
}

/// Finds the first of the host's addresses at which an agent answers.
async fn reach(ctx: &Context<'_>, settings: &Settings) -> Result<Agent> {
    if ctx.dialer().is_some() {
        return reach_through(ctx, settings).await;
    }
    let unknown = |cause| Error::Resolve {
        host: settings.host.clone(),
        cause,
    };
    let deadline = Instant::now() + settings.timeout;
    let addresses = resolve::addresses(&settings.host, settings.port, deadline)
        .await
        .map_err(unknown)?;
    let mut last = None;
    for address in addresses {
        let agent = Link::to(address).await.and_then(Agent::new);
        let mut agent = agent.map_err(|cause| Error::Unreachable {
            peer: settings.peer(),
            cause,
        })?;
        let request = Pdu::get(&[Oid::new(UP_TIME)]);
        match ask_once(settings, &mut agent, &request).await {
            // A refusal also shows that there is an agent.
            Ok(_) | Err(Error::Refused(_)) => return Ok(agent),
            Err(error) if error.is_transient() => last = Some(error),
            Err(error) => return Err(error),
        }
    }
    Err(last.unwrap_or_else(|| unknown(std::io::Error::other("no address"))))
}

/// Finds the agent through the context's dialer. The name is resolved there.
async fn reach_through(ctx: &Context<'_>, settings: &Settings) -> Result<Agent> {
    let (host, port) = (settings.host.as_str(), settings.port);
    let limit = settings.timeout;
    let to = Destination::Udp { host, port };
    let stream = dial::connect(ctx, to, limit, Instant::now() + limit).await?;
    let agent = Agent::new(Link::Stream(stream, Vec::new()));
    let mut agent = agent.map_err(|cause| Error::Unreachable {
        peer: settings.peer(),
        cause,
    })?;
    let request = Pdu::get(&[Oid::new(UP_TIME)]);
    match ask_once(settings, &mut agent, &request).await {
        Ok(_) | Err(Error::Refused(_)) => Ok(agent),
        Err(error) => Err(error),
    }
}

/// Sends a request once. An error-status in the answer is an error.
async fn ask_once(settings: &Settings, agent: &mut Agent, request: &Pdu) -> Result<Vec<Object>> {
    let deadline = Instant::now() + settings.timeout;
    let answer = agent.ask(&settings.credentials, request, deadline).await;
    let answer = answer.map_err(|why| unanswered(settings, agent, why))?;
    if answer.first == 0 {
        return Ok(answer.objects);
    }
    let index = usize::try_from(answer.second - 1).unwrap_or(usize::MAX);
    let oid = request
        .objects
        .get(index)
        .or_else(|| request.objects.first());
    let oid = oid.map_or_else(String::new, |object| object.oid.to_string());
    Err(Error::Refused(Box::new(Refused {
        peer: settings.peer(),
        request: format!("get {oid}"),
        status: status(answer.first).to_owned(),
        message: String::new(),
        hint: hint(answer.first).to_owned(),
        details: None,
        busy: false,
    })))
}

fn unanswered(settings: &Settings, agent: &Agent, why: Unanswered) -> Error {
    let peer = settings.peer();
    match why {
        Unanswered::Unreachable(cause) => Error::Unreachable { peer, cause },
        Unanswered::Silence => Error::TimedOut {
            peer,
            phase: Phase::Connection,
            limit: settings.timeout,
            hint: silence(settings, agent).to_owned(),
        },
        Unanswered::Complaint(complaint) => complained(settings, complaint),
    }
}

/// Returns possible causes of silence.
fn silence(settings: &Settings, agent: &Agent) -> &'static str {
    match &settings.credentials {
        Credentials::Community(_) => {
            ": check `host` and `port`, what filters the way to it, and `community`: an agent is silent \
             where that does not fit"
        }
        Credentials::User(user) if agent.is_discovered() && user.privacy.is_some() => {
            ", though an agent is there: check `priv_password` and `priv_protocol`, since many an \
             agent does not answer to what it cannot decrypt"
        }
        Credentials::User(_) => ": check `host` and `port`, and what filters the way to it",
    }
}

fn complained(settings: &Settings, complaint: Complaint) -> Error {
    let Credentials::User(user) = &settings.credentials else {
        unreachable!("only version 3 has reports")
    };
    let (message, next) = match complaint {
        Complaint::UnknownUserName => ("usmStatsUnknownUserNames", "check `user`"),
        Complaint::WrongDigest => (
            "usmStatsWrongDigests",
            "check `auth_password` and `auth_protocol`",
        ),
        Complaint::DecryptionError => (
            "usmStatsDecryptionErrors",
            "check `priv_password` and `priv_protocol`",
        ),
        Complaint::UnsupportedSecurityLevel => (
            "usmStatsUnsupportedSecLevels",
            "the user has no key for this security level: check whether `auth_password` and \
             `priv_password` are to be given",
        ),
        Complaint::NotInTimeWindow => (
            "usmStatsNotInTimeWindows",
            "its clock does not stand still long enough to be learnt",
        ),
        Complaint::UnknownEngineId => (
            "usmStatsUnknownEngineIDs",
            "it changes its engine's identifier: are there several behind this address?",
        ),
        Complaint::Other => ("a report", "check `context_name`"),
    };
    Error::Authentication(Box::new(AuthenticationProblem {
        peer: settings.peer(),
        user: user.name.clone(),
        tried: format!("SNMPv3, {}", user.level()),
        offered: Vec::new(),
        message: message.to_owned(),
        next: next.to_owned(),
    }))
}

/// Returns the name of an error-status (RFC 3416, 3).
fn status(number: i64) -> &'static str {
    match number {
        1 => "tooBig",
        2 => "noSuchName",
        3 => "badValue",
        4 => "readOnly",
        5 => "genErr",
        6 => "noAccess",
        13 => "resourceUnavailable",
        16 => "authorizationError",
        _ => "another error-status",
    }
}

fn hint(number: i64) -> &'static str {
    match number {
        6 | 16 => "the agent allows this user, at this security level, to read something else",
        _ => "",
    }
}

#[async_trait]
impl Transport for SnmpSession {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        match self.get(ctx, &[Oid::new(UP_TIME)]).await {
            Err(Error::Refused(_)) => Ok(()),
            other => other.map(drop),
        }
    }

    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let engine = self.agent.lock().await.engine_id().map(<[u8]>::to_vec);
        facts::collect(self, ctx, engine).await
    }

    async fn close(self: Box<Self>, _ctx: &Context<'_>) {}

    fn data_store(&self) -> Option<&dyn DataStore> {
        Some(self)
    }
}

#[async_trait]
impl DataStore for SnmpSession {
    /// `what` is an object identifier: the object with this name, or else all objects below it. It is an error
    /// if there is neither.
    async fn get(&self, ctx: &Context<'_>, what: &str) -> Result<Document> {
        let oid = Oid::parse(what).ok_or_else(|| {
            Error::Unsupported(format!(
                "`{what}` is no object identifier: expected numbers, such as 1.3.6.1.2.1.1.5.0"
            ))
        })?;
        let mut objects = self.get(ctx, std::slice::from_ref(&oid)).await?;
        if let Some(absent) = objects.iter().find(|object| !object.value.is_there()) {
            let below = self.walk(ctx, &oid).await?;
            if below.is_empty() {
                return Err(self.absent(absent));
            }
            objects = below;
        }
        let objects: Json = objects.iter().map(Object::to_json).collect();
        Ok(Document::Data(objects.into()))
    }

    async fn set(&self, _ctx: &Context<'_>, _request: &DataRequest) -> Result<Document> {
        let refused = "`snmp` only reads: change the device by another protocol";
        Err(Error::Unsupported(refused.to_owned()))
    }
}
