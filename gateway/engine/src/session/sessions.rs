//! The sessions of one run, and the proxies that they go through.

use devgate_core::cancel::Stage;
use devgate_core::failure::Failure;
use serde_json::Value as Json;

use super::connection_spec::ConnectionSpec;
use super::pool::SessionPool;
use crate::inventory::TargetKind;
use crate::job::TargetJob;
use crate::proxies::{Hosts, ProxyDialer, Way};

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

    /// Describes the way to the job's target, hop by hop. Nothing is sent.
    ///
    /// # Errors
    /// Fails when the target is not remote, or when a setting is invalid.
    pub async fn describe_way(&self, job: &TargetJob<'_>) -> Result<Json, Failure> {
        Ok(self.way(job).await?.to_json())
    }

    /// Returns the way to the job's target. Nothing is sent.
    ///
    /// # Errors
    /// Fails as [`describe_way`](Self::describe_way).
    pub(crate) async fn way(&self, job: &TargetJob<'_>) -> Result<Way, Failure> {
        if let TargetKind::Ssh | TargetKind::Local = job.target.kind {
            return Ok(Way::to_host(&*self.hosts.pool(job.target).await?));
        }
        let spec = ConnectionSpec::for_job(job)?;
        let ctx = job.context();
        let device = devgate_transports::hops(&ctx, spec.connect.schema(), &spec.key.info)?;
        let pool = match job.target.runs_on_localhost() {
            true => None,
            false => Some(self.hosts.pool(job.target).await?),
        };
        Ok(Way::to_device(pool.as_deref(), device))
    }

    /// Connects to the job's target, which is a host, and logs in.
    ///
    /// # Errors
    /// Fails when the host cannot be used, and when the run is cancelled first.
    pub(crate) async fn log_in_to_host(&self, job: &TargetJob<'_>) -> Result<(), Failure> {
        let pool = self.hosts.pool(job.target).await?;
        tokio::select! {
            biased;
            () = job.stop().reaches(Stage::Finish) => Err(job.interrupted(false)),
            slot = pool.slot() => slot.map(drop),
        }
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
