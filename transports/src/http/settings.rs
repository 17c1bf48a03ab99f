//! The settings of a session: server, credentials and time limits.

use std::time::Duration;

use devgate_schemas::{ConnectionInfo, MAX_VALUES, Sensitive};
use reqwest::header::{HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Url};

use super::login::HttpLogin;
use super::relay::Relay;
use super::version2;
use crate::error::Phase;
use crate::info::{count, duration, host, port, problem, secret};
use crate::resolve::Resolver;
use crate::tls::{self, Tls};
use crate::{Context, Destination, Error, Result, tcp};

/// The advice when the server expects TLS.
pub(super) const USE_TLS_HINT: &str = "the server uses TLS: set `protocol: https`";

/// How long sent data may stay unacknowledged before the connection is given up (RFC 9293, 3.8.3): half
/// of the retry budget, so that a new connection can be tried.
pub(super) const ACKNOWLEDGEMENT_TIMEOUT: Duration = Duration::from_secs(15);

/// The settings of a session, read from a target's connection info.
#[derive(Debug)]
pub(crate) struct HttpSettings {
    pub(super) host: String,
    port: u16,
    /// `host:port`.
    pub(super) peer: String,
    scheme: &'static str,
    /// Empty, or with a leading and without a trailing slash.
    base_path: String,
    pub(super) user: Option<String>,
    pub(super) password: Option<Sensitive<String>>,
    key: Option<Key>,
    tls: Tls,
    http2_only: bool,
    /// How connections are opened where they do not begin at this node.
    pub(super) relay: Option<Relay>,
    pub(super) timeout: Duration,
    pub(super) idle_timeout: Duration,
    pub(super) command_timeout: Duration,
    pub(super) answer_limit: usize,
}

/// The credentials that are sent instead of a user and a password.
#[derive(Debug)]
enum Key {
    Bearer(Sensitive<String>),
    Header(HeaderName, Sensitive<String>),
}

impl HttpSettings {
    /// Reads the settings of [`SCHEMA`](super::SCHEMA), and warns about credentials that are sent in clear text.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`](crate::Error::Setting) for a problem that no schema can detect.
    pub(crate) fn read(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        let host = host(info)?;
        let with_tls = info.text("protocol") != Some("http");
        let (scheme, usual) = if with_tls {
            ("https", 443)
        } else {
            ("http", 80)
        };
        let port = port(info)?.unwrap_or(usual);
        let peer = tcp::peer(&host, port);
        let key = match (secret(info, "token"), secret(info, "apikey")) {
            (Some(token), _) => Some(Key::Bearer(token)),
            (None, Some(key)) => {
                let name = info.text("apikey_header").unwrap_or("X-API-Key");
                let name = HeaderName::try_from(name)
                    .map_err(|_| problem("apikey_header", "is no name of a header"))?;
                Some(Key::Header(name, key))
            }
            (None, None) => None,
        };
        let password = secret(info, "password");
        if !with_tls && (key.is_some() || password.is_some()) {
            ctx.warning(format!(
                "the credentials for {peer} are sent in clear text (`protocol: http`): anyone in between can read \
                 them"
            ));
        }
        let base_path = info.text("base_path").unwrap_or_default().trim_matches('/');
        Ok(Self {
            host,
            port,
            peer,
            scheme,
            base_path: if base_path.is_empty() {
                String::new()
            } else {
                format!("/{base_path}")
            },
            user: info.text("user").map(str::to_owned),
            password,
            key,
            tls: if with_tls {
                Tls::read(ctx, info)?.with_protocols(&[b"h2", b"http/1.1"])
            } else {
                Tls::none()
            },
            http2_only: info.boolean("http2_only") == Some(true),
            relay: ctx
                .dialer()
                .map(|_| Relay::new())
                .transpose()
                .map_err(|error| {
                    problem(
                        "host",
                        &format!("cannot be reached through a proxy ({error})"),
                    )
                })?,
            timeout: duration(info, "timeout", 10.0),
            idle_timeout: duration(info, "idle_timeout", 30.0),
            command_timeout: duration(info, "command_timeout", 600.0),
            answer_limit: count(info, "answer_limit", MAX_VALUES),
        })
    }

    pub(super) fn with_tls(&self) -> bool {
        self.scheme == "https"
    }

    /// Returns how long a server may be silent before it has received the request.
    pub(super) fn max_silence(&self) -> Duration {
        self.timeout.max(ACKNOWLEDGEMENT_TIMEOUT)
    }

