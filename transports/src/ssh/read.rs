//! Reading the connection settings: from the inventory, then from OpenSSH's configuration of the host,
//! then the defaults.

use std::path::PathBuf;
use std::time::Duration;

use devgate_schemas::{ConnectionInfo, Level, Sensitive, Value};

use super::algorithm_list::AlgorithmList;
use super::algorithms::{Algorithms, Strength};
use super::host_keys::HostKeys;
use super::jump::Jump;
use super::path_tokens::PathTokens;
use super::settings::{Agent, Identities, Keepalive, Role, SSH_AUTH_SOCK, Settings};
use super::words::{self, Words};
use crate::info::{duration, host, port, secret};
use crate::ssh_config::{HostOptions, SshConfig, Strict};
use crate::{Context, Environment, Error, Result};

/// The system-wide file of known hosts.
const SYSTEM_KNOWN_HOSTS: &str = "/etc/ssh/ssh_known_hosts";

/// OpenSSH's default keys, of the types that are supported here.
const USUAL_KEYS: [&str; 3] = ["~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519"];

/// The maximum length of a chain of `ProxyJump` lists.
const MOST_JUMPS: usize = 8;

impl Settings {
    /// Reads the settings for a device: from the connection info of a transport over SSH, and from the
    /// configuration of the user who runs the gateway.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`] for a problem that no schema can detect. It names the setting or the file.
    pub(crate) fn read(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        Reading::of_device(ctx, info).target()
    }

    /// Reads the settings of the last jump host in `proxyjump`, including the jump hosts before it. It is for
    /// protocols that are tunnelled through jump hosts without SSH to the device itself, so OpenSSH's
    /// configuration of the device is not used.
    ///
    /// # Errors
    /// Fails as [`read`](Self::read) does.
    pub(crate) fn way_to(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Option<Self>> {
        let jumps = info.text("proxyjump").unwrap_or_default();
        let mut way = Reading::of_device(ctx, info).way(jumps, MOST_JUMPS)?;
        let last = way.pop();
        Ok(last.map(|last| Self { jumps: way, ..last }))
    }
}

/// One target's connection info, and the configuration that supplements it.
#[derive(Debug)]
pub(crate) struct Reading<'r> {
    info: &'r ConnectionInfo,
    environment: &'r Environment,
    config: Option<&'r SshConfig>,
    words: &'static Words,
}

impl<'r> Reading<'r> {
    /// Loads OpenSSH's configuration, unless the target sets `load_config: false`. `tell` receives a message for each
    /// part of it that cannot be read.
    pub(crate) fn new(
        info: &'r ConnectionInfo,
        environment: &'r Environment,
        tell: impl FnMut(Level, String),
        words: &'static Words,
    ) -> Self {
        let loads = info.boolean(words.load_config) != Some(false);
        Self {
            info,
            environment,
            config: loads.then(|| environment.ssh_config(tell)),
            words,
        }
    }

    fn of_device(ctx: &Context<'r>, info: &'r ConnectionInfo) -> Self {
        let tell = |level, message| ctx.say(level, message);
        Self::new(info, ctx.environment(), tell, &words::DEVICE)
    }

    /// Returns the settings of the target and of its jump hosts.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`] for a problem that no schema can detect. It names the setting or the file.
    pub(crate) fn target(&self) -> Result<Settings> {
        let asked = Jump {
            user: self.info.text("user").map(str::to_owned),
            host: host(self.info)?,
            port: port(self.info)?,
        };
        let host_options = self.host_options(&asked.host)?;
        let mut settings = self.settings(&asked, &host_options, Role::Target)?;
        let jumps = self
            .info
            .text("proxyjump")
            .or(host_options.proxy_jump.as_deref());
        settings.jumps = self.way(jumps.unwrap_or_default(), MOST_JUMPS)?;
        Ok(settings)
    }

