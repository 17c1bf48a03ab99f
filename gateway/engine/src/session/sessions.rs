//! The sessions of one run, and the proxies that they go through.

use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;

use super::pool::SessionPool;
use crate::job::TargetJob;
use crate::proxies::{Hosts, ProxyDialer};

/// Where a run gets its sessions: from the pool of the engine, through the proxies of the run.
#[derive(Clone, Copy, Debug)]
pub struct Sessions<'a, 'v> {
    pub(super) pool: &'a SessionPool,
    hosts: &'a Hosts<'v>,
}

impl<'a, 'v> Sessions<'a, 'v> {
    /// Creates the source of a run's sessions.
    pub(crate) fn new(pool: &'a SessionPool, hosts: &'a Hosts<'v>) -> Self {
        Self { pool, hosts }
    }

    /// Returns the pool that lends the sessions.
    pub(crate) fn pool(&self) -> &'a SessionPool {
        self.pool
    }

    /// Waits for a slot of a proxy, if the job's target is behind one.
    ///
    /// # Errors
    /// Fails when no proxy can be used, and when the run is cancelled first.
    pub(crate) async fn dialer(
        &self,
        job: &TargetJob<'_>,
    ) -> Result<Option<ProxyDialer<'v>>, Failure> {
        if job.target.runs_on_localhost() {
            return Ok(None);
        }
        tokio::select! {
            biased;
            () = job.stop().reaches(Stage::Finish) => Err(job.interrupted(false)),
            dialer = self.hosts.dialer(job.target) => dialer.map(Some),
        }
    }
}
