//! A BIG-IP with iControl REST, as F5's "iControl REST API User Guide" describes it: logins for tokens that
//! expire, pools that are created, changed and deleted, and transactions.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::http::{HttpRequest, HttpResponse, Server};
use super::{PASSWORD, USER};

const POOLS: &str = "/mgmt/tm/ltm/pool";

#[derive(Default)]
struct State {
    pools: BTreeMap<String, Value>,
    /// The changes of each open transaction.
    transactions: BTreeMap<String, Vec<HttpRequest>>,
    begun: u32,
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
    if let Some(answer) = transaction(request, state, &body) {
        return answer;
    }
    pools(request, state, &body)
}

/// Answers a request about a transaction, or one that belongs to it.
fn transaction(request: &HttpRequest, state: &mut State, body: &Value) -> Option<HttpResponse> {
    let id = request.header("x-f5-rest-coordination-id");
    if !id.is_empty() {
        let Some(changes) = state.transactions.get_mut(id) else {
            return Some(error(404, "there is no such transaction"));
        };
        changes.push(request.clone());
        return Some(HttpResponse::json(200, body));
    }
    let rest = request.path.strip_prefix("/mgmt/tm/transaction")?;
    let id = rest.trim_start_matches('/').to_owned();
    let shown = |state: &str| HttpResponse::json(200, &json!({ "transId": id, "state": state }));
    Some(match request.method.as_str() {
        "POST" => {
            state.begun += 1;
            state
                .transactions
                .insert(state.begun.to_string(), Vec::new());
            HttpResponse::json(200, &json!({ "transId": state.begun, "state": "STARTED" }))
        }
        "PATCH" => {
            let Some(changes) = state.transactions.remove(&id) else {
                return Some(error(404, "there is no such transaction"));
            };
            let before = state.pools.clone();
            for change in changes {
                let body = serde_json::from_str(&change.body).unwrap_or_default();
                let answer = pools(&change, state, &body);
                if answer.status >= 400 {
                    state.pools = before;
                    return Some(error(400, &format!("transaction failed:{}", answer.body)));
                }
            }
            // The end of the validation is asked for.
            shown("VALIDATING")
        }
        "GET" => shown("COMPLETED"),
        _ => match state.transactions.remove(&id) {
            Some(_) => HttpResponse::empty(200),
            None => error(404, "there is no such transaction"),
        },
    })
}

fn pools(request: &HttpRequest, state: &mut State, body: &Value) -> HttpResponse {
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
            if body["monitor"] == "invalid" {
                return error(400, "01070734:3: Configuration error: monitor invalid");
            }
            if state.pools.contains_key(&name) {
                let message =
                    format!("01020066:3: The requested Pool (/Common/{name}) already exists");
                return error(409, &message);
            }
            state.pools.insert(name, body.clone());
            HttpResponse::json(200, body)
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
