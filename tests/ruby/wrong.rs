//! Errors with Ruby modules, and how far their effects are limited.

use nix::sys::signal::Signal;

use super::*;

#[test]
fn a_transport_that_was_refused_is_not_opened_again_in_the_same_run() {
    let mut shelf = Shelf::new();
    let info = json!({"remote-transport": "crate", "password": "nails-canary"});
    shelf.project.add_target("c3", info);
    let file = shelf
        .project
        .write("m.pp", "crate_box { 'b': colour => 'red' }");
    let run = shelf.devgate(&format!("device -t c3 --apply {}", file.display()));
    let run = run.failed();
    assert_eq!(run.stdout.matches("it is nailed shut").count(), 2, "{run}");
    assert_eq!(run.stderr.matches("somebody knocks").count(), 1, "{run}");
}

#[test]
fn a_provider_that_fails_fails_that_resource_alone_with_its_own_message() {
    let mut shelf = Shelf::new();
    let failures = [
        ("raises", "KeyError: key not found: :key"),
        ("fails in a block", "it is stuck"),
        ("says that it failed", "no room left"),
        ("gives up", "Giving up"),
        ("fails with another", "Execution encountered an error"),
        ("leaves", "SystemExit"),
    ];
    let mut manifest: String = failures
        .iter()
        .map(|(how, _)| format!("shelf_awkward {{ '{how}': how => '{how}' }}\n"))
        .collect();
    for how in ["says much", "speaks of another", "leaves a thread"] {
        manifest.push_str(&format!("shelf_awkward {{ '{how}': how => '{how}' }}\n"));
    }
    let file = shelf.project.write("m.pp", &manifest);
    let run = format!("device -t s1 --apply {} --format json -v", file.display());
    let run = shelf.devgate(&run).failed();
    let report = &run.item()["value"];
    let resources = report["resources"].as_array().expect("a list");
    for ((how, words), resource) in failures.iter().zip(resources) {
        assert_eq!(resource["title"], *how, "{resource}");
        assert_eq!(resource["failed"], true, "{resource}");
        assert!(resource.to_string().contains(words), "{how}: {resource}");
    }
    assert_eq!(report["summary"]["failed"], failures.len(), "{report}");
    // An exception that a block swallows stops no provider: four have made their changes nevertheless.
    assert_eq!(report["summary"]["changed"], 7, "{report}");
    run.shows(&[
        "error: s1: shelf_awkward[fails in a block]: Updating: Failed after ",
        "error: s1: shelf_awkward: shelf_awkward[nobody]: Updating: Failed after ",
        "stderr: {\"id\": 1, \"results\": {}}",
        "stderr: to people",
        "warning: s1: shelf_awkward: through Puppet",
        "error: s1: shelf_awkward[says much]: bytes \u{fffd}",
        "error: s1: shelf_awkward[says much]: by kéyword",
        "notice: s1: shelf_awkward: Made better: says much",
        "notice: s1: shelf_awkward: 5: says much",
        "made \u{fffd}",
        "notice: s1: shelf_awkward: shelf_awkward[nobody]: is here",
    ]);
}

#[test]
fn a_module_that_ends_its_process_or_never_answers_fails_what_it_was_asked() {
    let mut shelf = Shelf::new();
    let manifest = "shelf_awkward { 'it': how => 'leaves at once' }
                    shelf_book { 'Ulysses': pages => 736 }";
    let (resources, summary) = shelf.apply(manifest, "");
    let words = "it ended with exit code 3 instead of answering";
    assert!(resources[0].to_string().contains(words), "{resources}");
    assert_eq!(
        (&summary["failed"], &summary["changed"]),
        (&json!(1), &json!(1)),
        "{resources}"
    );
    assert_eq!(shelf.data()["books"]["Ulysses"]["pages"], 736);

    let info = json!({
        "remote-transport": "shelf", "file": shelf.file, "password": PASSWORD, "task-timeout": 5,
    });
    shelf.project.add_target("hasty", info);
    for how in ["sleeps", "lets go slowly"] {
        let manifest = format!("shelf_awkward {{ 'it': how => '{how}' }}");
        let file = shelf.project.write("m.pp", &manifest);
        let run = format!("device -t hasty --apply {} --format json", file.display());
        shelf
            .devgate(&run)
            .failed()
            .shows(&["it gave no results within 5 s (`task-timeout`), and was ended"]);
        let requests = shelf.requests();
        // On a slow machine, there may be no child yet.
        for pid in requests
            .iter()
            .filter_map(|line| line.strip_prefix("child "))
        {
            ends(pid);
        }
        // The process that changes the device ends before the device is read again.
        let read = requests.iter().rposition(|line| line.starts_with("open"));
        let there = requests.iter().rposition(|line| line == "still here");
        assert!(there < read, "{requests:?}");
    }
}

