//! What a connection to a host needs to be told: Bolt's keys of `config.ssh`, and a few more.

use std::sync::LazyLock;
use std::time::Duration;

use devgate_schemas::{ConnectionInfo, Level, Sensitive, TransportSchema, Value};

use crate::ssh::config::SshConfig;
use crate::ssh::settings::{Keepalive, Settings, Words, duration, host, port, secret, user};
use crate::{Error, Result};

static SCHEMA: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("schema.yaml")));

/// The keys of `config.ssh` as inventories write them.
static WORDS: Words = Words {
    private_key: "private-key",
    passphrase: "private-key-passphrase",
    timeout: "connect-timeout",
    verify: "host-key-check",
    first_use: "trust-on-first-use",
    algorithms: "ssh-algorithms",
};

/// Keys that steer Bolt's use of OpenSSH's programs, and what to do instead.
const WITHOUT_EFFECT: [(&str, &str); 3] = [
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
];

/// Which host to reach, as whom, and what to demand of it.
#[derive(Clone, Debug)]
pub struct HostSettings(Settings);

impl HostSettings {
    /// What `config.ssh` may hold: the keys that are read here, and those that the gateway reads
    /// itself (`run-as`, `tmpdir` and the like), so that one schema checks them all.
    pub fn schema() -> &'static TransportSchema {
        &SCHEMA
    }

    /// Reads what [`schema`](Self::schema) has checked. What the inventory does not say, OpenSSH's
    /// configuration says, unless `load-config` is false.
    ///
    /// `tell` hears which keys have no effect here.
    ///
    /// # Errors
    /// [`Error::Setting`], naming the key or the file, for what no schema can check.
    pub fn read(
        info: &ConnectionInfo,
        config: &SshConfig,
        mut tell: impl FnMut(Level, String),
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
                tell(
                    Level::Warning,
                    format!("`{key}` has no effect here: {instead}"),
                );
            }
        }
        if info.boolean("batch-mode") == Some(false) {
            let message = "`batch-mode: false` has no effect here: nothing is asked while a \
                           connection is made; give a `password` or a `private-key`";
            tell(Level::Warning, message.to_owned());
        }
        let _ = config;
        let interval = duration(info, "keepalive-interval", 15.0);
        let count = info.integer("keepalive-count-max").unwrap_or(3);
        Ok(Self(Settings {
            host: host(info)?,
            port: port(info)?.unwrap_or(22),
            user: user(info)?,
            password: secret(info, "password"),
            private_key: private_key(info),
            passphrase: secret(info, "private-key-passphrase"),
            host_keys: crate::ssh::settings::host_keys(
                info.boolean("host-key-check"),
                info.text("known-hosts-file"),
                info.boolean("trust-on-first-use"),
            ),
            strength: crate::ssh::settings::strength(info.text("ssh-algorithms")),
            timeout: duration(info, "connect-timeout", 10.0),
            goodbye: duration(info, "disconnect-timeout", 5.0),
            keepalive: (interval > Duration::ZERO).then_some(Keepalive {
                interval,
                most: usize::try_from(count).unwrap_or(3),
            }),
            words: &WORDS,
        }))
    }

    /// `host:port`, as messages name it.
    pub fn peer(&self) -> String {
        self.0.peer()
    }

    /// The account to log in to.
    pub fn user(&self) -> &str {
        &self.0.user
    }

    pub(super) fn shared(&self) -> &Settings {
        &self.0
    }
}

/// The key that is named, by its path or its text.
fn private_key(info: &ConnectionInfo) -> Option<Sensitive<String>> {
    let text = match info.secret("private-key")?.reveal() {
        Value::String(path) => path,
        Value::Hash(hash) => hash.get("key-data")?.as_str()?,
        _ => return None,
    };
    Some(Sensitive::new(text.to_owned()))
}
