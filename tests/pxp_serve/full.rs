//! Full disks: nothing is started that could not be reported, and the result of each target is reported in
//! any case.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::module::{Module, fits};
use crate::support::lab::{command_for, output};
use crate::support::run::Run;

/// A module whose output files are on a disk of two megabytes.
struct Small {
    module: Module,
    spool: PathBuf,
}

impl Small {
    fn new() -> Self {
        let mut module = Module::new();
        module.targets(&["sw1".to_owned()]);
        module.task(
            "fill",
            "echo $$ >\"$PT_dir/begun\"; while [ ! -e \"$PT_dir/go\" ]; do sleep 0.1; done
             printf '{\"text\":\"'; head -c \"$PT_size\" /dev/zero | tr '\\0' x; printf '\"}'",
        );
        let spool = module.path().join("spool");
        fs::create_dir(&spool).expect("a folder can be made");
        output(
            command_for("mount")
                .args(["-t", "tmpfs", "-o", "size=2m", "none"])
                .arg(&spool),
        );
        Self { module, spool }
    }

    /// Requests a text of `size` bytes; `meanwhile` is called when the task has started.
    fn call(&mut self, size: usize, meanwhile: impl FnOnce(&Path)) -> Run {
        let parameters = json!({"size": size, "dir": self.module.path()});
        let input = json!({"targets": "sw1", "task": "m::fill", "parameters": parameters});
        let mut request = self.module.request(input);
        let file = |name: &str| self.spool.join(name);
        request["output_files"] = json!({"stdout": file("stdout"), "stderr": file("stderr"), "exitcode": file("exitcode")});
        let running = self.module.start("run_task", &request);
        self.module.wait_for("begun");
        meanwhile(&self.spool);
        self.module.project.write("go", "");
        running.finish()
    }

    /// Returns the content of an output file.
    fn text_of(&self, name: &str) -> String {
        fs::read_to_string(self.spool.join(name)).expect("it is there")
    }

    /// Returns the only item of the results in the output file, and checks that they match the schema.
    fn item(&self, mut run: Run) -> Value {
        run.stdout = self.text_of("stdout");
        fits("run_task", &run);
        run.item()
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // The test may already be failing: its error must stay visible.
        let _ = command_for("umount").arg("-l").arg(&self.spool).status();
    }
}

/// Fills the rest of the disk except for `but` bytes.
fn fill(spool: &Path, but: u64) {
    let mut file = File::create(spool.join("filler")).expect("it is ours");
    while file.write_all(&[0; 4096]).is_ok() {}
    let length = file.metadata().expect("it is ours").len();
    file.set_len(length.saturating_sub(but))
        .expect("it is ours");
}

#[test]
fn an_action_whose_results_would_not_fit_on_the_disk_is_not_started() {
    let mut small = Small::new();
    fill(&small.spool, 100 << 10);
    let input = json!({"targets": "sw1", "task": "m::fill"});
    let mut request = small.module.request(input);
    let file = |name: &str| small.spool.join(name);
    request["output_files"] =
        json!({"stdout": file("stdout"), "stderr": file("stderr"), "exitcode": file("exitcode")});
    let run = small.module.start("run_task", &request).finish();
    assert_eq!(run.code(), Some(5), "{run}");
    assert!(run.stderr.contains("No space left"), "{run}");
    assert!(!small.module.path().join("begun").exists());
    assert!(!small.spool.join("exitcode").exists());
}

#[test]
fn results_that_are_read_on_a_full_disk_are_reported() {
    let mut small = Small::new();
    let run = small.call(50_000, |spool| fill(spool, 0)).succeeded();
    assert_eq!(small.text_of("exitcode"), "0\n", "{run}");
    let item = small.item(run);
    assert_eq!(item["value"]["text"].as_str().map(str::len), Some(50_000));
}

#[test]
fn results_that_are_larger_than_the_disk_are_saved_elsewhere_and_their_statuses_reported() {
    let mut small = Small::new();
    let run = small.call(5_000_000, |_| ()).succeeded();
    assert_eq!(small.text_of("exitcode"), "0\n", "{run}");
    assert!(
        small.text_of("stderr").contains("cannot write all results"),
        "{run}"
    );
    let item = small.item(run);
    assert_eq!(item["status"], "success", "{item}");
    let path = item["value"]["_file"]["path"]
        .as_str()
        .expect("a reference");
    assert!(fs::metadata(path).expect("it is kept").len() > 5_000_000);
}

#[test]
fn what_fits_nowhere_is_lost_and_the_statuses_are_reported() {
    let mut small = Small::new();
    let state = small.module.path().join("home/.local");
    symlink(&small.spool, state).expect("a link can be made");
    let run = small.call(5_000_000, |_| ()).failed();
    assert_eq!(small.text_of("exitcode"), "1\n", "{run}");
    assert!(small.text_of("stderr").contains("are not saved"), "{run}");
    let item = small.item(run);
    assert_eq!(item["status"], "success", "{item}");
    assert_eq!(
        item["value"]["_error"]["kind"], "devgate/not-kept",
        "{item}"
    );
}

#[test]
fn a_summary_is_on_standard_output_where_the_files_cannot_be_written() {
    let mut small = Small::new();
    let run = small.call(10, |spool| {
        fs::create_dir(spool.join("exitcode")).expect("a folder can be made");
    });
    assert_eq!(run.code(), Some(5), "{run}");
    assert_eq!(run.item()["status"], "success", "{run}");
    fits("run_task", &run);
}
