//! A session with a firewall over the XML API.

use std::time::Duration;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, Sensitive, TransportSchema, Value};
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Method, Url};

use super::answer::{self, PanosAnswer};
use super::commit::commit;
use super::transaction;
use crate::error::{AuthenticationProblem, Refused};
use crate::fact_rows;
use crate::http::{Http, HttpLogin, HttpRequest, HttpSettings, Repeat, SessionProof};
use crate::info::{duration, problem};
use crate::rpc::protocol_error;
use crate::xml::Element;
use crate::{
    Context, DataRequest, DataStore, Document, Error, ProtocolSession, Result, Transport, http,
};

pub(super) const PROTOCOL: &str = "the PAN-OS XML API";
const PATH: &str = "/api/";
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
const SYSTEM: &str = "<show><system><info></info></system></show>";

/// The elements of `show system info`, and their facts.
const FACTS: &[(&str, &str)] = &[
    ("hostname", "networking.hostname"),
    ("mac-address", "networking.mac"),
    ("sw-version", "os.release.full"),
    ("model", "dmi.product.name"),
    ("serial", "dmi.product.serial_number"),
];

/// A session over the XML API. Each request carries the key in a header.
#[derive(Debug)]
pub struct PanosSession {
    http: Http,
    /// The user who requests a key; `None` if a key is configured.
    user: Option<String>,
    /// The administrator whose changes the session makes, if known.
    admin: Option<String>,
    /// The action that reads the wanted configuration.
    reading: &'static str,
    command_timeout: Duration,
}

impl ProtocolSession for PanosSession {
    const NAME: &'static str = "panos";

    fn schema() -> TransportSchema {
        TransportSchema::built_in(include_str!("schema.yaml")).on(&http::SCHEMA)
    }

    async fn open(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        let has_key = info.secret("apikey").is_some();
        let admin = info.text("user").map(str::to_owned);
        let user = admin.clone().filter(|_| !has_key);
        if !has_key && (user.is_none() || info.secret("password").is_none()) {
            let why = "is not given, nor `user` and `password` to ask for one";
            return Err(problem("apikey", why));
        }
        let login = user.as_ref().map(|_| HttpLogin {
            method: Method::POST,
            path: PATH.to_owned(),
            body: Some(Value::from("type=keygen&user={user}&password={password}")),
            session_proof: SessionProof::Token {
                at: "/result/key".to_owned(),
                header: HeaderName::from_static("x-pan-key"),
                value: "{token}".to_owned(),
            },
        });
        let session = Self {
            http: Http::new(HttpSettings::read(ctx, info)?, login)?,
            user,
            admin,
            reading: match info.text("configuration") {
                Some("running") => "show",
                _ => "get",
            },
            command_timeout: duration(info, "command_timeout", 600.0),
        };
        session.http.log_in(ctx).await?;
        Ok(session)
    }
}

impl PanosSession {
    pub(super) fn peer(&self) -> &str {
        self.http.peer()
    }

    pub(super) fn protocol_error(&self, expected: &str) -> Error {
        protocol_error(&self.http, PROTOCOL, expected)
    }

    /// Returns the administrator whose changes the session makes.
    ///
    /// # Errors
    /// Fails if it is not known.
    pub(super) fn admin(&self) -> Result<&str> {
        self.admin.as_deref().ok_or_else(|| {
            let problem = "a commit of one's own changes needs the name of the administrator: set `user` to whose \
                           `apikey` it is; nothing was sent";
            Error::Unsupported(problem.to_owned())
        })
    }

    fn key_refused(&self, message: String) -> Error {
        let setting = if self.user.is_some() {
            "password"
        } else {
            "apikey"
        };
        Error::Authentication(Box::new(AuthenticationProblem {
            peer: self.peer().to_owned(),
            user: self.user.clone().unwrap_or_else(|| setting.to_owned()),
            tried: "header x-pan-key".to_owned(),
            offered: Vec::new(),
            message,
            next: format!("check `{setting}`"),
        }))
    }

