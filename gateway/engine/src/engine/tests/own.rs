//! What each run has for itself: secrets, its end, its events, its request.

use std::cell::Cell;
use std::panic::AssertUnwindSafe;

use devgate_core::cancel::Stage;
use devgate_core::lock::locked;
use devgate_core::results::Status;
use devgate_schemas::Value;
use tokio::time::timeout;

use super::counter::wait_for;
use super::*;
use crate::engine::{IdempotencyKey, Principal, RunRequest};
use crate::operations::{CommandKind, CommandOperation, Operation};
use crate::run::RunSummary;
use crate::workspace::SelectedTargets;

/// Sends a line to each target after a minute.
async fn slowly(run: &Run, targets: &[Arc<Target>]) -> RunSummary {
    run.on_targets(targets, ACTION, async |job| {
        tokio::select! {
            () = wait_for(Duration::from_secs(60)) => {}
            () = job.stop().reaches(Stage::End) => return Err(job.interrupted(true)),
        }
        type_line(run, job, "a").await
    })
    .await
}

fn statuses(summary: &RunSummary) -> Vec<(&str, Status)> {
    let all = summary.statuses.iter();
    all.map(|(name, status)| (name.as_str(), *status)).collect()
}

#[tokio::test(start_paused = true)]
async fn the_secrets_of_a_run_are_its_own() {
    let bench = Bench::new(1, Counters::new());
    let targets = bench.targets(&["d0"]);
    let runs = [
        bench.begin(RunLimits::default()),
        bench.begin(RunLimits::default()),
    ];
    let mut follower = [0, 1].map(|at| runs[at].events().follow(0));
    let secret = Value::from("canary").into_sensitive();
    let work = |at: usize, hides: bool| {
        let secret = &secret;
        runs[at].on_targets(&targets, ACTION, async move |job| {
            if hides {
                job.hide([secret]);
            }
            wait_for(Duration::from_secs(1)).await;
            job.context().notice("a canary");
            wait_for(Duration::from_secs(1)).await;
            Ok(TargetResult::success(json!({"said": "a canary"})))
        })
    };
    tokio::join!(work(0, true), work(1, false));
    for (at, expected) in ["a ********", "a canary"].into_iter().enumerate() {
        let events = all_events(&mut follower[at]);
        let messages: Vec<_> = events
            .iter()
            .filter_map(|event| match &**event {
                Event::Message(event) => Some(event.message.as_str()),
                Event::Finished { result, .. } => result.value["said"].as_str(),
                _ => None,
            })
            .collect();
        assert_eq!(messages, [expected, expected]);
    }
}

#[tokio::test]
async fn secrets_of_another_target_are_masked() {
    let text = "version: 2\ntargets:\n\
                - {name: d0, config: {transport: remote, remote: {password: canary-0}}}\n\
                - {name: d1, config: {transport: remote, remote: {password: canary-1}}}\n";
    let bench = Bench::with_inventory(text, Counters::new());
    let run = bench.begin_sequential();
    let mut follower = run.events().follow(0);
    // One target that has not begun, and one that is done.
    let targets = bench.targets(&["d0", "d1"]);
    let work = run.on_targets(&targets, ACTION, async |_| {
        run.events().record_output("canary-0 canary-1\n");
        Ok(TargetResult::success(json!({"said": "canary-0 canary-1"})))
    });
    work.await;
    let events = all_events(&mut follower);
    let messages: Vec<_> = events
        .iter()
        .filter_map(|event| match &**event {
            Event::Output { line } => Some(line.trim_end()),
            Event::Finished { result, .. } => result.value["said"].as_str(),
            _ => None,
        })
        .collect();
    assert_eq!(messages, ["******** ********"; 4]);
}

/// The document and the exit code must give the same reason for the end.
#[tokio::test]
async fn a_pending_request_is_the_reason_of_a_failed_run_and_is_reported_once() {
    for (fails, expected) in [(true, Some(Reason::Signal(Signal::SIGINT))), (false, None)] {
        let mut bench = Bench::new(1, Counters::new());
        bench.engine = Engine::new(EngineConfig {
            cancel_reason: || Some(Reason::Signal(Signal::SIGINT)),
            ..EngineConfig::for_tests(Duration::ZERO)
        });
        let run = bench.begin(RunLimits::default());
        let mut follower = run.events().follow(0);
        let targets = bench.targets(&["d0"]);
        let work = run.on_targets(&targets, ACTION, async |job| match fails {
            true => Err(job.interrupted(true)),
            false => Ok(TargetResult::success(json!({}))),
        });
        assert_eq!(work.await.reason, expected);
        let ended = all_events(&mut follower)
            .pop()
            .expect("it has recorded something");
        assert!(matches!(&*ended, Event::Ended { reason } if *reason == expected));
    }
}

