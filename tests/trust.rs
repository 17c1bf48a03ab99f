//! What devgate refuses to run, and how it ends on a node that lacks resources.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::folder::{Project, messages_of};

/// Creates a project with a task, and a target that needs no device.
fn project() -> Project {
    let project = Project::new();
    project.write("bolt-project.yaml", "name: p\n");
    project.write("modules/m/tasks/t.sh", "#!/bin/sh\necho done\n");
    let here = json!({ "targets": [{ "name": "here", "config": { "transport": "local" } }] });
    project.write("inventory.yaml", &here.to_string());
    project
}

fn set(project: &Project, path: &str, mode: u32) {
    let path = project.0.path().join(path);
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
}

#[track_caller]
fn succeeds(output: &Output, says: &[&str], not: &[&str]) {
    ends(output, true, says, not);
}

#[track_caller]
fn fails(output: &Output, says: &[&str]) {
    ends(output, false, says, &[]);
}

#[track_caller]
fn ends(output: &Output, well: bool, says: &[&str], not: &[&str]) {
    let messages = messages_of(output);
    assert_eq!(output.status.success(), well, "{messages}");
    for text in says {
        assert!(messages.contains(text), "expected {text:?}: {messages}");
    }
    for text in not {
        assert!(
            !messages.contains(text),
            "did not expect {text:?}: {messages}"
        );
    }
}

const RUN: [&str; 5] = ["task", "run", "m::t", "-t", "here"];

#[test]
fn root_runs_nothing_that_others_may_write() {
    let project = project();
    let run = || project.devgate(&RUN);
    succeeds(&run(), &[], &["can write", "belongs to"]);
    for (path, mode, usual) in [
        ("bolt-project.yaml", 0o646, 0o644),
        ("inventory.yaml", 0o666, 0o644),
        ("modules", 0o757, 0o755),
        ("modules", 0o1777, 0o755),
        ("modules/m", 0o757, 0o755),
        ("modules/m/tasks", 0o757, 0o755),
        ("modules/m/tasks/t.sh", 0o757, 0o755),
    ] {
        set(&project, path, mode);
        let location = project.0.path().join(path);
        let expected = format!("all users can write {}", location.display());
        fails(&run(), &[&expected, "root does not run it"]);
        set(&project, path, usual);
    }
    // A group counts as other users, unless only the owner is in it.
    let task = project.0.path().join("modules/m/tasks/t.sh");
    set(&project, "modules/m/tasks/t.sh", 0o775);
    succeeds(&run(), &[], &["can write"]);
    chown(&task, None, Some(1)).expect("root may");
    fails(&run(), &["can write", "chmod g-w"]);
    // A file of another user causes a warning, unless that user called sudo.
    set(&project, "modules/m/tasks/t.sh", 0o755);
    chown(&task, Some(4242), Some(0)).expect("root may");
    succeeds(&run(), &["belongs to the user 4242"], &[]);
    let by_sudo = project
        .command_under(&["env", "SUDO_UID=4242"], &RUN)
        .output();
    succeeds(&by_sudo.expect("it starts"), &[], &["belongs to"]);
}

#[test]
fn root_runs_no_interpreter_and_follows_no_reference_that_others_may_write() {
    let project = project();
    project.write("run.sh", "#!/bin/sh\nexec /bin/sh \"$@\"\n");
    let run = project.0.path().join("run.sh");
    let words = json!({ "sh": run });
    project.write("words.yaml", &words.to_string());
    let interpreters = json!({ "_plugin": "yaml", "filepath": "words.yaml" });
    let config = json!({ "transport": "local", "local": { "interpreters": interpreters } });
    let here = json!({ "targets": [{ "name": "here", "config": config }] });
    project.write("inventory.yaml", &here.to_string());
    let task = || project.devgate(&RUN);
    for path in ["run.sh", "words.yaml"] {
        set(&project, path, 0o755);
    }
    succeeds(&task(), &[], &["can write"]);
    for path in ["run.sh", "words.yaml"] {
        set(&project, path, 0o777);
        let output = task();
        fails(&output, &[]);
        // The error is the target's result.
        let result = String::from_utf8_lossy(&output.stdout).into_owned();
        let expected = format!(
            "all users can write {}",
            project.0.path().join(path).display()
        );
        assert!(result.contains(&expected), "{result}");
        set(&project, path, 0o755);
    }
}

