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

/// Adds the hops to the outcome. The way ends where the failure says; where it names no hop, that is not known.
async fn with_hops(
    sessions: Sessions<'_, '_>,
    job: &TargetJob<'_>,
    reached: Result<String, Failure>,
) -> Result<TargetResult, Failure> {
    let way = sessions.way(job).await?;
    let count = way.hops().count();
    let end = match &reached {
        Ok(_) => Some(count),
        Err(failure) => end_of(&way.hops().collect::<Vec<_>>(), &failure.msg),
    };
    let state =
        |at: usize, hop: &WayHop<'_>| match end.map_or(Ordering::Greater, |end| at.cmp(&end)) {
            Ordering::Greater if end.is_none() => "not known",
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

/// Returns the hop at which a way ends, as far as the message of the failure says.
fn end_of(hops: &[WayHop<'_>], message: &str) -> Option<usize> {
    // A jump host to which there is no connection, and a proxy that fails, are named first.
    let jump = hops.iter().position(|hop| {
        let unreachable = format!("no connection to {}, a host on the way", hop.hop.peer);
        message.contains(&unreachable)
    });
    let proxy = hops.iter().position(|hop| {
        let is_proxy =
            |name: &str| hop.role == "proxy" && message.starts_with(&format!("{name}: "));
        hop.proxy.is_some_and(is_proxy)
    });
    let named = hops.iter().rposition(|hop| message.contains(&hop.hop.peer));
    jump.or(proxy).or(named)
}

#[cfg(test)]
mod tests {
    use devgate_transports::Hop;

    use super::*;

    #[test]
    fn the_way_ends_at_the_hop_that_fails() {
        let hop = |peer: &str| Hop {
            peer: peer.to_owned(),
            user: None,
            trust: String::new(),
        };
        let [jump, proxy, device] = [hop("b:22"), hop("p:22"), hop("d:22")];
        let hops = [
            ("jump host", Some("site"), &jump),
            ("proxy", Some("site"), &proxy),
            ("device", None, &device),
        ]
        .map(|(role, proxy, hop)| WayHop { role, proxy, hop });
        for (message, end) in [
            (
                "site: could not connect to p:22: no connection to b:22, a host on the way (refused)",
                Some(0),
            ),
            ("site: the name `p` cannot be resolved", Some(1)),
            (
                "no connection to d:22 through site (p:22), a host on the way",
                Some(2),
            ),
            ("d:22 refuses the login of `admin`", Some(2)),
            ("something else", None),
        ] {
            assert_eq!(end_of(&hops, message), end, "{message}");
        }
    }
}
