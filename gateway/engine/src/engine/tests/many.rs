//! Very many runs at once, with random ends.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use devgate_core::lock::locked;
use devgate_core::results::Status;
use devgate_practice::{PracticeSettings, PracticeSwitch};
use devgate_schemas::Level;
use futures_util::future::join_all;

use super::counter::wait_for;
use super::*;

#[tokio::test(start_paused = true)]
async fn a_thousand_runs_at_once_each_record_their_own_events() {
    const RUNS: usize = 1_000;
    let counters = Counters {
        line_duration: Duration::from_millis(1),
        ..Counters::new()
    };
    let bench = Bench::new(20, counters);
    let targets = bench.targets(&["d*"]);
    let kept_events = RunLimits {
        min_level: Level::Debug,
        kept_events: usize::MAX,
        ..RunLimits::default()
    };
    let runs: Vec<Run> = (0..RUNS).map(|_| bench.begin(kept_events)).collect();
    let work = runs.iter().enumerate().map(|(number, run)| {
        let targets = &targets;
        async move {
            let line = number.to_string();
            run.on_targets(targets, ACTION, async |job| {
                job.context().notice(format!("run {line}"));
                type_line(run, job, &line).await
            })
            .await
        }
    });
    let summary = bench.engine.drive(join_all(work)).await;
    assert!(
        summary
            .iter()
            .all(|summary| summary.is_success() && summary.statuses.len() == 20)
    );
    for (number, run) in runs.iter().enumerate() {
        let mut follower = run.events().follow(0);
        let (mut messages, mut finished) = (0, 0);
        for event in all_events(&mut follower) {
            match &*event {
                Event::Message(event) if event.level == Level::Notice => {
                    assert_eq!(event.message, format!("run {number}"));
                    messages += 1;
                }
                Event::Finished { .. } => finished += 1,
                _ => {}
            }
        }
        assert_eq!([messages, finished], [20, 20], "run {number}");
    }
    // Each line once, and never two writers at a device.
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
        line_duration: Duration::from_millis(300),
        ..Counters::new()
    };
    let bench = Bench::new(5, counters);
    let targets = bench.targets(&["d*"]);
    // A sequence that is the same each time (Lehmer's generator).
    let mut state = 42_u64;
    let mut random = |below: u64| {
        state = state * 48_271 % 0x7fff_ffff;
        state % below
    };
    let plan: Vec<(u64, bool, usize)> = (0..RUNS)
        .map(|_| {
            (
                random(60_000),
                random(2) == 0,
                usize::try_from(random(3)).expect("small"),
            )
        })
        .collect();
    let runs = plan
        .iter()
        .enumerate()
        .map(|(number, &(after, cancels, again))| {
            let (bench, targets) = (&bench, &targets);
            async move {
                let after = Duration::from_millis(after);
                let run = bench.begin(RunLimits {
                    concurrency: NonZeroUsize::new(3).expect("some"),
                    deadline: (!cancels).then_some(after),
                    ..RunLimits::default()
                });
                let work = run.on_targets(targets, ACTION, async |job| {
                    type_line(&run, job, &format!("{number} {}", job.target)).await
                });
                let end = async {
                    if cancels {
                        wait_for(after).await;
                        let reasons = [interrupted(), Reason::ClientGone, Reason::Shutdown];
                        for reason in reasons.into_iter().take(again + 1) {
                            run.cancel(reason);
                            wait_for(Duration::from_millis(10)).await;
                        }
                    }
                };
                tokio::join!(work, end).0
            }
        });
    let summary = bench.engine.drive(join_all(runs)).await;
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
    // Whatever is reported as done was sent.
    for (number, summary) in summary.iter().enumerate() {
        assert_eq!(summary.statuses.len(), 5);
        for (target, status) in &summary.statuses {
            if *status == Status::Success {
                assert!(times.contains_key(&format!("{number} {target}")));
            }
        }
    }
    // However the runs ended, each session was closed.
    let [logins, closes] = bench.counters.counts();
    assert!(
        logins > 0 && logins == closes,
        "{logins} logins, {closes} goodbyes"
    );
    let stopped = summary
        .iter()
        .filter(|summary| summary.reason.is_some())
        .count();
    assert!((20..200).contains(&stopped), "{stopped} runs were stopped");
}

/// Starts practice switches that are reached over SSH like any device.
async fn practice(count: usize) -> (Vec<PracticeSwitch>, tempfile::TempDir, Bench) {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut switches, mut known_hosts) = (Vec::new(), String::new());
    let file = folder.path().join("known_hosts");
    let mut text = format!(
        "version: 2\nconfig:\n  transport: remote\n  remote:\n    remote-transport: practice\n    host: 127.0.0.1\n    \
         user: admin\n    password: let-me-in\n    enable_password: let-me-configure\n    \
         known_hosts_file: {}\ntargets:\n",
        file.display()
    );
    for number in 0..count {
        let switch = PracticeSwitch::start(PracticeSettings::default())
            .await
            .expect("a switch");
        let (port, key) = (switch.address().port(), switch.host_key());
        let _ = writeln!(known_hosts, "[127.0.0.1]:{port} {key}");
        let _ = writeln!(
            text,
            "- {{name: s{number}, config: {{remote: {{port: {port}}}}}}}"
        );
        switches.push(switch);
    }
    std::fs::write(file, known_hosts).expect("it can be written");
    (
        switches,
        folder,
        Bench::with_inventory(&text, Counters::new()),
    )
}

/// `DEVGATE_RUNS=1000` requests more of them, and prints their cost.
#[tokio::test]
async fn runs_at_once_reach_their_devices_over_ssh() {
    const SWITCHES: usize = 20;
    let requested_runs = std::env::var("DEVGATE_RUNS")
        .ok()
        .and_then(|text| text.parse().ok());
    let runs = requested_runs.unwrap_or(20);
    let (switches, _folder, bench) = practice(SWITCHES).await;
    let targets = bench.targets(&["s*"]);
    let before = memory();
    let begun = std::time::Instant::now();
    let runs: Vec<Run> = (0..runs)
        .map(|_| bench.begin(RunLimits::default()))
        .collect();
    let work = runs.iter().map(|run| async {
        run.on_targets(&targets, ACTION, async |job| {
            with_session(run, job, SessionAccess::Read, async |ctx, transport| {
                Ok(transport.verify(ctx).await?)
            })
            .await?;
            Ok(TargetResult::success(json!({})))
        })
        .await
    });
    let summary = bench.engine.drive(join_all(work)).await;
    let took = begun.elapsed();
    assert!(
        summary
            .iter()
            .all(|summary| summary.is_success() && summary.statuses.len() == SWITCHES)
    );
    if requested_runs.is_some() {
        use std::io::Write as _;
        let grown = memory().saturating_sub(before);
        let runs = runs.len();
        // Not captured: a caller that requests more wants the figures.
        let _ = writeln!(
            std::io::stderr(),
            "{runs} runs x {SWITCHES} switches: {took:.2?}, {grown} KiB more at the peak"
        );
    }
    for switch in switches {
        switch.stop().await;
    }
}

/// Returns the peak memory of this process, in KiB.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.trim().parse().ok());
    kibibytes.unwrap_or_default()
}