    fn host_options(&self, host: &str) -> Result<HostOptions> {
        self.config.map_or_else(
            || Ok(HostOptions::default()),
            |config| config.options_for(host),
        )
    }

    /// Returns the jump hosts, from the first to the last, including those that lead to the first one.
    ///
    /// `most` limits the number of chained lists, because configurations can form a loop.
    fn way(&self, jumps: &str, most: usize) -> Result<Vec<Settings>> {
        let mut way = Vec::new();
        for (index, jump) in Jump::list(jumps)?.iter().enumerate() {
            let host_options = self.host_options(&jump.host)?;
            if index == 0
                && let Some(before) = &host_options.proxy_jump
            {
                if most == 0 {
                    let problem = format!("`ProxyJump` leads on from `{}` without end", jump.host);
                    let setting = "proxyjump";
                    return Err(Error::Setting { setting, problem });
                }
                way = self.way(before, most - 1)?;
            }
            let asked = jump.host.clone();
            way.push(self.settings(jump, &host_options, Role::OnTheWay { asked })?);
        }
        Ok(way)
    }

    /// Returns the settings of one host: the target or a jump host.
    fn settings(&self, asked: &Jump, host_options: &HostOptions, role: Role) -> Result<Settings> {
        let (info, words) = (self.info, self.words);
        // Credentials and weak algorithms are the target's own: jump hosts must neither receive the
        // credentials nor be reached with weak algorithms.
        let nothing = ConnectionInfo::default();
        let own = match role {
            Role::Target => info,
            Role::OnTheWay { .. } => &nothing,
        };
        let host = host_options
            .host_name
            .clone()
            .unwrap_or_else(|| asked.host.clone());
        let port = asked.port.or(host_options.port).unwrap_or(22);
        let user = match asked.user.as_ref().or(host_options.user.as_ref()) {
            Some(user) => user.clone(),
            None => self.environment.user()?,
        };
        let names = PathTokens {
            asked: &asked.host,
            host: &host,
            port,
            user: &user,
            environment: self.environment,
        };
        let seconds = |host_options: Option<Duration>, usual: f64| {
            host_options.map_or(usual, |host_options| host_options.as_secs_f64())
        };
        let usual = seconds(host_options.alive_interval, 15.0);
        let interval = duration(info, words.alive_interval, usual);
        let most = info.integer(words.alive_most);
        let most = most.and_then(|most| usize::try_from(most).ok());
        let usual = seconds(host_options.connect_timeout, 10.0);
        Ok(Settings {
            port,
            password: secret(own, "password"),
            private_key: private_key(own, self.environment, words),
            passphrase: secret(own, words.passphrase),
            identities: identities(host_options, &names)?,
            host_key_alias: host_options.host_key_alias.clone(),
            host_keys: self.host_keys(host_options, &names, &role)?,
            algorithms: algorithms(own, host_options, words),
            timeout: duration(info, words.timeout, usual),
            goodbye: duration(info, words.goodbye, 5.0),
            keepalive: (interval > Duration::ZERO).then_some(Keepalive {
                interval,
                most: most.or(host_options.alive_most).unwrap_or(3),
            }),
            role,
            jumps: Vec::new(),
            words,
            host,
            user,
        })
    }

