//! devgate as a PXP module on a real router. pxp-agent's stand-in runs all actions through hard links and a
//! one-line script, on streams and in files; and devgate hosts itself.

mod scene;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use self::scene::{MODULES, Scene};
use crate::support::lab::pause;
use crate::support::process_list::ProcessList;
use crate::support::programs::is_running;
use crate::support::pxp::wait_for_end;
use crate::support::pxp_agent::Response;
use crate::support::run::CANARY;

/// Returns the only item of the results.
#[track_caller]
fn item(results: &Value) -> &Value {
    let items = results["items"].as_array();
    let items = items.unwrap_or_else(|| panic!("there are no items: {results:#}"));
    assert_eq!(items.len(), 1, "{results:#}");
    &items[0]
}

/// Asserts that the module's output shows no secret.
#[track_caller]
fn keeps_secrets(response: &Response) {
    let output = [&response.stdout, &response.stderr];
    assert!(
        !output.iter().any(|text| text.contains(CANARY)),
        "{response:#?}"
    );
}

#[test]
fn an_agent_reads_a_router_through_all_modules_both_ways() {
    let scene = Scene::new();
    assert_eq!(scene.agent.modules(), ["gateway", "inline", "script"]);
    let processes = ProcessList::watch(scene.project.path());
    let one = json!({ "targets": "router" });
    let hostname = json!(scene.device.name());
    for module in MODULES {
        for response in scene.both(module, "verify", &one) {
            assert_eq!(item(response.succeeded())["status"], "success");
            keeps_secrets(&response);
        }
        for response in scene.both(module, "facts", &json!({ "targets": ["router"] })) {
            let facts = &item(response.succeeded())["value"];
            assert_eq!(
                facts.pointer("/networking/hostname"),
                Some(&hostname),
                "{facts:#}"
            );
            keeps_secrets(&response);
        }
        let task = json!({ "targets": "router", "task": "lab::hostname" });
        for response in scene.both(module, "run_task", &task) {
            let output = item(response.succeeded())["value"]["_output"].to_string();
            assert!(output.contains(scene.device.name()), "{output}");
            keeps_secrets(&response);
        }
        let interface = json!({ "targets": "router", "type": "frr_interface", "title": "swp1" });
        for response in scene.both(module, "resource_get", &interface) {
            let resources = &item(response.succeeded())["value"]["resources"];
            let address = format!("10.0.{}.1/24", scene.device.number());
            assert!(resources.to_string().contains(&address), "{resources:#}");
            keeps_secrets(&response);
        }
    }
    processes.assert_no_secret();
    let remaining = scene.project.remaining_files();
    let leaks: Vec<_> = remaining
        .iter()
        .filter(|(_, text)| text.contains(CANARY))
        .collect();
    assert!(leaks.is_empty(), "secrets are left in files: {leaks:#?}");
}

#[test]
fn an_agent_changes_a_router_and_sees_that_nothing_is_left_to_do() {
    let scene = Scene::new();
    for (number, module) in MODULES.into_iter().enumerate() {
        let route = format!("10.6{number}.0.0/16");
        let title = format!("{route} via 10.0.0.9");
        let run = |ensure: &str, noop: bool| {
            let attributes = json!({ "ensure": ensure, "distance": 20 });
            let manifest = json!({ "frr_static_route": { &title: attributes } });
            json!({ "targets": "router", "manifest": manifest, "noop": noop })
        };
        let summary = |response: &Response, key: &str| {
            keeps_secrets(response);
            item(response.succeeded())["value"]["summary"][key].clone()
        };
        let is_there = || {
            scene
                .config()
                .contains(&format!("ip route {route} 10.0.0.9 20"))
        };
        for response in scene.both(module, "device_run", &run("present", true)) {
            assert_eq!(summary(&response, "out_of_sync"), 1);
            assert!(!is_there(), "noop has changed the router");
        }
        let [first, second] = scene.both(module, "device_run", &run("present", false));
        assert_eq!(
            [summary(&first, "changed"), summary(&second, "changed")],
            [1, 0]
        );
        assert!(is_there(), "{}", scene.config());
        let listing = json!({ "targets": "router", "type": "frr_static_route", "title": title });
        for response in scene.both(module, "resource_get", &listing) {
            let resources = &item(response.succeeded())["value"]["resources"];
            assert_eq!(resources[0]["distance"], 20, "{resources:#}");
        }
        let response = scene.in_files(module, "device_run", &run("absent", false));
        assert_eq!(summary(&response, "changed"), 1);
        assert!(!is_there(), "{}", scene.config());
    }
}

