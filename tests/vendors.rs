//! Devices with their own style of HTTP API, each simulated by a server that keeps its changes
//! (`support/vendors`): verified, queried, changed, read back, and their refusals.

mod restconf_data;
mod transactions;

use serde_json::{Value, json};

use crate::support::http::Server;
use crate::support::project::Project;
use crate::support::run::Run;
use crate::support::vendors::restconf::Speaks;
use crate::support::vendors::{PASSWORD, USER, eapi, f5, nxapi, panos, restconf};

#[test]
fn every_one_is_verified_and_a_wrong_password_is_refused_at_once() {
    for (transport, server) in [
        ("eapi", eapi::start()),
        ("nxapi", nxapi::start()),
        ("panos", panos::start()),
        ("f5", f5::start(100)),
        ("restconf", restconf::start(Speaks::Json)),
    ] {
        let enable = if transport == "eapi" {
            json!(eapi::ENABLE_PASSWORD)
        } else {
            Value::Null
        };
        let project = project(transport, &server, json!({ "enable_password": enable }));
        project.devgate("verify -t device").succeeded();
        let before = server.requests().len();
        let wrong = json!({ "password": "wrong-canary", "enable_password": enable });
        let project = with(transport, &server, wrong);
        let item = project
            .devgate("verify -t device --format json")
            .failed()
            .item();
        let error = &item["value"]["_error"];
        assert_eq!(
            error["kind"], "puppetlabs.tasks/connect-error",
            "{transport}: {error:#}"
        );
        let output = error["msg"].as_str().expect("a message");
        assert!(
            output.contains("refuses the login"),
            "{transport}: {output}"
        );
        // RESTCONF first asks for the root, which needs no login here.
        let tries = server.requests().len() - before;
        assert!(tries <= 2, "{transport} was asked {tries} times");
    }
}

#[test]
fn facts_are_what_each_of_them_reports() {
    for (transport, server, expected) in [
        (
            "eapi",
            eapi::start(),
            json!({
                "os": { "release": { "full": "4.28.3M" }, "architecture": "x86_64" },
                "dmi": { "product": { "name": "vEOS-lab", "serial_number": "ABC123" } },
                "networking": { "mac": "00:1c:73:00:00:01", "hostname": "leaf1", "fqdn": "leaf1.example.net" },
                "system_uptime": { "seconds": 1234 },
            }),
        ),
        (
            "nxapi",
            nxapi::start(),
            json!({
                "os": { "release": { "full": "9.3(5)" } },
                "networking": { "hostname": "nexus1" },
                "dmi": { "product": { "name": "Nexus9000 C9300v Chassis", "serial_number": "9ABCDEF0123" } },
            }),
        ),
        (
            "panos",
            panos::start(),
            json!({
                "networking": { "hostname": "fw1", "mac": "00:1b:17:00:00:01" },
                "os": { "release": { "full": "10.1.3" } },
                "dmi": { "product": { "name": "PA-VM", "serial_number": "007000000001" } },
            }),
        ),
        (
            "f5",
            f5::start(100),
            json!({
                "networking": { "hostname": "bigip1.example.net", "mac": "fa:16:3e:00:00:01" },
                "os": { "release": { "full": "15.1.2" } },
                "dmi": { "product": { "name": "BIG-IP Virtual Edition", "serial_number": "aaaa-bbbb" } },
            }),
        ),
        (
            "restconf",
            restconf::start(Speaks::Json),
            json!({
                "restconf": { "yang_library_version": "2019-01-04", "root": "/top/rc" },
                "os": { "name": "ExampleOS", "release": { "full": "7.3" }, "architecture": "x86_64" },
                "networking": { "hostname": "rc1" },
            }),
        ),
        (
            "restconf",
            restconf::start(Speaks::Xml),
            json!({
                "restconf": { "yang_library_version": "2016-06-21", "root": "/top/rc" },
                "networking": { "hostname": "rcx" },
            }),
        ),
    ] {
        let project = project(transport, &server, json!({}));
        let item = project
            .devgate("facts -t device --format json")
            .succeeded()
            .item();
        assert_eq!(item["value"], expected, "{transport}: {item:#}");
    }
}