    fn host_keys(
        &self,
        host_options: &HostOptions,
        names: &PathTokens<'_>,
        role: &Role,
    ) -> Result<HostKeys> {
        let (info, words) = (self.info, self.words);
        let verify = match (info.boolean(words.verify), role) {
            // If the target's key is not verified, that does not apply to jump hosts.
            (Some(false), Role::OnTheWay { .. }) => None,
            (verify, _) => verify,
        };
        let mut files = match (info.text(words.known_hosts), &host_options.known_hosts) {
            (Some(file), _) => vec![self.environment.path(file)],
            (None, Some(files)) => names.paths("UserKnownHostsFile", files)?,
            (None, None) => (self.environment.home())
                .map(|home| home.join(".ssh/known_hosts"))
                .into_iter()
                .collect(),
        };
        files.push(PathBuf::from(SYSTEM_KNOWN_HOSTS));
        let strict = match (verify, host_options.strict) {
            (Some(false), _) => {
                let by = format!("{}: false", words.verify);
                return Ok(HostKeys::Any { files, by });
            }
            (None, Some(Strict::No)) => {
                let by = "StrictHostKeyChecking no".to_owned();
                return Ok(HostKeys::Any { files, by });
            }
            (_, strict) => strict,
        };
        let accepts_new = strict == Some(Strict::AcceptNew);
        let first_use = info.boolean(words.first_use).unwrap_or(accepts_new);
        Ok(HostKeys::Known { files, first_use })
    }
}

/// Returns the keys to try if the inventory names no credentials.
fn identities(host_options: &HostOptions, names: &PathTokens<'_>) -> Result<Identities> {
    Ok(Identities {
        files: if host_options.identity_files.is_empty() {
            USUAL_KEYS
                .iter()
                .map(|file| names.environment.path(file))
                .collect()
        } else {
            names.paths("IdentityFile", &host_options.identity_files)?
        },
        certificates: names.paths("CertificateFile", &host_options.certificate_files)?,
        only: host_options.identities_only,
        agent: match host_options.identity_agent.as_deref() {
            None | Some(SSH_AUTH_SOCK) => {
                let socket = names.environment.variable(SSH_AUTH_SOCK);
                socket.map_or(Agent::None, |socket| Agent::Usual(socket.into()))
            }
            Some(none) if none.eq_ignore_ascii_case("none") => Agent::None,
            Some(socket) => Agent::At(names.path("IdentityAgent", socket)?),
        },
    })
}

fn algorithms(info: &ConnectionInfo, host_options: &HostOptions, words: &Words) -> Algorithms {
    let legacy = info.text(words.algorithms) == Some("legacy");
    let configured = |host_options: &Option<String>| {
        // Many systems configure lists without weak algorithms for all hosts.
        let host_options = host_options.as_deref().filter(|_| !legacy);
        host_options.map(AlgorithmList::parse)
    };
    let algorithm_list = |key: &str, host_options: &Option<String>| {
        let wished = list(info, key).map(AlgorithmList::These);
        wished.or_else(|| configured(host_options))
    };
    Algorithms {
        strength: if legacy {
            Strength::Legacy
        } else {
            Strength::Sound
        },
        kex: algorithm_list(words.kex, &host_options.kex),
        ciphers: algorithm_list(words.ciphers, &host_options.ciphers),
        macs: algorithm_list(words.macs, &host_options.macs),
        host_keys: algorithm_list(words.host_keys, &host_options.host_keys),
        user_keys: configured(&host_options.user_keys),
    }
}

fn list(info: &ConnectionInfo, key: &str) -> Option<Vec<String>> {
    let Value::Array(items) = info.get(key)? else {
        return None;
    };
    let texts = items.iter().filter_map(Value::as_str);
    Some(texts.map(str::to_owned).collect())
}

/// Returns the configured key, either its path or its text.
fn private_key(
    info: &ConnectionInfo,
    environment: &Environment,
    words: &Words,
) -> Option<Sensitive<String>> {
    let text = match info.secret(words.private_key)?.reveal() {
        Value::String(path) => path,
        Value::Hash(hash) => hash.get("key-data")?.as_str()?,
        _ => return None,
    };
    // The text of a key never begins with `~/`.
    let text = match text.trim() {
        path if path.starts_with("~/") => environment.path(path).to_string_lossy().into_owned(),
        text => text.to_owned(),
    };
    Some(Sensitive::new(text))
}

#[cfg(test)]
mod tests {
    use devgate_schemas::{Hash, RawConnectionInfo};

    use super::*;
    use crate::{Connect, SshCli};