#[tokio::test(start_paused = true)]
async fn what_ends_a_run_ends_no_other() {
    let bench = Bench::new(3, Counters::new());
    let targets = bench.targets(&["d0", "d1", "d2"]);
    let late = RunLimits {
        concurrency: NonZeroUsize::MIN,
        deadline: Some(Duration::from_secs(90)),
        ..RunLimits::default()
    };
    let (cancelled, late, free) = (
        bench.begin_sequential(),
        bench.begin(late),
        bench.begin_sequential(),
    );
    let mut follower = cancelled.events().follow(0);
    let cancelling = async {
        wait_for(Duration::from_secs(70)).await;
        cancelled.cancel(interrupted());
    };
    let (first, second, third, ()) = tokio::join!(
        slowly(&cancelled, &targets),
        slowly(&late, &targets),
        slowly(&free, &targets),
        cancelling
    );
    let (well, failed) = (Status::Success, Status::Failure);
    let cut = [("d0", well), ("d1", failed), ("d2", failed)];
    assert_eq!(statuses(&first), cut);
    assert_eq!(first.reason, Some(interrupted()));
    assert_eq!(statuses(&second), cut);
    assert_eq!(second.reason, Some(Reason::Deadline("90 s".to_owned())));
    assert!(third.is_success());
    let why = all_events(&mut follower)
        .into_iter()
        .filter_map(|event| match &*event {
            Event::Finished { result, .. } => result
                .value
                .pointer("/_error/msg")?
                .as_str()
                .map(str::to_owned),
            _ => None,
        });
    assert_eq!(
        why.collect::<Vec<_>>(),
        [
            "interrupted: what was done is not known",
            "interrupted: nothing was done"
        ]
    );
}