#[test]
fn root_applies_no_manifest_that_others_may_write() {
    let project = project();
    project.write("wish.yaml", "frr_interface: {swp1: {description: a}}\n");
    let apply = || project.devgate(&["device", "--target", "here", "--apply", "wish.yaml"]);
    set(&project, "wish.yaml", 0o644);
    fails(&apply(), &[]);
    assert!(!messages_of(&apply()).contains("can write"));
    set(&project, "wish.yaml", 0o646);
    fails(&apply(), &["all users can write", "wish.yaml"]);
}

#[test]
fn root_reads_no_device_conf_that_others_may_write() {
    let project = project();
    let entry = "[sw1]\ntype frr\nurl ssh://u@127.0.0.1:1\n";
    project.write("device.conf", entry);
    let show = || project.devgate(&["inventory", "show", "--deviceconfig", "device.conf"]);
    set(&project, "device.conf", 0o644);
    succeeds(&show(), &[], &["can write"]);
    set(&project, "device.conf", 0o646);
    fails(&show(), &["all users can write", "device.conf"]);
}

#[test]
fn root_uses_no_family_that_others_may_write() {
    let project = project();
    let family = "name: own\ndesc: A family of a module.\nprotocol: ssh_cli\n";
    project.write("modules/m/devices/own/family.yaml", family);
    let show = || project.devgate(&["transport", "show", "own"]);
    succeeds(&show(), &[], &[]);
    set(&project, "modules/m/devices/own/family.yaml", 0o666);
    fails(
        &show(),
        &["family `own` cannot be used", "all users can write"],
    );
    // Without that setting, the run is not stopped.
    succeeds(&project.devgate(&RUN), &[], &["all users can write"]);
}

#[test]
fn a_link_in_files_does_not_lead_out_of_the_module_path() {
    let project = project();
    let metadata = json!({ "files": ["m/files/data"] });
    project.write("modules/m/tasks/t.json", &metadata.to_string());
    project.write("modules/other/files/data", "x");
    project.write("modules/m/files/own", "x");
    project.write("outside", "x");
    let link = project.0.path().join("modules/m/files/data");
    symlink(project.0.path().join("modules/other/files/data"), &link).expect("linked");
    succeeds(&project.devgate(&RUN), &[], &[]);
    fs::remove_file(&link).expect("it is ours");
    symlink(project.0.path().join("outside"), &link).expect("linked");
    // A project with a name is itself a module, and links may lead to its files.
    project.write("bolt-project.yaml", "{}\n");
    fails(&project.devgate(&RUN), &["outside the module path"]);
}

#[test]
fn an_inventory_with_a_password_that_others_may_read_is_warned_about() {
    let project = project();
    let remote =
        json!({ "remote-transport": "ssh_cli", "host": "h", "user": "u", "password": "a-canary" });
    let config = json!({ "transport": "remote", "remote": remote });
    let inventory = json!({ "targets": [{ "name": "r1", "config": config }] });
    project.write("inventory.yaml", &inventory.to_string());
    let show = || project.devgate(&["inventory", "show"]);
    let warning = "`password` is here in clear text";
    // The folder is closed to other users.
    set(&project, "", 0o700);
    succeeds(&show(), &[], &[warning]);
    set(&project, "", 0o755);
    set(&project, "inventory.yaml", 0o644);
    succeeds(&show(), &[warning, "chmod 600"], &["canary"]);
    set(&project, "inventory.yaml", 0o600);
    succeeds(&show(), &[], &[warning]);
}

#[test]
fn a_host_with_a_user_and_a_path_with_a_line_end_are_refused_with_what_is_expected() {
    let project = Project::new();
    for (name, value, says) in [
        ("host", "evil:a-canary@192.0.2.1", "the user is `user`"),
        ("host", "192.0.2.1/x", "the user is `user`"),
        ("base_path", "/x\r\nHost: evil", "line ends"),
        ("token", "a-canary\r\nX: y", "without a line end"),
    ] {
        let mut remote = json!({ "remote-transport": "rest", "host": "192.0.2.1" });
        remote[name] = json!(value);
        let config = json!({ "transport": "remote", "remote": remote });
        let inventory = json!({ "targets": [{ "name": "r1", "config": config }] });
        project.write("inventory.yaml", &inventory.to_string());
        let output = project.devgate(&["verify", "-t", "r1"]);
        assert!(!output.status.success());
        let text = format!(
            "{}{}",
            messages_of(&output),
            String::from_utf8_lossy(&output.stdout)
        );
        assert!(text.contains(name) && text.contains(says), "{name}: {text}");
        assert!(!text.contains("canary"), "{text}");
    }
}

