//! The settings of a connection to a host: Bolt's keys of `config.ssh`, and a few more.

use std::sync::LazyLock;

use devgate_schemas::{ConnectionInfo, Level, TransportSchema, Value};

use crate::ssh::read::SettingsReader;
use crate::ssh::setting_names;
use crate::ssh::settings::Settings;
use crate::{Destination, Environment, Error, Hop, Result};

static SCHEMA: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("schema.yaml")));

/// Keys for OpenSSH's programs and for unsupported hosts, and what applies instead.
const WITHOUT_EFFECT: [(&str, &str); 6] = [
    (
        "native-ssh",
        "the gateway's own SSH client reads `~/.ssh/config`, known hosts and agents",
    ),
    (
        "ssh-command",
        "put the options that it has into `~/.ssh/config`",
    ),
    (
        "copy-command",
        "files travel over the connection on which programs run",
    ),
    (
        "script-dir",
        "each run has a directory of its own below `tmpdir`",
    ),
    (
        "tty",
        "a terminal would repeat what programs read, secrets too; where sudo wants one, let sudoers \
         say `!requiretty`",
    ),
    (
        "extensions",
        "it is for hosts with Windows, which are not supported",
    ),
];

/// The settings of a connection to a host: address, login, and requirements on the host.
#[derive(Clone, Debug)]
pub struct HostSettings {
    settings: Settings,
    forwarding: Forwarding,
}

/// How a host connects to others on behalf of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Forwarding {
    /// Its SSH server forwards connections.
    Ssh,
    /// A program on it does.
    Program,
}

impl HostSettings {
    /// Returns the schema of the keys of `config.ssh` for reaching a host. The gateway handles the keys for running
    /// tasks there (`run-as`, `tmpdir` and so on).
    pub fn schema() -> &'static TransportSchema {
        &SCHEMA
    }

    /// Reads settings that match [`schema`](Self::schema). OpenSSH's configuration supplements the inventory, unless
    /// `load-config` is false.
    ///
    /// `tell` receives a message for each key without effect.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`] for a problem that no schema can detect. It names the key or the file.
    pub fn read(
        info: &ConnectionInfo,
        environment: &Environment,
        mut report: impl FnMut(Level, String),
    ) -> Result<Self> {
        if info.text("login-shell") == Some("powershell") {
            return Err(Error::Setting {
                setting: "login-shell",
                problem: "hosts with Windows are not supported: the shell must be a POSIX one"
                    .to_owned(),
            });
        }
        for (key, instead) in WITHOUT_EFFECT {
            if !matches!(
                info.get(key),
                None | Some(Value::Undef | Value::Boolean(false))
            ) {
                report(
                    Level::Warning,
                    format!("`{key}` has no effect here: {instead}"),
                );
            }
        }
        if info.boolean("batch-mode") == Some(false) {
            let message = "`batch-mode: false` has no effect here: nothing is asked while a \
                           connection is made; give a `password` or a `private-key`";
            report(Level::Warning, message.to_owned());
        }
        let reader = SettingsReader::new(info, environment, report, &setting_names::HOST);
        let forwarding = match info.text("forwarding") {
            Some("program") => Forwarding::Program,
            _ => Forwarding::Ssh,
        };
        Ok(Self {
            settings: reader.target()?,
            forwarding,
        })
    }

    /// Returns the hops to the host: its jump hosts, then itself.
    pub fn hops(&self) -> Vec<Hop> {
        self.settings.hops()
    }

    /// Whether a program on the host connects to this destination, which takes a session of the host (`MaxSessions`).
    pub fn forwards_by_program(&self, to: Destination<'_>) -> bool {
        matches!(to, Destination::Udp { .. }) || self.forwarding == Forwarding::Program
    }

    /// Returns `host:port`, as messages name the host.
    pub fn peer(&self) -> String {
        self.settings.peer()
    }

    /// Returns the account to log in to.
    pub fn user(&self) -> &str {
        &self.settings.user
    }

    pub(super) fn ssh_settings(&self) -> &Settings {
        &self.settings
    }
}
