//! Whom to reach by telnet, and as whom.

use std::time::Duration;

use devgate_schemas::{ConnectionInfo, Sensitive};
use tokio::time::Instant;

use crate::info::{duration, host, port, secret};
use crate::ssh;
use crate::{Context, Result, tcp};

/// The port of telnet's servers (RFC 854).
const PORT: u16 = 23;

/// Read from a target's connection info.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: Option<Sensitive<String>>,
    /// How long connecting and logging in may take together.
    pub(crate) timeout: Duration,
    /// The last host on the way, with those before it.
    pub(crate) via: Option<Box<ssh::settings::Settings>>,
}

impl Settings {
    /// Reads the settings.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting) for what no schema can check.
    pub(crate) fn read(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        let user = info.text("user");
        Ok(Self {
            host: host(info)?,
            port: port(info)?.unwrap_or(PORT),
            user: user.map_or_else(|| ctx.environment().user(), |user| Ok(user.to_owned()))?,
            password: secret(info, "password"),
            timeout: duration(info, "timeout", 10.0),
            via: ssh::settings::Settings::way_to(ctx, info)?.map(Box::new),
        })
    }

    /// `host:port`, as messages name the target; an IPv6 address in brackets.
    pub(crate) fn peer(&self) -> String {
        tcp::peer(&self.host, self.port)
    }

    /// By when a session must be open that is begun now: each host on the way has its own time.
    pub(crate) fn deadline(&self) -> Instant {
        let way = self.via.as_ref().map(|via| via.deadline());
        way.unwrap_or_else(Instant::now) + self.timeout
    }
}
