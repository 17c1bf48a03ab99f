//! Round trips: what a type renders, applied to a simulated device, is what it reads there.
//!
//! For each type, random resources are made on an empty device and on one that has others, are changed and removed. The
//! environment variables `ROUND_TRIPS` (how many resources for each type), `ROUND_TRIPS_SEED` and `ROUND_TRIPS_ONLY` (a part
//! of the types' names) change what is tried.

mod hints;
mod ios;
mod junos;
mod property;
mod random;
mod session;
mod words;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::{env, thread};

use devgate_devices::ResourceType;

use hints::Hints;
use ios::{Eos, Ios};
use junos::{Junos, JunosCli};
use property::RoundTrips;
use session::Simulator;

/// How many resources of each type are made.
const TRIES: usize = 200;

const SEED: u64 = 20_261_124;

/// How many failures of one type are told.
const TOLD: usize = 2;

#[test]
fn what_is_written_to_ios_is_read_again() {
    round_trips::<Ios>("cisco_ios", include_str!("hints/cisco_ios.yaml"));
}

#[test]
fn what_is_written_to_eos_is_read_again() {
    round_trips::<Eos>("arista_eos", include_str!("hints/arista_eos.yaml"));
}

#[test]
fn what_is_written_to_junos_over_netconf_is_read_again() {
    round_trips::<Junos>("junos", include_str!("hints/junos.yaml"));
}

#[test]
fn what_is_written_to_junos_at_its_command_line_is_read_again() {
    round_trips::<JunosCli>("junos_cli", include_str!("hints/junos.yaml"));
}

/// Tries every type of a family.
#[expect(clippy::print_stdout, reason = "who sees a failure needs its seed")]
fn round_trips<S: Simulator>(family: &str, hints: &str) {
    let number = |name: &str| env::var(name).ok().and_then(|text| text.parse().ok());
    let seed = number("ROUND_TRIPS_SEED").unwrap_or(SEED);
    let tries = number("ROUND_TRIPS").map_or(TRIES, |tries| tries as usize);
    let only = env::var("ROUND_TRIPS_ONLY").unwrap_or_default();
    println!("{family}: {tries} tries, ROUND_TRIPS_SEED={seed}");
    let hints = hints::read(hints);
    let family = devgate_devices::all()
        .find(|built_in| built_in.name() == family)
        .expect("it is built in")
        .read();
    let types: Vec<&dyn ResourceType> = family.types().collect();
    for (name, _) in &hints {
        let is_there = types.iter().any(|kind| kind.schema().name() == name);
        assert!(is_there, "there is no type `{name}` any more");
    }
    let (next, report) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(kind) = types.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if !kind.schema().name().contains(&only) {
                        continue;
                    }
                    let known = hints.iter().find(|(name, _)| name == kind.schema().name());
                    let problem = tried::<S>(*kind, known.map(|(_, hints)| hints), seed, tries);
                    let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
                    report.extend(problem);
                }
            });
        }
    });
    let report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(report.is_empty(), "{}", report.join("\n"));
}

/// Tries one type, and returns what went wrong.
fn tried<S: Simulator>(
    kind: &dyn ResourceType,
    hints: Option<&Hints>,
    seed: u64,
    tries: usize,
) -> Option<String> {
    let none = Hints::default();
    let hints = hints.unwrap_or(&none);
    let (name, round_trips) = (kind.schema().name(), RoundTrips { kind, hints, seed });
    if hints.skip.is_some() {
        return None;
    }
    let attempts = (0..tries).map(|number| (number, round_trips.attempt::<S>(number)));
    let failures: Vec<_> = attempts
        .flat_map(|(number, failures)| failures.into_iter().map(move |failure| (number, failure)))
        .collect();
    let told = failures.iter().take(TOLD).map(|(number, failure)| {
        format!(
            "{name}, try {number}: {}\n{}",
            failure.problem, failure.story
        )
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| format!("{name}: {} failures\n{}", failures.len(), told.join("\n")))
}