#[test]
fn where_devgate_is_killed_a_target_in_ruby_ends_and_nothing_stays() {
    let mut shelf = Shelf::new();
    let file = shelf
        .project
        .write("m.pp", "shelf_awkward { 'it': how => 'sleeps' }");
    let file = file.display();
    let run = format!("device -t s1 --apply {file} --modulepath {MODULES}");
    let run = shelf.project.start(&run);
    let pid = wait_for("the module sleeps", || {
        let requests = shelf.requests();
        requests
            .iter()
            .find_map(|line| line.strip_prefix("child ").map(str::to_owned))
    });
    run.signal(Signal::SIGKILL);
    drop(run.finish());
    ends(&pid);
    let folder = shelf.project.path().join("tmp");
    wait_for("nothing is left behind", || {
        let remaining = fs::read_dir(&folder).expect("it is there").count();
        (remaining == 0).then_some(())
    });
}

/// Waits until a process has ended.
fn ends(pid: &str) {
    wait_for("what slept ends", || (!is_running(pid)).then_some(()));
}

/// Waits until there is a result, and returns it.
fn wait_for<T>(what: &str, check: impl Fn() -> Option<T>) -> T {
    for _ in 0..3000 {
        if let Some(found) = check() {
            return found;
        }
        pause(Duration::from_millis(10));
    }
    panic!("expected within 30 s: {what}");
}

#[test]
fn credentials_that_are_refused_and_what_is_wrong_with_connection_info_are_reported_without_secrets()
 {
    let mut shelf = Shelf::new();
    let info =
        |password| json!({"remote-transport": "shelf", "file": shelf.file, "password": password});
    let wrong = info(json!("a-wrong-canary"));
    let number = info(json!(7));
    shelf.project.add_target("wrong", wrong);
    shelf.project.add_target("number", number);
    shelf
        .devgate("verify -t wrong")
        .failed()
        .shows(&["Puppet::ResourceError: the lock refuses ********"]);
    shelf
        .devgate("verify -t number")
        .failed()
        .shows(&["password: << redacted value >> expects a String value"]);
    let run = shelf.devgate("verify -t wrong --log-level debug").failed();
    run.shows(&["debug: wrong: at ", "/lib/puppet/transport/shelf.rb:"]);
}

#[test]
fn types_that_cannot_be_used_are_left_out_and_why_is_reported_when_they_are_named() {
    let mut shelf = Shelf::new();
    let listed = shelf.devgate("type list").succeeded();
    for name in ["shelf_book", "shelf_slot", "shelf_odd"] {
        assert!(
            listed.stdout.contains(&format!("shelf/{name} ")),
            "{listed}"
        );
    }
    assert!(!listed.stdout.contains("shelf_torn"), "{listed}");
    let names = ["torn", "orphan", "wooden", "host", "bok"];
    let manifest = names.map(|name| format!("shelf_{name} {{ 'it': }}\n"));
    let file = shelf.project.write("m.pp", &manifest.concat());
    let run = format!("device -t s1 --apply {}", file.display());
    shelf.devgate(&run).failed().shows(&[
        "`shelf_torn` cannot be used by family `shelf`: Puppet::Error: Could not autoload",
        "(puppet/provider/shelf_orphan/shelf.rb) nor one for all devices",
        "shelf_wooden.rb is a type of Puppet's old kind",
        "it manages hosts, not devices",
        "has no type `shelf_bok`; did you mean `shelf_book`?",
    ]);
    assert_eq!(
        shelf.requests(),
        [""; 0],
        "nothing is sent where a manifest is wrong"
    );
    shelf
        .devgate("device -t s1 --resource shelf_odd")
        .succeeded()
        .shows(&[
            "warning: Unknown feature detected: [\"levitates\"]",
            "warning: `shelf_odd.name` has no documentation, add it using a `desc` key",
        ]);
}

#[test]
fn without_ruby_only_its_modules_cannot_be_used() {
    let shelf = Shelf::new();
    let run = |words: &str| {
        let words = format!("{words} --modulepath {MODULES}");
        shelf
            .project
            .start_under(&["env", "PATH=/nowhere"], &words)
            .finish()
    };
    let packages = "`apt-get install puppet-agent ruby-puppet-resource-api`";
    run("facts -t s1")
        .failed()
        .shows(&["family `shelf` cannot be used", packages]);
    let listed = run("transport list").succeeded();
    assert!(listed.stdout.contains("\nfrr "), "{listed}");
    listed.shows(&["warning: family of `shelf`: ", packages]);
    let run = run("type show frr_interface").succeeded();
    // Ruby is only mentioned when all types are searched.
    assert!(run.stdout.contains("frr_interface (family frr)"), "{run}");
}

#[test]
fn a_row_that_has_no_one_form_hides_no_other() {
    let mut shelf = Shelf::new();
    let manifest = "shelf_command { 'dust': command => ' wipe ' }";
    for changed in [1, 0] {
        let (resources, summary) = shelf.apply(manifest, "");
        assert_eq!(summary["changed"], changed, "{resources}");
    }
    assert_eq!(shelf.data()["done"], json!({"dust": "wipe"}));
    let (resources, _) = shelf.apply("shelf_command { 'default': command => 'x' }", "");
    assert!(
        resources[0]
            .to_string()
            .contains("undefined method `strip!'"),
        "{resources}"
    );
}