    /// Reads a device's settings from this inventory and this configuration.
    fn read(host_options: &[(&str, Value)], config: &str) -> Settings {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("config");
        std::fs::write(&file, config).expect("written");
        let config = SshConfig::from_file(&file, |_, told| panic!("{told}"));
        let mut raw: Hash = [("host", Value::from("core1"))].into_iter().collect();
        for (key, value) in host_options {
            raw.insert(*key, value.clone());
        }
        let cli = SshCli::new();
        let info = cli
            .schema()
            .read(RawConnectionInfo::new(raw), |_, told| panic!("{told}"));
        let info = info.expect("it fits");
        let environment = Environment::default().with_ssh_config(config);
        let reading = Reading::new(&info, &environment, |_, _| {}, &words::DEVICE);
        reading.target().expect("settings")
    }

    const CONFIG: &str = "Host core1\nHostName 192.0.2.1\nPort 2222\nUser admin\nProxyJump me@hop\n\
        Host hop\nHostName 192.0.2.9\nConnectTimeout 3\nHost *\nStrictHostKeyChecking no\n\
        KexAlgorithms curve25519-sha256\nServerAliveInterval 7\n";

    #[test]
    fn the_inventory_counts_before_the_configuration_and_that_before_what_is_usual() {
        let settings = read(&[], CONFIG);
        assert_eq!(settings.peer(), "192.0.2.1:2222");
        assert_eq!((settings.user.as_str(), settings.jumps.len()), ("admin", 1));
        assert!(matches!(settings.host_keys, HostKeys::Any { .. }));
        let interval = |settings: &Settings| settings.keepalive.map(|alive| alive.interval);
        assert_eq!(interval(&settings), Some(Duration::from_secs(7)));

        let host_options = [
            ("port", Value::from(22)),
            ("user", Value::from("oper")),
            ("proxyjump", Value::from("none")),
            ("verify_hosts", Value::from(true)),
            ("keepalive_interval", Value::from(0)),
        ];
        let settings = read(&host_options, CONFIG);
        assert_eq!(settings.peer(), "192.0.2.1:22");
        assert_eq!((settings.user.as_str(), settings.jumps.len()), ("oper", 0));
        assert!(matches!(settings.host_keys, HostKeys::Known { .. }));
        assert!(settings.keepalive.is_none());

        let settings = read(&[("load_config", Value::from(false))], CONFIG);
        assert_eq!(settings.peer(), "core1:22");
        assert_eq!(interval(&settings), Some(Duration::from_secs(15)));
        assert_eq!(settings.timeout, Duration::from_secs(10));
    }

    #[test]
    fn hosts_on_the_way_get_nothing_that_is_the_target_s_own() {
        let host_options = [
            ("password", Value::from("canary")),
            ("private_key", Value::from("/keys/canary")),
            ("ssh_algorithms", Value::from("legacy")),
            ("verify_hosts", Value::from(false)),
            ("timeout", Value::from(5)),
        ];
        let config = CONFIG.replace("StrictHostKeyChecking no", "");
        let settings = read(&host_options, &config);
        // Options for all hosts must not revoke options of this target.
        assert_eq!(settings.algorithms.strength, Strength::Legacy);
        assert_eq!(settings.algorithms.kex, None);
        let [hop] = settings.jumps.as_slice() else {
            panic!("one host is on the way: {settings:?}")
        };
        assert_eq!(
            (hop.peer().as_str(), hop.user.as_str()),
            ("192.0.2.9:22", "me")
        );
        assert!(hop.password.is_none() && hop.private_key.is_none());
        assert_eq!(hop.algorithms.strength, Strength::Sound);
        assert!(hop.algorithms.kex.is_some());
        assert!(matches!(hop.host_keys, HostKeys::Known { .. }));
        let asked = "hop".to_owned();
        assert_eq!(hop.role, Role::OnTheWay { asked });
        assert_eq!(hop.timeout, Duration::from_secs(5));
    }
}
