//! No secret is shown: not in devgate's output at the finest log level, not in the process list, not in a
//! file.

use std::fs;

use serde_json::json;

use crate::support::lab::Device;
use crate::support::process_list::ProcessList;
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
    // The task prints all of its input, as careless tasks do.
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

    let processes = ProcessList::watch(project.path());
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
            .shows(&["done"]);
        project
            .devgate(&format!(
                "session run -t router --log-level trace -- sh {}",
                asks.display()
            ))
            .succeeded()
            .shows(&["done"]);
        trace(&format!("task run demo::tell -t router --params {params}"))
            .succeeded()
            .shows(&["done"]);
    }
    processes.assert_no_secret();

    let remaining: Vec<_> = project
        .remaining_files()
        .into_iter()
        .filter(|(_, text)| text.contains(CANARY))
        .collect();
    assert!(
        remaining.is_empty(),
        "the runs leave secrets in files: {remaining:#?}"
    );
    let temporary = fs::read_dir(project.path().join("tmp"))
        .expect("the folder is there")
        .count();
    assert_eq!(temporary, 0, "the runs leave temporary files");
}
