//! A firewall with the XML API, as Palo Alto Networks' "PAN-OS and Panorama XML API" guide describes it: a
//! candidate and a running configuration of whole elements, and commits that run as jobs.

use std::collections::BTreeMap;

use super::super::http::{HttpRequest, HttpResponse, Server, form};
use super::{PASSWORD, USER};

pub(crate) const KEY: &str = "vendor-canary-api-key";

/// The name of an object whose commit fails, and of one whose commit does not end.
pub(crate) const INVALID: &str = "invalid";
pub(crate) const ENDLESS: &str = "endless";

#[derive(Default)]
struct State {
    candidate: BTreeMap<String, String>,
    running: BTreeMap<String, String>,
    /// Whether the job commits only the changes of `USER`.
    is_partial: bool,
    /// How often the last job was queried.
    polls: u32,
    jobs: u32,
}

/// What another administrator has changed and not committed.
pub(crate) const OTHERS: &str = "/config/others";

pub(crate) fn start() -> Server {
    let mut state = State::default();
    Server::start(move |request| Some(answer(request, &mut state)))
}

/// Starts a firewall on which another administrator has begun to change something.
pub(crate) fn start_with_other_changes() -> Server {
    let mut state = State::default();
    state
        .candidate
        .insert(OTHERS.to_owned(), "<half/>".to_owned());
    Server::start(move |request| Some(answer(request, &mut state)))
}

impl State {
    /// Replaces the changes of `USER` in one configuration with those of another.
    fn own(from: &BTreeMap<String, String>, to: &mut BTreeMap<String, String>) {
        let others = to.remove(OTHERS);
        *to = from.clone();
        to.remove(OTHERS);
        to.extend(others.map(|others| (OTHERS.to_owned(), others)));
    }

    fn has_own(&self) -> bool {
        let mut reverted = self.candidate.clone();
        Self::own(&self.running, &mut reverted);
        reverted != self.candidate
    }
}

fn answer(request: &HttpRequest, state: &mut State) -> HttpResponse {
    if !request.line().starts_with("POST /api") || request.path.contains('?') {
        return HttpResponse::new(404, "text/html", "<html>404</html>");
    }
    let fields = form(&request.body);
    let field = |name: &str| fields.get(name).map_or("", String::as_str);
    if field("type") == "keygen" {
        return if (field("user"), field("password")) == (USER, PASSWORD) {
            success("", &format!("<key>{KEY}</key>"))
        } else {
            error(403, "403", "Invalid Credential")
        };
    }
    if request.header("x-pan-key") != KEY {
        return error(403, "403", "Invalid Credential");
    }
    match (field("type"), field("action")) {
        ("op", _) => op(field("cmd"), state),
        ("commit", _) if state.candidate == state.running => HttpResponse::new(
            200,
            "application/xml",
            "<response status=\"success\" code=\"19\"><msg>There are no changes to commit.</msg></response>",
        ),
        ("commit", _) => {
            state.is_partial = field("cmd").contains(&format!("<partial><admin><member>{USER}<"));
            state.polls = 0;
            state.jobs += 1;
            let job = state.jobs;
            let line = format!("<line>Commit job enqueued with jobid {job}</line>");
            success(
                " code=\"19\"",
                &format!("<msg>{line}</msg><job>{job}</job>"),
            )
        }
        ("config", action) => config(action, field("xpath"), field("element"), state),
        _ => error(200, "17", "Invalid command"),
    }
}

fn op(command: &str, state: &mut State) -> HttpResponse {
    match command {
        "<show><system><info></info></system></show>" => success(
            "",
            "<system><hostname>fw1</hostname><model>PA-VM</model><serial>007000000001</serial>\
             <sw-version>10.1.3</sw-version><family>vm</family><mac-address>00:1b:17:00:00:01</mac-address>\
             <uptime>1 days, 2:03:04</uptime></system>",
        ),
        "<show><silence></silence></show>" => error(200, "17", "silence"),
        "<show><clock></clock></show>" => success("", "Mon Nov 23 22:08:03 UTC 2026"),
        "<show><config><list><admins></admins></list></config></show>" => {
            let own = state.has_own().then_some(USER);
            let others = state.candidate.contains_key(OTHERS).then_some("eve");
            let admins = own.into_iter().chain(others);
            let admins: String = admins
                .map(|name| format!("<entry>{name}</entry>"))
                .collect();
            success("", &format!("<admins>{admins}</admins>"))
        }
        _ if command.starts_with("<revert><config><partial>") => {
            State::own(&state.running, &mut state.candidate);
            success("", "<msg>reverted</msg>")
        }
        _ if command.starts_with("<show><jobs><id>") => {
            state.polls += 1;
            let has = |word: &str| {
                state
                    .candidate
                    .values()
                    .any(|element| element.contains(word))
            };
            let (status, result, details) = match state.polls {
                _ if has(ENDLESS) => ("ACT", "PEND", ""),
                1 => ("ACT", "PEND", ""),
                _ if has(INVALID) => ("FIN", "FAIL", "<line>zone dmz is unknown</line>"),
                _ => (
                    "FIN",
                    "OK",
                    "<line>Configuration committed successfully</line>",
                ),
            };
            match result {
                "OK" if state.is_partial => State::own(&state.candidate, &mut state.running),
                "OK" => state.running = state.candidate.clone(),
                _ => {}
            }
            success(
                "",
                &format!(
                    "<job><id>{}</id><type>Commit</type><status>{status}</status><result>{result}</result>\
                 <progress>55</progress><details>{details}</details><warnings></warnings></job>",
                    state.jobs
                ),
            )
        }
        _ => error(200, "17", "No such command"),
    }
}

fn config(action: &str, xpath: &str, element: &str, state: &mut State) -> HttpResponse {
    match action {
        "get" | "show" => {
            let config = if action == "get" {
                &state.candidate
            } else {
                &state.running
            };
            let entry = |(path, element): (&String, &String)| {
                let name = path.strip_prefix(xpath)?.strip_prefix("/entry[@name='")?;
                let name = name.strip_suffix("']")?;
                Some(format!("<entry name=\"{name}\">{element}</entry>"))
            };
            let entries: String = config.iter().filter_map(entry).collect();
            let list = xpath.rsplit('/').next().unwrap_or_default();
            match config.get(xpath) {
                Some(element) => success("", element),
                None if entries.is_empty() => success(" code=\"7\"", ""),
                None => success("", &format!("<{list}>{entries}</{list}>")),
            }
        }
        "set" | "edit" if !element.starts_with('<') => error(200, "18", "Malformed command"),
        "set" | "edit" => {
            state.candidate.insert(xpath.to_owned(), element.to_owned());
            success(" code=\"20\"", "<msg>command succeeded</msg>")
        }
        "delete" => match state.candidate.remove(xpath) {
            Some(_) => success(" code=\"20\"", "<msg>command succeeded</msg>"),
            None => error(200, "7", "Object doesn't exist"),
        },
        _ => error(200, "17", "Invalid command"),
    }
}

fn success(code: &str, result: &str) -> HttpResponse {
    let body = format!("<response status=\"success\"{code}><result>{result}</result></response>");
    HttpResponse::new(200, "application/xml; charset=UTF-8", body)
}

fn error(status: u16, code: &str, message: &str) -> HttpResponse {
    let body = format!(
        "<response status = 'error' code = '{code}'><result><msg>{message}</msg></result></response>"
    );
    HttpResponse::new(status, "application/xml; charset=UTF-8", body)
}
