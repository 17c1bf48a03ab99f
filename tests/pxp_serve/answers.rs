//! The module's metadata: requested without arguments, with `metadata`, through a link and through a
//! script.

use devgate_schemas::pxp::Metadata;

use super::module::{BINARY, Module};
use crate::support::project::Project;
use crate::support::run::Running;

#[test]
fn metadata_are_the_same_however_the_module_is_called() {
    let (link, script) = (Module::new(), Module::script("--log-level debug"));
    let mut all = Vec::new();
    for module in [&link, &script] {
        for words in [&[][..], &["metadata"]] {
            let mut command = module.command(words);
            // The metadata does not depend on any project.
            command
                .env("BOLT_PROJECT", "/nowhere")
                .env("BOLT_INVENTORY", "{");
            let run = Running::start(command).finish().succeeded();
            assert_eq!(run.stderr, "");
            all.push(run.stdout);
        }
    }
    all.push(Project::new().devgate("pxp serve").succeeded().stdout);
    let read = Metadata::read(all[0].as_bytes()).expect("they are metadata");
    assert_eq!((read.remarks.len(), read.actions.len()), (0, 5));
    assert!(all.iter().all(|metadata| *metadata == all[0]), "{all:#?}");
}

#[test]
fn a_module_knows_its_actions_and_another_name_is_no_other_command_line() {
    let module = Module::new();
    let run = |words: &[&str]| Running::start(module.command(words)).finish();
    for words in [&["nothing"][..], &[""], &["inventory"]] {
        let run = run(words)
            .failed()
            .shows(&["run_task, facts, verify, device_run, resource_get"]);
        assert_eq!(
            run.json()["_error"]["kind"],
            "devgate/unknown-action",
            "{run}"
        );
    }
    run(&["--version"]).succeeded().shows(&["devgate "]);
    run(&["transport", "list"]).succeeded();
    run(&["pxp", "serve", "metadata"])
        .succeeded()
        .shows(&["resource_get"]);
}

#[test]
fn every_character_of_a_result_arrives_as_it_is() {
    let mut module = Module::new();
    let odd: String = ('\u{1}'..='\u{a0}').collect();
    let text = serde_json::json!({ "odd": odd }).to_string();
    module.task("odd", &format!("cat <<'X'\n{text}\nX\n"));
    module.targets(&["sw1".to_owned()]);
    let request = module.request(serde_json::json!({"targets": "sw1", "task": "m::odd"}));
    let run = module.call("run_task", &request).succeeded();
    assert_eq!(run.item()["value"]["odd"], odd);
}

#[test]
fn by_its_own_name_devgate_is_no_module_and_says_what_to_do() {
    let run = Project::new().devgate("metadata").failed();
    run.shows(&["link to devgate with another name", "pxp serve"]);
    assert!(BINARY.ends_with("/devgate"));
}
