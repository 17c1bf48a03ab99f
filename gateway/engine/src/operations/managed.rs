//! Parts that the operations on resources share.

use devgate_core::failure::Failure;
use devgate_core::redactor::{Sink, log_line};
use devgate_core::results::Action;
use devgate_devices::ResourceType;
use devgate_schemas::{Facts, Level};
use devgate_transports::{Context, Transport};

use crate::inventory::Target;
use crate::registry::{Family, Registry};
use crate::session;

/// The action of operations on the resources of devices.
pub(super) const DEVICE: Action = Action::new("device");

/// Returns the family of a target, which determines the resource types that can be managed on it.
pub(super) fn family<'r>(registry: &'r Registry, target: &Target) -> Result<&'r Family, Failure> {
    match target.remote_transport() {
        Some(name) => registry.family(name),
        None => Err(session::no_transport(target)),
    }
}

/// Reads the facts of a device, if one of these types depends on them.
///
/// # Errors
/// Fails when the session is lost.
pub(super) async fn facts_for(
    ctx: &Context<'_>,
    transport: &dyn Transport,
    kinds: &[&dyn ResourceType],
) -> Result<Option<Facts>, Failure> {
    if !kinds.iter().any(|kind| kind.uses_facts()) {
        return Ok(None);
    }
    Ok(Some(transport.facts(ctx).await?))
}

/// Reports that there is nothing to do, and why.
///
/// # Errors
/// Fails unless `allowed`, because a command that does nothing has not succeeded.
pub fn nothing_to_do(log: &dyn Sink, allowed: bool, reason: &str) -> Result<(), Failure> {
    if allowed {
        log_line(log, Level::Warning, format!("{reason}: nothing was done"));
        return Ok(());
    }
    let message = format!("{reason}: nothing was done; with --allow-empty, this is a success");
    Err(Failure::new("devgate/no-targets", message))
}
