//! No secret is shown: not in what devgate says at its most talkative, not in the process list, not in a file.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::support::lab::{Device, pause};
use crate::support::project::Project;
use crate::support::run::CANARY;

#[test]
fn at_the_finest_log_level_no_run_shows_a_secret_or_leaves_one() {
    let device = Device::lease();
    let mut project = Project::with(&device);
    project.add(
        "stranger",
        &device,
        json!({ "password": "a-wrong-canary-pass" }),
    );
    let neighbor = format!("{} 192.0.2.8", 65000 + device.number());
    let secret = json!({ "remote_as": 64999, "password": "a-canary-bgp" });
    let manifest = project.manifest(json!({ "frr_bgp_neighbor": { neighbor: secret } }));
    project.write(
        "modules/demo/tasks/tell.json",
        r#"{ "input_method": "stdin", "remote": true, "parameters": { "token": { "type": "String", "sensitive": true } } }"#,
    );
    // It tells all it is given, as careless tasks do.
    project.write(
        "modules/demo/tasks/tell.sh",
        "#!/bin/sh\ninput=$(cat)\necho \"$input\"\necho \"$input\" >&2\necho done\n",
    );
    project.write("modules/demo/tasks/ask.json", r#"{ "remote": true }"#);
    let asks = "devgate session exec --log-level trace show version\n\
                devgate session exec --log-level trace show nonsense || echo done\n";
    project.write("modules/demo/tasks/ask.sh", &format!("#!/bin/sh\n{asks}"));
    let asks = project.write("ask.sh", asks);
    let params = project.write("params.json", r#"{ "token": "a-canary-token" }"#);
    let params = format!("@{}", params.display());

    let watch = Watch::start();
    for format in ["human", "json"] {
        let trace = |arguments: &str| {
            project.devgate(&format!("{arguments} --format {format} --log-level trace"))
        };
        trace("verify -t router").succeeded();
        trace("verify -t stranger").failed();
        trace("facts -t router").succeeded();
        trace(&format!("device --target router --apply {manifest}")).succeeded();
        trace("device --target router --resource frr_bgp_neighbor").succeeded();
        trace("inventory show").succeeded();
        trace("task run demo::ask -t router")
            .succeeded()
            .says(&["done"]);
        project
            .devgate(&format!(
                "session run -t router --log-level trace -- sh {}",
                asks.display()
            ))
            .succeeded()
            .says(&["done"]);
        trace(&format!("task run demo::tell -t router --params {params}"))
            .succeeded()
            .says(&["done"]);
    }
    let leaks = watch.finish();
    assert!(
        leaks.is_empty(),
        "the process list shows secrets:\n{}",
        leaks.into_iter().collect::<Vec<_>>().join("\n")
    );

    let left: Vec<_> = project
        .left_behind()
        .into_iter()
        .filter(|(_, text)| text.contains(CANARY))
        .collect();
    assert!(
        left.is_empty(),
        "the runs leave secrets in files: {left:#?}"
    );
    let temporary = fs::read_dir(project.path().join("tmp"))
        .expect("the folder is there")
        .count();
    assert_eq!(temporary, 0, "the runs leave temporary files");
}

/// Looks at the command lines and environments of all that the runs start, as `ps` does, again and again.
struct Watch {
    stop: Arc<AtomicBool>,
    found: std::thread::JoinHandle<BTreeSet<String>>,
}

impl Watch {
    fn start() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let found = std::thread::spawn(move || {
            let mut found = BTreeSet::new();
            while !stopped.load(Ordering::SeqCst) {
                for process in fs::read_dir("/proc").expect("/proc is there").flatten() {
                    let name = process.file_name().to_string_lossy().into_owned();
                    if name.parse().is_ok_and(is_ours) {
                        found.extend(shown_secrets(&process.path()));
                    }
                }
                pause(Duration::from_millis(2));
            }
            found
        });
        Self { stop, found }
    }

    fn finish(self) -> BTreeSet<String> {
        self.stop.store(true, Ordering::SeqCst);
        self.found.join().expect("the watch does not panic")
    }
}

/// Whether this very process started it, or what it started: others on this machine may know canaries too.
fn is_ours(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name stands in parentheses and may hold anything; then come the state and the parent.
    let parent = stat
        .rsplit(") ")
        .next()
        .and_then(|rest| rest.split(' ').nth(1));
    match parent.and_then(|parent| parent.parse().ok()) {
        None | Some(0) => false,
        Some(parent) => parent == std::process::id() || is_ours(parent),
    }
}

fn shown_secrets(process: &Path) -> Vec<String> {
    let files = ["cmdline", "environ"].into_iter();
    files
        .map(|file| {
            let shown = fs::read(process.join(file)).unwrap_or_default();
            format!(
                "{file}: {}",
                String::from_utf8_lossy(&shown).replace('\0', " ")
            )
        })
        .filter(|shown| shown.contains(CANARY))
        .collect()
}