#[test]
fn command_lines_behind_http_are_read_configured_and_saved() {
    let messages = [
        ("nxapi", json!("jsonrpc")),
        ("nxapi", json!("ins_api")),
        ("eapi", Value::Null),
    ];
    for (transport, message) in messages {
        let (server, line, show) = match transport {
            "eapi" => (eapi::start(), "hostname spine7", "show hostname"),
            _ => (
                nxapi::start(),
                "description spine7",
                "show interface description",
            ),
        };
        let mut project = project(transport, &server, json!({ "message": message }));
        let run = script(
            &mut project,
            &format!(
                "set -e\ndevgate session exec --config --save 'interface Ethernet1/1' '{line}'\n\
             devgate session exec {show}\n"
            ),
        );
        if transport == "eapi" {
            // The simulated server has no interfaces: no line after the refused one was accepted.
            run.failed().shows(&[
                "refuses line 1 of 2, `interface Ethernet1/1`",
                "the configuration is unchanged",
            ]);
            let run = script(
                &mut project,
                &format!(
                    "set -e\ndevgate session exec --config --save '{line}'\n\
                 devgate session exec {show}\ndevgate session exec show saved\n"
                ),
            );
            run.succeeded().shows(&["Hostname: spine7", "true"]);
        } else {
            run.succeeded().shows(&["Ethernet1/1  spine7"]);
        }
        let run = project.devgate(&format!("session get -t device {}", show.replace(' ', "_")));
        run.failed().shows(&["nvalid"]);
        let get = format!("devgate session get --format json '{show}'\n");
        script(&mut project, &get).succeeded().shows(&["spine7"]);
    }
}

#[test]
fn eapi_commits_all_lines_or_none_and_leaves_no_session_behind() {
    let server = eapi::start();
    let mut project = project("eapi", &server, Value::Null);
    for (lines, says) in [
        (
            "'hostname lost' 'no such line'",
            "refuses line 2 of 2, `no such line`",
        ),
        ("'hostname uncommittable'", "Hostname is reserved"),
    ] {
        let run = script(
            &mut project,
            &format!("devgate session exec --config {lines}"),
        );
        run.failed()
            .shows(&[says, "the configuration is unchanged"]);
        let show = "devgate session exec show hostname\n\
             devgate session get --format json 'show configuration sessions'\n";
        let run = script(&mut project, show);
        let run = run.succeeded().shows(&["Hostname: leaf1"]);
        assert!(!run.stdout.contains("devgate-"), "{}", run.stdout);
    }
}

#[test]
fn a_command_that_fails_in_the_middle_is_named_with_what_stands() {
    for message in ["jsonrpc", "ins_api"] {
        for (rollback, stands) in [
            (
                "stop-on-error",
                "the lines before it were applied (2 of 4), and no others",
            ),
            ("rollback-on-error", "the configuration is unchanged"),
        ] {
            let server = nxapi::start();
            let settings = json!({ "message": message, "rollback": rollback });
            let mut project = project("nxapi", &server, settings);
            let lines =
                "'interface Ethernet1/1' 'description kept' 'no such line' 'description lost'";
            let run = script(
                &mut project,
                &format!("devgate session exec --config {lines}"),
            );
            run.failed().shows(&[
                "refuses line 3 of 4, `no such line`",
                "% Invalid command",
                stands,
            ]);
            assert_eq!(server.count("no such line"), 1, "it is sent once");
            let run = script(
                &mut project,
                "devgate session exec show interface description",
            );
            let there = run.succeeded().stdout.contains("kept");
            assert_eq!(there, rollback == "stop-on-error");
        }
    }
}

#[test]
fn what_has_no_answer_in_time_is_reported_and_a_change_is_not_sent_again() {
    let server = eapi::start();
    let mut project = project("eapi", &server, json!({ "command_timeout": 1 }));
    let run = script(&mut project, "devgate session exec --config 'show silence'");
    run.failed().shows(&["command_timeout", "not sent again"]);
    assert_eq!(server.count("show silence"), 1);
}

