//! A BIG-IP with iControl REST, as F5's "iControl REST API User Guide" describes it: logins for tokens that
//! expire, and pools that are created, changed and deleted.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::http::{HttpRequest, HttpResponse, Server};
use super::{PASSWORD, USER};

const POOLS: &str = "/mgmt/tm/ltm/pool";

#[derive(Default)]
struct State {
    pools: BTreeMap<String, Value>,
    logins: u32,
    /// The number of requests that the current token is still valid for.
    uses: u32,
    busy: u32,
}

/// Starts the device. Each token is valid for `uses` requests.
pub(crate) fn start(uses: u32) -> Server {
    let mut state = State {
        busy: 1,
        ..State::default()
    };
    Server::start(move |request| Some(answer(request, &mut state, uses)))
}

fn answer(request: &HttpRequest, state: &mut State, uses: u32) -> HttpResponse {
    let body: Value = serde_json::from_str(&request.body).unwrap_or_default();
    if request.line() == "POST /mgmt/shared/authn/login" {
        if (body["username"].as_str(), body["password"].as_str()) != (Some(USER), Some(PASSWORD)) {
            return error(401, "Authentication failed.");
        }
        state.logins += 1;
        state.uses = uses;
        return HttpResponse::json(
            200,
            &json!({
                "username": USER,
                "token": { "token": token(state), "timeout": 1200, "userName": USER },
            }),
        );
    }
    if request.header("x-f5-auth-token") != token(state) || state.uses == 0 {
        return error(401, "X-F5-Auth-Token does not exist.");
    }
    state.uses -= 1;
    let name = request
        .path
        .strip_prefix(POOLS)
        .map(|rest| rest.trim_start_matches("/~Common~"));
    match (request.method.as_str(), name) {
        ("DELETE", None) if request.path.starts_with("/mgmt/shared/authz/tokens/") => {
            state.uses = 0;
            HttpResponse::json(200, &json!({}))
        }
        ("GET", None) if request.path == "/mgmt/tm/cm/device" => HttpResponse::json(
            200,
            &json!({
                "kind": "tm:cm:device:devicecollectionstate",
                "items": [
                    { "name": "other", "hostname": "bigip2.example.net", "selfDevice": "false" },
                    { "name": "bigip1", "hostname": "bigip1.example.net", "selfDevice": "true",
                      "version": "15.1.2", "build": "0.0.9", "edition": "Final",
                      "marketingName": "BIG-IP Virtual Edition", "chassisId": "aaaa-bbbb",
                      "baseMac": "fa:16:3e:00:00:01", "failoverState": "active", "platformId": "Z100" },
                ],
            }),
        ),
        ("GET", None) if request.path == "/mgmt/tm/busy" && state.busy > 0 => {
            state.busy -= 1;
            error(503, "There is an active asynchronous task executing.")
        }
        ("GET", None) if request.path == "/mgmt/tm/busy" => {
            HttpResponse::json(200, &json!({ "busy": false }))
        }
        ("GET", Some("")) => {
            let pools: Vec<_> = state.pools.values().collect();
            HttpResponse::json(200, &json!({ "items": pools }))
        }
        ("POST", Some("")) => {
            let name = body["name"].as_str().unwrap_or_default().to_owned();
            if state.pools.contains_key(&name) {
                let message =
                    format!("01020066:3: The requested Pool (/Common/{name}) already exists");
                return error(409, &message);
            }
            state.pools.insert(name, body.clone());
            HttpResponse::json(200, &body)
        }
        (method, Some(name)) if state.pools.contains_key(name) => match method {
            "GET" => HttpResponse::json(200, &state.pools[name]),
            "PATCH" => {
                let pool = state.pools.get_mut(name).expect("it is there");
                for (key, value) in body.as_object().expect("an object") {
                    pool[key] = value.clone();
                }
                HttpResponse::json(200, pool)
            }
            "DELETE" => {
                state.pools.remove(name);
                HttpResponse::empty(200)
            }
            _ => error(405, "not allowed"),
        },
        (_, Some(name)) => error(
            404,
            &format!("01020036:3: The requested Pool (/Common/{name}) was not found."),
        ),
        _ => error(404, "Public URI path not registered"),
    }
}

fn token(state: &State) -> String {
    format!("VENDORCANARYTOKEN{}", state.logins)
}

fn error(status: u16, message: &str) -> HttpResponse {
    HttpResponse::json(
        status,
        &json!({ "code": status, "message": message, "errorStack": [], "apiError": 3 }),
    )
}
