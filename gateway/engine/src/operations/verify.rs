//! Checks whether targets can be reached and accept the credentials.

use std::sync::Arc;

use devgate_core::results::{Action, TargetResult};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use crate::inventory::Target;
use crate::run::{Run, RunSummary};
use crate::session::{self, SessionAccess, Sessions};

/// The result of a target that can be reached. It has no content.
#[derive(Serialize, JsonSchema)]
pub struct Reached {}

/// Checks whether each target can be reached.
pub(crate) async fn verify(
    run: &Run,
    sessions: Sessions<'_, '_>,
    targets: &[Arc<Target>],
) -> RunSummary {
    run.on_targets(targets, Action::new("verify"), async |job| {
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
        let text = match open {
            None => "It is reachable and accepts the credentials.".to_owned(),
            Some(open) => format!("It is reachable; {open}."),
        };
        Ok(TargetResult::success(json!(Reached {})).with_text(text))
    })
    .await
}
