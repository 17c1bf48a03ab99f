//! Resolves `run-on` to hosts that can run programs.

use std::sync::Arc;

use devgate_core::failure::Failure;

use crate::inventory::{Inventory, Listed, Overrides, Target, TargetKind};

/// Returns the hosts that `run-on` names: this node, targets, groups, patterns, or a list of these.
///
/// # Errors
/// Fails for unknown names, an empty list, and targets that run no programs.
pub(super) async fn hosts(
    inventory: &Inventory,
    run_on: &str,
) -> Result<Vec<Arc<Target>>, Failure> {
    let mut names = run_on.split([',', ' ', '\n']).map(str::trim);
    if names.any(|name| name == "-" || name.starts_with('@')) {
        let message = format!(
            "`run-on: {run_on}` is expected to name targets or groups; `-` and `@file` are for the \
             command line"
        );
        return Err(Failure::new("devgate/no-proxy", message));
    }
    // The overrides of a command line are for the targets that it names, not for their proxies.
    let selected = inventory
        .select(&[run_on.to_owned()], &Overrides::default())
        .await;
    let hosts = selected.map_err(Failure::from)?;
    if hosts.is_empty() {
        let message = format!("`run-on: {run_on}` names no target: its group is empty");
        return Err(Failure::new("devgate/no-proxy", message));
    }
    for host in &hosts {
        if let Some(fault) = &host.fault {
            let message = format!(
                "`run-on: {run_on}` names {}, which cannot be used: {fault}",
                host.name
            );
            return Err(Failure::new("devgate/no-proxy", message));
        }
        let has_scheme = host.uri.as_ref().is_some_and(|uri| uri.scheme.is_some());
        if host.listed == Listed::No && !has_scheme {
            let message = format!(
                "`run-on: {run_on}` names {}, which is not in the inventory; `devgate inventory show` lists all \
                 targets",
                host.name
            );
            return Err(Failure::new("devgate/unknown-target", message));
        }
        if let TargetKind::Other(transport) = host.kind {
            return Err(Failure::new(
                "devgate/no-runner",
                unsupported_transport(&host.name, transport),
            ));
        }
        if let TargetKind::Remote { .. } = host.kind {
            let failure = Failure::new(REMOTE_PROXY, "it is remote");
            return Err(failure.with("proxy", host.name.as_str()));
        }
    }
    Ok(hosts)
}

/// Bolt's kind for a proxy that is itself remote.
const REMOTE_PROXY: &str = "bolt/invalid-remote-target";

/// Adds the target with this proxy to a failure: Bolt names both.
pub(super) fn with_target_name(why: Failure, target: &Target) -> Failure {
    let proxy = why.details.get("proxy").and_then(serde_json::Value::as_str);
    let msg = match proxy {
        Some(proxy) if why.kind == REMOTE_PROXY => format!(
            "{proxy} is not a valid run-on target for {} since is also remote.",
            target.name
        ),
        _ => format!("{}: {why}", target.name),
    };
    Failure { msg, ..why }
}

/// Returns why a target runs no tasks of its own.
pub(super) fn no_runner(target: &Target) -> Failure {
    if target.listed == Listed::No {
        return crate::inventory::unknown_target(target);
    }
    Failure::new(
        "devgate/no-runner",
        unsupported_transport(&target.name, target.kind.name()),
    )
}

fn unsupported_transport(name: &str, transport: &str) -> String {
    let what = match transport {
        "winrm" => "hosts with Windows are not supported",
        "pcp" => "Puppet's orchestrator is not supported",
        _ => "containers are not supported",
    };
    format!(
        "{name} has the transport `{transport}`: {what}; tasks run on this node (`local`) and on \
         hosts with an SSH server and a POSIX shell (`ssh`)"
    )
}
