//! The settings of a session.

use std::path::PathBuf;
use std::time::Duration;

use devgate_schemas::{ConnectionInfo, MAX_VALUES};

use crate::info::{count, duration, host, port, problem};
use crate::tls::{self, Tls};
use crate::{Context, Result, tcp};

/// The settings of a session, read from its connection info.
#[derive(Debug)]
pub(super) struct Settings {
    pub(super) endpoint: Endpoint,
    pub(super) database: String,
    pub(super) timeout: Duration,
    pub(super) command_timeout: Duration,
    pub(super) answer_limit: usize,
}

/// The address of a server.
#[derive(Debug)]
pub(super) enum Endpoint {
    /// TCP with TLS.
    Tls { host: String, port: u16, tls: Tls },
    /// TCP without encryption.
    Tcp { host: String, port: u16 },
    /// A Unix socket on this node.
    Unix(PathBuf),
}

impl Settings {
    /// The port of OVSDB (RFC 7047, 9).
    const PORT: u16 = 6640;

    pub(super) fn read(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        Ok(Self {
            endpoint: Endpoint::read(ctx, info)?,
            database: info.text("database").unwrap_or("Open_vSwitch").to_owned(),
            timeout: duration(info, "timeout", 10.0),
            command_timeout: duration(info, "command_timeout", 60.0),
            answer_limit: count(info, "answer_limit", MAX_VALUES),
        })
    }

    /// Returns the server's name for messages.
    pub(super) fn peer(&self) -> String {
        match &self.endpoint {
            Endpoint::Tls { host, port, .. } | Endpoint::Tcp { host, port } => {
                tcp::peer(host, *port)
            }
            Endpoint::Unix(path) => path.display().to_string(),
        }
    }

    /// Returns whether the server uses TLS although it is not expected.
    pub(super) async fn finds_tls(&self, ctx: &Context<'_>) -> bool {
        match &self.endpoint {
            Endpoint::Tcp { host, port } => tls::is_supported(ctx, host, *port).await,
            Endpoint::Tls { .. } | Endpoint::Unix(_) => false,
        }
    }
}

impl Endpoint {
    fn read(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        let protocol = info.text("protocol").unwrap_or("ssl");
        match (protocol, info.text("socket")) {
            ("unix", Some(socket)) => return Ok(Self::Unix(ctx.environment().path(socket))),
            ("unix", None) => {
                let missing = "is missing: `protocol: unix` needs the path of the server's socket";
                return Err(problem("socket", missing));
            }
            (_, Some(_)) => {
                let unused = "is only for `protocol: unix`: set that, or leave the socket out";
                return Err(problem("socket", unused));
            }
            (_, None) => {}
        }
        let (host, port) = (host(info)?, port(info)?.unwrap_or(Settings::PORT));
        if protocol == "tcp" {
            ctx.warning(format!(
                "nothing is encrypted on the way to {}, and neither side proves its identity: use \
                 `protocol: ssl` where others can reach it",
                tcp::peer(&host, port)
            ));
            return Ok(Self::Tcp { host, port });
        }
        let tls = Tls::read(ctx, info)?;
        Ok(Self::Tls { host, port, tls })
    }
}
