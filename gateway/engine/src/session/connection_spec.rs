//! How a target is reached, and the limits of its sessions.

use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;

use devgate_schemas::{ConnectionInfo, RawConnectionInfo, TransportSchema};
use devgate_transports::Connect;

use crate::hosts::{TaskBudget, TaskHostSettings};
use crate::inventory::{DeviceKey, Kind, Listed, Target};
use crate::job::RunId;
use crate::job::TargetJob;
use crate::registry::{Registry, RegistryId};
use devgate_core::failure::Failure;

/// How a target is reached: its transport, its checked connection info, and where it is.
#[derive(Debug)]
pub struct ConnectionSpec<'r> {
    pub(super) connect: &'r dyn Connect,
    pub(super) key: Rc<SessionKey>,
    pub(super) place: DeviceKey,
    pub(super) limits: SessionLimits,
    /// In which run it is asked for.
    pub(super) run: RunId,
}

/// Who logs in, where and how: targets with the same one share sessions. Secrets are compared, and
/// shown to nobody.
#[derive(Debug, PartialEq)]
pub(super) struct SessionKey {
    pub(super) transport: String,
    pub(super) info: ConnectionInfo,
    /// Whose transports these are: another registry may know others by the same names.
    pub(super) registry: RegistryId,
}

/// How many sessions a device may have, and how long they may be idle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SessionLimits {
    /// How many are open at once.
    pub(super) limit: NonZeroUsize,
    /// How long one may be idle.
    pub(super) idle: Duration,
}

/// What a remote target's options say of its sessions.
static SETTINGS: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("settings.yaml")));

impl<'r> ConnectionSpec<'r> {
    /// How the job's target is reached; its secrets are hidden from now on.
    ///
    /// # Errors
    /// That it is no remote target, that nobody knows its transport, or what is wrong with its info.
    pub fn of(job: &TargetJob<'r>) -> Result<Self, Failure> {
        let (target, registry) = (job.target, &*job.run.registry);
        let name = target
            .remote_transport()
            .ok_or_else(|| no_transport(target))?;
        Self::by(registry.transport(name)?, job)
    }

    /// The same, where a session with it is to be opened from this node.
    ///
    /// # Errors
    /// As [`of`](Self::of), and that it is behind a proxy.
    pub fn from_here(job: &TargetJob<'r>) -> Result<Self, Failure> {
        let spec = Self::of(job)?;
        not_by_proxy(job.target).map(|()| spec)
    }

    /// The same, by a transport that was found already.
    ///
    /// # Errors
    /// What is wrong with the target's info.
    pub fn by(connect: &'r dyn Connect, job: &TargetJob<'_>) -> Result<Self, Failure> {
        let (target, ctx) = (job.target, job.context());
        let schema = connect.schema();
        let info = schema
            .read(target.connection_info(), |level, message| {
                ctx.say(level, message)
            })
            .map_err(|invalid| crate::inventory::invalid_connection_info(target, &invalid))?;
        job.hide(info.secrets());
        let key = SessionKey {
            transport: schema.name().to_owned(),
            info,
            registry: job.run.registry.serial(),
        };
        Ok(Self {
            connect,
            key: Rc::new(key),
            place: job.place(),
            limits: SessionLimits::of(target)?,
            run: job.run.id,
        })
    }

    /// The transport's name.
    pub fn transport(&self) -> &str {
        &self.key.transport
    }
}

/// What is wrong with how a target is reached, as far as it can be told without asking anybody: no plugin, no
/// device, no host. What programs reach is judged where these were asked.
pub fn connection_problem(registry: &Registry, target: &Target) -> Option<Failure> {
    let open = target.open()?;
    let fits = |schema: &TransportSchema, info: RawConnectionInfo| {
        let verdict = schema.judge(info, open);
        verdict.map_err(|invalid| crate::inventory::invalid_connection_info(target, &invalid))
    };
    let judge = || {
        if let Some(schema) = TaskHostSettings::schema(target) {
            return fits(schema, target.connection_info());
        }
        let Kind::Remote { transport, .. } = &target.kind else {
            return Ok(());
        };
        // As in Bolt: tasks that log in by themselves need none.
        let Some(name) = transport.as_deref() else {
            return Ok(());
        };
        if !registry.must_be_asked(name) {
            let connect = registry.transport(name).map_err(|failure| Failure {
                msg: format!("{}: {}", target.name, failure.msg),
                ..failure
            })?;
            fits(connect.schema(), target.connection_info())?;
        }
        for ours in [&SETTINGS, TaskBudget::schema()] {
            let names = ours.connection_info().keys().map(String::as_str);
            let said = target.options_of(names);
            if said.keys().len() > 0 {
                fits(ours, said)?;
            }
        }
        Ok(())
    };
    judge().err()
}

impl SessionLimits {
    fn of(target: &Target) -> Result<Self, Failure> {
        let names = SETTINGS.connection_info().keys().map(String::as_str);
        let info = SETTINGS
            .read(target.options_of(names), |_, _| {})
            .map_err(|invalid| crate::inventory::invalid_connection_info(target, &invalid))?;
        Ok(Self::read(&info))
    }

    fn read(info: &ConnectionInfo) -> Self {
        let limit = info.integer("session-limit").unwrap_or(1);
        let limit = usize::try_from(limit).ok().and_then(NonZeroUsize::new);
        let seconds = info.number("session-idle").unwrap_or_default();
        Self {
            limit: limit.unwrap_or(NonZeroUsize::MAX),
            // More seconds than there are mean no limit.
            idle: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
        }
    }
}

/// Refuses a target that is reached through a proxy: sessions cannot go through one yet.
///
/// # Errors
/// That it is, and what to do.
pub(super) fn not_by_proxy(target: &Target) -> Result<(), Failure> {
    if target.is_near() {
        return Ok(());
    }
    let (name, run_on) = (&target.name, target.run_on());
    let message = format!(
        "{name} has `run-on: {run_on}`, but only tasks can use a proxy: nothing was sent; use a task, or --direct to \
         connect to {name} from this node"
    );
    Err(Failure::new("devgate/behind-proxy", message).with("run_on", run_on))
}

/// That a target cannot be reached as a device.
pub(crate) fn no_transport(target: &Target) -> Failure {
    if target.listed == Listed::No {
        return crate::inventory::unknown_target(target);
    }
    if let Kind::Remote { .. } = target.kind {
        let message = format!(
            "{} has no `remote-transport`: only a task that logs in by itself can reach it; add `config: {{remote: \
             {{remote-transport: FAMILY}}}}` to it in the inventory; `devgate transport list` lists all transports",
            target.name
        );
        return Failure::new("devgate/not-a-device", message);
    }
    let message = format!(
        "{} is not a remote target with a transport: give it `config: {{transport: remote, remote: \
         {{remote-transport: FAMILY}}}}` in the inventory; `devgate transport list` lists all transports",
        target.name
    );
    Failure::new("devgate/not-a-device", message)
}
