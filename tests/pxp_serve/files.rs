//! Output files: each is complete or missing, the exit code is last, and code 5 means that they could not
//! be written.

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::Path;

use devgate_schemas::pxp::OutputFiles;
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use serde_json::{Value, json};

use super::module::{Module, action, end};

/// Creates a module with a task that reports its start and waits for a file `go`, and the request for it.
fn module() -> (Module, Value, OutputFiles) {
    let mut module = Module::new();
    let script = "echo $$ >\"$PT_dir/begun\"; while [ -d \"$PT_dir\" ] && [ ! -e \"$PT_dir/go\" ]; do sleep 0.1; done; echo done";
    module.task("wait", script);
    module.targets(&["sw1".to_owned()]);
    let spool = module.path().join("spool");
    fs::create_dir(&spool).expect("a folder can be made");
    let files = OutputFiles {
        stdout: spool.join("stdout"),
        stderr: spool.join("stderr"),
        exitcode: spool.join("exitcode"),
    };
    let input = json!({"targets": "sw1", "task": "m::wait", "parameters": {"dir": module.path()}});
    let mut request = module.request(input);
    request["output_files"] =
        json!({"stdout": files.stdout, "stderr": files.stderr, "exitcode": files.exitcode});
    (module, request, files)
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is a folder").flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn files_are_complete_when_the_exit_code_is_there() {
    let (mut module, request, files) = module();
    fs::write(&files.exitcode, "of another action\n").expect("it is ours");
    let running = module.start("run_task", &request);
    module.wait_for("begun");
    for file in [&files.stdout, &files.stderr, &files.exitcode] {
        assert!(!file.exists(), "{} is there already", file.display());
    }
    module.project.write("go", "");
    let code = module.wait_for("spool/exitcode");
    let [stdout, stderr] =
        [&files.stdout, &files.stderr].map(|file| fs::read_to_string(file).expect("it is there"));
    assert_eq!((code.as_str(), stderr.as_str()), ("0\n", ""));
    let results: Value = serde_json::from_str(&stdout).expect("it is JSON");
    assert_eq!(action("run_task").results.check(&results), Ok(()));
    assert_eq!(
        results["items"][0]["value"]["_output"], "done\n",
        "{results}"
    );
    let run = running.finish().succeeded();
    assert_eq!(
        (run.stdout.as_str(), run.stderr.as_str()),
        ("", ""),
        "{run}"
    );
    assert_eq!(
        entries(&module.path().join("spool")),
        ["exitcode", "stderr", "stdout"]
    );
    for file in [&files.stdout, &files.stderr, &files.exitcode] {
        let mode = file.metadata().expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn what_is_wrong_with_a_request_is_reported_in_its_files() {
    let (mut module, mut request, files) = module();
    for (key, value) in [("more", json!(1)), ("configuration", json!({"more": 1}))] {
        request[key] = value;
        let run = module.start("run_task", &request).finish().failed();
        assert_eq!(
            (run.stdout.as_str(), run.stderr.as_str()),
            ("", ""),
            "{run}"
        );
        let read = |file: &Path| fs::read_to_string(file).expect("it is there");
        assert_eq!(read(&files.exitcode), "1\n");
        assert!(
            read(&files.stderr).contains("more"),
            "{}",
            read(&files.stderr)
        );
        let results: Value = serde_json::from_str(&read(&files.stdout)).expect("it is JSON");
        assert!(results["_error"]["kind"].is_string(), "{results}");
        request
            .as_object_mut()
            .expect("an object")
            .shift_remove("more");
    }
}

#[test]
fn where_files_cannot_be_written_nothing_is_done_and_the_exit_code_is_5() {
    for (name, ruin) in [
        ("gone", (|spool| fs::remove_dir(spool)) as fn(&Path) -> _),
        ("a file", |spool| {
            fs::remove_dir(spool).and_then(|()| fs::write(spool, ""))
        }),
        ("a folder for stdout", |spool| {
            fs::create_dir(spool.join("stdout"))
        }),
        ("a folder for stderr", |spool| {
            fs::create_dir(spool.join("stderr"))
        }),
        ("a folder for exitcode", |spool| {
            fs::create_dir(spool.join("exitcode"))
        }),
        ("a link for stdout", |spool| {
            symlink("../elsewhere", spool.join("stdout"))
        }),
        ("a link to a device for stderr", |spool| {
            symlink("/dev/null", spool.join("stderr"))
        }),
    ] {
        let (mut module, request, _) = module();
        let spool = module.path().join("spool");
        ruin(&spool).expect("it is ours");
        let run = module.start("run_task", &request).finish();
        assert_eq!(run.code(), Some(5), "{name}: {run}");
        assert!(
            run.stdout.is_empty() && run.stderr.contains("cannot write to"),
            "{name}: {run}"
        );
        assert!(!module.path().join("begun").exists(), "{name}");
        if spool.is_dir() {
            assert_eq!(entries(&spool).len(), 1, "{name}: {:?}", entries(&spool));
        }
    }
}

#[test]
fn paths_that_are_of_no_file_or_of_one_twice_are_refused_before_anything_is_done() {
    let long = format!("/{}", "n".repeat(256));
    for (key, name, expected) in [
        ("stdout", "/stderr", "contains it twice"),
        ("exitcode", "/../spool/./stdout", "contains it twice"),
        ("stderr", "/../same/exitcode", "contains it twice"),
        ("stdout", "/out/", "the name of a file"),
        ("stderr", "/.", "the name of a file"),
        ("stderr", "/..", "the name of a file"),
        ("exitcode", "/code\0", "cannot write to"),
        ("exitcode", &long, "too long"),
    ] {
        let (mut module, mut request, _) = module();
        let spool = module.path().join("spool");
        symlink("spool", module.path().join("same")).expect("a link can be made");
        request["output_files"][key] = json!(format!("{}{name}", spool.display()));
        let run = module.start("run_task", &request).finish();
        assert_eq!(run.code(), Some(5), "{name}: {run}");
        assert!(run.stderr.contains(expected), "{name}: {run}");
        assert!(!module.path().join("begun").exists(), "{name}");
        assert_eq!(entries(&spool), [""; 0], "{name}");
    }
}

#[test]
fn what_is_no_file_is_left_as_it_is() {
    let (mut module, request, files) = module();
    fs::write(&files.exitcode, "of before").expect("it is ours");
    mkfifo(&files.stderr, Mode::S_IRWXU).expect("a pipe can be made");
    let run = module.start("run_task", &request).finish();
    assert_eq!(run.code(), Some(5), "{run}");
    assert!(run.stderr.contains("not a regular file"), "{run}");
    let stderr = files.stderr.symlink_metadata().expect("it is there");
    assert!(stderr.file_type().is_fifo());
    let text = fs::read_to_string(&files.exitcode).expect("it is there");
    assert_eq!(text, "of before");
}

#[test]
fn kill_9_ends_the_task_and_leaves_nothing_beside_the_files() {
    let (mut module, request, _) = module();
    let running = module.start("run_task", &request);
    let task = module.wait_for("begun");
    running.signal(Signal::SIGKILL);
    running.finish();
    // The task waits forever, and is ended nevertheless.
    end(&task);
    assert_eq!(entries(&module.path().join("spool")), [""; 0]);
}

#[test]
fn files_that_cannot_be_put_at_the_end_are_taken_back() {
    let (mut module, request, files) = module();
    let running = module.start("run_task", &request);
    module.wait_for("begun");
    // A directory replaces a file that is written after the others.
    fs::create_dir(&files.exitcode).expect("a folder can be made");
    module.project.write("go", "");
    let run = running.finish();
    assert_eq!(run.code(), Some(5), "{run}");
    assert!(run.stderr.contains("spool/exitcode"), "{run}");
    assert_eq!(entries(&module.path().join("spool")), ["exitcode"]);
}
