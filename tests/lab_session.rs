//! The session that is lent to a task: one login for many commands, private, and gone with the task.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::support::lab::{Device, pause};
use crate::support::project::Project;

#[test]
fn twenty_commands_of_a_task_are_one_login() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    task(
        &mut project,
        "for i in $(seq 20); do devgate session exec show interface brief; done",
    );
    let (text, logins) = output(&project, &device, "task run demo::it -t router");
    let expected = device.vtysh("show interface brief").replace('\r', "");
    assert!(expected.contains("swp1"), "{expected}");
    assert_eq!(text, expected.repeat(20));
    assert_eq!(logins, 1);
}

#[test]
fn commands_at_the_same_time_take_turns_in_one_session() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    task(
        &mut project,
        "seq 20 | xargs -P 20 -I% sh -c 'devgate session exec show interface swp% >out.%'\n\
         cat out.1; rm out.*",
    );
    let (text, logins) = output(&project, &device, "task run demo::it -t router");
    assert!(text.starts_with("Interface swp1 is up"), "{text}");
    assert_eq!(logins, 1);
}

#[test]
fn a_task_that_never_asks_never_logs_in() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    task(&mut project, "test -S \"$DEVGATE_SESSION\" && echo there");
    let (text, logins) = output(&project, &device, "task run demo::it -t router");
    assert_eq!((text.as_str(), logins), ("there\n", 0));
}

#[test]
fn the_socket_is_private_and_gone_with_its_task_however_that_ends() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    for end in ["exit 0", "exit 3", "kill -KILL $$", "sleep 60"] {
        let script = format!(
            "stat -c %a \"$DEVGATE_SESSION\" \"${{DEVGATE_SESSION%/*}}\" >modes\n\
             devgate session exec show version >version\n{end}"
        );
        task(&mut project, &script);
        project.devgate("task run demo::it -t router --timeout 10");
        let read = |file| fs::read_to_string(project.path().join(file)).expect("the task wrote it");
        assert_eq!(read("modes"), "600\n700\n");
        assert!(read("version").starts_with("FRRouting"), "{end}");
        assert_eq!(temporary(&project), 0, "after {end}");
    }
}

#[test]
fn who_outlives_the_task_is_cut_off() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    task(
        &mut project,
        "setsid sh -c 'while test -S \"$DEVGATE_SESSION\"; do sleep 0.1; done\n\
         devgate session exec show version >late 2>&1; echo \"status $?\" >>late; mv late told' \
         >/dev/null 2>&1 &\n\
         devgate session exec show version >/dev/null",
    );
    let (_, logins) = output(&project, &device, "task run demo::it -t router");
    let late = wait_for(&project.path().join("told"));
    assert!(late.contains("it ends with its task"), "{late}");
    assert!(late.ends_with("status 1\n"), "{late}");
    assert_eq!(logins, 1);
}

#[test]
fn another_user_is_refused_even_where_he_finds_the_door_open() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    for folder in ["", "tmp"] {
        let open = fs::Permissions::from_mode(0o711);
        fs::set_permissions(project.path().join(folder), open).expect("it is ours");
    }
    // Perl changes its user by itself: the binary may be in a folder that only its owner can enter.
    task(
        &mut project,
        "chmod 711 \"${DEVGATE_SESSION%/*}\"; chmod 666 \"$DEVGATE_SESSION\"\n\
         perl -MSocket -e '$) = \"65534 65534\"; $> = 65534; socket(S, PF_UNIX, SOCK_STREAM, 0);\n\
         connect(S, sockaddr_un($ENV{DEVGATE_SESSION})) or die \"no way in: $!\"; print <S>'",
    );
    let before = logins(&device, 0);
    let run = project
        .devgate("task run demo::it -t router --format json")
        .failed()
        .shows(&["a process of another user asked for the session: refused"]);
    let output = run.item()["value"].clone();
    assert_eq!(
        output.pointer("/_error/kind"),
        Some(&json!("devgate/session-refused")),
        "{output:#}"
    );
    assert_eq!(logins(&device, 0), before);
}