/// Copies the binary to a place where any user can execute it.
fn for_anybody() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("it is ours");
    let binary = folder.path().join("devgate");
    // By another process: a child that another test forks at the same time would hold the copy open for
    // writing, so that nobody could run it.
    #[expect(
        clippy::disallowed_methods,
        reason = "the tests prepare the binary themselves"
    )]
    let copied = Command::new("cp")
        .arg(env!("CARGO_BIN_EXE_devgate"))
        .arg(&binary)
        .status();
    assert!(copied.is_ok_and(|status| status.success()));
    (folder, binary)
}

/// Runs the binary as an ordinary user with few processes, few open files or little memory.
fn with_limit(binary: &Path, limit: &str) -> (Option<i32>, String) {
    let arguments = [
        "--reuid=65533",
        "--regid=65533",
        "--clear-groups",
        "prlimit",
    ];
    #[expect(clippy::disallowed_methods, reason = "the tests run the binary itself")]
    let ended = Command::new("setpriv")
        .args(arguments)
        .arg(limit)
        .arg(binary)
        .args(["transport", "list"])
        .current_dir("/")
        .stdin(Stdio::null())
        .output()
        .expect("it can be started");
    let text = String::from_utf8_lossy(&ended.stderr).into_owned();
    (ended.status.code(), text)
}

#[test]
fn too_few_threads_files_or_too_little_memory_are_an_error_in_words() {
    let (_folder, binary) = for_anybody();
    for (limit, what) in [
        ("--nproc=1", "cannot start a thread"),
        ("--nofile=8", "cannot open"),
        ("--nofile=12", "cannot open"),
        // This number is needed in addition to those that it already has.
        ("--nofile=16", "cannot open"),
    ] {
        let (code, output) = with_limit(&binary, limit);
        assert_eq!(code, Some(1), "{limit}: {output}");
        assert!(output.contains(what), "{limit}: {output}");
    }
    // With too little memory, the system does not even load the program, which ends by a signal or with
    // 127.
    let limits = (24..1024).step_by(8).map(|mebibytes| mebibytes << 20);
    let mut attempts = limits.map(|limit| with_limit(&binary, &format!("--as={limit}")));
    let (code, output) = attempts
        .find(|(code, _)| !matches!(code, None | Some(126 | 127)))
        .expect("a gigabyte is enough");
    assert_eq!(code, Some(1), "{output}");
    assert!(output.contains("of address space are needed"), "{output}");
    for limit in ["--nofile=20", "--nofile=64"] {
        let (code, output) = with_limit(&binary, limit);
        assert_eq!(code, Some(0), "{limit}: {output}");
    }
}

#[test]
fn no_other_process_of_the_same_user_can_read_its_memory_or_its_environment() {
    let (_folder, binary) = for_anybody();
    #[expect(clippy::disallowed_methods, reason = "the tests run the binary itself")]
    let mut child = Command::new("setpriv")
        .args(["--reuid=65533", "--regid=65533", "--clear-groups"])
        .arg(&binary)
        .args(["schema", "check"])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it can be started");
    // The answer proves that it has started.
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut stdout = child.stdout.take().expect("a pipe");
    std::io::Write::write_all(&mut stdin, b"{\"type\": \"Integer\", \"value\": 1}\n")
        .expect("read");
    std::io::Read::read_exact(&mut stdout, &mut [0; 2]).expect("an answer");
    let folder = PathBuf::from(format!("/proc/{}", child.id()));
    let owner = |file: &str| fs::metadata(folder.join(file)).expect("it runs").uid();
    assert_eq!((owner("environ"), owner("mem")), (0, 0));
    drop(stdin);
    assert!(child.wait().expect("our child").success());
}
