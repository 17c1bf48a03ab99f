//! A session with a RESTCONF server.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema, Value};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue, IF_MATCH};
use reqwest::{Method, StatusCode};
use serde_json::Value as Json;

use super::errors::Errors;
use super::facts::{FACT_SOURCES, leaf_of};
use super::root::{self, HOST_META};
use crate::fact_rows;
use crate::http::{Http, HttpRequest, HttpResponse, HttpSettings, Repeat, method};
use crate::xml::Element;
use crate::{
    Context, DataRequest, DataStore, Document, Error, ProtocolSession, Result, Transport, http,
};

const JSON: &str = "application/yang-data+json";
const XML: &str = "application/yang-data+xml";
const LIBRARY: &str = "yang-library-version";

/// A session with a server whose root resource is known.
#[derive(Debug)]
pub struct RestconfSession {
    http: Http,
    root: String,
    /// The media type in use: JSON, or XML if the server does not support JSON. Only one is requested at a time,
    /// because some servers cannot parse a list.
    media_type: &'static str,
    /// The resource that was read when the session was opened. It is also used to verify the session.
    probe: String,
    /// The entity-tags of resources that were read and not changed since (RFC 8040, 3.4.1).
    entity_tags: Mutex<HashMap<String, String>>,
}

impl ProtocolSession for RestconfSession {
    const NAME: &'static str = "restconf";

    fn schema() -> TransportSchema {
        TransportSchema::built_in(include_str!("schema.yaml")).on(&http::SCHEMA)
    }

    /// Finds the root and the supported media type.
    async fn open(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        let http = Http::new(HttpSettings::read(ctx, info)?, None)?;
        let root = match info.text("root") {
            Some(root) => root::normalized(root),
            None => discover(ctx, &http).await?,
        };
        let mut session = Self {
            http,
            root,
            media_type: JSON,
            probe: String::new(),
            entity_tags: Mutex::default(),
        };
        // Some servers have only one of these.
        let root = &session.root;
        let slash = if root.is_empty() { "/" } else { "" };
        let probes = [
            format!("{root}{slash}"),
            format!("{root}/{LIBRARY}"),
            format!("{root}/data"),
        ];
        let mut refused = None;
        for probe in probes {
            for media_type in [JSON, XML] {
                session.media_type = media_type;
                let http_request = session.new_request(Method::GET, &probe, None);
                let answer = session.http.answer(ctx, &http_request).await?;
                if answer.status.is_success() {
                    session.probe = probe;
                    return Ok(session);
                }
                refused.get_or_insert_with(|| session.refusal(&http_request, &answer));
                let unfit = [
                    StatusCode::NOT_ACCEPTABLE,
                    StatusCode::UNSUPPORTED_MEDIA_TYPE,
                ];
                if !unfit.contains(&answer.status) {
                    break;
                }
            }
        }
        let mut why = refused.expect("something was asked for");
        if let Error::Refused(refused) = &mut why {
            let hint = format!("nothing of RESTCONF was found at `{}`", session.root);
            refused.hint = hint + ": name the path of its root in `root`";
        }
        Err(why)
    }
}