    /// Creates a client. `most` limits the time for connecting and for the acknowledgement of sent data.
    pub(super) fn client(&self, most: Duration) -> Result<Client> {
        let limit = self.timeout.min(most);
        let mut client = Client::builder();
        if self.http2_only {
            client = client.http2_prior_knowledge();
        }
        if let Some(relay) = &self.relay {
            client = client.unix_socket(relay.path());
        }
        client
            .tls_backend_preconfigured(self.tls.config().clone())
            .tls_info(true)
            .no_proxy()
            .redirect(Policy::none())
            .referer(false)
            .user_agent(concat!("devgate/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(limit)
            // Leave some time for connecting after the lookup.
            .dns_resolver(Resolver {
                limit: limit / 4 * 3,
            })
            .tcp_user_timeout(ACKNOWLEDGEMENT_TIMEOUT.min(most))
            .build()
            .map_err(|error| problem("host", &format!("cannot be asked: {error}")))
    }

    /// Returns the problem of an answer that is not HTTP of the requested version.
    pub(super) fn not_http_problem(&self) -> &'static str {
        if self.http2_only {
            "what it answers is no HTTP/2: leave `http2_only` out, or check `port` and `protocol`"
        } else {
            "its answer is not HTTP: check `port` and `protocol`"
        }
    }

    /// Returns why a server closes connections before it has answered anything, if the reason is TLS, missing TLS,
    /// or another version of HTTP.
    pub(super) async fn probe_problem(&self, ctx: &Context<'_>) -> Option<Error> {
        if self.with_tls() {
            return self.tls.probe_problem(ctx, &self.host, self.port).await;
        }
        let problem = if tls::is_supported(ctx, &self.host, self.port).await {
            USE_TLS_HINT
        } else if !self.http2_only && version2::is_supported(ctx, &self.host, self.port).await {
            "it speaks HTTP/2 alone: say `http2_only: true`"
        } else {
            return None;
        };
        Some(Error::Protocol {
            peer: self.peer.clone(),
            protocol: "HTTP",
            phase: Phase::Request,
            problem: problem.to_owned(),
        })
    }

    /// Returns the server, for a dialer.
    pub(super) fn destination(&self) -> Destination<'_> {
        Destination::Tcp {
            host: &self.host,
            port: self.port,
        }
    }

    /// Returns the URL of a path below the base path.
    ///
    /// # Errors
    /// Fails with [`Error::ControlCharacter`](crate::Error::ControlCharacter): a URL parser drops such characters.
    pub(super) fn url(&self, path: &str) -> Result<Url> {
        if let Some(character) = path.chars().find(|c| c.is_control()) {
            return Err(Error::ControlCharacter {
                what: format!("the path {path:?}"),
                character,
            });
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        // Unescaped, `#` would begin a part that is not sent, and `\` would be read as a slash.
        let path = path.replace('#', "%23").replace('\\', "%5C");
        let url = format!(
            "{}://{}{}{slash}{path}",
            self.scheme, self.peer, self.base_path
        );
        Url::parse(&url).map_err(|error| problem("host", &format!("makes no URL ({error})")))
    }

    /// Returns a path of the server without the base path, which every path gets.
    pub(super) fn relative_to_base(&self, path: &str) -> String {
        path.strip_prefix(&self.base_path)
            .unwrap_or(path)
            .to_owned()
    }

    /// Adds the credentials to a request.
    pub(super) fn authorize(&self, request: RequestBuilder) -> Result<RequestBuilder> {
        Ok(match (&self.key, &self.user, &self.password) {
            (Some(Key::Bearer(token)), ..) => request.bearer_auth(token.reveal()),
            (Some(Key::Header(name, key)), ..) => {
                let value = secret_header("apikey", key)?;
                request.header(name, value)
            }
            (None, Some(user), Some(password)) => {
                request.basic_auth(user, Some(password.reveal().as_str()))
            }
            (None, ..) => request,
        })
    }

    /// Returns whose credentials were tried, how, and what to check; `None` if there are none.
    pub(super) fn credentials_tried(
        &self,
        login: Option<&HttpLogin>,
    ) -> Option<(String, String, &'static str)> {
        let user = self.user.clone().unwrap_or_default();
        let check = "check `user` and `password`";
        if let Some(login) = login {
            return Some((user, format!("{} {}", login.method, login.path), check));
        }
        Some(match (&self.key, &self.user, &self.password) {
            (Some(Key::Bearer(_)), ..) => (
                "token".to_owned(),
                "bearer token".to_owned(),
                "check `token`",
            ),
            (Some(Key::Header(name, _)), ..) => (
                "apikey".to_owned(),
                format!("header {name}"),
                "check `apikey` and `apikey_header`",
            ),
            (None, Some(_), Some(_)) => (user, "basic".to_owned(), check),
            (None, ..) => return None,
        })
    }
}

/// Returns a secret as a header value that is not shown.
pub(super) fn secret_header(
    setting: &'static str,
    secret: &Sensitive<String>,
) -> Result<HeaderValue> {
    let mut value = HeaderValue::from_str(secret.reveal())
        .map_err(|_| problem(setting, "holds a character that no header may hold"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Parses the name of a method.
pub(crate) fn method(name: &str) -> Result<Method> {
    let name = name.to_uppercase();
    match Method::from_bytes(name.as_bytes()) {
        Ok(method) if name.bytes().all(|byte| byte.is_ascii_alphabetic()) => Ok(method),
        _ => Err(Error::Unsupported(format!(
            "`{name}` is not an HTTP method: use GET, POST, PUT, PATCH or DELETE"
        ))),
    }
}
