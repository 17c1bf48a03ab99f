//! Checks whether targets can be reached and accept the credentials.

use std::cmp::Ordering;
use std::sync::Arc;

use devgate_core::failure::Failure;
use devgate_core::results::{Action, TargetResult};
use devgate_transports::ProxyLink;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::inventory::{Listed, Target, TargetKind};
use crate::job::TargetJob;
use crate::proxies::{Way, WayHop};
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
                Ok(TargetResult::success(json!(Reached {})).with_text(reached?.text))
            }
        })
        .await
    }
}

/// How a target was reached.
struct Success {
    /// What to say of it.
    text: String,
    /// The proxy on the way.
    link: Option<ProxyLink>,
}

/// Opens a session with the job's target, or a connection to the host.
async fn reach(sessions: Sessions<'_, '_>, job: &TargetJob<'_>) -> Result<Success, Failure> {
    let (open, link) = match job.target.kind {
        TargetKind::Local => {
            let text = "It is this node: no connection is needed.".to_owned();
            return Ok(Success { text, link: None });
        }
        // Any other name that is not in the inventory has this kind, too.
        TargetKind::Ssh if job.target.listed != Listed::No => {
            sessions.log_in_to_host(job).await?;
            (None, None)
        }
        TargetKind::Ssh | TargetKind::Remote { .. } | TargetKind::Other(_) => {
            session::with_session(
                sessions,
                job,
                SessionAccess::Read,
                async |ctx, transport| {
                    transport.verify(ctx).await?;
                    let link = ctx.dialer().and_then(|dialer| dialer.link());
                    Ok((transport.leaves_credentials_open(), link))
                },
            )
            .await?
        }
    };
    let text = match open {
        None => "It is reachable and accepts the credentials.".to_owned(),
        Some(open) => format!("It is reachable; {open}."),
    };
    Ok(Success { text, link })
}

/// Adds the hops to the outcome.
async fn with_hops(
    sessions: Sessions<'_, '_>,
    job: &TargetJob<'_>,
    reached: Result<Success, Failure>,
) -> Result<TargetResult, Failure> {
    let way = sessions.way(job).await?;
    let hops = states(&way, &reached);
    let mut lines = "this node".to_owned();
    let is_pool = way.proxies.len() > 1;
    if is_pool {
        lines.push_str("\n  -> one of these proxies:");
    }
    for HopState { hop, state, reason } in &hops {
        let indent = if is_pool && hop.proxy.is_some() {
            "       "
        } else {
            "  "
        };
        lines.push_str(&format!("\n{indent}-> {hop}: {state}"));
        // The message above the hops may say it already.
        let is_said = |reason: &str| {
            let failure = reached.as_ref().err();
            failure.is_some_and(|failure| failure.msg.contains(reason))
        };
        if let Some(reason) = reason.as_deref().filter(|reason| !is_said(reason)) {
            lines.push_str(&format!(": {reason}"));
        }
    }
    let hops: Vec<Json> = hops.into_iter().map(HopState::into_json).collect();
    match reached {
        Ok(Success { text, .. }) => {
            let result = TargetResult::success(json!({ "hops": hops }));
            Ok(result.with_text(format!("{text}\n{lines}")))
        }
        Err(failure) => {
            let msg = format!("{}\n{lines}", failure.msg);
            Err(Failure { msg, ..failure }.with("hops", hops))
        }
    }
}

/// A hop, and whether it was reached.
struct HopState<'w> {
    hop: WayHop<'w>,
    state: &'static str,
    /// Why a proxy was not used.
    reason: Option<String>,
}

impl HopState<'_> {
    fn into_json(self) -> Json {
        let mut json = self.hop.to_json();
        json["state"] = self.state.into();
        if let Some(reason) = self.reason {
            json["reason"] = reason.into();
        }
        json
    }
}