#[test]
fn what_the_device_refuses_fails_the_command_and_not_the_session() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    task(
        &mut project,
        "devgate session exec show nonsense; echo \"status $?\"\n\
         devgate session exec --format json show nonsense 2>/dev/null\n\
         printf 'show version\\n\\nshow nonsense\\nshow version\\n' |\n\
             devgate session exec --format jsonl - | grep -c FRRouting",
    );
    let before = logins(&device, 0);
    let run = project.devgate("task run demo::it -t router --format json --verbose");
    let run = run.succeeded().shows(&["refuses `show nonsense`"]);
    let output = run.item()["value"]["_output"].clone();
    let lines: Vec<&str> = output.as_str().expect("a text").lines().collect();
    let [status, refused, found] = lines.as_slice() else {
        panic!("three lines were expected:\n{output}");
    };
    let refused: Value = serde_json::from_str(refused).expect("it is JSON");
    assert_eq!(refused["_error"]["kind"], "devgate/device-error");
    assert_eq!((*status, *found), ("status 1", "1"));
    assert_eq!(logins(&device, before + 1), before + 1);
}

#[test]
fn configuration_is_typed_and_saved_but_not_under_noop() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    task(
        &mut project,
        "printf 'interface swp2\\n description lent\\n' | devgate session exec --config --save -",
    );
    let saved = || fs::read_to_string(device.path("etc/frr/frr.conf")).expect("it is there");
    project
        .devgate("task run demo::it -t router --noop")
        .failed()
        .shows(&["--noop", "was not sent"]);
    assert!(
        !device
            .vtysh("show running-config")
            .contains("description lent")
    );
    project.devgate("task run demo::it -t router").succeeded();
    assert!(
        device
            .vtysh("show running-config")
            .contains("description lent")
    );
    assert!(saved().contains("description lent"), "{}", saved());

    task(
        &mut project,
        "devgate session exec --config 'interface swp2' ' no description' && echo done",
    );
    let (text, _) = output(&project, &device, "task run demo::it -t router");
    assert_eq!(text, "done\n");
    assert!(
        !device
            .vtysh("show running-config")
            .contains("description lent")
    );
}

#[test]
fn a_password_for_privileged_mode_that_nobody_asks_for_is_reported() {
    let device = Device::lease();
    let settings = json!({ "remote-transport": "ssh_cli", "enable_password": "a-canary-enable" });
    let project = Project::with_settings(&device, settings);
    let run = project.devgate("verify -t router").succeeded();
    run.shows(&["`enable_password` is never used"]);
}

#[test]
fn a_wrong_password_is_sent_once_however_many_ask() {
    let device = Device::lease();
    let mut project = Project::with_settings(&device, json!({ "password": "a-canary-typo" }));
    task(
        &mut project,
        "for i in 1 2 3; do devgate session exec show version 2>/dev/null; done",
    );
    let failures = |least| device.logged("Failed password", least);
    let before = failures(0);
    project.devgate("task run demo::it -t router").failed();
    assert_eq!(failures(before + 1), before + 1);
}

#[test]
fn what_leads_to_configuration_mode_is_no_command() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    task(
        &mut project,
        "devgate session exec configure terminal 2>&1\ndevgate session exec show version",
    );
    let (text, logins) = output(&project, &device, "task run demo::it -t router");
    assert!(
        text.contains("is in configuration mode after `configure"),
        "{text}"
    );
    assert!(text.contains("\nFRRouting"), "{text}");
    assert_eq!(logins, 2);
}

#[test]
fn a_router_that_freezes_ends_the_session_and_the_next_command_has_a_new_one() {
    let device = Device::lease();
    let mut project = Project::with_settings(&device, json!({ "idle_timeout": 6 }));
    project.write(
        "it.sh",
        "devgate session exec show version >/dev/null && echo ready >&2\n\
         until test -e frozen; do sleep 0.1; done\n\
         devgate session exec show version && exit 3\n\
         echo refused >&2\n\
         until test -e thawed; do sleep 0.1; done\n\
         devgate session exec show version\n",
    );
    let before = logins(&device, 0);
    let mut running = project.start("session run -t router -- sh it.sh");
    running.wait_for("ready");
    device.fault("freeze");
    project.write("frozen", "");
    running.wait_for("idle_timeout");
    running.wait_for("refused");
    device.fault("thaw");
    project.write("thawed", "");
    let run = running.finish().succeeded();
    assert!(run.stdout.starts_with("FRRouting"), "{run}");
    assert_eq!(logins(&device, before + 2), before + 2);
}

