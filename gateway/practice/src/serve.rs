//! `devgate practice`: a practice switch for a person, until Ctrl-C.

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use devgate_core::failure::{ErrorContext, Failure};
use devgate_devices::Recording;
use devgate_schemas::Sensitive;
use devgate_transports::reading;
use russh::keys::key::safe_rng;
use russh::keys::ssh_key::LineEnding;
use russh::keys::{Algorithm, PrivateKey};

use super::config::is_hostname;
use super::{PracticeSettings, PracticeSwitch};

/// Run a practice switch: an SSH server with a small part of Cisco IOS
///
/// It listens on the loopback interface, keeps its configuration in memory, and forwards no traffic. It prints how to
/// connect, and runs until Ctrl-C. Everybody who can connect can log in: its passwords are printed.
#[derive(Debug, Args)]
pub struct PracticeArgs {
    /// Port to listen on; 0 selects a free port
    #[arg(long, default_value_t = 2222)]
    port: u16,

    /// Address to listen on
    #[arg(long, default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST), value_name = "ADDRESS")]
    listen: IpAddr,

    /// Name of the switch
    #[arg(long, default_value = "practice", value_parser = hostname)]
    hostname: String,

    /// File for the host key; created with mode 0600 if it does not exist
    ///
    /// Without it, the switch has a new key in each run. A client that remembers the former key then refuses the switch.
    #[arg(long, value_name = "FILE")]
    host_key: Option<PathBuf>,

    /// Start sessions in privileged mode, so that `enable` is not needed
    #[arg(long)]
    privileged: bool,

    /// Replay the device that `devgate record` saved in this folder, instead of the practice switch
    ///
    /// It answers recorded commands as the device did. It answers all other commands as the device answers unknown
    /// commands. It cannot be configured.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["hostname", "privileged"])]
    replay: Option<PathBuf>,
}

/// Runs a practice switch until Ctrl-C, and prints how to connect on `out`.
///
/// # Errors
/// The port is in use, or the host key file or `out` cannot be used.
pub async fn serve(args: PracticeArgs, out: &mut dyn Write) -> Result<(), Failure> {
    let address = SocketAddr::new(args.listen, args.port);
    let host_key = args.host_key.as_deref().map(host_key_of).transpose()?;
    if let Some(folder) = args
        .replay
        .as_deref()
        .filter(|folder| !folder.join("case.yaml").exists())
    {
        return Err(Failure::other(format!(
            "{0} holds no recording: `devgate record -t TARGET {0}` makes one",
            folder.display()
        )));
    }
    let recording = args.replay.as_deref().map(Recording::read).transpose()?;
    let recording = recording.map(Arc::new);
    let settings = PracticeSettings {
        address,
        recording: recording.clone(),
        hostname: args.hostname,
        privileged: args.privileged,
        host_key,
        ..PracticeSettings::default()
    };
    let user = settings.user.clone();
    let (password, enable) = (settings.password.clone(), settings.enable_password.clone());
    let practice = PracticeSwitch::start(settings)
        .await
        .with_context(|| format!("cannot listen on {address}; --port 0 selects a free port"))?;
    let guide = LoginGuide {
        practice: &practice,
        user: &user,
        password,
        enable,
    };
    let text = match &recording {
        None => guide.for_switch(),
        Some(recording) => guide.for_recording(recording),
    };
    out.write_all(text.as_bytes())?;
    out.flush()?;
    tokio::signal::ctrl_c()
        .await
        .context("cannot wait for Ctrl-C")?;
    practice.stop().await;
    Ok(())
}

fn hostname(name: &str) -> Result<String, String> {
    if is_hostname(name) {
        Ok(name.to_owned())
    } else {
        Err("expected up to 63 letters, digits, hyphens, underscores and dots".to_owned())
    }
}

/// Reads the key from a file, or writes a new key to it.
fn host_key_of(file: &Path) -> Result<PrivateKey, Failure> {
    let path = file.display();
    match reading::text(file) {
        Ok(text) => match PrivateKey::from_openssh(&text) {
            Ok(key) if key.is_encrypted() => Err(Failure::other(format!(
                "{path}: the host key has a passphrase"
            ))),
            Ok(key) => Ok(key),
            Err(_) => Err(Failure::other(format!(
                "{path}: expected a private key in OpenSSH's form"
            ))),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let new_key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519);
            let written = new_key.and_then(|key| Ok((key.to_openssh(LineEnding::LF)?, key)));
            let (text, key) = written.map_err(|error| Failure::other(error.to_string()))?;
            let mut options = std::fs::OpenOptions::new();
            let created = options.write(true).create_new(true).mode(0o600).open(file);
            created
                .and_then(|mut created| created.write_all(text.as_bytes()))
                .with_context(|| format!("{path}: cannot save the host key"))?;
            Ok(key)
        }
        Err(error) => Err(error).with_context(|| format!("{path}: cannot read the host key")),
    }
}

