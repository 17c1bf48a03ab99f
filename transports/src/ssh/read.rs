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
use super::setting_names::{self, SettingNames};
use super::settings::{Agent, Identities, Keepalive, Role, SSH_AUTH_SOCK, Settings};
use crate::info::{duration, host, port, secret};
use crate::ssh_config::{HostOptions, SshConfig, Strict};
use crate::{Context, Environment, Error, Result};

/// The system-wide file of known hosts.
const SYSTEM_KNOWN_HOSTS: &str = "/etc/ssh/ssh_known_hosts";

/// OpenSSH's default keys, of the types that are supported here.
const DEFAULT_KEY_FILES: [&str; 3] = ["~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519"];

/// The maximum length of a chain of `ProxyJump` lists.
const MAX_JUMP_LISTS: usize = 8;

impl Settings {
    /// Reads the settings for a device: from the connection info of a transport over SSH, and from the
    /// configuration of the user who runs the gateway.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`] for a problem that no schema can detect. It names the setting or the file.
    pub(crate) fn read(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        SettingsReader::of_device(ctx, info).target()
    }

    /// Reads the settings of the last jump host in `proxyjump`, including the jump hosts before it. It is for
    /// protocols that are tunnelled through jump hosts without SSH to the device itself, so OpenSSH's
    /// configuration of the device is not used.
    ///
    /// # Errors
    /// Fails as [`read`](Self::read) does.
    pub(crate) fn last_jump_host(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Option<Self>> {
        let jumps = info.text("proxyjump").unwrap_or_default();
        let mut hosts = SettingsReader::of_device(ctx, info).jump_hosts(jumps, MAX_JUMP_LISTS)?;
        let last = hosts.pop();
        Ok(last.map(|last| Self {
            jumps: hosts,
            ..last
        }))
    }
}

/// One target's connection info, and the configuration that supplements it.
#[derive(Debug)]
pub(crate) struct SettingsReader<'r> {
    info: &'r ConnectionInfo,
    environment: &'r Environment,
    config: Option<&'r SshConfig>,
    setting_names: &'static SettingNames,
}

impl<'r> SettingsReader<'r> {
    /// Loads OpenSSH's configuration, unless the target sets `load_config: false`. `tell` receives a message for each
    /// part of it that cannot be read.
    pub(crate) fn new(
        info: &'r ConnectionInfo,
        environment: &'r Environment,
        report: impl FnMut(Level, String),
        setting_names: &'static SettingNames,
    ) -> Self {
        let loads = info.boolean(setting_names.load_config) != Some(false);
        Self {
            info,
            environment,
            config: loads.then(|| environment.ssh_config(report)),
            setting_names,
        }
    }

    fn of_device(ctx: &Context<'r>, info: &'r ConnectionInfo) -> Self {
        let report = |level, message| ctx.log(level, message);
        Self::new(info, ctx.environment(), report, &setting_names::DEVICE)
    }

