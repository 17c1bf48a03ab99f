//! A Nexus switch with NX-API, as Cisco's "NX-OS Programmability Guide" (NX-API CLI) describes it: both
//! message formats, with one set of interface descriptions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::http::{HttpRequest, HttpResponse, Server, basic};
use super::{PASSWORD, USER};

/// The state of the switch: descriptions by interface.
type Descriptions = BTreeMap<String, String>;

pub(crate) fn start() -> Server {
    let mut descriptions = Descriptions::new();
    Server::start(move |http| answer(http, &mut descriptions))
}

fn answer(http: &HttpRequest, descriptions: &mut Descriptions) -> Option<HttpResponse> {
    if http.header("authorization") != basic(USER, PASSWORD) {
        return Some(HttpResponse::new(
            401,
            "text/html",
            "<html>401 Authorization Required</html>",
        ));
    }
    if http.line() != "POST /ins" {
        return Some(HttpResponse::new(
            404,
            "text/html",
            "<html>404 Not Found</html>",
        ));
    }
    if http.body.contains("show silence") {
        return None;
    }
    let Ok(request) = serde_json::from_str::<Value>(&http.body) else {
        return Some(HttpResponse::new(
            400,
            "text/html",
            "<html>400 Bad Request</html>",
        ));
    };
    Some(if request.get("ins_api").is_some() {
        ins_api(&request["ins_api"], descriptions)
    } else {
        json_rpc(&request, descriptions)
    })
}

/// Returns one object for each call, in order, up to the first failure, with HTTP 500 if there was one.
fn json_rpc(request: &Value, descriptions: &mut Descriptions) -> HttpResponse {
    let before = descriptions.clone();
    let mut interface = None;
    let mut answers = Vec::new();
    let mut status = 200;
    for call in request.as_array().expect("a batch of calls") {
        let command = call["params"]["cmd"].as_str().expect("a command");
        let result = match (call["method"].as_str(), show(command, descriptions)) {
            (Some("cli_ascii"), Some((text, _))) => Ok(json!({ "msg": text })),
            (Some("cli"), Some((_, data))) => Ok(json!({ "body": data })),
            _ => configure(command, &mut interface, descriptions).map(|()| Value::Null),
        };
        match result {
            Ok(result) => {
                answers.push(json!({ "jsonrpc": "2.0", "result": result, "id": call["id"] }))
            }
            Err(message) => {
                status = 500;
                answers.push(json!({ "jsonrpc": "2.0", "id": call["id"], "error": {
                    "code": -32602, "message": "Invalid params", "data": { "msg": message } } }));
                if call["rollback"] == "rollback-on-error" {
                    *descriptions = before;
                }
                break;
            }
        }
    }
    HttpResponse::json(status, &Value::Array(answers))
}

fn ins_api(request: &Value, descriptions: &mut Descriptions) -> HttpResponse {
    let before = descriptions.clone();
    let kind = request["type"].as_str().expect("a type");
    let mut interface = None;
    let mut outputs = Vec::new();
    for command in request["input"].as_str().expect("commands").split(" ;") {
        let body = match (kind, show(command, descriptions)) {
            ("cli_show_ascii", Some((text, _))) => Ok(json!(text)),
            ("cli_show", Some((_, data))) => Ok(data),
            ("cli_conf", None) => {
                configure(command, &mut interface, descriptions).map(|()| json!({}))
            }
            _ => Err("% Invalid command\n".to_owned()),
        };
        match body {
            Ok(body) => outputs
                .push(json!({ "input": command, "msg": "Success", "code": "200", "body": body })),
            Err(message) => {
                outputs.push(json!({
                    "input": command, "msg": "CLI execution error", "code": "400", "clierror": message }));
                if request["rollback"] == "rollback-on-error" {
                    *descriptions = before;
                }
                break;
            }
        }
    }
    let output = match outputs.len() {
        1 => outputs.remove(0),
        _ => Value::Array(outputs),
    };
    let body = json!({ "ins_api": {
        "type": kind, "version": "1.0", "sid": "eoc", "outputs": { "output": output } } });
    HttpResponse::json(200, &body)
}

/// Returns the output of a command as text and as data.
fn show(command: &str, descriptions: &Descriptions) -> Option<(String, Value)> {
    match command {
        "show version" => Some((
            "Cisco Nexus Operating System (NX-OS) Software\n  NXOS: version 9.3(5)\n".to_owned(),
            json!({
                "nxos_ver_str": "9.3(5)", "host_name": "nexus1", "chassis_id": "Nexus9000 C9300v Chassis",
                "proc_board_id": "9ABCDEF0123", "kern_uptm_days": 1, "kern_uptm_hrs": 2,
                "kern_uptm_mins": 3, "kern_uptm_secs": 4,
            }),
        )),
        "show interface description" => {
            let text = descriptions
                .iter()
                .map(|(name, text)| format!("{name}  {text}\n"));
            let rows = descriptions.iter();
            let rows: Vec<_> = rows
                .map(|(name, text)| json!({ "interface": name, "desc": text }))
                .collect();
            let data = json!({ "TABLE_interface": { "ROW_interface": rows } });
            Some((text.collect(), data))
        }
        _ => None,
    }
}

fn configure(
    line: &str,
    interface: &mut Option<String>,
    descriptions: &mut Descriptions,
) -> Result<(), String> {
    match line.trim().split_once(' ') {
        Some(("configure", "terminal")) => *interface = None,
        Some(("interface", name)) => *interface = Some(name.to_owned()),
        Some(("description", text)) if interface.is_some() => {
            descriptions.insert(interface.clone().expect("it is some"), text.to_owned());
        }
        Some(("copy", "running-config startup-config")) => {}
        None if line == "end" => *interface = None,
        _ => return Err(format!("% Invalid command at '{line}'\n")),
    }
    Ok(())
}