/// The data to log in.
struct LoginGuide<'p> {
    practice: &'p PracticeSwitch,
    user: &'p str,
    password: Sensitive<String>,
    enable: Sensitive<String>,
}

impl LoginGuide<'_> {
    /// All text to paste. These passwords are not secret: they are printed for the user who starts the switch.
    fn for_switch(&self) -> String {
        let (address, user) = (self.practice.address(), self.user);
        let (password, enable) = (self.password(), self.enable.reveal());
        let enabled = format!("        enable_password: {enable}\n");
        format!(
            "The practice switch listens on {address} until Ctrl-C. Then its configuration is lost.\n\n  user {user}   \
             password {password}   enable password {enable}\n\n{}",
            self.steps("practice", &enabled)
        )
    }

    /// The same for a recorded device.
    fn for_recording(&self, recording: &Recording) -> String {
        let (address, user) = (self.practice.address(), self.user);
        let password = self.password();
        let family = match recording.family.as_str() {
            "" => "ssh_cli",
            family => family,
        };
        format!(
            "A recorded device is replayed on {address} until Ctrl-C: {}\n\n  user {user}   password \
             {password}\n\n{}",
            recording.desc,
            self.steps(family, "")
        )
    }

    fn password(&self) -> &str {
        self.password.reveal()
    }

    /// How to connect to it as a device of a family. `more` is additional connection info.
    fn steps(&self, family: &str, more: &str) -> String {
        let address = self.practice.address();
        let (host, port, user) = (address.ip(), address.port(), self.user);
        let password = self.password();
        let key = self.practice.host_key();
        // ssh omits the default port.
        let host_pattern = if port == 22 {
            host.to_string()
        } else {
            format!("[{host}]:{port}")
        };
        format!(
            "\
The README uses the same switch, with `trust_on_first_use` instead of step 1.

1. In an empty folder, its host key as known_hosts:

{host_pattern} {key}

2. Beside it, inventory.yaml:

version: 2
targets:
  - name: practice
    uri: ssh://{address}
    config:
      transport: remote
      remote:
        remote-transport: {family}
        user: {user}
        password: {password}
{more}        known_hosts_file: known_hosts

3. In that folder, protect the password from other users, and connect:

  chmod 600 inventory.yaml
  devgate verify -t practice
  devgate facts -t practice
  ssh -o UserKnownHostsFile=known_hosts -p {port} {user}@{host}
"
        )
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_host_key_is_made_once_and_for_its_owner_alone() -> Result<(), Failure> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("host_key");
        let new_key = host_key_of(&file)?;
        assert_eq!(
            std::fs::metadata(&file)?.permissions().mode() & 0o777,
            0o600
        );
        assert_eq!(host_key_of(&file)?.public_key(), new_key.public_key());
        Ok(())
    }

    #[test]
    fn a_file_that_holds_no_key_is_named_and_not_quoted() -> Result<(), Failure> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("host_key");
        std::fs::write(&file, "canary")?;
        let text = host_key_of(&file).expect_err("a refusal").to_string();
        assert!(
            text.contains("host_key: expected") && !text.contains("canary"),
            "{text}"
        );
        Ok(())
    }

    #[tokio::test]
    async fn the_login_guide_names_the_address_and_the_key() -> Result<(), Failure> {
        let practice = PracticeSwitch::start(PracticeSettings::default()).await?;
        let (address, key) = (practice.address(), practice.host_key());
        let PracticeSettings {
            user,
            password,
            enable_password: enable,
            ..
        } = PracticeSettings::default();
        let text = LoginGuide {
            practice: &practice,
            user: &user,
            password,
            enable,
        }
        .for_switch();
        assert!(
            text.contains(&format!("\n[127.0.0.1]:{} {key}\n", address.port())),
            "{text}"
        );
        assert!(
            text.contains(&format!("    uri: ssh://{address}\n")),
            "{text}"
        );
        practice.stop().await;
        Ok(())
    }
}
