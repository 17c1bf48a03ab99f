//! Checks whether targets can be reached and accept the credentials.

use std::cmp::Ordering;
use std::sync::Arc;

use devgate_core::failure::Failure;
use devgate_core::results::{Action, TargetResult};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::inventory::Target;
use crate::job::TargetJob;
use crate::proxies::WayHop;
use crate::run::{Run, RunSummary};
use crate::session::{self, SessionAccess, Sessions};

/// How targets are verified.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verify {
    /// Whether the result shows the way to the target, hop by hop, and where it ends.
    pub hops: bool,
}

/// The result of a target that can be reached. It has no content.
#[derive(Serialize, JsonSchema)]
pub struct Reached {}

impl Verify {
    /// Checks whether each target can be reached.
    pub(crate) async fn run(
        &self,
        run: &Run,
        sessions: Sessions<'_, '_>,
        targets: &[Arc<Target>],
    ) -> RunSummary {
        run.on_targets(targets, Action::new("verify"), async |job| {
            let reached = reach(sessions, job).await;
            if self.hops {
                with_hops(sessions, job, reached).await
            } else {
                Ok(TargetResult::success(json!(Reached {})).with_text(reached?))
            }
        })
        .await
    }
}

/// Opens a session with the job's target. Returns what to say of it.
async fn reach(sessions: Sessions<'_, '_>, job: &TargetJob<'_>) -> Result<String, Failure> {
    let open = session::with_session(
        sessions,
        job,
        SessionAccess::Read,
        async |ctx, transport| {
            transport.verify(ctx).await?;
            Ok(transport.leaves_credentials_open())
        },
    )
    .await?;
    Ok(match open {
        None => "It is reachable and accepts the credentials.".to_owned(),
        Some(open) => format!("It is reachable; {open}."),
    })
}

/// Adds the hops to the outcome. The last hop that the failure names is the one at which the way ends.
async fn with_hops(
    sessions: Sessions<'_, '_>,
    job: &TargetJob<'_>,
    reached: Result<String, Failure>,
) -> Result<TargetResult, Failure> {
    let way = sessions.way(job).await?;
    let count = way.hops().count();
    let end = match &reached {
        Ok(_) => count,
        Err(failure) => {
            let hops: Vec<_> = way.hops().collect();
            let is_named = |peer: &str| failure.msg.contains(peer);
            let named = hops.iter().rposition(|hop| is_named(&hop.hop.peer));
            named.unwrap_or_else(|| count.saturating_sub(1))
        }
    };
    let state = |at: usize, hop: &WayHop<'_>| match at.cmp(&end) {
        // Which one it was is known of a single proxy alone.
        Ordering::Less if hop.proxy.is_some() && way.is_pool() => "one of the pool",
        Ordering::Less => "reached",
        Ordering::Equal => "failed",
        Ordering::Greater => "not tried",
    };
    let hops: Vec<Json> = way
        .hops()
        .enumerate()
        .map(|(at, hop)| {
            let mut json = hop.to_json();
            json["state"] = state(at, &hop).into();
            json
        })
        .collect();
    let lines = way
        .hops()
        .enumerate()
        .map(|(at, hop)| format!("\n  -> {hop}: {}", state(at, &hop)));
    let lines = format!("this node{}", lines.collect::<String>());
    match reached {
        Ok(text) => {
            let result = TargetResult::success(json!({ "hops": hops }));
            Ok(result.with_text(format!("{text}\n{lines}")))
        }
        Err(failure) => {
            let msg = format!("{}\n{lines}", failure.msg);
            Err(Failure { msg, ..failure }.with("hops", hops))
        }
    }
}
