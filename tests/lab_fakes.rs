//! Simulated devices: the prompts of 41 platforms, and switches that keep their configuration.

use serde_json::{Value, json};

use crate::support::lab::{lab, text};
use crate::support::project::Project;

/// Returns the connection info of a simulated device.
fn connection_info(lab: &Value, device: &Value) -> Value {
    json!({
        "remote-transport": "ssh_cli",
        "host": text(lab, "host"),
        "port": device["port"],
        "user": text(lab, "user"),
        "password": text(lab, "password"),
        "known_hosts_file": text(lab, "known_hosts"),
    })
}

/// Writes a task that runs on the local node with a session to its target, and returns its name.
fn task(project: &mut Project, script: &str) -> &'static str {
    let about = r#"{"remote": true, "input_method": "stdin"}"#;
    project.write("modules/demo/tasks/ask.json", about);
    project.write("modules/demo/tasks/ask.sh", script);
    "demo::ask"
}

#[test]
fn a_command_line_of_which_nothing_is_known_is_read_on_every_platform() {
    let lab = lab("fakes");
    let platforms = lab["platforms"].as_array().expect("platforms");
    let mut project = Project::new();
    for platform in platforms {
        let name = text(platform, "name");
        project.add_target(name, connection_info(&lab, platform));
        project.write(&format!("commands/{name}"), text(platform, "command"));
    }
    let script_name = task(
        &mut project,
        "name=$(sed -n 's/.*\"_target\":{[^}]*\"name\":\"\\([^\"]*\\)\".*/\\1/p')\n\
         devgate session exec \"$(cat commands/$name)\"\n\
         echo behind\n\
         devgate session exec \"$(cat commands/$name)\"",
    );
    let run = project.devgate(&format!("task run {script_name} -t all --format json"));
    let items = run.succeeded().json()["items"].clone();
    let items = items.as_array().expect("items");
    assert_eq!((items.len(), platforms.len()), (41, 41));
    for item in items {
        let platform = platforms
            .iter()
            .find(|platform| platform["name"] == item["target"]);
        let platform = platform.expect("it was asked for");
        let output = item["value"]["_output"].as_str().expect("an output");
        let (first, second) = output.split_once("behind\n").expect("both answers");
        assert_eq!(first, second, "{platform}");
        let first = first.trim_start().lines().next().unwrap_or_default();
        assert_eq!(first.trim(), text(platform, "says"), "{platform}");
    }
}

/// A family for these switches without a known `end`: configuration mode is left in the way in which it was
/// entered.
const SWITCH: &str = r"
name: switch
desc: A simulated switch with the command line of IOS.
protocol: ssh_cli
dialect:
  prompt:
    exec: '[\w.-]+[>#]'
    privileged: '[\w.-]+#'
    config: '[\w.-]+\(config[^)]*\)#'
  enable: {}
  on_open: [terminal length 0]
  enter_config: configure terminal
  leave_config: exit
  save: write memory
  failure: ['^No such command', '^Command rejected', '^%']
  leave: exit
";

#[test]
fn a_switch_is_configured_by_ssh_and_by_telnet_and_keeps_its_configuration() {
    let lab = lab("fakes");
    let switches = lab["switches"].as_array().expect("switches");
    let mut vlan = 300;
    for model in ["cisco_generic", "cisco_2960_24TT_L", "cisco_6500"] {
        let switch = switches.iter().find(|switch| switch["name"] == model);
        let switch = switch.expect("the lab has it");
        let telnet = json!({ "protocol": "telnet", "port": switch["telnet_port"] });
        for carrier in [json!({}), telnet] {
            vlan += 1;
            let mut project = Project::new();
            project.write("modules/lab/devices/switch/family.yaml", SWITCH);
            let mut info = connection_info(&lab, switch);
            info["remote-transport"] = json!("switch");
            info["enable_password"] = lab["enable_password"].clone();
            for (key, value) in carrier.as_object().expect("settings") {
                info[key] = value.clone();
            }
            project.add_target("switch", info);
            project.write("vlan", &format!("vlan {vlan}\n name of-{vlan}\n\nexit\n"));
            project.write("bad", "vlan 9999\nvlan 299\nexit\n");
            let script = "devgate session exec --config --save - <vlan\n\
                          devgate session exec show vlan brief\n\
                          devgate session exec --config - <bad || devgate session exec show vlan brief";
            let script_name = task(&mut project, script);
            let run = project.devgate(&format!("task run {script_name} -t switch --format json"));
            let output = run.succeeded().item()["value"]["_output"].clone();
            let output = output.as_str().expect("an output");
            assert_eq!(
                output.matches(&format!("of-{vlan} ")).count(),
                2,
                "{model}: {output}"
            );
            assert!(
                !output.contains("VLAN0299"),
                "nothing follows a refused line: {output}"
            );
        }
    }
}

#[test]
fn a_question_of_a_switch_is_answered_only_with_the_given_answer() {
    let lab = lab("fakes");
    let switches = lab["switches"].as_array().expect("switches");
    let dell = switches
        .iter()
        .find(|switch| switch["name"] == "dell_generic");
    let dell = dell.expect("the lab has it");
    let mut info = connection_info(&lab, dell);
    info["remote-transport"] = json!("switch");
    info["enable_password"] = lab["enable_password"].clone();
    let save = "-t switch copy running-config startup-config";
    let mut project = Project::new();
    project.add_target("switch", info);
    let family = SWITCH.replace("terminal length 0", "terminal datadump");
    project.write("modules/lab/devices/switch/family.yaml", &family);
    let run = project.devgate(&format!("session exec {save}")).failed();
    run.shows(&["asks `Are you sure you want to save? (y/n)`", "--answer"]);
    let run = project
        .devgate(&format!("session exec --answer y {save}"))
        .succeeded();
    run.shows(&["Configuration Saved!"]);
    let run = project
        .devgate(&format!("session exec --answer n {save}"))
        .succeeded();
    run.shows(&["Configuration Not Saved!"]);
    let confirm = "  confirm:\n    - { command: '^copy running', pattern: 'want to save\\? \\(y/n\\) $', answer: y }\n  leave:";
    project.write(
        "modules/lab/devices/switch/family.yaml",
        &family.replace("  leave:", confirm),
    );
    let run = project.devgate(&format!("session exec {save}")).succeeded();
    run.shows(&["Configuration Saved!"]);
}

#[test]
fn the_simulated_switch_of_arista_keeps_its_configuration() {
    let lab = lab("fakes");
    let devices = lab["switches"].as_array().expect("switches");
    let device = devices.iter().find(|device| device["protocol"] == "eapi");
    let device = device.expect("there is an Arista");
    let mut project = Project::new();
    project.add_target(
        "device",
        json!({
            "remote-transport": "eapi", "protocol": "http",
            "host": text(&lab, "host"), "port": device["port"],
            "user": text(&lab, "user"), "password": text(&lab, "password"),
        }),
    );
    project.devgate("verify -t device").succeeded();
    let mut script = |script: &str| {
        project.write("script.sh", script);
        project.devgate("session run -t device -- sh script.sh")
    };
    script("devgate session exec --config 'vlan 1234' 'name told'").succeeded();
    script("devgate session get 'show vlan 1234'")
        .succeeded()
        .shows(&["told"]);
    let run = script("devgate session exec --config 'vlan 1235' 'interface Vlan99999'");
    run.failed()
        .shows(&["refuses line 2 of 2, `interface Vlan99999`"]);
    script("devgate session exec --config 'no vlan 1234' 'no vlan 1235'").succeeded();
}
