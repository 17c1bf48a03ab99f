//! The hosts of one run. Each is shared by all its users, and all are closed at the end of the run.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use devgate_core::failure::Failure;
use devgate_core::lock::locked;
use devgate_schemas::Level;
use devgate_transports::{Environment, HostSettings};
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::sync::{Mutex as AsyncMutex, Notify, mpsc};
use tokio::time::timeout;

use super::pool::HostPool;
use super::run_host::{Health, HostAccess, RunHost};
use super::run_on;
use super::{DeviceTurn, DeviceTurns, ProxyLoads};
use crate::hosts::{HostContext, TaskBudget, TaskHostSettings};
use crate::inventory::{DeviceKey, Inventory, Kind, Target};
use crate::job::RunContext;

/// How long a host that is no longer needed may take to create the run's directory.
const PREPARING: Duration = Duration::from_secs(10);

/// The hosts of a run.
pub(crate) struct Hosts<'v> {
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
        inventory: &'v Inventory,
        run: &'v RunContext,
        loads: &'v ProxyLoads,
        turns: &'v DeviceTurns,
    ) -> Self {
        let (opener, to_open) = mpsc::unbounded_channel();
        Self {
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
        let prepared = async {
            let is_preparing = |member: &Arc<RunHost<'_>>| member.health() == Health::Preparing;
            while members.iter().any(is_preparing) && opening.next().await.is_some() {}
        };
        let in_time = timeout(PREPARING, prepared).await.is_ok();
        drop(opening);
        for member in &members {
            let ctx = member.teller.ctx();
            match member.health() {
                Health::Opening => {
                    ctx.notice("it was not reached before the run ended: no task has run here");
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
            Kind::Remote { run_on, .. } => run_on.as_str(),
            Kind::Local | Kind::Ssh => {
                let members = vec![self.member(target)];
                return Ok(Arc::new(HostPool::new(String::new(), members, self.loads)));
            }
            Kind::Other(_) => return Err(run_on::no_runner(target)),
        };
        let mut pools = self.pools.lock().await;
        let known = match pools.get(key) {
            Some(known) => known.clone(),
            None => {
                let pool = self.gather(key).await;
                pools.insert(key.to_owned(), pool.clone());
                pool
            }
        };
        known.map_err(|why| run_on::of_target(why, target))
    }

    async fn gather(&self, run_on: &str) -> Result<Arc<HostPool<'v>>, Failure> {
        let hosts = run_on::hosts(self.inventory, run_on).await?;
        let members = hosts.iter().map(|host| self.member(host)).collect();
        let label = match hosts.as_slice() {
            [_] => String::new(),
            _ => format!("run-on {run_on}: "),
        };
        Ok(Arc::new(HostPool::new(label, members, self.loads)))
    }

    fn member(&self, host: &Target) -> Arc<RunHost<'v>> {
        let mut members = locked(&self.members);
        if let Some(member) = members.get(&host.name) {
            return Arc::clone(member);
        }
        let retry_budget = self.run.limits.retry_budget;
        let teller = HostContext::new(&host.name, self.run.sink(), retry_budget);
        let access = access(host, &teller, &self.run.environment);
        let (opener, changed) = (self.opener.clone(), Arc::clone(&self.changed));
        let load = self.loads.of(self.run.registry.place(host));
        let member = Arc::new(RunHost::new(teller, access, load, opener, changed));
        members.insert(host.name.clone(), Arc::clone(&member));
        member
    }

    /// Waits for the right to act on a remote target's device (its [`DeviceKey`]). The number of concurrent rights is
    /// the `concurrency` of the first request, of any run. The default is 1.
    pub(crate) async fn device(&self, place: DeviceKey, budget: &TaskBudget) -> DeviceTurn<'v> {
        let count = budget.concurrency.map_or(1, usize::from);
        self.turns.take(place, count).await
    }
}

/// Returns how a host is opened, as its options say.
fn access(
    host: &Target,
    teller: &HostContext<'_>,
    environment: &Environment,
) -> Result<HostAccess, Failure> {
    let ctx = teller.ctx();
    let tell = |level: Level, message: String| ctx.log(level, message);
    let invalid = |why| crate::inventory::invalid_connection_info(host, &why);
    match &host.kind {
        Kind::Local => {
            let settings = TaskHostSettings::local(host, environment, tell).map_err(invalid)?;
            teller.hide(settings.secrets());
            Ok(HostAccess::Local(settings))
        }
        Kind::Ssh => {
            let (settings, info) = TaskHostSettings::ssh(host, tell).map_err(invalid)?;
            teller.hide(info.secrets());
            let connection = HostSettings::read(&info, environment, tell)?;
            Ok(HostAccess::Ssh(Box::new(connection), settings))
        }
        Kind::Remote { .. } | Kind::Other(_) => Err(run_on::no_runner(host)),
    }
}

impl std::fmt::Debug for Hosts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hosts").finish_non_exhaustive()
    }
}