/// Returns the state of each hop. A way ends where the failure says; if it names no hop, that is not known.
fn states<'w>(way: &'w Way, reached: &Result<Success, Failure>) -> Vec<HopState<'w>> {
    let link = reached
        .as_ref()
        .ok()
        .and_then(|success| success.link.as_ref());
    let failure = reached.as_ref().err();
    let used = match failure {
        Some(failure) => failure.proxy(),
        None => link.map(|link| link.proxy.as_str()),
    };
    let is_reached = failure.is_none();
    let setback = |name: &str| {
        let mut setbacks = link.into_iter().flat_map(|link| &link.setbacks);
        let setback = setbacks.find(|setback| setback.name == name)?;
        Some(setback.message.as_str())
    };
    let mut states = Vec::new();
    for proxy in &way.proxies {
        let hops: Vec<_> = proxy.hops().collect();
        let failed = failure.and_then(|failure| failure.failed_proxy(&proxy.name));
        let failed = failed.or_else(|| setback(&proxy.name));
        let fault = proxy.fault.as_ref().map(|fault| fault.msg.as_str());
        let end = match failed.or(fault) {
            None if used == Some(proxy.name.as_str()) => End::None,
            Some(_) if is_reached && used == Some(proxy.name.as_str()) => End::None,
            Some(reason) => End::At(end_of(&hops, reason).unwrap_or(hops.len() - 1), reason),
            None if proxy.is_opening => End::Pending,
            None if used.is_some() => End::Unused,
            None => End::Unknown,
        };
        add_states(&mut states, hops, end);
    }
    let hops: Vec<_> = way.target_hops().collect();
    let carries = |name: &str| failure.is_none_or(|failure| failure.failed_proxy(name).is_none());
    let is_blocked = !way.proxies.is_empty() && !used.is_some_and(carries);
    let end = match failure {
        None => End::None,
        Some(_) if is_blocked => End::Untried,
        Some(failure) => match end_of(&hops, &failure.msg) {
            Some(end) => End::At(end, ""),
            None => End::Unknown,
        },
    };
    add_states(&mut states, hops, end);
    states
}

/// Where a part of a way ends.
enum End<'r> {
    /// It does not end: every hop was reached.
    None,
    /// At this hop, for this reason.
    At(usize, &'r str),
    /// At one of its hops.
    Unknown,
    /// Before its first hop.
    Untried,
    /// Another way was used.
    Unused,
    /// A connection is being opened.
    Pending,
}

fn add_states<'w>(states: &mut Vec<HopState<'w>>, hops: Vec<WayHop<'w>>, end: End<'_>) {
    for (at, hop) in hops.into_iter().enumerate() {
        let (state, reason) = match end {
            End::None => ("reached", None),
            End::At(end, reason) => match at.cmp(&end) {
                Ordering::Less => ("reached", None),
                Ordering::Equal => ("failed", (!reason.is_empty()).then(|| reason.to_owned())),
                Ordering::Greater => ("not tried", None),
            },
            End::Unknown => ("not known", None),
            End::Untried => ("not tried", None),
            End::Unused => ("not used", None),
            End::Pending => ("not reached so far", None),
        };
        states.push(HopState { hop, state, reason });
    }
}

/// Returns the hop at which a part of a way ends, as far as the message of the failure says.
fn end_of(hops: &[WayHop<'_>], message: &str) -> Option<usize> {
    let mut named = hops
        .iter()
        .map(|hop| names(message, "no connection to ", &hop.hop.peer));
    // The hop to which there is no connection ends the way, even if the message begins with another one.
    let unreachable = named.position(|is_named| is_named);
    unreachable.or_else(|| {
        hops.iter()
            .rposition(|hop| names(message, "", &hop.hop.peer))
    })
}

/// Whether a message has these words before an address.
fn names(message: &str, before: &str, peer: &str) -> bool {
    let named = format!("{before}{peer}");
    let is_whole = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_digit());
    let mut found = message.match_indices(&named);
    found.any(|(at, _)| is_whole(&message[at + named.len()..]))
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
        let [jump, proxy] = [hop("b:22"), hop("p:22")];
        let hops = [("jump host", &jump), ("proxy", &proxy)].map(|(role, hop)| WayHop {
            role,
            proxy: Some("site"),
            is_alternative: false,
            hop,
        });
        for (message, end) in [
            (
                "could not connect to p:22: no connection to b:22, a jump host (refused)",
                Some(0),
            ),
            ("no connection to p:22 through b:22, a jump host", Some(1)),
            ("p:22 refuses the login of `admin`", Some(1)),
            (
                "could not open a session with p:22, given up after 12 tries in 27.7 s: no connection to b:22",
                Some(0),
            ),
            ("no connection to b:220 through p:22", Some(1)),
            ("the name `p` cannot be resolved", None),
        ] {
            assert_eq!(end_of(&hops, message), end, "{message}");
        }
    }
}
