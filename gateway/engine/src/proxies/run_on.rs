//! Resolves `run-on` to hosts that can run programs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use devgate_core::failure::Failure;

use crate::inventory::{Inventory, LOCALHOST, Listed, Overrides, Target, TargetKind};

/// Returns the hosts that `run-on` names: this node, targets, groups, patterns, or a list of these.
///
/// # Errors
/// Fails for unknown names, an empty list, targets that run no programs, and this node among other hosts.
pub(super) async fn hosts(
    inventory: &Inventory,
    run_on: &str,
) -> Result<Vec<Arc<Target>>, Failure> {
    check_words(run_on)?;
    // The overrides of a command line are for the targets that it names, not for their proxies.
    let selected = inventory
        .select(&[run_on.to_owned()], &Overrides::default())
        .await;
    let hosts = selected.map_err(Failure::from)?;
    check(&hosts, run_on)?;
    Ok(hosts)
}

/// Finds targets whose proxies can run nothing, without calling plugins or connecting to anything.
#[derive(Debug)]
pub struct ProxyCheck<'i> {
    inventory: &'i Inventory,
    /// What was found, by the value of `run-on`.
    found: RefCell<HashMap<String, Option<Failure>>>,
}

impl<'i> ProxyCheck<'i> {
    /// Creates the check for targets of an inventory.
    pub fn new(inventory: &'i Inventory) -> Self {
        Self {
            inventory,
            found: RefCell::default(),
        }
    }

    /// Returns why a remote target has no proxy.
    pub fn problem(&self, target: &Target) -> Option<Failure> {
        let TargetKind::Remote { run_on, .. } = &target.kind else {
            return None;
        };
        let mut found = self.found.borrow_mut();
        let problem = found
            .entry(run_on.clone())
            .or_insert_with(|| self.find(run_on).err());
        problem.clone().map(|why| with_target_name(why, target))
    }

    fn find(&self, run_on: &str) -> Result<(), Failure> {
        check_words(run_on)?;
        let selected = self.inventory.select_without_plugins(&[run_on.to_owned()]);
        let hosts = selected.map_err(Failure::from)?;
        // Only a plugin knows what the others are.
        if hosts.iter().all(|host| host.unresolved() == Some(&[])) {
            check(&hosts, run_on)?;
        }
        Ok(())
    }
}

/// Checks that hosts can run programs.
fn check(hosts: &[Arc<Target>], run_on: &str) -> Result<(), Failure> {
    if hosts.is_empty() {
        let message = format!("`run-on: {run_on}` names no target: its group is empty");
        return Err(Failure::new("devgate/no-proxy", message));
    }
    if hosts.len() > 1 && hosts.iter().any(|host| host.name == LOCALHOST) {
        let message = format!(
            "`run-on: {run_on}` names localhost and other hosts; localhost means that this node reaches the device \
             itself: name either localhost or the proxies"
        );
        return Err(Failure::new("devgate/no-proxy", message));
    }
    for host in hosts {
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
    Ok(())
}

fn check_words(run_on: &str) -> Result<(), Failure> {
    let mut names = run_on.split([',', ' ', '\n']).map(str::trim);
    if names.any(|name| name == "-" || name.starts_with('@')) {
        let message = format!(
            "`run-on: {run_on}` is expected to name targets or groups; `-` and `@file` are for the \
             command line"
        );
        return Err(Failure::new("devgate/no-proxy", message));
    }
    Ok(())
}

/// Bolt's kind for a proxy that is itself remote.
const REMOTE_PROXY: &str = "bolt/invalid-remote-target";

/// Adds the target with this proxy to a failure: Bolt names both.
pub(super) fn with_target_name(why: Failure, target: &Target) -> Failure {
    let proxy = why.details.get("proxy").and_then(serde_json::Value::as_str);
    let msg = match proxy {
        Some(proxy) if why.kind == REMOTE_PROXY => format!(
            "{proxy} is not a valid run-on target for {} since is also remote. Set `run-on` to a host that runs programs \
             (transport ssh or local), or leave it out to use this node.",
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

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use futures_util::FutureExt;

    use super::*;
    use crate::plugins::Plugins;
    use crate::project::Project;

    #[test]
    fn proxies_that_can_run_nothing_are_found_without_a_run() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = Project::find(Some(folder.path().to_owned()), None, folder.path());
        let plugins = Plugins::new(&project.expect("a project"), Arc::default(), None);
        let target = |name: &str, run_on: &str| {
            format!(
                "  - {{name: {name}, config: {{transport: remote, remote: {{run-on: {run_on}}}}}}}\n"
            )
        };
        let text = format!(
            "groups:\n  - {{name: none}}\n  - {{name: mixed, targets: [localhost, host]}}\n\
             targets:\n  - {{name: host, config: {{transport: ssh}}}}\n{}{}{}{}{}{}{}{}",
            target("here", "localhost"),
            target("twice", "[localhost, localhost]"),
            target("good", "host"),
            target("between", "[host, localhost]"),
            target("grouped", "mixed"),
            target("itself", "itself"),
            target("empty", "none"),
            target("mistyped", "hots"),
        );
        let parsed = Inventory::parse("inventory.yaml", &text, Rc::new(plugins), false);
        let inventory = parsed
            .now_or_never()
            .expect("no plugin")
            .expect("an inventory");
        let targets = inventory
            .select_without_plugins(&["all".to_owned()])
            .expect("targets");
        let check = ProxyCheck::new(&inventory);
        let problems: Vec<_> = targets
            .iter()
            .filter_map(|target| check.problem(target).map(|why| why.msg))
            .collect();
        let [between, grouped, itself, empty, mistyped] = problems.as_slice() else {
            panic!("{problems:?}")
        };
        for (problem, start) in [
            (between, "between: `run-on: host,localhost` names localhost"),
            (grouped, "grouped: `run-on: mixed` names localhost"),
        ] {
            assert!(problem.starts_with(start), "{problem}");
        }
        assert!(
            itself.starts_with("itself is not a valid run-on target for itself"),
            "{itself}"
        );
        assert!(itself.contains("Set `run-on` to a host"), "{itself}");
        assert!(empty.contains("its group is empty"), "{empty}");
        assert!(
            mistyped.starts_with("mistyped: `run-on: hots` names hots, which is not"),
            "{mistyped}"
        );
    }
}
