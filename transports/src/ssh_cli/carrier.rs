//! The carriers of a command line: SSH, or telnet for devices that have nothing else.

use std::fmt::Debug;
use std::time::Duration;

use devgate_schemas::ConnectionInfo;
use tokio::time::Instant;

use crate::Line;
use crate::cli::{CliLogin, Credentials};
use crate::info::secret;
use crate::ssh::{self, Ssh};
use crate::{ByteStream, Context, Result, telnet};

/// The protocol that carries a device's command line, with its settings.
#[derive(Debug)]
pub(super) enum Carrier {
    Ssh(Box<ssh::settings::Settings>),
    Telnet(telnet::Settings),
}

impl Carrier {
    /// Reads the settings of the requested carrier.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`](crate::Error::Setting) for a problem that no schema can detect.
    pub(super) fn read(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        if info.text("protocol") == Some("telnet") {
            return Ok(Self::Telnet(telnet::Settings::read(ctx, info)?));
        }
        let settings = ssh::settings::Settings::read(ctx, info)?;
        Ok(Self::Ssh(Box::new(settings)))
    }

    /// Returns the credentials for questions that the command line itself may ask.
    ///
    /// Telnet has no login of its own, so there the command line is expected to ask for one. Over SSH, the
    /// user is logged in already, and an apparent login question is treated as one only if a
    /// `line_password` is configured.
    pub(super) fn credentials(&self, info: &ConnectionInfo) -> Credentials {
        let line_password = secret(info, "line_password");
        let login = match self {
            Self::Ssh(_) => line_password.map(|password| CliLogin {
                password: Some(Line::secret(password)),
                setting: "line_password",
            }),
            Self::Telnet(settings) => {
                let setting = if line_password.is_some() {
                    "line_password"
                } else {
                    "password"
                };
                Some(CliLogin {
                    password: line_password
                        .or_else(|| settings.password.clone())
                        .map(Line::secret),
                    setting,
                })
            }
        };
        let enable_password = secret(info, "enable_password").map(Line::secret);
        let user = match self {
            Self::Ssh(settings) => &settings.user,
            Self::Telnet(settings) => &settings.user,
        };
        Credentials {
            user: user.clone(),
            login,
            enable_password,
        }
    }

    /// Returns `host:port`, as messages name the target.
    pub(super) fn peer(&self) -> String {
        match self {
            Self::Ssh(settings) => settings.peer(),
            Self::Telnet(settings) => settings.peer(),
        }
    }

    /// Returns the limit for connecting and logging in together.
    pub(super) fn timeout(&self) -> Duration {
        match self {
            Self::Ssh(settings) => settings.timeout,
            Self::Telnet(settings) => settings.timeout,
        }
    }

    /// Returns the deadline for a session that is opened now.
    pub(super) fn deadline(&self) -> Instant {
        match self {
            Self::Ssh(settings) => settings.deadline(),
            Self::Telnet(settings) => settings.deadline(),
        }
    }

    /// Connects and returns the terminal, with the SSH connection that carries it.
    ///
    /// # Errors
    /// Fails when no terminal can be opened before `deadline`.
    pub(super) async fn connect(
        &self,
        ctx: &Context<'_>,
        deadline: Instant,
    ) -> Result<(Box<dyn ByteStream>, Option<Ssh>)> {
        match self {
            Self::Ssh(settings) => {
                let ssh = Ssh::connect(ctx, settings, deadline).await?;
                match ssh.shell(deadline).await {
                    Ok(stream) => Ok((Box::new(stream), Some(ssh))),
                    Err(error) => {
                        ssh.close().await;
                        Err(error)
                    }
                }
            }
            Self::Telnet(settings) => {
                let (stream, via) = telnet::connect(ctx, settings, deadline).await?;
                Ok((Box::new(stream), via))
            }
        }
    }
}