    /// Returns the settings of the target and of its jump hosts.
    ///
    /// # Errors
    /// Fails with [`Error::Setting`] for a problem that no schema can detect. It names the setting or the file.
    pub(crate) fn target(&self) -> Result<Settings> {
        let requested = Jump {
            user: self.info.text("user").map(str::to_owned),
            host: host(self.info)?,
            port: port(self.info)?,
        };
        let options = self.host_options(&requested.host)?;
        let mut settings = self.settings(&requested, &options, Role::Target)?;
        let jumps = self
            .info
            .text("proxyjump")
            .or(options.proxy_jump.as_deref());
        settings.jumps = self.jump_hosts(jumps.unwrap_or_default(), MAX_JUMP_LISTS)?;
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
    /// `remaining_lists` limits the number of chained lists, because configurations can form a loop.
    fn jump_hosts(&self, jumps: &str, remaining_lists: usize) -> Result<Vec<Settings>> {
        let mut hosts = Vec::new();
        for (index, jump) in Jump::parse_list(jumps)?.iter().enumerate() {
            let options = self.host_options(&jump.host)?;
            if index == 0
                && let Some(previous) = &options.proxy_jump
            {
                if remaining_lists == 0 {
                    let problem = format!("`ProxyJump` leads on from `{}` without end", jump.host);
                    let setting = "proxyjump";
                    return Err(Error::Setting { setting, problem });
                }
                hosts = self.jump_hosts(previous, remaining_lists - 1)?;
            }
            let requested_host = jump.host.clone();
            hosts.push(self.settings(jump, &options, Role::JumpHost { requested_host })?);
        }
        Ok(hosts)
    }

    /// Returns the settings of one host: the target or a jump host.
    fn settings(&self, requested: &Jump, options: &HostOptions, role: Role) -> Result<Settings> {
        let (info, names) = (self.info, self.setting_names);
        // Credentials and weak algorithms are the target's own: jump hosts must neither receive the
        // credentials nor be reached with weak algorithms.
        let nothing = ConnectionInfo::default();
        let target_info = match role {
            Role::Target => info,
            Role::JumpHost { .. } => &nothing,
        };
        let host = options
            .host_name
            .clone()
            .unwrap_or_else(|| requested.host.clone());
        let port = requested.port.or(options.port).unwrap_or(22);
        let user = match requested.user.as_ref().or(options.user.as_ref()) {
            Some(user) => user.clone(),
            None => self.environment.user()?,
        };
        let tokens = PathTokens {
            requested_host: &requested.host,
            host: &host,
            port,
            user: &user,
            environment: self.environment,
        };
        let seconds = |options: Option<Duration>, default: f64| {
            options.map_or(default, |options| options.as_secs_f64())
        };
        let default = seconds(options.alive_interval, 15.0);
        let interval = duration(info, names.alive_interval, default);
        let most = info.integer(names.alive_count_max);
        let most = most.and_then(|most| usize::try_from(most).ok());
        let default = seconds(options.connect_timeout, 10.0);
        Ok(Settings {
            port,
            password: secret(target_info, "password"),
            private_key: private_key(target_info, self.environment, names),
            passphrase: secret(target_info, names.passphrase),
            identities: identities(options, &tokens)?,
            host_key_alias: options.host_key_alias.clone(),
            host_keys: self.host_keys(options, &tokens, &role)?,
            algorithms: algorithms(target_info, options, names),
            timeout: duration(info, names.timeout, default),
            disconnect_timeout: duration(info, names.disconnect_timeout, 5.0),
            keepalive: (interval > Duration::ZERO).then_some(Keepalive {
                interval,
                max_unanswered: most.or(options.alive_count_max).unwrap_or(3),
            }),
            role,
            jumps: Vec::new(),
            setting_names: names,
            host,
            user,
        })
    }

    fn host_keys(
        &self,
        options: &HostOptions,
        tokens: &PathTokens<'_>,
        role: &Role,
    ) -> Result<HostKeys> {
        let (info, names) = (self.info, self.setting_names);
        let verify = match (info.boolean(names.verify), role) {
            // If the target's key is not verified, that does not apply to jump hosts.
            (Some(false), Role::JumpHost { .. }) => None,
            (verify, _) => verify,
        };
        let mut files = match (info.text(names.known_hosts), &options.known_hosts) {
            (Some(file), _) => vec![self.environment.path(file)],
            (None, Some(files)) => tokens.paths("UserKnownHostsFile", files)?,
            (None, None) => (self.environment.home())
                .map(|home| home.join(".ssh/known_hosts"))
                .into_iter()
                .collect(),
        };
        files.push(PathBuf::from(SYSTEM_KNOWN_HOSTS));
        let strict = match (verify, options.strict) {
            (Some(false), _) => {
                let disabled_by = format!("{}: false", names.verify);
                return Ok(HostKeys::Any { files, disabled_by });
            }
            (None, Some(Strict::No)) => {
                let disabled_by = "StrictHostKeyChecking no".to_owned();
                return Ok(HostKeys::Any { files, disabled_by });
            }
            (_, strict) => strict,
        };
        let accepts_new = strict == Some(Strict::AcceptNew);
        let first_use = info.boolean(names.first_use).unwrap_or(accepts_new);
        Ok(HostKeys::Known { files, first_use })
    }
}

/// Returns the keys to try if the inventory names no credentials.
fn identities(options: &HostOptions, tokens: &PathTokens<'_>) -> Result<Identities> {
    Ok(Identities {
        files: if options.identity_files.is_empty() {
            DEFAULT_KEY_FILES
                .iter()
                .map(|file| tokens.environment.path(file))
                .collect()
        } else {
            tokens.paths("IdentityFile", &options.identity_files)?
        },
        certificates: tokens.paths("CertificateFile", &options.certificate_files)?,
        only: options.identities_only,
        agent: match options.identity_agent.as_deref() {
            None | Some(SSH_AUTH_SOCK) => {
                let socket = tokens.environment.variable(SSH_AUTH_SOCK);
                socket.map_or(Agent::None, |socket| Agent::Environment(socket.into()))
            }
            Some(none) if none.eq_ignore_ascii_case("none") => Agent::None,
            Some(socket) => Agent::Socket(tokens.path("IdentityAgent", socket)?),
        },
    })
}

fn algorithms(info: &ConnectionInfo, options: &HostOptions, names: &SettingNames) -> Algorithms {
    let legacy = info.text(names.algorithms) == Some("legacy");
    let configured = |options: &Option<String>| {
        // Many systems configure lists without weak algorithms for all hosts.
        let options = options.as_deref().filter(|_| !legacy);
        options.map(AlgorithmList::parse)
    };
    let algorithm_list = |key: &str, options: &Option<String>| {
        let configured_list = list(info, key).map(AlgorithmList::Replace);
        configured_list.or_else(|| configured(options))
    };
    Algorithms {
        strength: if legacy {
            Strength::Legacy
        } else {
            Strength::Sound
        },
        kex: algorithm_list(names.kex, &options.kex),
        ciphers: algorithm_list(names.ciphers, &options.ciphers),
        macs: algorithm_list(names.macs, &options.macs),
        host_keys: algorithm_list(names.host_keys, &options.host_keys),
        user_keys: configured(&options.user_keys),
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
    names: &SettingNames,
) -> Option<Sensitive<String>> {
    Some(Sensitive::new(
        match info.secret(names.private_key)?.reveal() {
            Value::String(path) if !path.contains("-----BEGIN ") => {
                environment.path(path.trim()).to_string_lossy().into_owned()
            }
            Value::String(text) => text.trim().to_owned(),
            Value::Hash(hash) => hash.get("key-data")?.as_str()?.trim().to_owned(),
            _ => return None,
        },
    ))
}

#[cfg(test)]
mod tests {
    use devgate_schemas::{Hash, RawConnectionInfo};

    use super::*;
    use crate::{Connect, SshCli};

    /// Reads a device's settings from this inventory and this configuration.
    fn read(options: &[(&str, Value)], config: &str) -> Settings {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("config");
        std::fs::write(&file, config).expect("written");
        let config = SshConfig::from_file(&file, |_, reported| panic!("{reported}"));
        let mut raw: Hash = [("host", Value::from("core1"))].into_iter().collect();
        for (key, value) in options {
            raw.insert(*key, value.clone());
        }
        let cli = SshCli::new();
        let info = cli
            .schema()
            .read(RawConnectionInfo::new(raw), |_, reported| {
                panic!("{reported}")
            });
        let info = info.expect("it fits");
        let environment = Environment::default().with_ssh_config(config);
        let reader = SettingsReader::new(&info, &environment, |_, _| {}, &setting_names::DEVICE);
        reader.target().expect("settings")
    }

    const CONFIG: &str = "Host core1\nHostName 192.0.2.1\nPort 2222\nUser admin\nProxyJump me@hop\n\
        Host hop\nHostName 192.0.2.9\nConnectTimeout 3\nHost *\nStrictHostKeyChecking no\n\
        KexAlgorithms curve25519-sha256\nServerAliveInterval 7\n";

    #[test]
    fn the_inventory_overrides_the_configuration_which_overrides_the_defaults() {
        let settings = read(&[], CONFIG);
        assert_eq!(settings.peer(), "192.0.2.1:2222");
        assert_eq!((settings.user.as_str(), settings.jumps.len()), ("admin", 1));
        assert!(matches!(settings.host_keys, HostKeys::Any { .. }));
        let interval = |settings: &Settings| settings.keepalive.map(|alive| alive.interval);
        assert_eq!(interval(&settings), Some(Duration::from_secs(7)));

        let options = [
            ("port", Value::from(22)),
            ("user", Value::from("oper")),
            ("proxyjump", Value::from("none")),
            ("verify_hosts", Value::from(true)),
            ("keepalive_interval", Value::from(0)),
        ];
        let settings = read(&options, CONFIG);
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
    fn jump_hosts_get_no_credentials_of_the_target() {
        let options = [
            ("password", Value::from("canary")),
            ("private_key", Value::from("/keys/canary")),
            ("ssh_algorithms", Value::from("legacy")),
            ("verify_hosts", Value::from(false)),
            ("timeout", Value::from(5)),
        ];
        let config = CONFIG.replace("StrictHostKeyChecking no", "");
        let settings = read(&options, &config);
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
        let requested_host = "hop".to_owned();
        assert_eq!(hop.role, Role::JumpHost { requested_host });
        assert_eq!(hop.timeout, Duration::from_secs(5));
    }
}