#[test]
fn what_goes_wrong_on_the_path_to_a_router_is_a_failure_with_results() {
    let scene = Scene::new();
    for module in MODULES {
        for response in scene.both(
            module,
            "verify",
            &json!({ "targets": ["stranger", "router"] }),
        ) {
            assert_eq!(response.exitcode, Some(1));
            let items = &response.failed()["items"];
            assert_eq!(items[0]["status"], "failure", "{items:#}");
            let report = items[0]["value"]["_error"]["msg"]
                .as_str()
                .unwrap_or_default();
            assert!(report.contains("password"), "{items:#}");
            assert_eq!(items[1]["status"], "success", "{items:#}");
            keeps_secrets(&response);
        }
        for (action, input, report) in [
            ("verify", json!({ "targets": "ruoter" }), "ruoter"),
            (
                "run_task",
                json!({ "targets": "router", "task": "lab::hostnam" }),
                "lab::hostnam",
            ),
            (
                "device_run",
                json!({ "targets": "router", "manifest": { "frr_static_rout": { "x": {} } } }),
                "frr_static_rout",
            ),
            ("device_run", json!({ "targets": "router" }), "manifest"),
        ] {
            for response in scene.both(module, action, &input) {
                let error = response.failed().to_string();
                assert!(
                    error.contains("_error") && error.contains(report),
                    "{error}"
                );
                keeps_secrets(&response);
            }
        }
        // Input that does not match the schemas does not even start a run.
        for input in [
            json!({}),
            json!({ "targets": "router", "target": "router" }),
        ] {
            let refused = scene.agent.run(module, "verify", &input).map(drop);
            assert_eq!(refused, Err(format!("invalid input for '{module} verify'")));
        }
    }
}

#[test]
fn sigterm_to_the_group_of_the_pid_file_ends_an_action_and_the_files_report_it() {
    let scene = Scene::new();
    let start_file = scene.project.path().join("begun");
    for module in MODULES {
        let stay = json!({ "targets": "router", "task": "lab::stay" });
        let transaction = scene.transaction();
        let ongoing = scene.agent.begin(module, "run_task", &stay, &transaction);
        let ongoing = ongoing.expect("it is begun");
        let child = wait_for_line(&start_file);
        ongoing.signal(Signal::SIGTERM);
        let response = ongoing.finish().expect("its files are written");
        response.assert_file_order();
        assert_eq!(response.exitcode, Some(143), "{response:#?}");
        assert_eq!(
            item(response.failed())["status"],
            "failure",
            "{response:#?}"
        );
        assert!(!is_running(&child), "its task still runs");
        fs::remove_file(&start_file).expect("it is there");
    }
    // The router has been released.
    let response = scene.in_files("gateway", "verify", &json!({ "targets": "router" }));
    response.succeeded();
}

/// Waits until a file exists and has a complete line, and returns its text.
fn wait_for_line(path: &Path) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let text = fs::read_to_string(path).unwrap_or_default();
        if text.ends_with('\n') {
            return text;
        }
        assert!(
            Instant::now() < deadline,
            "{} does not come",
            path.display()
        );
        pause(Duration::from_millis(20));
    }
}

#[test]
fn where_files_cannot_be_written_the_exit_code_is_5_and_the_router_is_as_before() {
    let scene = Scene::new();
    let before = scene.config();
    let route = json!({ "frr_static_route": { "10.69.0.0/16 via 10.0.0.9": {} } });
    let input = json!({ "targets": "router", "manifest": route });
    for module in MODULES {
        let transaction = scene.transaction();
        let taken = scene
            .project
            .path()
            .join("spool")
            .join(&transaction)
            .join("stdout");
        fs::create_dir_all(taken).expect("a folder can be made");
        let refused = scene
            .agent
            .run_in_files(module, "device_run", &input, &transaction);
        assert_eq!(
            refused.map(drop),
            Err("failed to write output on file".to_owned())
        );
    }
    assert_eq!(scene.config(), before);
}

#[test]
fn devgate_hosts_devgate() {
    let scene = Scene::new();
    let links = tempfile::tempdir().expect("a temporary folder can be made");
    for module in MODULES {
        let file = scene.modules.path().join(module);
        symlink(file, links.path().join(module)).expect("a link can be made");
    }
    let links = links.path().display();
    let hostname = json!(scene.device.name());
    let processes = ProcessList::watch(scene.project.path());
    for module in MODULES {
        let run = |words: &str| {
            let folders = format!("--modules-dir {links} --config-dir conf");
            let words =
                format!("pxp run {module} {words} {folders} --format json --log-level trace");
            scene.project.devgate(&words)
        };
        let facts = "facts --input {\"targets\":\"router\"}";
        let results = &run(facts).succeeded().json()["results"];
        let found = item(results).pointer("/value/networking/hostname");
        assert_eq!(found, Some(&hostname), "{results:#}");
        let spool = format!("--nonblocking --transaction {module} --spool-dir hosted");
        run(&format!("{facts} {spool}")).succeeded();
        let report = wait_for_end(&scene.project, module, "hosted");
        assert_eq!(report["status"], "success", "{report:#}");
        let found = item(&report["results"]).pointer("/value/networking/hostname");
        assert_eq!(found, Some(&hostname), "{report:#}");
        // It fails as it would alone: its results match the schema, and its exit code agrees with them.
        let document = run("verify --input {\"targets\":\"stranger\"}")
            .failed()
            .json();
        assert_eq!(document["exitcode"], 1, "{document:#}");
        assert_eq!(
            item(&document["results"])["status"],
            "failure",
            "{document:#}"
        );
    }
    let listed = format!("pxp list --modules-dir {links} --config-dir conf --format json");
    let listed = scene.project.devgate(&listed).succeeded().json();
    for module in listed["modules"].as_array().expect("it is a list") {
        assert_eq!(
            [&module["available"], &module["remarks"]],
            [&json!(true), &json!([])]
        );
    }
    processes.assert_no_secret();
}
