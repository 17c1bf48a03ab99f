//! The settings of a telnet connection.

use std::time::Duration;

use devgate_schemas::{ConnectionInfo, Sensitive};
use tokio::time::Instant;

use crate::info::{duration, host, port, secret};
use crate::ssh;
use crate::{Context, Result, tcp};

/// The default port of telnet (RFC 854).
const PORT: u16 = 23;

/// The settings, read from a target's connection info.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) user: String,
    pub(crate) password: Option<Sensitive<String>>,
    /// The limit for connecting and logging in together.
    pub(crate) timeout: Duration,
    /// The last jump host, with those before it.
    pub(crate) via: Option<Box<ssh::settings::Settings>>,
}

impl Settings {
    /// Reads the settings.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`](crate::Error::Setting) for a problem that no schema can detect.
    pub(crate) fn read(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        let user = info.text("user");
        Ok(Self {
            host: host(info)?,
            port: port(info)?.unwrap_or(PORT),
            user: user.map_or_else(|| ctx.environment().user(), |user| Ok(user.to_owned()))?,
            password: secret(info, "password"),
            timeout: duration(info, "timeout", 10.0),
            via: ssh::settings::Settings::last_jump_host(ctx, info)?.map(Box::new),
        })
    }

    /// Returns `host:port`, as messages name the target. An IPv6 address is in brackets.
    pub(crate) fn peer(&self) -> String {
        tcp::peer(&self.host, self.port)
    }

    /// Returns the deadline for a session that is opened now. Each jump host adds its own time limit.
    pub(crate) fn deadline(&self) -> Instant {
        let way = self.via.as_ref().map(|via| via.deadline());
        way.unwrap_or_else(Instant::now) + self.timeout
    }
}
