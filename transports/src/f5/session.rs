//! A session with a BIG-IP over iControl REST.

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema, Value};
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use serde_json::json;

use super::transaction;
use crate::fact_rows::{self, FactRow};
use crate::http::{
    Http, HttpLogin, HttpRequest, HttpResponse, HttpSettings, Repeat, SessionProof, method,
};
use crate::rpc::protocol_error;
use crate::{
    Context, DataRequest, DataStore, Document, Error, ProtocolSession, Result, Transport, http,
};

const PROTOCOL: &str = "iControl REST";
const LOGIN: &str = "/mgmt/shared/authn/login";
const TOKENS: &str = "/mgmt/shared/authz/tokens/";
const TOKEN_HEADER: HeaderName = HeaderName::from_static("x-f5-auth-token");
const TRANSACTION_HEADER: HeaderName = HeaderName::from_static("x-f5-rest-coordination-id");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const DEVICES: &str = "tm/cm/device";

/// The facts in the device's entry of its device group.
const FACTS: &[FactRow] = &[
    ("/hostname", "networking.hostname"),
    ("/baseMac", "networking.mac"),
    ("/version", "os.release.full"),
    ("/marketingName", "dmi.product.name"),
    ("/chassisId", "dmi.product.serial_number"),
];

/// A session over iControl REST. Each request carries a token, which expires and is renewed.
#[derive(Debug)]
pub struct F5Session {
    http: Http,
}

impl ProtocolSession for F5Session {
    const NAME: &'static str = "f5";

    fn schema() -> TransportSchema {
        TransportSchema::built_in(include_str!("schema.yaml")).on(&http::SCHEMA)
    }

    async fn open(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        let provider = info.text("login_provider").unwrap_or("tmos");
        let login = HttpLogin {
            method: Method::POST,
            path: LOGIN.to_owned(),
            body: Some(Value::from(json!({
                "username": "{user}",
                "password": "{password}",
                "loginProviderName": provider,
            }))),
            session_proof: SessionProof::Token {
                at: "/token/token".to_owned(),
                header: TOKEN_HEADER,
                value: "{token}".to_owned(),
            },
        };
        let http = Http::new(HttpSettings::read(ctx, info)?, Some(login))?;
        http.log_in(ctx).await?;
        Ok(Self { http })
    }
}

impl F5Session {
    pub(super) async fn read(&self, ctx: &Context<'_>, what: &str) -> Result<HttpResponse> {
        self.http
            .request(ctx, &HttpRequest::new(Method::GET, path(what)))
            .await
    }

    /// Sends a change, as part of a transaction if one is given.
    pub(super) async fn change(
        &self,
        ctx: &Context<'_>,
        request: &DataRequest,
        transaction: Option<&HeaderValue>,
    ) -> Result<HttpResponse> {
        let method = method(request.method.as_deref().unwrap_or("PATCH"))?;
        let mut http_request = HttpRequest::new(method, path(&request.what)).repeat(Repeat::Never);
        if let Some(transaction) = transaction {
            http_request = http_request.header(TRANSACTION_HEADER, transaction.clone());
        }
        if let Some(body) = &request.body {
            http_request = http_request
                .header(CONTENT_TYPE, JSON)
                .body(body.reveal_json().to_string());
        }
        self.http.request(ctx, &http_request).await
    }

    pub(super) fn peer(&self) -> &str {
        self.http.peer()
    }

    pub(super) fn protocol_error(&self, expected: &str) -> Error {
        protocol_error(&self.http, PROTOCOL, expected)
    }
}

/// Returns a path below `/mgmt`, or an absolute path of the device.
fn path(what: &str) -> String {
    if what.starts_with('/') {
        what.to_owned()
    } else {
        format!("/mgmt/{what}")
    }
}

#[async_trait]
impl DataStore for F5Session {
    async fn get(&self, ctx: &Context<'_>, what: &str) -> Result<Document> {
        Ok(self.read(ctx, what).await?.document())
    }

    async fn set(&self, ctx: &Context<'_>, request: &DataRequest) -> Result<Document> {
        if request.method.as_deref() == Some(DataRequest::TRANSACTION) {
            return transaction::run(self, ctx, &request.parts()?).await;
        }
        Ok(self.change(ctx, request, None).await?.document())
    }

    /// Several changes are a transaction of the device.
    async fn all_or_nothing(&self, _: &Context<'_>) -> Result<bool> {
        Ok(true)
    }
}

#[async_trait]
impl Transport for F5Session {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        self.read(ctx, DEVICES).await.map(drop)
    }

    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let mut facts = Facts::new();
        let result = self.read(ctx, DEVICES).await;
        let Some(answer) = fact_rows::unless_refused(ctx, result, "of the device")? else {
            return Ok(facts);
        };
        let answer = answer
            .json()
            .ok_or_else(|| protocol_error(&self.http, PROTOCOL, "JSON"))?;
        let devices = answer["items"].as_array().into_iter().flatten();
        let mut own = devices.filter(|device| device["selfDevice"] == "true");
        let device = own.next().cloned().unwrap_or_default();
        fact_rows::set_facts(ctx, &mut facts, &device, FACTS, "GET /mgmt/tm/cm/device");
        Ok(facts)
    }

    /// Deletes the token, because a device allows only a few at once.
    async fn close(self: Box<Self>, ctx: &Context<'_>) {
        let give_back = |token: &str| HttpRequest::new(Method::DELETE, format!("{TOKENS}{token}"));
        self.http.log_out(ctx, give_back).await;
    }

    fn data_store(&self) -> Option<&dyn DataStore> {
        Some(self)
    }
}
