//! What a connection to a host needs to be told: Bolt's keys of `config.ssh`, and a few more.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use devgate_schemas::{ConnectionInfo, Level, Sensitive, TransportSchema, Value};

use crate::info::{duration, host, path, port, secret};
use crate::ssh::algorithms::Algorithms;
use crate::ssh::config::{Names, Said, SshConfig, Strict};
use crate::ssh::host_keys::HostKeys;
use crate::ssh::jump::Jump;
use crate::ssh::settings::{
    Agent, Identities, Keepalive, SYSTEM_KNOWN_HOSTS, Settings, Words, known_hosts_files, own_name,
    strength,
};
use crate::ssh::wish::Wish;
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
    kex: "kex-algorithms",
    ciphers: "encryption-algorithms",
    macs: "mac-algorithms",
    host_keys: "host-key-algorithms",
};

/// The keys that OpenSSH tries where nobody names one, of the kinds that are known here.
const USUAL_KEYS: [&str; 3] = ["~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519"];

/// How many lists of hosts on the way may follow from each other.
const MOST_JUMPS: usize = 8;

/// Keys that steer Bolt's use of OpenSSH's programs and of hosts, and what holds instead.
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

/// Which host to reach, as whom, and what to demand of it.
#[derive(Clone, Debug)]
pub struct HostSettings(Settings);

impl HostSettings {
    /// What `config.ssh` may say of reaching a host; what it says of running tasks there
    /// (`run-as`, `tmpdir` and the like) is the gateway's.
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
        let config = match info.boolean("load-config") {
            Some(false) => &SshConfig::default(),
            _ => config,
        };
        let asked = Jump {
            user: info.text("user").map(str::to_owned),
            host: host(info)?,
            port: port(info)?,
        };
        let said = config.said(&asked.host)?;
        let mut settings = base(info, &asked, &said)?;
        settings.password = secret(info, "password");
        settings.private_key = private_key(info);
        settings.passphrase = secret(info, "private-key-passphrase");
        if info.boolean("host-key-check") == Some(false) {
            settings.host_keys = HostKeys::Any;
        }
        let jumps = info.text("proxyjump").or(said.proxy_jump.as_deref());
        settings.jumps = way(info, config, jumps.unwrap_or_default(), MOST_JUMPS)?;
        Ok(Self(settings))
    }

    /// `host:port`, as messages name it.
    pub fn peer(&self) -> String {
        self.0.peer()
    }

    /// The account to log in to.
    pub fn user(&self) -> &str {
        &self.0.user
    }

    /// How long connecting may take: each host on the way has its time.
    pub(super) fn patience(&self) -> Duration {
        let hosts = self.0.jumps.len() + 1;
        self.0.timeout * u32::try_from(hosts).unwrap_or(u32::MAX)
    }

    pub(super) fn shared(&self) -> &Settings {
        &self.0
    }
}

