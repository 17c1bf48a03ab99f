//! When a task is ended, nothing is left on a host.

use super::*;

#[test]
fn what_does_not_end_is_ended_with_all_that_it_has_started() {
    let mut lab = Lab::new();
    let password = lab.lab["password"].clone();
    lab.proxy("plain", "h1", json!({}));
    lab.proxy(
        "root",
        "h1",
        json!({"run-as": "root", "sudo-password": password}),
    );
    let tasks = [
        ("stubborn", "trap '' TERM; while :; do sleep 77001; done"),
        ("group", "sleep 77001 & sleep 77001"),
        (
            "daemon",
            "setsid sh -c 'trap : TERM; while :; do sleep 77001; done' >/dev/null 2>&1 & wait",
        ),
        ("chatty", "yes 77001"),
        ("mute", "exec >&- 2>&-; sleep 77001"),
    ];
    for (name, script) in tasks {
        lab.task(name, "{}", script);
        let run = lab.project.devgate(&format!(
            "task run t::{name} -t plain,root --timeout 1 --format json"
        ));
        let document = run.failed().json();
        for item in document["items"].as_array().expect("items") {
            let error = &item["value"]["_error"];
            assert_eq!(
                error["kind"], "puppetlabs.tasks/timeout-error",
                "{name}: {error}"
            );
            assert!(error["details"]["left"].is_null(), "{name}: {error}");
        }
        lab.is_clean("h1", "77001");
    }
}

#[test]
fn an_interrupt_leaves_nothing_on_a_host() {
    let mut lab = Lab::new();
    lab.proxy("proxy", "h1", json!({}));
    lab.devices(3, json!("proxy"));
    lab.task(
        "long",
        REMOTE,
        "trap '' TERM; while :; do sleep 77002; done",
    );
    let mut run = lab.project.start("task run t::long -t d* --format json");
    let started = Instant::now();
    while !is_running("77002") {
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "no task has begun"
        );
        pause(Duration::from_millis(50));
    }
    run.signal(Signal::SIGINT);
    run.wait_for("interrupted");
    run.signal(Signal::SIGINT);
    let run = run.finish();
    assert_eq!(run.code(), Some(130), "{run}");
    assert_eq!(statuses(&run.json()), ["failure"; 3]);
    lab.is_clean("h1", "77002");
}

#[test]
fn an_interrupt_while_a_host_is_made_ready_leaves_nothing_there() {
    let mut lab = Lab::new();
    lab.proxy("proxy", "h1", json!({}));
    lab.devices(2, json!("proxy"));
    lab.task("noop", REMOTE, "sleep 77007");
    let home = PathBuf::from(lab.host("h1")["home"].as_str().expect("a path"));
    // A slow login: its input is processed only afterwards.
    fs::write(home.join(".bashrc"), "sleep 2\n").expect("the user's home");
    let sessions = || lab.logged("h1", "Starting session: command");
    let before = sessions();
    let mut run = lab.project.start("task run t::noop -t d* --format json");
    let started = Instant::now();
    while sessions() == before && started.elapsed() < Duration::from_secs(60) {
        pause(Duration::from_millis(20));
    }
    run.signal(Signal::SIGINT);
    run.wait_for("interrupted");
    run.signal(Signal::SIGINT);
    let run = run.finish();
    fs::remove_file(home.join(".bashrc")).expect("it was written");
    assert_eq!(run.code(), Some(130), "{run}");
    assert_eq!(statuses(&run.json()), ["failure"; 2]);
    pause(Duration::from_secs(4));
    lab.is_clean("h1", "77007");
}

#[test]
fn a_host_that_does_not_answer_at_the_end_is_given_up() {
    let mut lab = Lab::new();
    lab.proxy("freezes", "h1", json!({}));
    lab.proxy("stays", "h2", json!({}));
    for (target, proxy) in [("one", "freezes"), ("other", "stays")] {
        let info = json!({"run-on": proxy, "password": "canary-of-device"});
        lab.project.add_target(target, info);
    }
    // The first host's SSH server stops when its task has ended, and goes on later.
    lab.task(
        "freeze",
        REMOTE,
        "if [ \"$(hostname)\" = h2 ]; then sleep 3; exit; fi; server=$PPID\n\
         (sleep 1; kill -STOP $server; sleep 14; kill -CONT $server; : >/tmp/thawed) >/dev/null 2>&1 </dev/null &",
    );
    let started = Instant::now();
    let run = lab.project.devgate("task run t::freeze -t one,other");
    let ended = started.elapsed();
    let tmp = PathBuf::from(lab.host("h1")["tmp"].as_str().expect("a path"));
    while !tmp.join("thawed").exists() && started.elapsed() < Duration::from_secs(60) {
        pause(Duration::from_millis(50));
    }
    for left in fs::read_dir(&tmp).expect("the host's /tmp").flatten() {
        let path = left.path();
        drop(fs::remove_dir_all(&path));
        drop(fs::remove_file(path));
    }
    run.succeeded()
        .shows(&["freezes: /tmp/devgate-", "may still be there"]);
    assert!(ended < Duration::from_secs(11), "it took {ended:?}");
    lab.is_clean("h2", "t/tasks/freeze");
}
