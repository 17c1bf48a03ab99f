//! The devices of a `device.conf` as targets: what `puppet device` reaches, every command reaches.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use async_trait::async_trait;
use devgate_schemas::device_conf::{self, DeviceEntry};
use devgate_schemas::{Hash, Key, Value, hocon};
use devgate_transports::{Environment, reading};

use super::target::{LOCALHOST, REMOTE_TRANSPORT};
use super::uri::Uri;
use super::{InventoryError, InventoryProblem, Overrides, Target, TargetKind};

/// A device in a `device.conf`.
#[derive(Debug)]
pub struct ConfiguredDevice {
    pub(super) name: String,
    type_name: String,
    /// The URL, which may contain a password and is never shown as it is.
    url: String,
    /// Resolves the transport when it is used, because some must be asked for their description.
    transports: Rc<dyn TransportOptions>,
}

/// Access to the options of transports.
#[async_trait(?Send)]
pub(crate) trait TransportOptions: fmt::Debug {
    /// Asks a transport for its description, where that is necessary.
    async fn prepare(&self, transport: &str);

    /// Whether a transport is known to have an option of this name.
    fn has_option(&self, transport: &str, name: &str) -> bool;
}

/// The prefix of a URL that names a credential file.
const FILE: &str = "file://";

/// Names in credential files, as modules for Puppet have them, and the names of the transports here.
const ALIASES: [(&str, &str); 3] = [
    ("address", "host"),
    ("hostname", "host"),
    ("username", "user"),
];

/// Returns the default file of `puppet device`: root's, from Puppet's or Debian's packages, or the user's.
pub fn default_file(environment: &Environment) -> Option<PathBuf> {
    let folders = if nix::unistd::Uid::effective().is_root() {
        ["/etc/puppetlabs/puppet", "/etc/puppet"]
            .map(PathBuf::from)
            .to_vec()
    } else {
        let home = environment.home();
        home.map(|home| home.join(".puppetlabs/etc/puppet"))
            .into_iter()
            .collect()
    };
    let mut files = folders.into_iter().map(|folder| folder.join("device.conf"));
    files.find(|file| file.exists())
}

/// Reads a `device.conf`. Credentials are read when a device is used.
///
/// # Errors
/// Fails when the file cannot be read, or with everything that is wrong with it, in Puppet's words.
pub(crate) fn read(
    path: &Path,
    transports: &Rc<dyn TransportOptions>,
) -> Result<Vec<ConfiguredDevice>, String> {
    let shown = path.display().to_string();
    if !path.exists() {
        return Err(format!("No device found in {shown}: there is no such file"));
    }
    let text = reading::text(path).map_err(|error| {
        format!("Configuration error: Cannot read {shown}; cannot serve: {error}")
    })?;
    let entries = device_conf::parse(&text, &shown).map_err(|wrong| wrong.join("\n"))?;
    Ok(entries
        .into_iter()
        .map(|entry| ConfiguredDevice::new(entry, transports))
        .collect())
}

impl ConfiguredDevice {
    fn new(entry: DeviceEntry, transports: &Rc<dyn TransportOptions>) -> Self {
        Self {
            transports: Rc::clone(transports),
            name: entry.name,
            type_name: entry.type_name,
            url: entry.url,
        }
    }

    /// Asks the transport for its description, where a file contains the connection info.
    pub(super) async fn prepare(&self) {
        if self.url.starts_with(FILE) {
            self.transports.prepare(&self.type_name).await;
        }
    }

    /// Turns the device into a target.
    pub(super) fn target(&self, overrides: &Overrides) -> Target {
        match self.with_transport(self.bare()) {
            Ok(target) => {
                let options = overrides.apply_to("remote", target.options.clone());
                Target { options, ..target }
            }
            Err(message) => {
                let message = format!("the device {}: {message}", self.name);
                self.bare()
                    .with_fault(InventoryError::Invalid(vec![InventoryProblem::nowhere(
                        message,
                    )]))
            }
        }
    }

    /// Returns the target without its connection info.
    fn bare(&self) -> Target {
        let options = [(REMOTE_TRANSPORT, Value::from(self.type_name.as_str()))];
        Target {
            name: self.name.clone(),
            groups: vec!["all".to_owned()],
            kind: TargetKind::Remote {
                transport: Some(self.type_name.clone()),
                run_on: LOCALHOST.to_owned(),
            },
            options: options.into_iter().collect(),
            ..Target::default()
        }
    }

