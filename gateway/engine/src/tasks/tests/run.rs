//! Where a task runs, and how it ends.

use std::os::unix::fs::PermissionsExt;

use devgate_schemas::task::Exit;
use serde_json::json;

use super::*;

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
    assert_eq!(run.value().await["_output"], "-rwx------\n");
}

#[tokio::test]
async fn an_interpreter_is_chosen_by_the_extension() {
    let mut run = Run::named("t.odd", "print('by python')");
    for key in ["odd", "ODD"] {
        run.settings.interpreters = vec![(key.to_owned(), vec!["python3".to_owned()])];
        assert_eq!(run.value().await["_output"], "by python\n");
    }
}

#[tokio::test]
async fn what_cannot_be_executed_is_reported_with_the_reason() {
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
    run.settings.interpreters = vec![("sh".to_owned(), vec!["/no/such/sh".to_owned()])];
    let error = run.run().await.expect_err("no interpreter").to_string();
    assert!(
        error.contains("its interpreter /no/such/sh names no program"),
        "{error}"
    );
}

#[tokio::test]
async fn a_directory_that_cannot_be_written_is_named() {
    let mut run = Run::of("");
    run.settings.tmpdir = Some("/no/such/place".into());
    let error = run.run().await.expect_err("no directory");
    assert_eq!(error.kind(), "puppetlabs.tasks/task_file_error");
    assert!(error.to_string().contains("/no/such/place"), "{error}");
}

#[tokio::test]
async fn exit_codes_signals_and_stderr_are_reported() {
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
    // Including the mark of the cut.
    assert_eq!(kept, Some(50 * 1024 * 1024 + 3));
    assert!(output.is_failure());
    assert_eq!(output.stderr.len(), 1024 * 1024 + 3);
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
async fn many_tasks_at_once_are_never_busy() {
    // Large files take long to copy, so that they are open for writing while other tasks are started.
    let script = format!("#!/bin/sh\necho ran\nexit\n{}", "#".repeat(4_000_000));
    let runs: Vec<Run> = (0..40).map(|_| Run::of(&script)).collect();
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
