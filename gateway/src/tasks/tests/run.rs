//! Running: small scripts, in truth.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use devgate_schemas::task::Exit;
use serde_json::json;

use super::*;
use crate::process::Limits;

/// A run to come of the task `m::t`.
struct Run {
    modules: Modules,
    parameters: Json,
    target: Option<Json>,
    mode: Mode,
    settings: LocalSettings,
    tmpdir: TempDir,
}

impl Run {
    fn of(script: &str) -> Self {
        Self::named("t.sh", script)
    }

    fn named(file: &str, script: &str) -> Self {
        let tmpdir = tempfile::tempdir().expect("a directory");
        let settings = LocalSettings {
            tmpdir: Some(tmpdir.path().to_owned()),
            ..LocalSettings::default()
        };
        Self {
            modules: Modules::with(&[(&format!("m/tasks/{file}"), script)]),
            parameters: json!({}),
            target: None,
            mode: Mode::Apply,
            settings,
            tmpdir,
        }
    }

    fn metadata(self, metadata: Json) -> Self {
        self.modules.write("m/tasks/t.json", &metadata.to_string());
        self
    }

    fn file(self, name: &str, content: &str) -> Self {
        self.modules.write(name, content);
        self
    }

    fn parameters(self, parameters: Json) -> Self {
        Self { parameters, ..self }
    }

    fn target(self, target: Json) -> Self {
        Self {
            target: Some(target),
            ..self
        }
    }

    fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    async fn run(&self) -> Result<TaskOutput, TaskError> {
        let task = self.modules.find("m::t");
        let features = local_features();
        let place = match &self.target {
            None => Place::Normal {
                target: "localhost",
                features: &features,
            },
            Some(_) => Place::Remote {
                target: "sw1",
                proxy: "localhost",
                features: &features,
            },
        };
        let chosen = task.choose(place, self.mode)?;
        let parameters = task.parameters(hash(self.parameters.clone()))?;
        let mut invocation = Invocation::new(&task, chosen, parameters, self.mode);
        if let Some(target) = &self.target {
            let secret = |(key, value): (devgate_schemas::Key, Value)| {
                let hidden = key.as_str() == Some("password");
                (
                    key,
                    if hidden {
                        value.into_sensitive()
                    } else {
                        value
                    },
                )
            };
            invocation =
                invocation.with_target(hash(target.clone()).into_iter().map(secret).collect());
        }
        let output = run_local(invocation, &self.settings).await;
        assert_eq!(self.left_behind(), 0, "the task's directory is gone");
        output
    }

    fn left_behind(&self) -> usize {
        fs::read_dir(self.tmpdir.path())
            .expect("the directory")
            .count()
    }

    async fn value(&self) -> Json {
        Value::Hash(self.run().await.expect("an output").value).to_json()
    }
}

/// Repeats what stands on stdin and, under `env`, every `PT_` variable.
const ECHO: &str = r#"#!/usr/bin/env python3
import json, os, sys
env = {k: v for k, v in os.environ.items() if k.startswith("PT_")}
print(json.dumps({"stdin": sys.stdin.read(), "env": env, "argv": sys.argv[1:]}))
"#;

fn stdin(value: &Json) -> Json {
    serde_json::from_str(value["stdin"].as_str().expect("a text")).expect("JSON on stdin")
}

#[tokio::test]
async fn parameters_are_on_stdin_and_in_the_environment() {
    let value = Run::of(ECHO)
        .parameters(json!({"a": 1, "b": "a string", "c": [1, "3"], "d": {"x": null}, "e": null}))
        .value()
        .await;
    assert_eq!(
        stdin(&value),
        json!({"a": 1, "b": "a string", "c": [1, "3"], "d": {"x": null}, "e": null, "_task": "m::t"})
    );
    assert_eq!(
        value["env"],
        json!({
            "PT_a": "1", "PT_b": "a string", "PT_c": "[1,\"3\"]", "PT_d": "{\"x\":null}",
            "PT__task": "m::t",
        })
    );
    assert_eq!(value["argv"], json!([]));
}

#[tokio::test]
async fn an_input_method_alone_is_alone() {
    let parameters = json!({"a": 1});
    let value = Run::of(ECHO)
        .metadata(json!({"input_method": "stdin"}))
        .parameters(parameters.clone())
        .value()
        .await;
    assert_eq!(
        (stdin(&value), &value["env"]),
        (json!({"a": 1, "_task": "m::t"}), &json!({}))
    );
    let value = Run::of(ECHO)
        .metadata(json!({"input_method": "environment"}))
        .parameters(parameters)
        .value()
        .await;
    assert_eq!(value["stdin"], "");
    assert_eq!(value["env"], json!({"PT_a": "1", "PT__task": "m::t"}));
}

