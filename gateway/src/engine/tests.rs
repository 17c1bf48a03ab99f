//! Many runs in one process: what they share, and what is each one's own.

mod counter;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use devgate_schemas::{Level, Value};
use devgate_transports::Line;
use futures_util::FutureExt;
use futures_util::future::join_all;
use nix::sys::signal::Signal;
use serde_json::json;
use tokio::time::timeout;

use super::{Engine, Key, Limits, Request};
use crate::events::{self, Event, Heard};
use crate::failure::Failure;
use crate::hosts::{Budget, Hosts};
use crate::inventory::{Inventory, Overrides, Target};
use crate::lock::locked;
use crate::operations::Operation;
use crate::plugins::Plugins;
use crate::practice::{self, Practice};
use crate::project::Project;
use crate::registry::Registry;
use crate::results::{Action, Answer, Status};
use crate::run::{Job, Ran, Run};
use crate::session::{self, Access, Busy};
use crate::stop::{Reason, Stage};
use crate::workspace::Chosen;
use counter::{Counters, Factory, pass};

const ACTION: Action = Action::new("test");

/// An engine, and devices that it can reach.
struct Bench {
    engine: Rc<Engine>,
    registry: Rc<Registry>,
    inventory: Rc<Inventory>,
    counters: Arc<Counters>,
}

impl Bench {
    /// With so many devices, `d0` and so on.
    fn new(devices: usize, counters: Counters) -> Self {
        let mut text =
            "version: 2\nconfig: {transport: remote, remote: {remote-transport: counter}}\n\
                        targets:\n"
                .to_owned();
        for number in 0..devices {
            let _ = writeln!(
                text,
                "- {{name: d{number}, config: {{remote: {{host: h{number}}}}}}}"
            );
        }
        text.push_str("- {name: proxy, config: {transport: local, local: {concurrency: 1}}}\n");
        Self::of(&text, counters)
    }

    fn of(text: &str, counters: Counters) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let project = Project::find(Some(folder.path().to_owned()), None, folder.path());
        let plugins = Rc::new(Plugins::new(&project.expect("a project")));
        let inventory = Inventory::parse("inventory.yaml", text, plugins, true).now_or_never();
        let inventory = inventory.expect("there is nothing to wait for");
        let log = events::silence();
        let mut registry = Registry::load(&[], None, &log).expect("a registry");
        let counters = Arc::new(counters);
        registry.know(Arc::new(Factory(Arc::clone(&counters))));
        Self {
            engine: Engine::new(log, Duration::ZERO),
            registry: Rc::new(registry),
            inventory: Rc::new(inventory.unwrap_or_else(|error| panic!("{error}"))),
            counters,
        }
    }

    fn targets(&self, words: &[&str]) -> Vec<Arc<Target>> {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let overrides = Overrides::default();
        let chosen = self.inventory.select(&words, &overrides).now_or_never();
        let chosen = chosen.expect("there is nothing to wait for");
        chosen.unwrap_or_else(|error| panic!("{error}"))
    }

    fn begin(&self, limits: Limits) -> Run {
        self.engine.begin(&self.registry, limits)
    }

    fn one_by_one(&self) -> Run {
        self.begin(Limits {
            concurrency: NonZeroUsize::MIN,
            ..Limits::default()
        })
    }
}

/// Types a line on the device of a job.
async fn type_line(job: &Job<'_>, line: &str) -> Result<Answer, Failure> {
    let lines = [Line::new(line)];
    session::within(job, Access::Write, async |ctx, _| {
        let command_line = ctx.command_line().expect("it has one");
        Ok(command_line.configure(ctx, &lines).await?)
    })
    .await?;
    Ok(Answer::success(json!({})))
}

/// All that a run has told, to which somebody has listened from the beginning.
fn told(listening: &mut events::Follower) -> Vec<Arc<Event>> {
    std::iter::from_fn(|| listening.waiting())
        .map(|heard| match heard {
            Heard::Event(_, event) => event,
            Heard::Missed(missed) => panic!("{missed} events are missing"),
        })
        .collect()
}