    /// Sends a request and returns the answer, raw and parsed.
    ///
    /// A key that was requested here may expire; then a new one is requested. A request that was refused for
    /// its key had no effect, so any request may be sent again.
    pub(super) async fn call(
        &self,
        ctx: &Context<'_>,
        fields: &[(&str, &str)],
        repeat: Repeat,
    ) -> Result<(String, Element)> {
        let mut renewed = self.user.is_none();
        let http_request = request(fields, repeat);
        loop {
            let answer = self.http.answer(ctx, &http_request).await?;
            let text = answer.text();
            let (code, message) = match answer::read(&text) {
                Some(PanosAnswer::Success(response)) => return Ok((text, response)),
                Some(PanosAnswer::Error { code, message }) => (code, message),
                None if answer.status.is_success() => {
                    return Err(self.protocol_error("a `response`"));
                }
                None => return Err(self.http.refused(&http_request, &answer, "")),
            };
            if code == "403" && !renewed {
                renewed = true;
                self.http.forget_login().await;
                continue;
            }
            if code == "403" {
                return Err(self.key_refused(message));
            }
            let parts = fields
                .iter()
                .take_while(|(name, _)| ["type", "action"].contains(name));
            let parts: Vec<&str> = parts.map(|(_, value)| *value).collect();
            return Err(Error::Refused(Box::new(Refused {
                peer: self.peer().to_owned(),
                request: parts.join(" "),
                status: format!("code {code}"),
                busy: answer::is_busy(&message),
                message,
                hint: String::new(),
                details: None,
            })));
        }
    }
}

/// Returns a request with form fields. They are in its body, because they may contain secrets.
fn request(fields: &[(&str, &str)], repeat: Repeat) -> HttpRequest {
    let mut url = Url::parse("http://form").expect("it is a URL");
    url.query_pairs_mut().extend_pairs(fields);
    let form = url.query().unwrap_or_default().to_owned();
    let http_request = HttpRequest::new(Method::POST, PATH).repeat(repeat);
    http_request.header(CONTENT_TYPE, FORM).body(form)
}

#[async_trait]
impl DataStore for PanosSession {
    async fn get(&self, ctx: &Context<'_>, what: &str) -> Result<Document> {
        let what = what.trim();
        let fields = if what.starts_with('<') {
            vec![("type", "op"), ("cmd", what)]
        } else {
            vec![
                ("type", "config"),
                ("action", self.reading),
                ("xpath", what),
            ]
        };
        let (answer, _) = self.call(ctx, &fields, Repeat::Allowed).await?;
        Ok(Document::Text(answer))
    }

    async fn set(&self, ctx: &Context<'_>, request: &DataRequest) -> Result<Document> {
        if request.method.as_deref() == Some(DataRequest::TRANSACTION) {
            let limit = self.command_timeout;
            return transaction::run(self, ctx, &request.parts()?, limit).await;
        }
        let body = match &request.body {
            None => None,
            Some(body) => match body.reveal_json() {
                serde_json::Value::String(text) => Some(Sensitive::new(text)),
                _ => {
                    return Err(Error::Unsupported(
                        "panos takes an element as XML text: nothing was sent".to_owned(),
                    ));
                }
            },
        };
        let body = body.as_ref().map(|body| body.reveal().as_str());
        let what = request.what.as_str();
        let mut fields = match request.method.as_deref().unwrap_or("set") {
            "commit" => {
                let command = body.unwrap_or(what);
                if !command.trim_start().starts_with("<commit") {
                    let why = "panos commits by a command: `<commit></commit>` for all changes";
                    return Err(Error::Unsupported(why.to_owned()));
                }
                return commit(self, ctx, command, self.command_timeout).await;
            }
            "op" => vec![("type", "op"), ("cmd", body.unwrap_or(what))],
            action @ ("set" | "edit" | "delete") => {
                vec![("type", "config"), ("action", action), ("xpath", what)]
            }
            other => {
                return Err(Error::Unsupported(format!(
                    "panos has no method `{other}`, but `set`, `edit`, `delete`, `op`, `commit` and `transaction`"
                )));
            }
        };
        if let ("config", Some(element)) = (fields[0].1, body) {
            fields.push(("element", element));
        }
        let (answer, _) = self.call(ctx, &fields, Repeat::Never).await?;
        Ok(Document::Text(answer))
    }

    /// Several changes are one commit.
    async fn all_or_nothing(&self, _: &Context<'_>) -> Result<bool> {
        Ok(true)
    }
}

#[async_trait]
impl Transport for PanosSession {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        let fields = [("type", "op"), ("cmd", SYSTEM)];
        self.call(ctx, &fields, Repeat::Allowed).await.map(drop)
    }

    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let mut facts = Facts::new();
        let fields = [("type", "op"), ("cmd", SYSTEM)];
        let result = self.call(ctx, &fields, Repeat::Allowed).await;
        let what = "of `show system info`";
        if let Some((_, response)) = fact_rows::unless_refused(ctx, result, what)? {
            for (name, fact) in FACTS {
                match response.text_at_path(&format!("result/system/{name}")) {
                    Some(text) => facts.set(fact, Value::from(text)),
                    None => ctx.notice(format!(
                        "`show system info` does not provide the fact {fact}"
                    )),
                }
            }
        }
        Ok(facts)
    }

    async fn close(self: Box<Self>, _: &Context<'_>) {}

    fn data_store(&self) -> Option<&dyn DataStore> {
        Some(self)
    }
}
