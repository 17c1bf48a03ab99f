//! Outputs that are parsed without a device.

use std::process::Output;

use serde_json::json;

use crate::folder::{Project, document, messages_of};

const TEMPLATE: &str = "Value PORT (\\S+)\nValue List VLANS (\\d+|trunk)\n\n\
    Start\n  ^port ${PORT} -> Continue\n  ^port \\S+ ${VLANS}\\s*$$ -> Record\n  ^bad -> Error \"no port\"\n";

/// A project with a template, a collection of templates, and outputs.
fn project() -> Project {
    let project = Project::new();
    project.write("ports.textfsm", TEMPLATE);
    project.write("show.txt", "port e1 10\nport e22 trunk\n");
    project.write("all/ports.textfsm", TEMPLATE);
    let index =
        "Template, Hostname, Platform, Command\n\nports.textfsm, .*, acme_os, sh[[ow]] po[[rts]]\n";
    project.write("all/index", index);
    project
}

fn refusal(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1));
    messages_of(output)
}

#[test]
fn a_text_is_parsed_with_a_template() {
    let project = project();
    let rows = json!([
        {"PORT": "e1", "VLANS": ["10"]}, {"PORT": "e22", "VLANS": ["trunk"]},
    ]);
    let words = ["textfsm", "ports.textfsm", "show.txt", "--format", "json"];
    assert_eq!(document(&project.devgate(&words)), rows);
    let words = ["textfsm", "ports.textfsm", "show.txt"];
    let table = String::from_utf8(project.devgate(&words).stdout).expect("text");
    assert_eq!(table, "PORT  VLANS\ne1    10\ne22   trunk\n");
    let words = [
        "textfsm",
        "--templates",
        "all",
        "--platform",
        "acme_os",
        "--command",
        "sho ports",
        "show.txt",
        "--format",
        "json",
    ];
    assert_eq!(document(&project.devgate(&words)), rows);
}

#[test]
fn what_is_wrong_with_a_template_or_a_text_is_located() {
    let project = project();
    project.write("wrong.textfsm", "Value PORT (\\S+)\n\nStart\n  ^${PROT}\n");
    project.write("bad.txt", "\nbad\n");
    let message = refusal(&project.devgate(&["textfsm", "wrong.textfsm", "show.txt"]));
    assert!(
        message.contains("wrong.textfsm:4:1: there is no value `PROT`; did you mean `PORT`?"),
        "{message}"
    );
    let message = refusal(&project.devgate(&["textfsm", "ports.textfsm", "bad.txt"]));
    assert!(message.contains("output of `bad.txt`, line 2"), "{message}");
    let collection = |platform, command| {
        let words = [
            "textfsm",
            "--templates",
            "all",
            "--platform",
            platform,
            "--command",
            command,
            "show.txt",
        ];
        refusal(&project.devgate(&words))
    };
    let message = collection("acme_oz", "show ports");
    assert!(
        message.contains("all/index has no templates for platform `acme_oz`"),
        "{message}"
    );
    assert!(message.contains("did you mean `acme_os`?"), "{message}");
    let message = collection("acme_os", "show prots");
    assert!(message.contains("did you mean `show ports`?"), "{message}");
    let incomplete = project.devgate(&["textfsm", "show.txt"]);
    assert!(!incomplete.status.success(), "a template is missing");
}

#[test]
fn facts_are_parsed_without_a_device() {
    let project = Project::new();
    let case = "../devices/families/frr/cases/facts";
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(case);
    let output =
        |name: &str| std::fs::read_to_string(folder.join(name)).expect("a recorded output");
    project.write("outputs/show_version.log", &output("show version.txt"));
    project.write("outputs/show_interface", &output("show interface.txt"));
    let parsed = project.devgate(&["facts", "parse", "frr", "outputs", "--format", "json"]);
    let expected: serde_json::Value = serde_json::from_str(&output("facts.json")).expect("JSON");
    let facts = document(&parsed);
    for fact in ["os", "networking"] {
        assert_eq!(facts[fact], expected["facts"][fact]);
    }
    assert!(messages_of(&parsed).contains("there is no output of `show zebra client summary`"));
    let message = refusal(&project.devgate(&["facts", "parse", "frr", "nowhere"]));
    assert!(message.contains("nowhere"), "{message}");
    let mixed = project.devgate(&["facts", "-t", "localhost", "parse", "frr", "outputs"]);
    assert!(!mixed.status.success(), "a target has facts of its own");
    assert!(
        !project.devgate(&["facts"]).status.success(),
        "a target is missing"
    );
}

#[test]
fn a_whole_reply_of_netconf_is_parsed() {
    let project = Project::new();
    let data = "<data><interfaces xmlns='urn:ietf:params:xml:ns:yang:ietf-interfaces'><interface>\
                <name>lo7</name></interface></interfaces></data>";
    let reply = "urn:ietf:params:xml:ns:netconf:base:1.0";
    let reply = format!("<rpc-reply message-id='1' xmlns='{reply}'>{data}</rpc-reply>");
    let parse = |name: &str, text: &str| {
        project.write(name, text);
        let words = [
            "resource",
            "parse",
            "ietf",
            "ietf_interface",
            "--from",
            name,
            "--format",
            "json",
        ];
        document(&project.devgate(&words))
    };
    let whole = parse("reply.xml", &reply);
    assert_eq!(whole["resources"][0]["name"], "lo7");
    assert_eq!(whole, parse("data.xml", data));
}

#[test]
fn a_family_with_an_unknown_filter_is_refused_when_it_is_loaded() {
    let project = Project::new();
    let family = "name: mine\ndesc: x\nprotocol: ssh_cli\nfacts:\n  - command: show version\n    textfsm: |\n      \
                  Value V (\\S+)\n\n      Start\n        ^${V}\n    facts:\n      \
                  os.name: \"V if V == '' else V | lowr\"\n";
    project.write("modules/m/devices/mine/family.yaml", family);
    let message = refusal(&project.devgate(&["family", "show", "mine"]));
    let expected = "family.yaml:12:16: at facts[0].facts.os.name: there is no filter `lowr`; did you mean `lower`?";
    assert!(message.contains(expected), "{message}");
}
