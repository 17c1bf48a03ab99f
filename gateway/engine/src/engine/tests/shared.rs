//! What runs share: sessions, devices, proxies, files.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::sync::atomic::Ordering;

use devgate_core::lock::locked;
use futures_util::future::join_all;
use tokio::time::timeout;

use super::counter::wait_for;
use super::*;
use crate::hosts::TaskBudget;
use crate::proxies::{HostUse, Hosts};
use crate::run::RunSummary;
use crate::session::BusyPolicy;

#[test]
fn a_device_is_one_however_its_address_is_spelled() {
    let text = "version: 2\nconfig: {transport: remote, remote: {remote-transport: counter}}\ntargets:\n\
                - {name: a, config: {remote: {host: Switch}}}\n\
                - {name: b, config: {remote: {host: switch, port: 7, proxyjump: none}}}\n\
                - {name: c, config: {remote: {host: switch, run-on: 'localhost, localhost'}}}\n\
                - {name: d, config: {remote: {host: '2001:db8::1'}}}\n\
                - {name: e, config: {remote: {host: '2001:DB8:0::1'}}}\n\
                - {name: f, config: {remote: {host: switch, port: 8}}}\n\
                - {name: g, config: {remote: {host: switch, run-on: p1}}}\n\
                - {name: h, config: {remote: {host: switch, proxyjump: j}}}\n";
    let bench = Bench::with_inventory(text, Counters::new());
    let targets = bench.targets(&["a", "b", "c", "d", "e", "f", "g", "h"]);
    let device_keys: Vec<_> = targets
        .iter()
        .map(|target| bench.registry.device_key(target))
        .collect();
    assert_eq!([device_keys[1], device_keys[2]], [device_keys[0]; 2]);
    assert_eq!(device_keys[4], device_keys[3]);
    let different: HashSet<_> = device_keys.into_iter().collect();
    assert_eq!(different.len(), 5);
}

