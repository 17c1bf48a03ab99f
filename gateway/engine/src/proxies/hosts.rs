//! The hosts of one run. Each is shared by all its users, and all are closed at the end of the run.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_core::lock::locked;
use devgate_schemas::{InvalidConnectionInfo, Level};
use devgate_transports::{Environment, HostSettings};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::{Mutex as AsyncMutex, Notify, mpsc};
use tokio::time::timeout;

use super::dialer::ProxyDialer;
use super::host_use::HostUse;
use super::pool::HostPool;
use super::run_host::{Health, HostAccess, RunHost};
use super::run_on;
use super::{DeviceTurn, DeviceTurns, ProxyLoads};
use crate::hosts::{HostContext, SshConnections, TaskBudget, TaskHostSettings};
use crate::inventory::{DeviceKey, Inventory, Target, TargetKind};
use crate::job::RunContext;

/// How long a host that is no longer needed may take to create the run's directory.
const PREPARING: Duration = Duration::from_secs(10);

/// The hosts of a run.
pub(crate) struct Hosts<'v> {
    usage: HostUse,
    run: &'v RunContext,
    loads: &'v ProxyLoads,
    turns: &'v DeviceTurns,
    inventory: &'v Inventory,
    members: Mutex<HashMap<String, Arc<RunHost<'v>>>>,
    /// The pools, by the value of `run-on`.
    pools: AsyncMutex<HashMap<String, Result<Arc<HostPool<'v>>, Failure>>>,
    opener: mpsc::UnboundedSender<Arc<RunHost<'v>>>,
    to_open: AsyncMutex<mpsc::UnboundedReceiver<Arc<RunHost<'v>>>>,
    changed: Arc<Notify>,
}

impl<'v> Hosts<'v> {
    /// Creates the hosts for a run on targets of this inventory.
    pub(crate) fn new(
        usage: HostUse,
        inventory: &'v Inventory,
        run: &'v RunContext,
        loads: &'v ProxyLoads,
        turns: &'v DeviceTurns,
    ) -> Self {
        let (opener, to_open) = mpsc::unbounded_channel();
        Self {
            usage,
            run,
            loads,
            turns,
            inventory,
            members: Mutex::default(),
            pools: AsyncMutex::default(),
            opener,
            to_open: AsyncMutex::new(to_open),
            changed: loads.changed(),
        }
    }

    /// Drives `work`, opens the hosts that it needs, and closes them at the end, unless this future is dropped.
    pub(crate) async fn serve<T>(&self, work: impl Future<Output = T>) -> T {
        let mut to_open = self.to_open.lock().await;
        let mut opening = FuturesUnordered::new();
        let mut work = pin!(work);
        let done = loop {
            tokio::select! {
                done = &mut work => break done,
                Some(member) = to_open.recv() => {
                    opening.push(async move { member.connect().await });
                }
                Some(()) = opening.next() => {}
            }
        };
        let members: Vec<_> = locked(&self.members).values().cloned().collect();
        // A directory can only be removed once it has been created.
        let preparation = async {
            let is_preparing = |member: &Arc<RunHost<'_>>| member.health() == Health::Preparing;
            while members.iter().any(is_preparing) && opening.next().await.is_some() {}
        };
        let in_time = timeout(PREPARING, preparation).await.is_ok();
        drop(opening);
        for member in &members {
            let ctx = member.host_context.ctx();
            match member.health() {
                Health::Opening => {
                    ctx.notice(match self.usage {
                        HostUse::Tasks { .. } => {
                            "it was not reached before the run ended: no task has run here"
                        }
                        HostUse::Sessions => {
                            "it was not reached before the run ended: no session went through it"
                        }
                    });
                }
                Health::Preparing if !in_time => ctx.warning(format!(
                    "it has not answered for {PREPARING:?}: an empty directory devgate-* may be left"
                )),
                _ => {}
            }
        }
        futures_util::future::join_all(members.iter().map(|member| member.close())).await;
        done
    }