/// Types a line on each target after a minute.
async fn slowly(run: &Run, targets: &[Arc<Target>]) -> Ran {
    run.over(targets, ACTION, async |job| {
        tokio::select! {
            () = pass(Duration::from_secs(60)) => {}
            () = job.stop().reaches(Stage::End) => return Err(job.interrupted(true)),
        }
        type_line(job, "a").await
    })
    .await
}

fn statuses(ran: &Ran) -> Vec<(&str, Status)> {
    let all = ran.statuses.iter();
    all.map(|(name, status)| (name.as_str(), *status)).collect()
}

fn interrupted() -> Reason {
    Reason::Signal(Signal::SIGINT)
}

#[test]
fn a_device_is_one_however_its_address_is_spelled() {
    let text = "version: 2\nconfig: {transport: remote, remote: {remote-transport: counter}}\ntargets:\n\
                - {name: a, config: {remote: {host: Switch}}}\n\
                - {name: b, config: {remote: {host: switch, port: 7, proxyjump: none}}}\n\
                - {name: c, config: {remote: {host: switch, run-on: 'localhost,p1'}}}\n\
                - {name: d, config: {remote: {host: '2001:db8::1'}}}\n\
                - {name: e, config: {remote: {host: '2001:DB8:0::1'}}}\n\
                - {name: f, config: {remote: {host: switch, port: 8}}}\n\
                - {name: g, config: {remote: {host: switch, run-on: p1}}}\n\
                - {name: h, config: {remote: {host: switch, proxyjump: j}}}\n";
    let bench = Bench::of(text, Counters::new());
    let targets = bench.targets(&["a", "b", "c", "d", "e", "f", "g", "h"]);
    let places: Vec<_> = targets
        .iter()
        .map(|target| bench.registry.place(target))
        .collect();
    assert_eq!([places[1], places[2]], [places[0]; 2]);
    assert_eq!(places[4], places[3]);
    let different: std::collections::HashSet<_> = places.into_iter().collect();
    assert_eq!(different.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_leaves_another_s_sessions_and_what_it_expects() {
    let bench = Bench::new(1, Counters::new());
    let targets = bench.targets(&["d0"]);
    let twice = [targets.clone(), targets.clone()].concat();
    let (short, long) = (bench.begin(Limits::default()), bench.one_by_one());
    let short_work = short.over(&targets, ACTION, async |job| {
        pass(Duration::from_secs(1)).await;
        type_line(job, "a").await
    });
    // Between its two parts, the other run comes and ends.
    let first = std::cell::Cell::new(true);
    let long_work = long.over(&twice, ACTION, async |job| {
        if !first.replace(false) {
            pass(Duration::from_secs(5)).await;
        }
        type_line(job, "b").await
    });
    let both = async { tokio::join!(short_work, long_work) };
    let (short, long) = bench.engine.drive(both).await;
    assert!(short.is_well() && long.is_well());
    // One session for all of it, closed once.
    assert_eq!(bench.counters.counts(), [1, 1]);
}

#[tokio::test(start_paused = true)]
async fn two_runs_do_not_type_on_one_device_at_once() {
    let counters = Counters {
        takes: Duration::from_millis(100),
        ..Counters::new()
    };
    let bench = Bench::new(1, counters);
    let targets = bench.targets(&["d0"]);
    let runs: Vec<Run> = (0..5).map(|_| bench.begin(Limits::default())).collect();
    let work = runs
        .iter()
        .map(|run| run.over(&targets, ACTION, async |job| type_line(job, "a").await));
    let ran = bench.engine.drive(join_all(work)).await;
    assert!(ran.iter().all(Ran::is_well));
    assert_eq!(bench.counters.most_writers.load(Ordering::SeqCst), 1);
    assert_eq!(locked(&bench.counters.seen).lines.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn tasks_of_two_runs_take_turns_at_a_device_and_on_a_proxy() {
    let bench = Bench::new(1, Counters::new());
    let (device, proxy) = (&bench.targets(&["d0"])[0], &bench.targets(&["proxy"])[0]);
    let runs = [
        bench.begin(Limits::default()),
        bench.begin(Limits::default()),
    ];
    let [one, other] = [0, 1].map(|at| Hosts::new(&bench.inventory, &runs[at]));
    let soon = Duration::from_secs(10);
    let turn = one.device(device, &Budget::default()).await;
    let waiting = timeout(soon, other.device(device, &Budget::default())).await;
    assert!(waiting.is_err(), "another run's task is at the device");
    drop(turn);
    let turn = timeout(soon, other.device(device, &Budget::default())).await;
    assert!(turn.is_ok());
    drop(turn);
    assert_eq!(bench.engine.turns.len(), 0, "nobody is at a device");

    let pools = [one.pool(proxy).await, other.pool(proxy).await].map(|pool| pool.expect("a pool"));
    let seat = pools[0].seat().await.expect("a seat");
    assert!(
        timeout(soon, pools[1].seat()).await.is_err(),
        "it has room for one"
    );
    drop(seat);
    assert!(timeout(soon, pools[1].seat()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_device_that_a_run_changes_is_busy_for_another_of_this_process() {
    // No other process changes a device of this name.
    let host = format!("busy-{}", std::process::id());
    let text = format!(
        "version: 2\nconfig: {{transport: remote, remote: {{remote-transport: counter, host: {host}}}}}\n\
         targets: [d0, d1]\n"
    );
    let bench = Bench::of(&text, Counters::new());
    let targets = bench.targets(&["all"]);
    let runs = [
        bench.begin(Limits::default()),
        bench.begin(Limits::default()),
    ];
    let [first, same, other] =
        [(0, 0), (0, 1), (1, 0)].map(|(run, at)| runs[run].job(&targets[at]));
    let claims = &bench.engine.claims;
    let claim = claims
        .take(&first, Busy::Refuse)
        .await
        .expect("nobody has it");
    // Targets of one run in one place take turns in the pool.
    let shared = claims
        .take(&same, Busy::Refuse)
        .await
        .expect("it is the run's");
    let refused = claims
        .take(&other, Busy::Refuse)
        .await
        .expect_err("it is busy");
    assert_eq!(refused.kind, "devgate/busy");
    drop((claim, shared));
    claims.take(&other, Busy::Refuse).await.expect("it is free");
}

#[tokio::test(start_paused = true)]
async fn who_is_refused_in_a_run_is_not_tried_again_there_and_may_be_in_another() {
    let counters = Counters {
        refuses: true,
        ..Counters::new()
    };
    let bench = Bench::new(1, counters);
    let target = bench.targets(&["d0"]);
    let thrice = [target.clone(), target.clone(), target.clone()].concat();
    for logins in 1..3 {
        let run = bench.one_by_one();
        let ran = run.over(&thrice, ACTION, async |job| type_line(job, "a").await);
        assert!(!bench.engine.drive(ran).await.is_well());
        assert_eq!(bench.counters.counts(), [logins, 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_secrets_of_a_run_are_its_own() {
    let bench = Bench::new(1, Counters::new());
    let targets = bench.targets(&["d0"]);
    let runs = [
        bench.begin(Limits::default()),
        bench.begin(Limits::default()),
    ];
    let mut heard = [0, 1].map(|at| runs[at].events().follow(0));
    let secret = Value::from("canary").into_sensitive();
    let work = |at: usize, hides: bool| {
        let secret = &secret;
        runs[at].over(&targets, ACTION, async move |job| {
            if hides {
                job.hide([secret]);
            }
            pass(Duration::from_secs(1)).await;
            job.context().notice("a canary");
            pass(Duration::from_secs(1)).await;
            Ok(Answer::success(json!({"said": "a canary"})))
        })
    };
    tokio::join!(work(0, true), work(1, false));
    for (at, expected) in ["a ********", "a canary"].into_iter().enumerate() {
        let told = told(&mut heard[at]);
        let said: Vec<_> = told
            .iter()
            .filter_map(|event| match &**event {
                Event::Said(event) => Some(event.message.as_str()),
                Event::Finished { answer, .. } => answer.value["said"].as_str(),
                _ => None,
            })
            .collect();
        assert_eq!(said, [expected, expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_ends_a_run_ends_no_other() {
    let bench = Bench::new(3, Counters::new());
    let targets = bench.targets(&["d0", "d1", "d2"]);
    let late = Limits {
        concurrency: NonZeroUsize::MIN,
        deadline: Some(Duration::from_secs(90)),
        ..Limits::default()
    };
    let (cancelled, late, free) = (bench.one_by_one(), bench.begin(late), bench.one_by_one());
    let mut heard = cancelled.events().follow(0);
    let cancelling = async {
        pass(Duration::from_secs(70)).await;
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
    assert!(third.is_well());
    let why = told(&mut heard)
        .into_iter()
        .filter_map(|event| match &*event {
            Event::Finished { answer, .. } => answer
                .value
                .pointer("/_error/msg")?
                .as_str()
                .map(str::to_owned),
            _ => None,
        });
    assert_eq!(
        why.collect::<Vec<_>>(),
        [
            "interrupted: what had been done by then is not known",
            "interrupted: nothing was done"
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn no_more_targets_are_worked_on_at_once_than_there_are_files_for_in_all_runs() {
    let bench = Bench::new(20, Counters::new());
    let engine = Engine::with_room(events::silence(), Duration::ZERO, 7);
    let targets = bench.targets(&["all"]);
    let (now, most) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let runs: Vec<Run> = (0..5)
        .map(|_| engine.begin(&bench.registry, Limits::default()))
        .collect();
    let work = runs.iter().map(|run| {
        run.over(&targets, ACTION, async |_| {
            now.set(now.get() + 1);
            most.set(now.get().max(most.get()));
            pass(Duration::from_secs(1)).await;
            now.set(now.get() - 1);
            Ok(Answer::success(json!({})))
        })
    });
    let ran = join_all(work).await;
    assert!(
        ran.iter()
            .all(|ran| ran.is_well() && ran.statuses.len() == 21)
    );
    assert_eq!(most.get(), 7);
}

#[tokio::test(start_paused = true)]
async fn a_run_waits_for_a_follower_that_must_miss_nothing_and_tells_others_what_they_missed() {
    const TARGETS: usize = 2_000;
    let bench = Bench::new(TARGETS, Counters::new());
    let targets = bench.targets(&["d*"]);
    let run = bench.begin(Limits::default());
    let (mut faithful, mut late) = (run.events().follow(0), run.events().watch(0));
    let begun = std::cell::Cell::new(0);
    let work = run.over(&targets, ACTION, async |_| {
        begun.set(begun.get() + 1);
        Ok(Answer::success(json!({})))
    });
    let mut work = Box::pin(work);
    assert!(timeout(Duration::from_secs(60), &mut work).await.is_err());
    assert!(
        begun.get() < 500,
        "{} were begun that nobody heard of",
        begun.get()
    );
    let hearing = async {
        let mut finished = 0;
        let mut number = 0;
        while finished < TARGETS {
            match faithful.next().await.expect("more") {
                Heard::Event(at, event) => {
                    assert_eq!(at, number);
                    number += 1;
                    finished += usize::from(matches!(*event, Event::Finished { .. }));
                }
                Heard::Missed(missed) => panic!("{missed} events were missed"),
            }
        }
    };
    let (ran, ()) = tokio::join!(work, hearing);
    assert!(ran.is_well());
    drop(faithful);
    assert!(matches!(late.waiting(), Some(Heard::Missed(1..))));
    drop(run);
    assert!(late.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_thousand_runs_at_once_tell_each_their_own() {
    const RUNS: usize = 1_000;
    let counters = Counters {
        takes: Duration::from_millis(1),
        ..Counters::new()
    };
    let bench = Bench::new(20, counters);
    let targets = bench.targets(&["d*"]);
    let kept = Limits {
        least: Level::Debug,
        kept: usize::MAX,
        ..Limits::default()
    };
    let runs: Vec<Run> = (0..RUNS).map(|_| bench.begin(kept)).collect();
    let work = runs.iter().enumerate().map(|(number, run)| {
        let targets = &targets;
        async move {
            let line = number.to_string();
            run.over(targets, ACTION, async |job| {
                job.context().notice(format!("run {line}"));
                type_line(job, &line).await
            })
            .await
        }
    });
    let ran = bench.engine.drive(join_all(work)).await;
    assert!(
        ran.iter()
            .all(|ran| ran.is_well() && ran.statuses.len() == 20)
    );
    for (number, run) in runs.iter().enumerate() {
        let mut follower = run.events().follow(0);
        let (mut said, mut finished) = (0, 0);
        for event in told(&mut follower) {
            match &*event {
                Event::Said(event) if event.level == Level::Notice => {
                    assert_eq!(event.message, format!("run {number}"));
                    said += 1;
                }
                Event::Finished { .. } => finished += 1,
                _ => {}
            }
        }
        assert_eq!([said, finished], [20, 20], "run {number}");
    }
    // Each line once, each device never by two.
    let seen = locked(&bench.counters.seen);
    let mut times = HashMap::new();
    seen.lines
        .iter()
        .for_each(|line| *times.entry(line).or_insert(0) += 1);
    assert_eq!(times.len(), RUNS * 20);
    assert!(times.values().all(|times| *times == 1));
    assert_eq!(bench.counters.most_writers.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn under_random_ends_no_line_is_sent_twice_and_no_two_write() {
    const RUNS: u64 = 200;
    let counters = Counters {
        takes: Duration::from_millis(300),
        ..Counters::new()
    };
    let bench = Bench::new(5, counters);
    let targets = bench.targets(&["d*"]);
    // A sequence that is the same each time (Lehmer's).
    let mut state = 42_u64;
    let mut random = |below: u64| {
        state = state * 48_271 % 0x7fff_ffff;
        state % below
    };
    let plan: Vec<(u64, bool, u64)> = (0..RUNS)
        .map(|_| (random(60_000), random(2) == 0, random(3)))
        .collect();
    let runs = plan
        .iter()
        .enumerate()
        .map(|(number, &(after, cancels, again))| {
            let (bench, targets) = (&bench, &targets);
            async move {
                let after = Duration::from_millis(after);
                let run = bench.begin(Limits {
                    concurrency: NonZeroUsize::new(3).expect("some"),
                    deadline: (!cancels).then_some(after),
                    ..Limits::default()
                });
                let work = run.over(targets, ACTION, async |job| {
                    type_line(job, &format!("{number} {}", job.target)).await
                });
                let end = async {
                    if cancels {
                        pass(after).await;
                        for _ in 0..=again {
                            run.cancel(interrupted());
                            pass(Duration::from_millis(10)).await;
                        }
                    }
                };
                tokio::join!(work, end).0
            }
        });
    let ran = bench.engine.drive(join_all(runs)).await;
    let seen = locked(&bench.counters.seen);
    let mut times = HashMap::new();
    for (_, line) in &seen.lines {
        *times.entry(line.clone()).or_insert(0) += 1;
    }
    assert!(
        times.values().all(|times| *times == 1),
        "a line was sent twice"
    );
    assert_eq!(bench.counters.most_writers.load(Ordering::SeqCst), 1);
    // What is told as done was sent.
    for (number, ran) in ran.iter().enumerate() {
        assert_eq!(ran.statuses.len(), 5);
        for (target, status) in &ran.statuses {
            if *status == Status::Success {
                assert!(times.contains_key(&format!("{number} {target}")));
            }
        }
    }
    // Whatever ended them, each session was closed.
    let [logins, goodbyes] = bench.counters.counts();
    assert!(
        logins > 0 && logins == goodbyes,
        "{logins} logins, {goodbyes} goodbyes"
    );
    let stopped = ran.iter().filter(|ran| ran.reason.is_some()).count();
    assert!((20..200).contains(&stopped), "{stopped} runs were stopped");
}

#[tokio::test(start_paused = true)]
async fn a_request_goes_on_without_its_handle_and_its_key_names_it() {
    let local = tokio::task::LocalSet::new();
    local
        .run_until(async {
            let bench = Bench::new(1, Counters::new());
            let request = |digest, name: &str| Request {
                key: Some((
                    Key {
                        principal: "somebody".to_owned(),
                        name: name.to_owned(),
                    },
                    [digest; 32],
                )),
                registry: Rc::clone(&bench.registry),
                chosen: Chosen {
                    inventory: Rc::clone(&bench.inventory),
                    targets: bench.targets(&["d0"]),
                },
                operation: Operation::Verify,
                limits: Limits {
                    kept: usize::MAX,
                    ..Limits::default()
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
            let summary = again.summary().await.expect("a summary");
            assert!(summary.ran.is_well());
            let another = bench.engine.submit(request(2, "b")).expect("it is begun");
            assert_ne!(another.run().id(), id);
            another.summary().await.expect("a summary");
            // Who comes late hears it from the beginning, and that it is all.
            let mut late = again.run().events().follow(0);
            let mut last = None;
            while let Some(heard) = late.next().await {
                last = Some(heard);
            }
            let Some(Heard::Event(number, last)) = last else {
                panic!("nothing was told");
            };
            assert!(number > 2 && matches!(*last, Event::Ended { reason: None }));
            // And so it does without a key, and without anybody who waits.
            let alone = Request {
                key: None,
                ..request(3, "c")
            };
            drop(bench.engine.submit(alone).expect("it is begun"));
            pass(Duration::from_secs(1)).await;
            assert_eq!(bench.counters.counts(), [3, 3]);
        })
        .await;
}

/// Practice switches, reached over SSH as any device.
async fn practice(count: usize) -> (Vec<Practice>, tempfile::TempDir, Bench) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut switches, mut known) = (Vec::new(), String::new());
    let file = folder.path().join("known_hosts");
    let mut text = format!(
        "version: 2\nconfig:\n  transport: remote\n  remote:\n    remote-transport: practice\n    host: 127.0.0.1\n    \
         user: admin\n    password: let-me-in\n    enable_password: let-me-configure\n    \
         known_hosts_file: {}\ntargets:\n",
        file.display()
    );
    for number in 0..count {
        let switch = Practice::start(practice::Settings::default())
            .await
            .expect("a switch");
        let (port, key) = (switch.address().port(), switch.host_key());
        let _ = writeln!(known, "[127.0.0.1]:{port} {key}");
        let _ = writeln!(
            text,
            "- {{name: s{number}, config: {{remote: {{port: {port}}}}}}}"
        );
        switches.push(switch);
    }
    std::fs::write(file, known).expect("it can be written");
    (switches, folder, Bench::of(&text, Counters::new()))
}

/// `DEVGATE_RUNS=1000` asks for more of them, and prints what they cost.
#[tokio::test]
async fn runs_at_once_reach_their_devices_over_ssh() {
    const SWITCHES: usize = 20;
    let wish = std::env::var("DEVGATE_RUNS")
        .ok()
        .and_then(|text| text.parse().ok());
    let runs = wish.unwrap_or(20);
    let (switches, _folder, bench) = practice(SWITCHES).await;
    let targets = bench.targets(&["s*"]);
    let before = memory();
    let begun = std::time::Instant::now();
    let runs: Vec<Run> = (0..runs).map(|_| bench.begin(Limits::default())).collect();
    let work = runs.iter().map(|run| async {
        run.over(&targets, ACTION, async |job| {
            session::within(job, Access::Read, async |ctx, transport| {
                Ok(transport.verify(ctx).await?)
            })
            .await?;
            Ok(Answer::success(json!({})))
        })
        .await
    });
    let ran = bench.engine.drive(join_all(work)).await;
    let took = begun.elapsed();
    assert!(
        ran.iter()
            .all(|ran| ran.is_well() && ran.statuses.len() == SWITCHES)
    );
    if wish.is_some() {
        use std::io::Write as _;
        let grown = memory().saturating_sub(before);
        let runs = runs.len();
        // Not captured: who asks for more wants the figures.
        let _ = writeln!(
            std::io::stderr(),
            "{runs} runs x {SWITCHES} switches: {took:.2?}, {grown} KiB more at the peak"
        );
    }
    for switch in switches {
        switch.stop().await;
    }
}

/// The most memory that this process has had, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.trim().parse().ok());
    kibibytes.unwrap_or_default()
}