#[test]
fn a_firewall_is_changed_committed_and_read_back() {
    let server = panos::start();
    let mut project = project("panos", &server, json!({}));
    let address = "/config/shared/address/entry[@name='web & db']";
    project.write("element.xml", "<ip-netmask>192.0.2.1</ip-netmask>");
    let run = script(
        &mut project,
        &format!(
            "set -e\n\
         devgate session set \"{address}\" - <element.xml\n\
         devgate session get \"{address}\"\n\
         devgate session set '<commit></commit>' --method commit --format json\n\
         devgate session set '<commit></commit>' --method commit --format json\n"
        ),
    );
    run.succeeded().shows(&[
        "<ip-netmask>192.0.2.1</ip-netmask>",
        "Configuration committed successfully",
        "There are no changes to commit",
    ]);
    let running = with("panos", &server, json!({ "configuration": "running" }));
    running
        .devgate("session get -t device <show><system><info></info></system></show>")
        .succeeded()
        .shows(&["PA-VM"]);
    let mut running = running;
    let get = format!("devgate session get \"{address}\"");
    script(&mut running, &get).succeeded().shows(&["192.0.2.1"]);
    let delete = format!("devgate session set \"{address}\" --method delete\n{get} && {get}");
    script(&mut project, &delete)
        .succeeded()
        .shows(&["code=\"7\""]);
    let again = format!("devgate session set \"{address}\" --method delete");
    script(&mut project, &again)
        .failed()
        .shows(&["Object doesn't exist"]);
    let in_lines = server
        .requests()
        .iter()
        .any(|request| request.line().contains("canary"));
    assert!(!in_lines, "no secret stands in a URL");
}

#[test]
fn a_commit_that_fails_or_never_ends_is_reported() {
    for (name, says) in [
        (panos::INVALID, "zone dmz is unknown"),
        (panos::ENDLESS, "did not end within 2 s"),
    ] {
        let server = panos::start();
        let mut project = project("panos", &server, json!({ "command_timeout": 2 }));
        let run = script(
            &mut project,
            &format!(
                "devgate session set /config/x '<{name}/>' && devgate session set '<commit></commit>' --method commit"
            ),
        );
        run.failed().shows(&["commit", says]);
        assert_eq!(server.count("type=commit"), 1, "it is sent once");
    }
}

#[test]
fn a_token_that_has_expired_is_renewed_and_each_change_is_made_once() {
    let server = f5::start(2);
    let mut project = project("f5", &server, json!({}));
    let run = script(
        &mut project,
        "set -e\n\
         devgate session set tm/ltm/pool '{\"name\": \"p1\", \"monitor\": \"http\"}' --method POST\n\
         devgate session set tm/ltm/pool/~Common~p1 '{\"monitor\": \"https\"}'\n\
         devgate session get tm/ltm/pool/~Common~p1\n\
         devgate session set tm/ltm/pool/~Common~p1 --method DELETE\n",
    );
    run.succeeded().shows(&["\"monitor\": \"https\""]);
    assert!(
        server.count("authn/login") >= 2,
        "its tokens are good for two requests"
    );
    let get = "devgate session get tm/ltm/pool/~Common~p1";
    script(&mut project, get)
        .failed()
        .shows(&["404", "was not found"]);
    assert!(
        server.count("DELETE /mgmt/shared/authz/tokens/") >= 1,
        "tokens are given back"
    );
}

#[test]
fn a_device_that_is_busy_is_queried_again() {
    let server = f5::start(100);
    let project = project("f5", &server, json!({}));
    let run = project.devgate("session get -t device tm/busy").succeeded();
    run.shows(&["\"busy\": false", "503"]);
    assert_eq!(server.count("GET /mgmt/tm/busy"), 2);
}

/// Creates a project whose target `device` is the server, with the other settings that its transport needs.
fn project(transport: &str, server: &Server, mut settings: Value) -> Project {
    if transport == "eapi" {
        settings["enable_password"] = eapi::ENABLE_PASSWORD.into();
    }
    with(transport, server, settings)
}

fn with(transport: &str, server: &Server, settings: Value) -> Project {
    let mut info = json!({
        "remote-transport": transport,
        "protocol": "http",
        "host": "127.0.0.1",
        "port": server.port,
        "user": USER,
        "password": PASSWORD,
    });
    for (key, value) in settings.as_object().expect("settings are an object") {
        info[key] = value.clone();
    }
    let mut project = Project::new();
    project.add_target("device", info);
    project
}

/// Runs a script with a lent session to the target `device`.
fn script(project: &mut Project, script: &str) -> Run {
    project.write("script.sh", script);
    project.devgate("session run -t device -- sh script.sh")
}