    /// Returns the hosts of a target's tasks: a remote target's proxies, or the target itself.
    ///
    /// # Errors
    /// Fails when `run-on` names no host that can run tasks, or when the target is none.
    pub(crate) async fn pool(&self, target: &Target) -> Result<Arc<HostPool<'v>>, Failure> {
        let key = match &target.kind {
            TargetKind::Remote { run_on, .. } => run_on.as_str(),
            TargetKind::Local | TargetKind::Ssh => {
                let members = vec![self.member(target)];
                return Ok(Arc::new(HostPool::new(
                    String::new(),
                    self.usage,
                    members,
                    self.loads,
                )));
            }
            TargetKind::Other(_) => return Err(run_on::no_runner(target)),
        };
        let mut pools = self.pools.lock().await;
        let pool = match pools.get(key) {
            Some(pool) => pool.clone(),
            None => {
                let pool = self.resolve(key).await;
                pools.insert(key.to_owned(), pool.clone());
                pool
            }
        };
        pool.map_err(|why| run_on::with_target_name(why, target))
    }

    async fn resolve(&self, run_on: &str) -> Result<Arc<HostPool<'v>>, Failure> {
        let hosts = run_on::hosts(self.inventory, run_on).await?;
        let members = hosts.iter().map(|host| self.member(host)).collect();
        let label = match hosts.as_slice() {
            [_] => String::new(),
            _ => format!("run-on {run_on}: "),
        };
        Ok(Arc::new(HostPool::new(
            label, self.usage, members, self.loads,
        )))
    }

    fn member(&self, host: &Target) -> Arc<RunHost<'v>> {
        let mut members = locked(&self.members);
        if let Some(member) = members.get(&host.name) {
            return Arc::clone(member);
        }
        let retry_budget = self.run.limits.retry_budget;
        let host_context = HostContext::new(&host.name, self.run.sink(), retry_budget);
        let access = access(host, &host_context, &self.run.environment);
        let (opener, changed) = (self.opener.clone(), Arc::clone(&self.changed));
        let load = self.loads.load_of(self.run.registry.device_key(host));
        let member = Arc::new(RunHost::new(
            self.usage,
            host_context,
            access,
            load,
            opener,
            changed,
        ));
        members.insert(host.name.clone(), Arc::clone(&member));
        member
    }

    /// Waits for a slot of a proxy of a remote target, through which sessions with it go.
    ///
    /// # Errors
    /// Fails as [`pool`](Self::pool), and when no proxy can be used.
    pub(crate) async fn dialer(&self, target: &Target) -> Result<ProxyDialer<'v>, Failure> {
        ProxyDialer::new(self.pool(target).await?).await
    }

    /// Waits for the right to act on a remote target's device (its [`DeviceKey`]). The number of concurrent rights is
    /// the `concurrency` of the first request, of any run. The default is 1.
    pub(crate) async fn device_turn(
        &self,
        device_key: DeviceKey,
        budget: &TaskBudget,
    ) -> DeviceTurn<'v> {
        let count = budget.concurrency.map_or(1, usize::from);
        self.turns.take(device_key, count).await
    }
}

/// Returns how a host is opened, as its options say.
fn access(
    host: &Target,
    host_context: &HostContext<'_>,
    environment: &Environment,
) -> Result<HostAccess, Failure> {
    let ctx = host_context.ctx();
    let log = |level: Level, message: String| ctx.log(level, message);
    // Whoever reports it names the host.
    let invalid = |why: InvalidConnectionInfo| {
        Failure::new("devgate/invalid-connection-info", why.to_string())
    };
    match &host.kind {
        TargetKind::Local => {
            let settings = TaskHostSettings::local(host, environment, log).map_err(invalid)?;
            host_context.hide(settings.secrets());
            Ok(HostAccess::Local(settings))
        }
        TargetKind::Ssh => {
            let (settings, info) = TaskHostSettings::ssh(host, log).map_err(invalid)?;
            host_context.hide(info.secrets());
            let connection = HostSettings::read(&info, environment, log)?;
            let connections = Arc::new(SshConnections::new(connection));
            Ok(HostAccess::Ssh(connections, settings))
        }
        TargetKind::Remote { .. } | TargetKind::Other(_) => Err(run_on::no_runner(host)),
    }
}

impl std::fmt::Debug for Hosts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hosts").finish_non_exhaustive()
    }
}