#[tokio::test]
async fn the_target_is_on_stdin_and_in_the_environment_only_where_that_is_all() {
    let target = json!({"host": "h", "password": "canary", "port": null});
    let both = Run::of(ECHO)
        .metadata(json!({"remote": true}))
        .target(target.clone())
        .value()
        .await;
    assert_eq!(
        stdin(&both)["_target"],
        json!({"host": "h", "password": "canary"})
    );
    assert_eq!(both["env"], json!({"PT__task": "m::t"}));
    let alone = Run::of(ECHO)
        .metadata(json!({"remote": true, "input_method": "environment"}))
        .target(target)
        .value()
        .await;
    assert_eq!(
        alone["env"]["PT__target"],
        r#"{"host":"h","password":"canary"}"#
    );
}

#[tokio::test]
async fn noop_is_told_only_under_noop() {
    let mut run = Run::of(ECHO).metadata(json!({"supports_noop": true}));
    assert_eq!(stdin(&run.value().await).get("_noop"), None);
    run.mode = Mode::Noop;
    let value = run.value().await;
    assert_eq!(stdin(&value)["_noop"], true);
    assert_eq!(value["env"]["PT__noop"], "true");
}

#[tokio::test]
async fn without_files_the_task_is_alone_and_with_them_all_lie_as_in_their_modules() {
    let listing =
        "#!/bin/sh\necho \"dir=$PT__installdir self=$0\"; cd \"$(dirname \"$0\")\" && ls -A";
    let alone = Run::of(listing).value().await;
    let text = alone["_output"].as_str().expect("a text");
    assert!(
        text.starts_with("dir= self=/") && text.ends_with("/t.sh\nt.sh\n"),
        "{text}"
    );

    let script = "#!/bin/sh\ncd \"$PT__installdir\" && echo \"$0\" | sed \"s,^$PT__installdir/,,\" \
                  && stat -c %a . && find . -type f | sort && cat other/files/deep/x";
    let value = Run::of(script)
        .metadata(json!({"files": ["other/files/", "m/lib/helper.rb", "m/tasks/"]}))
        .file("other/files/deep/x", "content\n")
        .file("m/lib/helper.rb", "")
        .value()
        .await;
    assert_eq!(
        value["_output"],
        "m/tasks/t.sh\n700\n./m/lib/helper.rb\n./m/tasks/t.json\n./m/tasks/t.sh\n\
         ./other/files/deep/x\ncontent\n"
    );
}

#[tokio::test]
async fn the_tasks_file_needs_no_permission_to_execute_and_no_first_line() {
    let value = Run::of("echo \"$PT_a\"")
        .parameters(json!({"a": "through sh"}))
        .value()
        .await;
    assert_eq!(value["_output"], "through sh\n");
    let run = Run::of("#!/bin/sh\nstat -c %A \"$0\"");
    let file = run.modules.path().join("m/tasks/t.sh");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).expect("permissions");
    assert_eq!(run.value().await["_output"], "-r-xr--r--\n");
}

#[tokio::test]
async fn an_interpreter_is_chosen_by_the_extension() {
    let mut run = Run::named("t.odd", "print('by python')");
    for key in [".odd", "odd"] {
        run.settings.interpreters = [(key.to_owned(), PathBuf::from("python3"))].into();
        assert_eq!(run.value().await["_output"], "by python\n");
    }
}