    /// Adds the connection info: that of the URL, or of the file that the URL names.
    fn with_transport(&self, target: Target) -> Result<Target, String> {
        let Some(file) = self.url.strip_prefix(FILE) else {
            let uri = Uri::parse(&self.url).map_err(str::to_owned)?;
            return Ok(Target {
                uri: Some(uri),
                ..target
            });
        };
        if !file.starts_with('/') {
            return Err(format!(
                "Unexpected url '{}' found. Only file:/// URLs for configuration supported at the \
                 moment.",
                self.url
            ));
        }
        let path = Path::new(file);
        if !path.exists() {
            return Err(format!(
                "Trying to load config from '{file}, but file does not exist."
            ));
        }
        let text = reading::text(path).map_err(|error| format!("cannot read {file}: {error}"))?;
        let info = hocon::parse(&text).map_err(|error| format!("{file}: {error}"))?;
        let mut warnings = Vec::new();
        if fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o004 != 0) {
            warnings.push(format!(
                "all users of this node can read {file}, which contains credentials: chmod 640"
            ));
        }
        let options = self.renamed(info).into_iter().chain(target.options);
        Ok(Target {
            options: options.collect(),
            warnings,
            ..target
        })
    }

    /// Renames the keys of credential files, unless the transport itself has an option of that name.
    fn renamed(&self, info: Hash) -> Hash {
        let has_option = |name: &str| self.transports.has_option(&self.type_name, name);
        let mut renamed = Hash::new();
        for (key, value) in info {
            let alias = ALIASES
                .iter()
                .find(|(alias, _)| key.as_str() == Some(alias) && !has_option(alias));
            match alias {
                // A value under the right name wins.
                Some((_, name)) if renamed.get(name).is_some() => {}
                Some((_, name)) => {
                    renamed.insert(Key::from(*name), value);
                }
                None => {
                    renamed.insert(key, value);
                }
            }
        }
        renamed
    }
}

#[cfg(test)]
mod tests {
    use devgate_core::events;

    use super::*;
    use crate::registry::Registry;

    fn device(url: &str) -> ConfiguredDevice {
        let registry = Registry::load(&[], None, &events::silence());
        let registry = registry.expect("built-in families are sound");
        ConfiguredDevice {
            transports: Rc::new(registry),
            name: "sw1".to_owned(),
            type_name: "frr".to_owned(),
            url: url.to_owned(),
        }
    }

    fn info(url: &str) -> Hash {
        let target = device(url).target(&Overrides::default());
        assert!(target.fault.is_none(), "{:?}", target.fault);
        target.connection_info().into_hash()
    }

    fn fault(url: &str) -> String {
        let target = device(url).target(&Overrides::default());
        let fault = target.fault.expect("it cannot be used");
        fault.to_string()
    }

    #[test]
    fn credentials_have_the_names_of_transports_here() -> std::io::Result<()> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("sw1.conf");
        fs::write(
            &path,
            "address = 192.0.2.1\nusername = admin, port = 2022\npassword = a-canary\n",
        )?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644))?;
        let url = format!("file://{}", path.display());
        let info = info(&url);
        let text = |key: &str| {
            info.get(key)
                .and_then(|value| value.as_str().map(str::to_owned))
        };
        assert_eq!(text("host").as_deref(), Some("192.0.2.1"));
        assert_eq!(text("user").as_deref(), Some("admin"));
        assert!(info.get("address").is_none());
        let target = device(&url).target(&Overrides::default());
        assert!(
            target.warnings[0].contains("chmod 640"),
            "{:?}",
            target.warnings
        );
        fs::write(&path, "password = ca!nary")?;
        let fault = fault(&url);
        assert!(fault.contains("sw1.conf: line 1, column 14"), "{fault}");
        assert!(!fault.contains("nary"), "{fault}");
        Ok(())
    }

    #[test]
    fn urls_are_split_into_options() {
        let url = "ssh://admin:a%2Fcanary@192.0.2.1:2022/";
        let info = info(url);
        assert_eq!(
            info.get("password").and_then(|it| it.as_str()),
            Some("a/canary")
        );
        let json = Value::Hash(info).to_json();
        assert_eq!(json["host"], "192.0.2.1");
        assert_eq!(
            (&json["user"], &json["port"]),
            (&"admin".into(), &2022.into())
        );
        let target = device(url).target(&Overrides::default());
        let shown = format!("{target:?} {}", target.address());
        assert!(
            shown.ends_with("ssh://192.0.2.1:2022") && !shown.contains("canary"),
            "{shown}"
        );
    }

    #[test]
    fn invalid_devices_are_reported_in_puppets_words_and_without_secrets() {
        for (url, expected) in [
            (
                "file:///nowhere/sw1.conf",
                "Trying to load config from '/nowhere/sw1.conf, but file does not exist.",
            ),
            (
                "file://sw1.conf",
                "Unexpected url 'file://sw1.conf' found. Only file:/// URLs",
            ),
            ("ssh://admin:a/canary@h", "expected `/`, `?` and `#`"),
        ] {
            let fault = fault(url);
            assert!(fault.contains(expected), "{url}: {fault}");
            assert!(!fault.contains("canary"), "{url}: {fault}");
        }
    }
}