/// What holds for a host and for those on the way to it: what the inventory says of connections,
/// then what OpenSSH's configuration says of the host.
fn base(info: &ConnectionInfo, asked: &Jump, said: &Said) -> Result<Settings> {
    let host = said.host_name.clone().unwrap_or_else(|| asked.host.clone());
    let port = asked.port.or(said.port).unwrap_or(22);
    let user = match asked.user.as_ref().or(said.user.as_ref()) {
        Some(user) => user.clone(),
        None => own_name()?,
    };
    let names = Names {
        asked: &asked.host,
        host: &host,
        port,
        user: &user,
    };
    let paths = |keyword, written: &[String]| -> Result<Vec<PathBuf>> {
        let named = written
            .iter()
            .filter(|path| !path.eq_ignore_ascii_case("none"));
        named.map(|path| names.path(keyword, path)).collect()
    };
    let identities = Identities {
        files: if said.identity_files.is_empty() {
            USUAL_KEYS.iter().map(|file| path(file)).collect()
        } else {
            paths("IdentityFile", &said.identity_files)?
        },
        certificates: paths("CertificateFile", &said.certificate_files)?,
        only: said.identities_only,
        agent: match said.identity_agent.as_deref() {
            None | Some("SSH_AUTH_SOCK") => Agent::Usual,
            Some(none) if none.eq_ignore_ascii_case("none") => Agent::None,
            Some(socket) => Agent::At(names.path("IdentityAgent", socket)?),
        },
    };
    let files = match (info.text("known-hosts-file"), &said.known_hosts) {
        (Some(file), _) => vec![path(file), PathBuf::from(SYSTEM_KNOWN_HOSTS)],
        (None, Some(files)) => {
            let mut files = paths("UserKnownHostsFile", files)?;
            files.push(PathBuf::from(SYSTEM_KNOWN_HOSTS));
            files
        }
        (None, None) => known_hosts_files(),
    };
    let first_use = info.boolean("trust-on-first-use");
    let host_keys = match said.strict {
        Some(Strict::No) if info.boolean("host-key-check").is_none() => HostKeys::Any,
        strict => {
            let accepts_new = strict == Some(Strict::AcceptNew);
            HostKeys::Known {
                files,
                first_use: first_use.unwrap_or(accepts_new),
            }
        }
    };
    let wish = |key: &str, said: &Option<String>| {
        list(info, key)
            .map(Wish::These)
            .or_else(|| said.as_deref().map(Wish::parse))
    };
    let algorithms = Algorithms {
        kex: wish("kex-algorithms", &said.kex),
        ciphers: wish("encryption-algorithms", &said.ciphers),
        macs: wish("mac-algorithms", &said.macs),
        host_keys: wish("host-key-algorithms", &said.host_keys),
        user_keys: said.user_keys.as_deref().map(Wish::parse),
        ..Algorithms::usual(strength(info.text("ssh-algorithms")))
    };
    let seconds =
        |said: Option<Duration>, usual: f64| said.map_or(usual, |said| said.as_secs_f64());
    let interval = duration(
        info,
        "keepalive-interval",
        seconds(said.alive_interval, 15.0),
    );
    let most = info.integer("keepalive-count-max");
    let most = most.and_then(|most| usize::try_from(most).ok());
    Ok(Settings {
        port,
        password: None,
        private_key: None,
        passphrase: None,
        identities,
        host_key_alias: said.host_key_alias.clone(),
        host_keys,
        algorithms,
        timeout: duration(info, "connect-timeout", seconds(said.connect_timeout, 10.0)),
        goodbye: duration(info, "disconnect-timeout", 5.0),
        keepalive: (interval > Duration::ZERO).then_some(Keepalive {
            interval,
            most: most.or(said.alive_most).unwrap_or(3),
        }),
        jumps: Vec::new(),
        words: &WORDS,
        host,
        user,
    })
}

/// The hosts on the way, from the first to the last, with what leads to the first one.
///
/// `most` is how many lists may follow from each other: configurations can go round in circles.
fn way(
    info: &ConnectionInfo,
    config: &SshConfig,
    jumps: &str,
    most: usize,
) -> Result<Vec<Settings>> {
    let mut way = Vec::new();
    for (index, jump) in Jump::list(jumps)?.iter().enumerate() {
        let said = config.said(&jump.host)?;
        if index == 0
            && let Some(before) = &said.proxy_jump
        {
            if most == 0 {
                let problem = format!("`ProxyJump` leads on from `{}` without end", jump.host);
                let setting = "proxyjump";
                return Err(Error::Setting { setting, problem });
            }
            way = self::way(info, config, before, most - 1)?;
        }
        way.push(base(info, jump, &said)?);
    }
    Ok(way)
}

fn list(info: &ConnectionInfo, key: &str) -> Option<Vec<String>> {
    let Value::Array(items) = info.get(key)? else {
        return None;
    };
    let texts = items.iter().filter_map(Value::as_str);
    Some(texts.map(str::to_owned).collect())
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