#[tokio::test]
async fn what_cannot_be_executed_says_why() {
    for (content, reason) in [
        ("#!/no/such/ruby -w\n", "#!/no/such/ruby -w"),
        ("#!/bin/sh\r\n", r"#!/bin/sh\r"),
        ("\u{7f}ELF\0\0\0\0", "neither a script nor a program"),
    ] {
        let error = Run::of(content).run().await.expect_err("not executable");
        assert_eq!(error.kind(), "puppetlabs.tasks/unexecutable_task");
        assert!(error.to_string().contains(reason), "{error}");
    }
    let mut run = Run::of("");
    run.settings.interpreters = [("sh".to_owned(), PathBuf::from("/no/such/sh"))].into();
    let error = run.run().await.expect_err("no interpreter").to_string();
    assert!(
        error.contains("its interpreter /no/such/sh names no program"),
        "{error}"
    );
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_named() {
    let mut run = Run::of("");
    run.settings.tmpdir = Some("/no/such/place".into());
    let error = run.run().await.expect_err("no place");
    assert_eq!(error.kind(), "puppetlabs.tasks/task_file_error");
    assert!(error.to_string().contains("/no/such/place"), "{error}");
}

#[tokio::test]
async fn exit_codes_signals_and_stderr_are_told() {
    let output = Run::of("echo words >&2; exit 12")
        .run()
        .await
        .expect("an output");
    assert_eq!((output.exit, output.is_failure()), (Exit::Code(12), true));
    assert_eq!(output.stderr, "words\n");
    let output = Run::of("kill -9 $$").run().await.expect("an output");
    assert_eq!(output.exit, Exit::Signal(9));
    let output = Run::of("").run().await.expect("an output");
    assert_eq!((output.exit, output.is_failure()), (Exit::Code(0), false));
    assert_eq!(Run::of("").value().await, json!({"_output": ""}));
    let value = Run::of("printf '\\377'").value().await;
    assert_eq!(
        value["_error"]["msg"],
        "The task result contained invalid UTF-8 on stdout"
    );
}

#[tokio::test]
async fn sixty_megabytes_of_output_are_read_and_cut() {
    let output = Run::of("head -c 60000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero >&2")
        .run()
        .await
        .expect("an output");
    assert_eq!(output.exit, Exit::Code(0));
    let kept = output
        .value
        .get("_output")
        .and_then(Value::as_str)
        .map(str::len);
    assert_eq!(kept, Some(50 * 1024 * 1024));
    assert!(output.is_failure());
    assert_eq!(output.stderr.len(), 1024 * 1024);
}

#[tokio::test]
async fn a_task_may_leave_its_input_unread_and_may_write_before_it_reads() {
    let large = "x".repeat(4_000_000);
    let metadata = json!({"input_method": "stdin"});
    let unread = Run::of("exec 0<&-; echo done").metadata(metadata.clone());
    let value = unread.parameters(json!({"a": large})).value().await;
    assert_eq!(value, json!({"_output": "done\n"}));
    let crossing = Run::of("head -c 1000000 /dev/zero | tr '\\0' x; wc -c").metadata(metadata);
    let value = crossing.parameters(json!({"a": large})).value().await;
    let text = value["_output"].as_str().expect("a text");
    assert!(text.ends_with("4000023\n"), "{}", &text[text.len() - 20..]);
}

#[tokio::test]
async fn a_value_too_long_for_a_variable_is_on_stdin_or_an_error_that_names_it() {
    // `PT_a=`, the value and a NUL: the longest that fits, and one more.
    for (size, fits) in [(131_066, true), (131_067, false)] {
        let value = Run::of(ECHO)
            .parameters(json!({"a": "x".repeat(size)}))
            .value()
            .await;
        assert_eq!(value["env"].get("PT_a").is_some(), fits);
        assert_eq!(stdin(&value)["a"].as_str().map(str::len), Some(size));
    }
    let nul = json!({"a": "canary\u{0}"});
    for given in [nul, json!({"a": "canary".repeat(30_000)})] {
        let alone = Run::of(ECHO)
            .metadata(json!({"input_method": "environment"}))
            .parameters(given);
        let error = alone.run().await.expect_err("no variable");
        assert_eq!(error.kind(), "puppetlabs.tasks/environment-var-error");
        let text = error.to_string();
        assert!(
            text.contains("parameter 'a'") && !text.contains("canary"),
            "{text}"
        );
    }
}

#[tokio::test]
async fn parameters_too_long_together_say_so() {
    let names: Vec<String> = (0..80).map(|number| format!("p{number}")).collect();
    let given: serde_json::Map<String, Json> = names
        .into_iter()
        .map(|name| (name, Json::from("x".repeat(120_000))))
        .collect();
    let error = Run::of(ECHO)
        .parameters(given.into())
        .run()
        .await
        .expect_err("too long");
    assert!(
        error.to_string().contains("too long for the environment"),
        "{error}"
    );
}

#[tokio::test]
async fn secrets_reach_the_task_and_nothing_else() {
    let metadata = json!({"parameters": {"p": {"type": "String", "sensitive": true}}});
    let run = Run::of("cat >/dev/null; test \"$PT_p\" = canary && echo yes")
        .metadata(metadata)
        .parameters(json!({"p": "canary"}));
    assert_eq!(run.value().await["_output"], "yes\n");
    let task = run.modules.find("m::t");
    let parameters = task
        .parameters(hash(run.parameters.clone()))
        .expect("parameters");
    assert!(!format!("{parameters:?}").contains("canary"));
    let wrong = run
        .parameters(json!({"p": ["canary"]}))
        .run()
        .await
        .expect_err("no string");
    assert!(!format!("{wrong} {wrong:?} {:?}", wrong.to_error()).contains("canary"));
}

/// Starts a grandchild, says its number in a file, and waits for it.
const WITH_GRANDCHILD: &str =
    "sleep 600 & echo $! > \"$PT_file.new\"; mv \"$PT_file.new\" \"$PT_file\"; wait";

fn is_alive(pid: &str) -> bool {
    // A zombie has ended; only its parent has not looked yet.
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ")
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// Waits until something is so; the test's own limit is what fails.
async fn until(mut so: impl FnMut() -> bool) {
    while !so() {
        let moment = Duration::from_millis(5);
        drop(tokio::time::timeout(moment, std::future::pending::<()>()).await);
    }
}

async fn pid_in(file: &Path) -> String {
    until(|| file.exists()).await;
    fs::read_to_string(file)
        .expect("a number")
        .trim()
        .to_owned()
}

#[tokio::test]
async fn a_task_over_its_time_is_ended_with_its_children() {
    let notes = tempfile::tempdir().expect("a directory");
    let file = notes.path().join("pid");
    let limits = Limits {
        time: Some(Duration::from_millis(300)),
        ..Limits::default()
    };
    let run = Run::of(WITH_GRANDCHILD)
        .parameters(json!({"file": file}))
        .limits(limits);
    let error = run.run().await.expect_err("over its time");
    assert_eq!(error.kind(), "devgate/timeout");
    assert_eq!(error.to_error().2["limit_seconds"], 0.3);
    let pid = pid_in(&file).await;
    until(|| !is_alive(&pid)).await;
}

#[tokio::test]
async fn a_task_that_will_not_end_is_killed() {
    let limits = Limits {
        time: Some(Duration::from_millis(200)),
        ..Limits::default()
    };
    let run = Run::of("trap '' TERM; while :; do sleep 1; done").limits(limits);
    assert_eq!(
        run.run().await.expect_err("over its time").kind(),
        "devgate/timeout"
    );
}

#[tokio::test]
async fn a_run_that_is_dropped_takes_its_processes_and_its_directory_along() {
    let notes = tempfile::tempdir().expect("a directory");
    let file = notes.path().join("pid");
    let run = Run::of(WITH_GRANDCHILD).parameters(json!({"file": file}));
    let pid = tokio::select! {
        _ = run.run() => panic!("the task waits"),
        pid = pid_in(&file) => pid,
    };
    until(|| !is_alive(&pid)).await;
    assert_eq!(run.left_behind(), 0);
}

#[tokio::test]
async fn a_process_that_keeps_the_output_open_holds_nobody_up() {
    let notes = tempfile::tempdir().expect("a directory");
    let file = notes.path().join("pid");
    let limits = Limits {
        drain: Duration::from_millis(100),
        ..Limits::default()
    };
    let run = Run::of("sleep 600 & echo $! > \"$PT_file\"; echo done")
        .parameters(json!({"file": file}))
        .limits(limits);
    assert_eq!(run.value().await, json!({"_output": "done\n"}));
    // It outlives the task, as a service would that the task had started.
    let pid = pid_in(&file).await;
    assert!(is_alive(&pid));
    let pid = nix::unistd::Pid::from_raw(pid.parse().expect("a number"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL).expect("our own process");
}

#[tokio::test]
async fn our_own_settings_are_not_inherited() {
    let value = Run::of(ECHO).value().await;
    let variables = value["env"].as_object().expect("variables");
    assert_eq!(variables.keys().collect::<Vec<_>>(), ["PT__task"]);
}

#[tokio::test(flavor = "current_thread")]
async fn many_tasks_at_once_are_never_busy() {
    let runs: Vec<Run> = (0..40).map(|_| Run::of("#!/bin/sh\necho ran")).collect();
    let mut pending: Vec<_> = runs.iter().map(|run| Box::pin(run.value())).collect();
    let mut values = Vec::new();
    std::future::poll_fn(|cx| {
        pending.retain_mut(|one| match one.as_mut().poll(cx) {
            std::task::Poll::Ready(value) => {
                values.push(value);
                false
            }
            std::task::Poll::Pending => true,
        });
        if pending.is_empty() {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    assert_eq!(values, vec![json!({"_output": "ran\n"}); 40]);
}
