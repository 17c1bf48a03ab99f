//! An EOS switch with eAPI, as Arista's "Command API Guide" describes it. It covers what the lab's
//! simulator does not support: logins, `enable` with a password, and text output.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::http::{HttpRequest, HttpResponse, Server, basic};
use super::{PASSWORD, USER};

pub(crate) const ENABLE_PASSWORD: &str = "vendor-canary-enable";

/// The state of the switch: its hostname, that of each configuration session, and whether the configuration was saved.
struct State {
    hostname: String,
    sessions: HashMap<String, String>,
    saved: bool,
}

pub(crate) fn start() -> Server {
    let mut state = State {
        hostname: "leaf1".to_owned(),
        sessions: HashMap::new(),
        saved: false,
    };
    Server::start(move |http| answer(http, &mut state))
}

fn answer(http: &HttpRequest, state: &mut State) -> Option<HttpResponse> {
    if http.header("authorization") != basic(USER, PASSWORD) {
        return Some(HttpResponse::new(401, "text/plain", "Unauthorized"));
    }
    let request: Value = serde_json::from_str(&http.body).expect("JSON");
    let (id, params) = (&request["id"], &request["params"]);
    let commands = params["cmds"].as_array().expect("commands");
    let as_text = params["format"] == "text";
    let (mut privileged, mut session) = (false, None);
    let mut outputs = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        let (line, input) = match command {
            Value::String(line) => (line.as_str(), ""),
            other => (
                other["cmd"].as_str().expect("a command"),
                other["input"].as_str().unwrap_or(""),
            ),
        };
        if line == "show silence" {
            return None;
        }
        let output: Result<(String, Value), &str> = match line {
            "enable" if input == ENABLE_PASSWORD => {
                privileged = true;
                Ok((String::new(), json!({})))
            }
            "enable" => Err("Bad secret"),
            "show version" => Ok((
                "Arista vEOS\nSoftware image version: 4.28.3M\n".to_owned(),
                json!({ "modelName": "vEOS-lab", "version": "4.28.3M", "serialNumber": "ABC123",
                    "systemMacAddress": "00:1c:73:00:00:01", "uptime": 1234.5, "architecture": "x86_64" }),
            )),
            "show hostname" => Ok((
                format!("Hostname: {}\n", state.hostname),
                json!({ "hostname": state.hostname, "fqdn": format!("{}.example.net", state.hostname) }),
            )),
            "show saved" => Ok((
                format!("{}\n", state.saved),
                json!({ "saved": state.saved }),
            )),
            "show configuration sessions" => Ok((
                String::new(),
                json!({ "sessions": state.sessions.keys().collect::<Vec<_>>() }),
            )),
            _ if privileged && line.starts_with("configure session ") => {
                let name = line["configure session ".len()..].to_owned();
                let running = state.hostname.clone();
                state.sessions.entry(name.clone()).or_insert(running);
                session = Some(name);
                Ok((String::new(), json!({})))
            }
            "commit" | "abort" if session.is_some() => {
                let candidate = session.take().and_then(|name| state.sessions.remove(&name));
                match candidate {
                    Some(hostname) if line == "commit" && hostname == "uncommittable" => {
                        Err("Hostname is reserved")
                    }
                    Some(hostname) if line == "commit" => {
                        state.hostname = hostname;
                        Ok((String::new(), json!({})))
                    }
                    _ => Ok((String::new(), json!({}))),
                }
            }
            "write memory" if privileged => {
                state.saved = true;
                Ok((
                    "Copy completed successfully.\n".to_owned(),
                    json!({ "messages": [] }),
                ))
            }
            _ if let Some(name) = session.as_ref()
                && line.starts_with("hostname ") =>
            {
                let hostname = line["hostname ".len()..].to_owned();
                state.sessions.insert(name.clone(), hostname);
                Ok((String::new(), json!({})))
            }
            _ => Err("Invalid input (at token 0)"),
        };
        match output {
            Ok((text, _)) if as_text => outputs.push(json!({ "output": text })),
            Ok((_, data)) => outputs.push(data),
            Err(message) => {
                outputs.push(json!({ "errors": [message] }));
                let message = format!(
                    "CLI command {} of {} '{line}' failed: invalid command",
                    index + 1,
                    commands.len()
                );
                let error = json!({ "code": 1002, "message": message, "data": outputs });
                return Some(HttpResponse::json(
                    200,
                    &json!({ "jsonrpc": "2.0", "id": id, "error": error }),
                ));
            }
        }
    }
    Some(HttpResponse::json(
        200,
        &json!({ "jsonrpc": "2.0", "id": id, "result": outputs }),
    ))
}