/// Returns the hosts of a run.
fn hosts<'v>(bench: &'v Bench, run: &'v Run) -> Hosts<'v> {
    let services = &run.services;
    Hosts::new(
        HostUse::Tasks { limit: None },
        &bench.inventory,
        run.run_context(),
        &services.loads,
        &services.turns,
    )
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_run_leaves_the_sessions_of_another_run_open() {
    let bench = Bench::new(1, Counters::new());
    let targets = bench.targets(&["d0"]);
    let twice = [targets.clone(), targets.clone()].concat();
    let (short, long) = (bench.begin(RunLimits::default()), bench.begin_sequential());
    let short_work = short.on_targets(&targets, ACTION, async |job| {
        wait_for(Duration::from_secs(1)).await;
        type_line(&short, job, "a").await
    });
    // Between its two parts, the other run begins and ends.
    let first = Cell::new(true);
    let long_work = long.on_targets(&twice, ACTION, async |job| {
        if !first.replace(false) {
            wait_for(Duration::from_secs(5)).await;
        }
        type_line(&long, job, "b").await
    });
    let both = async { tokio::join!(short_work, long_work) };
    let (short, long) = bench.engine.drive(both).await;
    assert!(short.is_success() && long.is_success());
    // One session for all of it, closed once.
    assert_eq!(bench.counters.counts(), [1, 1]);
}

#[tokio::test(start_paused = true)]
async fn two_runs_do_not_type_on_one_device_at_once() {
    let counters = Counters {
        line_duration: Duration::from_millis(100),
        ..Counters::new()
    };
    let bench = Bench::new(1, counters);
    let targets = bench.targets(&["d0"]);
    let runs: Vec<Run> = (0..5).map(|_| bench.begin(RunLimits::default())).collect();
    let work = runs
        .iter()
        .map(|run| run.on_targets(&targets, ACTION, async |job| type_line(run, job, "a").await));
    let summary = bench.engine.drive(join_all(work)).await;
    assert!(summary.iter().all(RunSummary::is_success));
    assert_eq!(bench.counters.most_writers.load(Ordering::SeqCst), 1);
    assert_eq!(locked(&bench.counters.seen).lines.len(), 5);
}

#[tokio::test(start_paused = true)]
async fn tasks_of_two_runs_take_turns_at_a_device_and_on_a_proxy() {
    let bench = Bench::new(1, Counters::new());
    let (device, proxy) = (&bench.targets(&["d0"])[0], &bench.targets(&["proxy"])[0]);
    let device = bench.registry.device_key(device);
    let runs = [
        bench.begin(RunLimits::default()),
        bench.begin(RunLimits::default()),
    ];
    let [one, other] = [0, 1].map(|at| hosts(&bench, &runs[at]));
    let soon = Duration::from_secs(10);
    let turn = one.device_turn(device, &TaskBudget::default()).await;
    let waiting = timeout(soon, other.device_turn(device, &TaskBudget::default())).await;
    assert!(waiting.is_err(), "another run's task is at the device");
    drop(turn);
    let turn = timeout(soon, other.device_turn(device, &TaskBudget::default())).await;
    assert!(turn.is_ok());
    drop(turn);
    assert_eq!(
        bench.engine.services.turns.len(),
        0,
        "nobody is at a device"
    );

    let pools = [one.pool(proxy).await, other.pool(proxy).await].map(|pool| pool.expect("a pool"));
    let slot = pools[0].slot().await.expect("a seat");
    assert!(
        timeout(soon, pools[1].slot()).await.is_err(),
        "it has room for one"
    );
    drop(slot);
    assert!(timeout(soon, pools[1].slot()).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn runs_take_turns_on_a_proxy_that_has_room_for_one() {
    let bench = Bench::new(0, Counters::new());
    let proxy = bench.targets(&["proxy"]);
    let many = [proxy.clone(), proxy.clone(), proxy.clone(), proxy.clone()].concat();
    let order = RefCell::new(Vec::new());
    let runs = [bench.begin_sequential(), bench.begin_sequential()];
    let work = [("long", &many), ("short", &proxy)];
    let work = runs.iter().zip(work).map(async |(run, (name, targets))| {
        let (hosts, order) = (&hosts(&bench, run), &order);
        let work = run.on_targets(targets, ACTION, async |job| {
            let slot = hosts.pool(job.target).await?.slot().await?;
            order.borrow_mut().push(name);
            wait_for(Duration::from_secs(1)).await;
            drop(slot);
            Ok(TargetResult::success(json!({})))
        });
        assert!(hosts.serve(work).await.is_success());
    });
    join_all(work).await;
    assert_eq!(order.take(), ["long", "short", "long", "long", "long"]);
}

#[tokio::test(start_paused = true)]
async fn a_device_that_a_run_changes_is_busy_for_another_of_this_process() {
    // No other process changes a device of this name.
    let host = format!("busy-{}", std::process::id());
    let text = format!(
        "version: 2\nconfig: {{transport: remote, remote: {{remote-transport: counter, host: {host}}}}}\n\
         targets: [d0, d1]\n"
    );
    let bench = Bench::with_inventory(&text, Counters::new());
    let targets = bench.targets(&["all"]);
    let runs = [
        bench.begin(RunLimits::default()),
        bench.begin(RunLimits::default()),
    ];
    let [first, same, other] =
        [(0, 0), (0, 1), (1, 0)].map(|(run, at)| runs[run].job(&targets[at]));
    let device_locks = &bench.engine.services.device_locks;
    let lock = device_locks
        .take(&first, BusyPolicy::Refuse)
        .await
        .expect("nobody has it");
    // Targets of one run on the same device take turns in the pool.
    let shared = device_locks
        .take(&same, BusyPolicy::Refuse)
        .await
        .expect("it is the run's");
    let refused = device_locks
        .take(&other, BusyPolicy::Refuse)
        .await
        .expect_err("it is busy");
    assert_eq!(refused.kind, "devgate/busy");
    drop((lock, shared));
    device_locks
        .take(&other, BusyPolicy::Refuse)
        .await
        .expect("it is free");
}

#[tokio::test(start_paused = true)]
async fn refused_credentials_are_not_tried_again_in_the_same_run_but_in_another() {
    let counters = Counters {
        refuses: true,
        ..Counters::new()
    };
    let bench = Bench::new(1, counters);
    let target = bench.targets(&["d0"]);
    let thrice = [target.clone(), target.clone(), target.clone()].concat();
    for logins in 1..3 {
        let run = bench.begin_sequential();
        let summary = run.on_targets(&thrice, ACTION, async |job| type_line(&run, job, "a").await);
        assert!(!bench.engine.drive(summary).await.is_success());
        assert_eq!(bench.counters.counts(), [logins, 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_limit_of_open_files_bounds_the_targets_at_once_over_all_runs() {
    let bench = Bench::new(20, Counters::new());
    let engine = Engine::with_target_limit(EngineConfig::for_tests(Duration::ZERO), 7);
    let targets = bench.targets(&["all"]);
    let (now, peak) = (Cell::new(0), Cell::new(0));
    let runs: Vec<Run> = (0..5)
        .map(|_| engine.begin(&bench.registry, RunLimits::default()))
        .collect();
    let work = runs.iter().map(|run| {
        run.on_targets(&targets, ACTION, async |_| {
            now.set(now.get() + 1);
            peak.set(now.get().max(peak.get()));
            wait_for(Duration::from_secs(1)).await;
            now.set(now.get() - 1);
            Ok(TargetResult::success(json!({})))
        })
    });
    let summary = join_all(work).await;
    assert!(
        summary
            .iter()
            .all(|summary| summary.is_success() && summary.statuses.len() == 21)
    );
    assert_eq!(peak.get(), 7);
}