#[test]
fn twenty_tasks_in_one_session_are_one_login() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    task(&mut project, "devgate session exec show version");
    project.write(
        "it.sh",
        "for i in $(seq 20); do devgate task run demo::it -t router || exit 9; done\nexit 7\n",
    );
    let before = logins(&device, 0);
    let run = project.devgate("session run -t router -- sh it.sh");
    assert_eq!(run.code(), Some(7), "{run}");
    assert_eq!(run.stdout.matches("FRRouting 8").count(), 20, "{run}");
    assert_eq!(logins(&device, before + 1), before + 1);
    assert_eq!(temporary(&project), 0);
}

#[test]
fn a_session_is_handed_on_to_no_other_target_whatever_its_name() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    let reader = json!({ "user": "oper", "password": device.readers_password() });
    project.add("reader", &device, reader.clone());
    let other = {
        let mut other = Project::new();
        other.add("router", &device, reader);
        fs::read_to_string(other.path().join("inventory.yaml")).expect("it is there")
    };
    project.write("other.yaml", &other);
    // Output that only the administrator may see.
    task(
        &mut project,
        "devgate session exec show running-config >/dev/null",
    );
    for (run, status, expected) in [
        ("-t router", 0, 1),
        ("-t router --noop", 0, 2),
        ("-t reader", 1, 2),
        ("-t router -i other.yaml", 1, 2),
    ] {
        let script = format!(
            "devgate session exec show version >/dev/null && devgate task run demo::it {run}\n"
        );
        project.write("it.sh", &script);
        let before = logins(&device, 0);
        let ended = project.devgate("session run -t router -- sh it.sh");
        assert_eq!(ended.code(), Some(status), "{run}:\n{ended}");
        assert_eq!(
            logins(&device, before + expected) - before,
            expected,
            "{run}:\n{ended}"
        );
    }
}

#[test]
fn what_ends_devgate_ends_the_program_with_all_it_has_started() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    project.write(
        "it.sh",
        "devgate session exec show version >/dev/null\n\
         sh -c 'trap \"\" INT TERM; echo $$ >child; echo ready >&2; while :; do sleep 0.1; done' &\n\
         wait\n",
    );
    let mut running = project.start("session run -t router -- sh it.sh");
    running.wait_for("ready");
    running.signal(Signal::SIGTERM);
    let run = running.finish();
    assert_eq!(run.code(), Some(128 + Signal::SIGTERM as i32), "{run}");
    let child = fs::read_to_string(project.path().join("child")).expect("it was written");
    let process = Path::new("/proc").join(child.trim());
    let removal = Instant::now() + Duration::from_secs(10);
    while fs::read_to_string(process.join("stat")).is_ok_and(|stat| !stat.contains(") Z ")) {
        assert!(Instant::now() < removal, "{} still runs", process.display());
        pause(Duration::from_millis(20));
    }
    assert_eq!(temporary(&project), 0);
}

/// Creates the remote task `demo::it` from a script.
fn task(project: &mut Project, script: &str) {
    project.write(
        "modules/demo/tasks/it.json",
        r#"{ "remote": true, "input_method": "stdin", "supports_noop": true }"#,
    );
    project.write(
        "modules/demo/tasks/it.sh",
        &format!("#!/bin/sh\n{script}\n"),
    );
}

/// Returns the output of a task on one target, and the number of devgate's logins.
fn output(project: &Project, device: &Device, run: &str) -> (String, usize) {
    let before = logins(device, 0);
    let run = project.devgate(&format!("{run} --format json")).succeeded();
    let text = run.item()["value"]["_output"].clone();
    let text = text.as_str().unwrap_or_default().to_owned();
    (text, logins(device, 0) - before)
}

/// Returns the number of logins on the device, once there are at least `least`.
fn logins(device: &Device, least: usize) -> usize {
    device.logged("Accepted password", least)
}

/// Returns the number of temporary files and folders that the runs have left.
fn temporary(project: &Project) -> usize {
    let remaining = fs::read_dir(project.path().join("tmp")).expect("the folder is there");
    remaining.count()
}

fn wait_for(file: &Path) -> String {
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        match fs::read_to_string(file) {
            Ok(text) => return text,
            Err(error) => assert!(Instant::now() < until, "{}: {error}", file.display()),
        }
        pause(Duration::from_millis(20));
    }
}
