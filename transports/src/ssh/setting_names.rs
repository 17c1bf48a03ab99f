//! The names of the settings in an inventory. Two vocabularies share the same code.

use super::algorithms::AlgorithmKind;

/// The names of the settings, for reading them and for messages.
#[derive(Debug)]
pub(crate) struct SettingNames {
    pub(crate) private_key: &'static str,
    pub(crate) passphrase: &'static str,
    pub(crate) verify: &'static str,
    pub(crate) known_hosts: &'static str,
    pub(crate) first_use: &'static str,
    pub(crate) load_config: &'static str,
    pub(crate) timeout: &'static str,
    pub(crate) disconnect_timeout: &'static str,
    pub(crate) alive_interval: &'static str,
    pub(crate) alive_count_max: &'static str,
    pub(crate) algorithms: &'static str,
    pub(crate) kex: &'static str,
    pub(crate) ciphers: &'static str,
    pub(crate) macs: &'static str,
    pub(crate) host_keys: &'static str,
}

/// The names that transports to devices use.
pub(crate) static DEVICE: SettingNames = SettingNames {
    private_key: "private_key",
    passphrase: "private_key_passphrase",
    verify: "verify_hosts",
    known_hosts: "known_hosts_file",
    first_use: "trust_on_first_use",
    load_config: "load_config",
    timeout: "timeout",
    disconnect_timeout: "disconnect_timeout",
    alive_interval: "keepalive_interval",
    alive_count_max: "keepalive_count_max",
    algorithms: "ssh_algorithms",
    kex: "kex_algorithms",
    ciphers: "encryption_algorithms",
    macs: "mac_algorithms",
    host_keys: "host_key_algorithms",
};

/// The keys of Bolt's `config.ssh`, and additional keys in the same style.
pub(crate) static HOST: SettingNames = SettingNames {
    private_key: "private-key",
    passphrase: "private-key-passphrase",
    verify: "host-key-check",
    known_hosts: "known-hosts-file",
    first_use: "trust-on-first-use",
    load_config: "load-config",
    timeout: "connect-timeout",
    disconnect_timeout: "disconnect-timeout",
    alive_interval: "keepalive-interval",
    alive_count_max: "keepalive-count-max",
    algorithms: "ssh-algorithms",
    kex: "kex-algorithms",
    ciphers: "encryption-algorithms",
    macs: "mac-algorithms",
    host_keys: "host-key-algorithms",
};

impl SettingNames {
    /// Returns the name of the setting for a kind of algorithms.
    pub(super) fn of_algorithms(&self, kind: AlgorithmKind) -> &'static str {
        match kind {
            AlgorithmKind::Kex => self.kex,
            AlgorithmKind::Ciphers => self.ciphers,
            AlgorithmKind::Macs => self.macs,
            AlgorithmKind::HostKeys => self.host_keys,
        }
    }
}
