//! The helper of `tasks.sh`: a bare loop that starts a program many times, and a measurement of a command.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a bench starts processes and tells its figures"
)]

use std::num::NonZeroUsize;
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::sys::wait::waitpid;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["loop", count, at_once, program] => {
            let at_once: NonZeroUsize = at_once.parse().expect("a number");
            bare(program, count.parse().expect("a number"), at_once.get());
        }
        ["measure", program, arguments @ ..] => measure(program, arguments),
        // When it runs with all other benchmarks, there is nothing to do: tasks.sh knows what to compare.
        _ => {}
    }
}

/// Starts a program `count` times, `at_once` at a time, and waits for each.
#[expect(
    clippy::zombie_processes,
    reason = "whichever ends first is waited for"
)]
fn bare(program: &str, count: usize, at_once: usize) {
    let mut running = 0;
    for _ in 0..count {
        if running == at_once {
            waitpid(None, None).expect("a child");
            running -= 1;
        }
        quiet(program).spawn().expect("the program starts");
        running += 1;
    }
    for _ in 0..running {
        waitpid(None, None).expect("a child");
    }
}

/// Runs a command and prints its resource usage, including its children: `cpu_ms wall_ms peak_mib exit`.
fn measure(program: &str, arguments: &[&str]) {
    let started = Instant::now();
    let status = quiet(program)
        .args(arguments)
        .status()
        .expect("the program starts");
    let wall = started.elapsed().as_secs_f64() * 1000.0;
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).expect("a measure");
    let cpu = (usage.user_time() + usage.system_time()).num_microseconds();
    #[expect(clippy::cast_precision_loss, reason = "benches last minutes")]
    let cpu = cpu as f64 / 1000.0;
    let peak = usage.max_rss() / 1024;
    let exit = status.code().unwrap_or(-1);
    println!("{cpu:.1} {wall:.1} {peak} {exit}");
}

fn quiet(program: &str) -> Command {
    let mut command = Command::new(program);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}