#[tokio::test]
async fn secrets_of_a_transport_schema_are_masked_from_the_beginning() {
    // Only the schema says that `token` is a secret.
    let text = "version: 2\nconfig: {transport: remote, remote: {remote-transport: counter, host: h}}\ntargets:\n\
                - {name: d0}\n- {name: d1, config: {remote: {token: canary}}}\n";
    let bench = Bench::with_inventory(text, Counters::new());
    let run = bench.begin_sequential();
    let mut follower = run.events().follow(0);
    let targets = bench.targets(&["d0", "d1"]);
    run.on_targets(&targets, ACTION, async |job| {
        job.context().notice("a canary");
        Ok(TargetResult::success(json!({})))
    })
    .await;
    let events = all_events(&mut follower);
    let messages = events.iter().filter_map(|event| match &**event {
        Event::Message(event) => Some(event.message.as_str()),
        _ => None,
    });
    assert_eq!(messages.collect::<Vec<_>>(), ["a ********"; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_run_that_panics_has_reported_a_result_for_each_target() {
    let bench = Bench::new(2, Counters::new());
    let (run, targets) = (bench.begin_sequential(), bench.targets(&["d0", "d1"]));
    let mut follower = run.events().follow(0);
    let fails = async {
        let work = run.on_targets(&targets, ACTION, async |_| {
            wait_for(Duration::from_secs(60)).await;
            Ok(TargetResult::success(json!({})))
        });
        tokio::select! {
            _ = work => {}
            () = wait_for(Duration::from_secs(30)) => panic!("beside the work"),
        }
    };
    assert!(AssertUnwindSafe(fails).catch_unwind().await.is_err());
    let events = all_events(&mut follower);
    let kinds = events.iter().filter_map(|event| match &**event {
        Event::Finished { result, .. } => result.value.pointer("/_error/kind")?.as_str(),
        Event::Ended { .. } => Some("ended"),
        _ => None,
    });
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(kinds, ["devgate/bug", "devgate/bug", "ended"]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_an_engine_ends_active_runs_and_waits_for_them() {
    let counters = Counters {
        line_duration: Duration::from_secs(3),
        ..Counters::new()
    };
    let bench = Bench::new(1, counters);
    let submit = || {
        let request = RunRequest {
            principal: Principal("somebody".to_owned()),
            key: None,
            registry: Rc::clone(&bench.registry),
            selected: SelectedTargets {
                inventory: Rc::clone(&bench.inventory),
                targets: bench.targets(&["d0"]),
            },
            operation: Operation::Command(CommandOperation {
                lines: vec!["a".to_owned()],
                kind: CommandKind::Configuration { save: false },
                noop: false,
            }),
            limits: RunLimits::default(),
        };
        bench.engine.submit(request)
    };
    let local = tokio::task::LocalSet::new();
    let work = async {
        let handle = bench
            .engine
            .drive(async {
                let handle = submit().expect("a run");
                wait_for(Duration::from_secs(1)).await;
                handle
            })
            .await;
        // The work in progress was finished, and its session was closed.
        assert_eq!(locked(&bench.counters.seen).lines.len(), 1);
        assert_eq!(bench.counters.counts(), [1, 1]);
        let summary = handle.summary().await.expect("it was begun");
        assert_eq!(summary.targets.reason, Some(Reason::Shutdown));
        assert_eq!(statuses(&summary.targets), [("d0", Status::Success)]);
        let refused = submit().expect_err("nothing is begun any more");
        assert_eq!(refused.kind, "devgate/shutdown");
    };
    local.run_until(work).await;
}

#[tokio::test(start_paused = true)]
async fn a_run_waits_for_a_lossless_follower_and_others_learn_how_many_events_they_missed() {
    const TARGETS: usize = 2_000;
    let bench = Bench::new(TARGETS, Counters::new());
    let targets = bench.targets(&["d*"]);
    let run = bench.begin(RunLimits::default());
    let (mut lossless, mut late) = (run.events().follow(0), run.events().watch(0));
    let begun = Cell::new(0);
    let work = run.on_targets(&targets, ACTION, async |_| {
        begun.set(begun.get() + 1);
        Ok(TargetResult::success(json!({})))
    });
    let mut work = Box::pin(work);
    assert!(timeout(Duration::from_secs(60), &mut work).await.is_err());
    assert!(
        begun.get() < 500,
        "{} were begun that nobody heard of",
        begun.get()
    );
    let reading = async {
        let mut finished = 0;
        let mut number = 0;
        while finished < TARGETS {
            match lossless.next().await.expect("more") {
                Received::Event(at, event) => {
                    assert_eq!(at, number);
                    number += 1;
                    finished += usize::from(matches!(*event, Event::Finished { .. }));
                }
                Received::Missed(missed) => panic!("{missed} events were missed"),
            }
        }
    };
    let (summary, ()) = tokio::join!(work, reading);
    assert!(summary.is_success());
    drop(lossless);
    assert!(matches!(late.try_next(), Some(Received::Missed(1..))));
    drop(run);
    assert!(late.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_request_goes_on_without_its_handle_and_its_key_names_it() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let bench = Bench::new(1, Counters::new());
            let request = |digest, name: &str| RunRequest {
                principal: Principal("somebody".to_owned()),
                key: Some(IdempotencyKey {
                    name: name.to_owned(),
                    digest: [digest; 32],
                }),
                registry: Rc::clone(&bench.registry),
                selected: SelectedTargets {
                    inventory: Rc::clone(&bench.inventory),
                    targets: bench.targets(&["d0"]),
                },
                operation: Operation::Verify(crate::operations::Verify::default()),
                limits: RunLimits {
                    kept_events: usize::MAX,
                    ..RunLimits::default()
                },
            };
            let first = bench.engine.submit(request(1, "a")).expect("it is begun");
            let id = first.run().id();
            drop(first);
            let again = bench.engine.submit(request(1, "a")).expect("it is known");
            assert_eq!(again.run().id(), id);
            let other = bench
                .engine
                .submit(request(2, "a"))
                .expect_err("another request");
            assert_eq!(other.kind, "devgate/key-in-use");
            let other_callers = RunRequest {
                principal: Principal("somebody else".to_owned()),
                ..request(2, "a")
            };
            let other_callers = bench
                .engine
                .submit(other_callers)
                .expect("it is another's key");
            assert_ne!(other_callers.run().id(), id);
            assert_eq!(other_callers.principal().0, "somebody else");
            other_callers.summary().await.expect("a summary");
            let summary = again.summary().await.expect("a summary");
            assert!(summary.targets.is_success());
            let another = bench.engine.submit(request(2, "b")).expect("it is begun");
            assert_ne!(another.run().id(), id);
            another.summary().await.expect("a summary");
            // A late follower gets all events from the beginning, and the end.
            let mut late = again.run().events().follow(0);
            let mut last = None;
            while let Some(follower) = late.next().await {
                last = Some(follower);
            }
            let Some(Received::Event(number, last)) = last else {
                panic!("nothing was told");
            };
            assert!(number > 2 && matches!(*last, Event::Ended { reason: None }));
            // A run also goes on without a key and without a waiting caller.
            let alone = RunRequest {
                key: None,
                ..request(3, "c")
            };
            drop(bench.engine.submit(alone).expect("it is begun"));
            wait_for(Duration::from_secs(1)).await;
            assert_eq!(bench.counters.counts(), [4, 4]);
        })
        .await;
}
