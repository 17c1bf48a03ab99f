//! A RESTCONF server as RFC 8040 describes it, with `ietf-system` and `ietf-interfaces` (RFC 7317, 8343):
//! its root is not the usual one, and it keeps its changes.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::http::{HttpRequest, HttpResponse, Server, basic};
use super::{PASSWORD, USER};

/// The media type that the server supports.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Speaks {
    Json,
    Xml,
}

const JSON: &str = "application/yang-data+json";
const XML: &str = "application/yang-data+xml";
const INTERFACES: &str = "/top/rc/data/ietf-interfaces:interfaces";

#[derive(Default)]
struct State {
    interfaces: BTreeMap<String, Value>,
    version: u32,
    /// The number of requests for the locked resource.
    requests: u32,
}

pub(crate) fn start(speaks: Speaks) -> Server {
    let mut state = State::default();
    Server::start(move |request| answer(request, &mut state, speaks))
}

fn answer(request: &HttpRequest, state: &mut State, speaks: Speaks) -> Option<HttpResponse> {
    if request.path == "/.well-known/host-meta" {
        return Some(HttpResponse::new(
            200,
            "application/xrd+xml",
            "<?xml version='1.0'?><XRD xmlns='http://docs.oasis-open.org/ns/xri/xrd-1.0'>\
             <Link rel='restconf' href='/top/rc'/></XRD>",
        ));
    }
    if request.header("authorization") != basic(USER, PASSWORD) {
        return Some(error(401, "protocol", "access-denied", ""));
    }
    if speaks == Speaks::Xml {
        return Some(in_xml(request));
    }
    if !request.header("accept").contains(JSON) {
        return Some(error(406, "protocol", "invalid-value", ""));
    }
    if !request.body.is_empty() && request.header("content-type") != JSON {
        return Some(error(415, "protocol", "invalid-value", ""));
    }
    let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
    let item = request.path.strip_prefix(INTERFACES);
    let name = item
        .and_then(|rest| rest.strip_prefix("/interface="))
        .map(str::to_owned);
    Some(
        match (request.method.as_str(), request.path.as_str(), name) {
            ("GET", "/top/rc", _) => data(&json!({ "ietf-restconf:restconf": {
            "data": {}, "operations": {}, "yang-library-version": "2019-01-04" } })),
            ("GET", "/top/rc/data/ietf-system:system-state/platform", _) => data(
                &json!({ "ietf-system:platform": { "os-name": "ExampleOS", "os-release": "7.3",
                "os-version": "build 12", "machine": "x86_64" } }),
            ),
            ("GET", "/top/rc/data/ietf-system:system/hostname", _) => {
                data(&json!({ "ietf-system:hostname": "rc1" }))
            }
            ("POST", "/top/rc/operations/example-ops:restart", _) => HttpResponse::empty(204),
            ("GET", "/top/rc/data/example:silence", _) => return None,
            ("GET", "/top/rc/data/example:locked", _) => {
                state.requests += 1;
                if state.requests > 1 {
                    return Some(data(&json!({ "example:locked": "released" })));
                }
                error(409, "protocol", "lock-denied", "held by 7")
            }
            ("GET", INTERFACES, _) => {
                let all: Vec<_> = state.interfaces.values().collect();
                data(&json!({ "ietf-interfaces:interfaces": { "interface": all } }))
            }
            ("PATCH", INTERFACES, _) => {
                let changed = &body["ietf-interfaces:interfaces"]["interface"];
                for interface in changed.as_array().into_iter().flatten() {
                    let name = interface["name"].as_str().unwrap_or_default();
                    state.version += 1;
                    state.interfaces.insert(name.to_owned(), interface.clone());
                }
                HttpResponse::empty(204)
            }
            ("POST", INTERFACES, _) => {
                let new = body["ietf-interfaces:interface"][0].clone();
                let name = new["name"].as_str().unwrap_or_default().to_owned();
                if state.interfaces.contains_key(&name) {
                    return Some(error(
                        409,
                        "application",
                        "data-exists",
                        "it is there already",
                    ));
                }
                let location = format!("{}/interface={name}", request.path);
                state.version += 1;
                state.interfaces.insert(name, new);
                HttpResponse::empty(201).with("location", &location)
            }
            (method, _, Some(name)) => item_answer(method, &name, request, &body, state),
            _ => error(404, "protocol", "invalid-value", "uri keypath not found"),
        },
    )
}

/// Handles a request for one interface.
fn item_answer(
    method: &str,
    name: &str,
    request: &HttpRequest,
    body: &Value,
    state: &mut State,
) -> HttpResponse {
    let tag = format!("\"v{}\"", state.version);
    let expected = request.header("if-match");
    if !expected.is_empty() && expected != tag {
        return error(
            412,
            "protocol",
            "operation-failed",
            "it was changed meanwhile",
        );
    }
    let there = state.interfaces.contains_key(name);
    match method {
        "PUT" => {
            state.version += 1;
            state.interfaces.insert(
                name.to_owned(),
                body["ietf-interfaces:interface"][0].clone(),
            );
            HttpResponse::empty(if there { 204 } else { 201 })
        }
        _ if !there => error(404, "application", "data-missing", ""),
        "GET" => {
            let list = json!([state.interfaces[name]]);
            data(&json!({ "ietf-interfaces:interface": list })).with("etag", &tag)
        }
        "PATCH" => {
            let changes = body["ietf-interfaces:interface"][0].clone();
            let interface = state.interfaces.get_mut(name).expect("it is there");
            for (key, value) in changes.as_object().into_iter().flatten() {
                interface[key] = value.clone();
            }
            state.version += 1;
            HttpResponse::empty(204)
        }
        "DELETE" => {
            state.version += 1;
            state.interfaces.remove(name);
            HttpResponse::empty(204)
        }
        _ => error(405, "protocol", "operation-not-supported", ""),
    }
}

/// Handles a request to a server without JSON.
fn in_xml(request: &HttpRequest) -> HttpResponse {
    if !request.header("accept").contains(XML) {
        return HttpResponse::new(406, "text/plain", "");
    }
    match request.line().as_str() {
        "GET /top/rc" => HttpResponse::new(
            200,
            XML,
            "<restconf xmlns='urn:ietf:params:xml:ns:yang:ietf-restconf'><data/><operations/>\
             <yang-library-version>2016-06-21</yang-library-version></restconf>",
        ),
        "GET /top/rc/data/ietf-system:system/hostname" => HttpResponse::new(
            200,
            XML,
            "<hostname xmlns='urn:ietf:params:xml:ns:yang:ietf-system'>rcx</hostname>",
        ),
        _ => HttpResponse::new(
            404,
            XML,
            "<errors xmlns='urn:ietf:params:xml:ns:yang:ietf-restconf'><error>\
             <error-type>protocol</error-type><error-tag>invalid-value</error-tag>\
             <error-message>no such resource</error-message></error></errors>",
        ),
    }
}

fn data(body: &Value) -> HttpResponse {
    HttpResponse::new(200, JSON, body.to_string())
}

fn error(status: u16, kind: &str, tag: &str, message: &str) -> HttpResponse {
    let mut error = json!({ "error-type": kind, "error-tag": tag });
    if !message.is_empty() {
        error["error-message"] = message.into();
    }
    let body = json!({ "ietf-restconf:errors": { "error": [error] } });
    HttpResponse::new(status, JSON, body.to_string())
}
