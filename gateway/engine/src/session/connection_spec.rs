//! How a target is reached, and the limits of its sessions.

use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::LazyLock;
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_schemas::{ConnectionInfo, RawConnectionInfo, TransportSchema};
use devgate_transports::Connect;

use crate::hosts::{TaskBudget, TaskHostSettings};
use crate::inventory::{DeviceKey, Listed, Target, TargetKind};
use crate::job::RunId;
use crate::job::TargetJob;
use crate::registry::{Registry, RegistryId};

/// How a target is reached: its transport, its checked connection info, and its device key.
#[derive(Debug)]
pub struct ConnectionSpec<'r> {
    pub(super) connect: &'r dyn Connect,
    pub(super) key: Rc<SessionKey>,
    pub(super) device_key: DeviceKey,
    pub(super) limits: SessionLimits,
    /// The run that requests it.
    pub(super) run: RunId,
}

/// The transport and the connection info of a session. Targets with an equal key share sessions. Secrets are compared,
/// but never shown.
#[derive(Debug, PartialEq)]
pub(super) struct SessionKey {
    pub(super) transport: String,
    pub(super) info: ConnectionInfo,
    /// The registry of the transport: another registry may have a different transport of the same name.
    pub(super) registry: RegistryId,
}

/// The number of sessions that a device may have, and how long they may be idle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SessionLimits {
    /// How many sessions may be open at once.
    pub(super) limit: NonZeroUsize,
    /// How long a session may be idle.
    pub(super) idle: Duration,
}

/// The schema of the session options of remote targets.
static SESSION_OPTIONS: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("settings.yaml")));

impl<'r> ConnectionSpec<'r> {
    /// Resolves how the job's target is reached, and hides its secrets from now on.
    ///
    /// # Errors
    /// Fails when the target is not remote, its transport is unknown, or its connection info is invalid.
    pub fn for_job(job: &TargetJob<'r>) -> Result<Self, Failure> {
        let (target, registry) = (job.target, &*job.run.registry);
        let name = target
            .remote_transport()
            .ok_or_else(|| no_transport(target))?;
        Self::with_transport(registry.transport(name)?, job)
    }

    /// Resolves how the job's target is reached by a transport that is known already.
    ///
    /// # Errors
    /// Fails when the connection info of the target is invalid.
    pub fn with_transport(connect: &'r dyn Connect, job: &TargetJob<'_>) -> Result<Self, Failure> {
        let (target, ctx) = (job.target, job.context());
        let schema = connect.schema();
        let info = schema
            .read(target.connection_info(), |level, message| {
                ctx.log(level, message)
            })
            .map_err(|invalid| crate::inventory::invalid_connection_info(target, &invalid))?;
        job.hide(info.secrets());
        let key = SessionKey {
            transport: schema.name().to_owned(),
            info,
            registry: job.run.registry.id(),
        };
        Ok(Self {
            connect,
            key: Rc::new(key),
            device_key: job.device_key(),
            limits: SessionLimits::of_target(target)?,
            run: job.run.id,
        })
    }

    /// Returns the name of the transport.
    pub fn transport(&self) -> &str {
        &self.key.transport
    }
}

/// Returns a problem with the connection info of a target, as far as it can be found without contacting a plugin, a
/// device or a host. Targets of programs are checked once the programs have been asked for their description.
pub fn connection_problem(registry: &Registry, target: &Target) -> Option<Failure> {
    let unresolved = target.unresolved()?;
    let check = |schema: &TransportSchema, info: RawConnectionInfo| {
        let verdict = schema.judge(info, unresolved);
        verdict.map_err(|invalid| crate::inventory::invalid_connection_info(target, &invalid))
    };
    let check_all = || {
        if let Some(schema) = TaskHostSettings::schema(target) {
            return check(schema, target.connection_info());
        }
        let TargetKind::Remote { transport, .. } = &target.kind else {
            return Ok(());
        };
        // As in Bolt: tasks that connect on their own need no transport.
        let Some(name) = transport.as_deref() else {
            return Ok(());
        };
        if !registry.needs_description(name) {
            let connect = registry.transport(name).map_err(|failure| Failure {
                msg: format!("{}: {}", target.name, failure.msg),
                ..failure
            })?;
            check(connect.schema(), target.connection_info())?;
        }
        for schema in [&SESSION_OPTIONS, TaskBudget::schema()] {
            let names = schema.connection_info().keys().map(String::as_str);
            let options = target.options_of(names);
            if options.keys().len() > 0 {
                check(schema, options)?;
            }
        }
        Ok(())
    };
    check_all().err()
}

impl SessionLimits {
    fn of_target(target: &Target) -> Result<Self, Failure> {
        let names = SESSION_OPTIONS.connection_info().keys().map(String::as_str);
        let info = SESSION_OPTIONS
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
            // A number of seconds that is too large for a duration means no limit.
            idle: Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX),
        }
    }
}

/// Returns the failure of a target that cannot be reached as a device.
pub(crate) fn no_transport(target: &Target) -> Failure {
    if target.listed == Listed::No {
        return crate::inventory::unknown_target(target);
    }
    if let TargetKind::Remote { .. } = target.kind {
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
