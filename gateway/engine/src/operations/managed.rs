//! What the operations on resources have in common.

use devgate_schemas::Level;

use crate::inventory::Target;
use crate::registry::{Family, Registry};
use crate::session;
use devgate_core::failure::Failure;
use devgate_core::redactor::{Sink, say};
use devgate_core::results::Action;

/// What is done with the resources of devices.
pub(super) const DEVICE: Action = Action::new("device");

/// The family of a target, which says what can be managed on it.
pub(super) fn family<'r>(registry: &'r Registry, target: &Target) -> Result<&'r Family, Failure> {
    match target.remote_transport() {
        Some(name) => registry.family(name),
        None => Err(session::no_transport(target)),
    }
}

/// Says why there is nothing to do.
///
/// # Errors
/// That an operation which does nothing has not succeeded, unless it may be so.
pub fn nothing_to_do(log: &dyn Sink, allowed: bool, why: &str) -> Result<(), Failure> {
    if allowed {
        say(log, Level::Warning, format!("{why}: nothing was done"));
        return Ok(());
    }
    let message = format!("{why}: nothing was done; with --allow-empty, this is a success");
    Err(Failure::new("devgate/no-targets", message))
}
