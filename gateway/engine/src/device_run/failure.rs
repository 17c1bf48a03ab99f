//! The failure of a run, for programs: in the form in which Bolt reports failed resources.

use devgate_core::failure::Failure;
use devgate_schemas::{EventStatus, Report, ResourceReport, RunStatus};

/// The kind of a failure of resources, which is Bolt's. The report contains all details.
pub const RESOURCE_FAILURE: &str = "bolt/resource-failure";

/// Returns the failure of the target's run with this report, if it has failed. `stopped` is the message for a run that
/// did not get to every resource.
pub fn failure(report: &Report, target: &str, stopped: &str) -> Option<Failure> {
    if report.status != RunStatus::Failed {
        return None;
    }
    let failed: Vec<&ResourceReport> = report.resources.iter().filter(|one| one.failed).collect();
    if failed.is_empty() && !report.completed {
        let left = report.summary.skipped;
        let message = format!(
            "{stopped}: {left} of {} resources were left alone",
            report.summary.total
        );
        return Some(Failure::new("devgate/interrupted", message).with("begun", true));
    }
    let mut message = match (&report.problem, failed.as_slice()) {
        (Some(problem), []) => return Some(Failure::new(RESOURCE_FAILURE, problem.as_str())),
        _ => format!("Resources failed to apply for {target}"),
    };
    for resource in &failed {
        for why in causes(resource) {
            message.push_str(&format!("\n  {}: {why}", resource.reference));
        }
    }
    if let Some(problem) = &report.problem {
        message.push_str(&format!("\n{problem}"));
    }
    let names: Vec<&str> = failed.iter().map(|one| one.reference.as_str()).collect();
    Some(Failure::new(RESOURCE_FAILURE, message).with("resources", names))
}

/// Returns the causes of a resource's failure. Mostly, all its properties have the same one.
fn causes(resource: &ResourceReport) -> Vec<&str> {
    let events = resource.events.iter();
    let failures = events.filter(|event| event.status == EventStatus::Failure);
    let mut causes: Vec<&str> = failures.map(|event| event.message.as_str()).collect();
    causes.dedup();
    causes
}

#[cfg(test)]
mod tests {
    use devgate_schemas::ResourceEvent;

    use super::*;

    fn event(message: &str) -> ResourceEvent {
        ResourceEvent {
            property: None,
            previous: None,
            desired: None,
            message: message.to_owned(),
            status: EventStatus::Failure,
            time: String::new(),
        }
    }

    fn report(resources: Vec<ResourceReport>, completed: bool) -> Report {
        let mut report = Report {
            resources,
            completed,
            ..Report::default()
        };
        report.sum_up();
        report
    }

    #[test]
    fn resources_that_failed_are_named_with_why() {
        let bad = ResourceReport {
            reference: "Vlan[1]".to_owned(),
            failed: true,
            events: vec![event("no room"), event("no room")],
            ..ResourceReport::default()
        };
        let mut report = report(vec![bad, ResourceReport::default()], true);
        report.problem = Some("more is wrong".to_owned());
        let failure = failure(&report, "s1", "interrupted").expect("one failed");
        assert_eq!(failure.kind, RESOURCE_FAILURE);
        assert_eq!(
            failure.msg,
            "Resources failed to apply for s1\n  Vlan[1]: no room\nmore is wrong"
        );
        assert_eq!(failure.details["resources"][0], "Vlan[1]");
    }

    #[test]
    fn a_run_that_was_stopped_says_so_and_a_good_one_has_no_failure() {
        let left = ResourceReport {
            skipped: true,
            ..ResourceReport::default()
        };
        let stopped = report(vec![left, ResourceReport::default()], false);
        let failure = failure(&stopped, "s1", "interrupted").expect("it is not whole");
        assert_eq!(failure.kind, "devgate/interrupted");
        assert_eq!(failure.msg, "interrupted: 1 of 2 resources were left alone");
        let whole = report(vec![ResourceReport::default()], true);
        assert_eq!(super::failure(&whole, "s1", ""), None);
    }
}
