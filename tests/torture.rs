//! devgate reads a device's output correctly, however badly its terminal behaves. Each command of a random
//! plan is compared with the output that the device intended.
//!
//! `DEVGATE_TORTURE=COMMANDS[:SEED[:HABIT]]` sets the number of commands, another seed, or a single habit.

#[path = "support/client.rs"]
#[expect(dead_code, reason = "its own test uses more of it")]
mod client;
#[path = "support/torture/mod.rs"]
mod device;
#[path = "support/folder.rs"]
#[expect(dead_code, reason = "its own tests use more of it")]
mod folder;
#[path = "torture/plan.rs"]
mod plan;
#[path = "torture/raw.rs"]
mod raw;
#[path = "torture/report.rs"]
mod report;
#[path = "torture/session.rs"]
mod session;

use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Condvar, Mutex};

use device::Torture;
use folder::Project;
use plan::{Batch, PlanOptions};
use report::Report;

/// The number of concurrent sessions: they wait more than they compute.
const AT_ONCE: usize = 24;

#[test]
fn none_of_hundreds_of_commands_is_read_wrong_and_hardly_one_is_not_read() {
    let options = PlanOptions::of_environment();
    let device = Torture::start(options.seed);
    let batches = plan::draw(&device, &options);
    let project = Project::new();
    session::describe(&project, &device, &batches);
    let work = Work::new(batches, options.is_verbose);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| work.run_batches(&project, &device));
        }
    });
    let report = work.report.into_inner().expect("no worker has panicked");
    if options.is_verbose {
        // Not captured: a user who asks for more commands also wants the figures of a successful run.
        let _ = writeln!(std::io::stderr(), "{report}");
    }
    assert!(report.holds(), "seed {}\n{report}", options.seed);
}

/// The work to be done, shared by the workers.
struct Work {
    open: Mutex<Open>,
    changed: Condvar,
    report: Mutex<Report>,
    is_verbose: bool,
}

struct Open {
    batches: VecDeque<Batch>,
    at_work: usize,
}

impl Work {
    fn new(batches: Vec<Batch>, is_verbose: bool) -> Self {
        let batches = batches.into();
        Self {
            open: Mutex::new(Open {
                batches,
                at_work: 0,
            }),
            changed: Condvar::new(),
            report: Mutex::default(),
            is_verbose,
        }
    }

    fn next(&self) -> Option<Batch> {
        let mut open = self.open.lock().expect("no worker has panicked");
        loop {
            if let Some(batch) = open.batches.pop_front() {
                open.at_work += 1;
                return Some(batch);
            }
            if open.at_work == 0 {
                return None;
            }
            open = self.changed.wait(open).expect("no worker has panicked");
        }
    }

    fn run_batches(&self, project: &Project, device: &Torture) {
        while let Some(batch) = self.next() {
            let (judged, rest) = session::run(project, device, &batch);
            let mut report = self.report.lock().expect("no worker has panicked");
            judged.into_iter().for_each(|judged| report.add(judged));
            if self.is_verbose {
                // Not captured: a user who asks for more commands wants to see the progress.
                report.print_new();
            }
            drop(report);
            let mut open = self.open.lock().expect("no worker has panicked");
            // Commands that were not sent because the session ended are sent in another session.
            open.batches.extend(rest);
            open.at_work -= 1;
            self.changed.notify_all();
        }
    }
}