impl RestconfSession {
    /// Creates a request in the server's media type. A change carries the entity-tag of the resource as it was read.
    fn new_request(
        &self,
        method: Method,
        path: &str,
        body: Option<(&'static str, String)>,
    ) -> HttpRequest {
        let repeat = if method == Method::GET {
            Repeat::Allowed
        } else {
            Repeat::Never
        };
        let accept = HeaderValue::from_static(self.media_type);
        let mut http_request = HttpRequest::new(method, path)
            .repeat(repeat)
            .header(ACCEPT, accept);
        if let Some((media_type, body)) = body {
            http_request = http_request
                .header(CONTENT_TYPE, HeaderValue::from_static(media_type))
                .body(body);
        }
        let tag = self
            .tags()
            .get(path)
            .and_then(|tag| HeaderValue::from_str(tag).ok());
        match tag {
            Some(tag) if repeat == Repeat::Never => http_request.header(IF_MATCH, tag),
            _ => http_request,
        }
    }

    async fn answer(&self, ctx: &Context<'_>, http_request: &HttpRequest) -> Result<HttpResponse> {
        let answer = self.http.answer(ctx, http_request).await?;
        if answer.status.is_success() {
            Ok(answer)
        } else {
            Err(self.refusal(http_request, &answer))
        }
    }

    /// Reads a resource. A refusal because of a lock is transient.
    async fn read(&self, ctx: &Context<'_>, path: &str) -> Result<HttpResponse> {
        let http_request = self.new_request(Method::GET, path, None);
        let what = format!("read `{path}` of {}", self.http.peer());
        let mut attempts = ctx.retry_budget().attempts(ctx, what);
        loop {
            match self.answer(ctx, &http_request).await {
                Err(error) => attempts.pause(error).await?,
                answer => return answer,
            }
        }
    }

    fn refusal(&self, http_request: &HttpRequest, answer: &HttpResponse) -> Error {
        let hint = match answer.status {
            StatusCode::PRECONDITION_FAILED => {
                "it was changed since it was read here: read it again"
            }
            StatusCode::METHOD_NOT_ALLOWED if http_request.method == Method::PATCH => {
                "it may not know how to merge: read it, and replace it with `--method PUT`"
            }
            _ => "",
        };
        let errors = Errors::read(&answer.text());
        let mut error = self.http.refused(http_request, answer, hint);
        if let (Error::Refused(refused), Some(errors)) = (&mut error, errors) {
            refused.busy |= errors.busy();
            refused.status = format!("{}, {}", refused.status, errors.tag);
            refused.message = errors.message;
        }
        error
    }

    fn tags(&self) -> std::sync::MutexGuard<'_, HashMap<String, String>> {
        self.entity_tags
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the server for the path of its root.
async fn discover(ctx: &Context<'_>, http: &Http) -> Result<String> {
    let http_request = HttpRequest::new(Method::GET, HOST_META)
        .header(ACCEPT, HeaderValue::from_static("application/xrd+xml"));
    let root = match http.answer(ctx, &http_request).await {
        Ok(answer) if answer.status.is_success() => root::root_in(&answer.text()),
        // After a refusal, for example because of a redirect, the root may still be here.
        Ok(_) | Err(Error::Refused(_)) => None,
        Err(error) => return Err(error),
    };
    Ok(root.unwrap_or_else(|| {
        ctx.debug(format!(
            "the server does not say where its root is: `{}` is tried",
            root::DEFAULT_ROOT
        ));
        root::DEFAULT_ROOT.to_owned()
    }))
}

#[async_trait]
impl DataStore for RestconfSession {
    async fn get(&self, ctx: &Context<'_>, what: &str) -> Result<Document> {
        let path = root::path_of(&self.root, what);
        let answer = self.read(ctx, &path).await?;
        match answer.header("etag").filter(|tag| !tag.starts_with("W/")) {
            // A weak tag never matches in `If-Match` (RFC 9110, 13.1.1).
            Some(tag) => self.tags().insert(path, tag.to_owned()),
            None => self.tags().remove(&path),
        };
        Ok(answer.document())
    }

    /// A resource that was read before in this session is changed only if nobody else has changed it meanwhile,
    /// provided that the server supports entity-tags.
    async fn set(&self, ctx: &Context<'_>, request: &DataRequest) -> Result<Document> {
        let method = method(request.method.as_deref().unwrap_or("PATCH"))?;
        let path = root::path_of(&self.root, &request.what);
        let body = request.body.as_ref().map(|body| match body.reveal_json() {
            Json::String(text) if text.trim_start().starts_with('<') => (XML, text),
            Json::String(text) => (JSON, text),
            data => (JSON, data.to_string()),
        });
        let result = self
            .answer(ctx, &self.new_request(method, &path, body))
            .await;
        // A tag may stand for the whole datastore, so a change makes all tags invalid.
        self.tags().clear();
        Ok(result?.document())
    }
}

#[async_trait]
impl Transport for RestconfSession {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        self.read(ctx, &self.probe).await.map(drop)
    }

    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let mut facts = Facts::new();
        let probe = self.read(ctx, &self.probe).await?.text();
        let version = match serde_json::from_str(&probe) {
            Ok(json) => leaf_of(&json, LIBRARY),
            Err(_) => Element::read(&probe)
                .and_then(|xml| Some(xml.find(LIBRARY)?.text.trim().to_owned())),
        };
        if let Some(version) = version {
            facts.set("restconf.yang_library_version", Value::from(version));
        }
        facts.set("restconf.root", Value::from(self.root.as_str()));
        for source in FACT_SOURCES {
            let path = root::path_of(&self.root, source.path);
            let result = self.read(ctx, &path).await;
            let Some(answer) =
                fact_rows::unless_refused(ctx, result, &format!("of {}", source.path))?
            else {
                continue;
            };
            let absent = source.set_facts(&answer.text(), &mut facts);
            if !absent.is_empty() {
                ctx.notice(format!(
                    "{} does not provide the facts {}",
                    source.path,
                    absent.join(", ")
                ));
            }
        }
        Ok(facts)
    }

    async fn close(self: Box<Self>, _: &Context<'_>) {}

    fn data_store(&self) -> Option<&dyn DataStore> {
        Some(self)
    }
}
