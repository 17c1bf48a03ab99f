//! The report for people: what was changed and what went wrong, and one line for all the rest.

use devgate_schemas::{EventStatus, Report, ResourceReport};

/// Formats the report as text. Changes in noop mode are shown with what would be sent, others only with `diff`.
pub fn text(report: &Report, diff: bool) -> String {
    let mut text = String::new();
    for resource in &report.resources {
        let Some(word) = word(report, resource) else {
            continue;
        };
        let ResourceReport {
            type_name, title, ..
        } = resource;
        text.push_str(&format!("{type_name}[{title}]: {word}\n"));
        for message in &resource.messages {
            text.push_str(&format!("  {}\n", message.replace('\n', "\n  ")));
        }
        let is_shown = diff || resource.noop;
        for line in resource.diff.iter().filter(|_| is_shown) {
            text.push_str(&format!("    {line}\n"));
        }
    }
    if !report.device_diff.is_empty() {
        text.push_str("the device shows these changes:\n");
    }
    for line in &report.device_diff {
        text.push_str(&format!("    {line}\n"));
    }
    let sum = &report.summary;
    let count = |is_meant: fn(&ResourceReport) -> bool| {
        let resources = report.resources.iter();
        resources.filter(|resource| is_meant(resource)).count()
    };
    let counts: Vec<String> = [
        // As in Puppet, the summary counts a resource that failed after its change as both.
        (count(|one| one.changed && !one.failed), "changed"),
        (count(|one| one.noop), "would change"),
        (sum.failed, "failed"),
        (sum.skipped, "skipped"),
        (sum.unchanged, "unchanged"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, word)| format!("{count} {word}"))
    .collect();
    let counts = match counts.as_slice() {
        [] => "nothing".to_owned(),
        counts => counts.join(", "),
    };
    let plural = if sum.total == 1 { "" } else { "s" };
    text.push_str(&format!("{} resource{plural}: {counts}\n", sum.total));
    if report.rolled_back {
        text.push_str("rolled back: the device has its state from before the run\n");
    }
    if let Some(problem) = &report.problem {
        text.push_str(&format!("{problem}\n"));
    }
    text
}

/// Returns the word for a resource's outcome, or `None` if it is not shown.
fn word(report: &Report, resource: &ResourceReport) -> Option<&'static str> {
    let has = |status| resource.events.iter().any(|event| event.status == status);
    Some(match resource {
        _ if resource.failed && resource.changed => "FAILED, but the device has the change",
        _ if resource.failed => "FAILED",
        _ if resource.noop => "would change",
        _ if resource.changed => "changed",
        _ if resource.left_out => return None,
        _ if resource.skipped => "skipped",
        _ if report.rolled_back && has(EventStatus::Success) => "rolled back",
        _ if has(EventStatus::Audit) => "audited",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use devgate_schemas::ResourceEvent;

    use super::*;

    fn resource(title: &str, change: impl Fn(&mut ResourceReport)) -> ResourceReport {
        let mut report = ResourceReport {
            type_name: "vlan".to_owned(),
            title: title.to_owned(),
            messages: vec![format!("of {title}")],
            diff: vec![format!("+ vlan {title}")],
            ..ResourceReport::default()
        };
        change(&mut report);
        report
    }

    fn event(status: EventStatus) -> ResourceEvent {
        ResourceEvent {
            property: None,
            previous: None,
            desired: None,
            message: String::new(),
            status,
            time: String::new(),
        }
    }

    #[test]
    fn unchanged_resources_are_only_counted() {
        let mut report = Report {
            resources: vec![
                resource("1", |one| one.changed = true),
                resource("2", |_| ()),
                resource("3", |one| one.failed = true),
                resource("4", |one| one.noop = true),
                resource("5", |one| one.skipped = true),
                resource("6", |one| (one.skipped, one.left_out) = (true, true)),
                resource("7", |one| one.events = vec![event(EventStatus::Audit)]),
            ],
            ..Report::default()
        };
        report.resources[0].out_of_sync = true;
        report.resources[3].out_of_sync = true;
        report.sum_up();
        let brief = text(&report, false);
        assert_eq!(
            brief,
            "vlan[1]: changed\n  of 1\n\
             vlan[3]: FAILED\n  of 3\n\
             vlan[4]: would change\n  of 4\n    + vlan 4\n\
             vlan[5]: skipped\n  of 5\n\
             vlan[7]: audited\n  of 7\n\
             7 resources: 1 changed, 1 would change, 1 failed, 2 skipped, 2 unchanged\n"
        );
        assert!(text(&report, true).starts_with("vlan[1]: changed\n  of 1\n    + vlan 1\n"));
        assert_eq!(text(&Report::default(), false), "0 resources: nothing\n");
    }

    #[test]
    fn a_resource_that_failed_after_its_change_is_counted_once() {
        let mut report = Report {
            resources: vec![resource("1", |one| {
                (one.changed, one.failed) = (true, true)
            })],
            ..Report::default()
        };
        report.sum_up();
        let expected =
            "vlan[1]: FAILED, but the device has the change\n  of 1\n1 resource: 1 failed\n";
        assert_eq!(text(&report, false), expected);
    }

    #[test]
    fn what_the_device_shows_follows_the_resources() {
        let mut report = Report {
            resources: vec![resource("1", |one| one.noop = true)],
            device_diff: vec!["[edit vlans]".to_owned(), "+  v1;".to_owned()],
            ..Report::default()
        };
        report.sum_up();
        let shown = text(&report, false);
        let expected = "    + vlan 1\nthe device shows these changes:\n    [edit vlans]\n    +  v1;\n1 resource: ";
        assert!(shown.contains(expected), "{shown}");
    }

    #[test]
    fn a_rollback_is_reported_with_the_changes_that_it_undid() {
        let report = Report {
            resources: vec![resource("1", |one| {
                one.events = vec![event(EventStatus::Success)]
            })],
            rolled_back: true,
            problem: Some("more is wrong".to_owned()),
            ..Report::default()
        };
        let told = text(&report, false);
        assert!(told.starts_with("vlan[1]: rolled back\n  of 1\n"), "{told}");
        let end = "rolled back: the device has its state from before the run\nmore is wrong\n";
        assert!(told.ends_with(end), "{told}");
    }
}
