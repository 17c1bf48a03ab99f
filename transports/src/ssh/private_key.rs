//! Private keys, from a file or as text.

use std::path::Path;

use devgate_schemas::Sensitive;
use russh::keys::ssh_key::Error as KeyError;
use russh::keys::{self, PrivateKey, decode_secret_key};
use tokio::task::spawn_blocking;

use super::setting_names::SettingNames;
use super::settings::Settings;
use crate::{Error, Result, reading};

/// The prefixes of private keys, in all supported formats.
const KEY_PREFIXES: [&str; 2] = ["-----BEGIN ", "PuTTY-User-Key-File-"];

/// Reads the private key that the settings name or contain, if any.
///
/// # Errors
/// Fails with [`Error::Setting`] when the file or the key cannot be read, or its passphrase is missing or wrong.
pub(super) async fn load(settings: &Settings) -> Result<Option<PrivateKey>> {
    let Some(key_or_path) = settings.private_key.clone() else {
        return Ok(None);
    };
    let passphrase = settings.passphrase.clone();
    let setting_names = settings.setting_names;
    if passphrase.is_none() {
        return read(&key_or_path, None, setting_names).map(Some);
    }
    // Decrypting a key is expensive by design.
    let read_key =
        spawn_blocking(move || read(&key_or_path, passphrase.as_ref(), setting_names)).await;
    read_key.expect("reading a key does not panic").map(Some)
}

fn read(
    key_or_path: &Sensitive<String>,
    passphrase: Option<&Sensitive<String>>,
    setting_names: &SettingNames,
) -> Result<PrivateKey> {
    let problem = |problem: String| Error::Setting {
        setting: setting_names.private_key,
        problem,
    };
    let key_or_path = key_or_path.reveal().trim();
    let passphrase = passphrase.map(|passphrase| passphrase.reveal().as_str());
    let is_text = KEY_PREFIXES
        .iter()
        .any(|mark| key_or_path.starts_with(mark));
    let (text, name) = if is_text {
        (
            Sensitive::new(key_or_path.to_owned()),
            "the key that is given as text",
        )
    } else if key_or_path.contains('\n') {
        return Err(problem(
            "is neither a path nor a private key in a known format".to_owned(),
        ));
    } else {
        // The apparent path may be a key that lost its first line, so it is not quoted.
        let name = "the file that it names";
        let text = reading::text(Path::new(key_or_path))
            .map_err(|error| problem(format!("cannot read {name}: {error}")))?;
        (Sensitive::new(text), name)
    };
    decode_secret_key(text.reveal().trim(), passphrase).map_err(|error| {
        problem(format!(
            "{name} {}",
            problem_of(&error, passphrase.is_some(), setting_names)
        ))
    })
}

/// Returns the path of a key that is given by its path and not by its text.
pub(super) fn file(key_or_path: &Sensitive<String>) -> Option<&str> {
    let key_or_path = key_or_path.reveal().trim();
    let is_text = key_or_path.contains('\n')
        || KEY_PREFIXES
            .iter()
            .any(|mark| key_or_path.starts_with(mark));
    (!is_text).then_some(key_or_path)
}

/// Returns whether a key could not be read because it is encrypted.
pub(super) fn is_encrypted(error: &keys::Error) -> bool {
    matches!(
        error,
        keys::Error::KeyIsEncrypted | keys::Error::SshKey(KeyError::Encrypted)
    )
}

fn problem_of(error: &keys::Error, with_passphrase: bool, setting_names: &SettingNames) -> String {
    let passphrase = setting_names.passphrase;
    if is_encrypted(error) {
        format!("is encrypted: give `{passphrase}`, or use an agent")
    } else if with_passphrase {
        format!("cannot be opened: `{passphrase}` is wrong, or the file is no private key")
    } else {
        "is no private key that can be read (OpenSSH, PEM and PuTTY formats can)".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use russh::keys::key::safe_rng;
    use russh::keys::ssh_key::LineEnding;
    use russh::keys::ssh_key::private::Ed25519Keypair;

    use super::*;

    /// Returns a key for tests, in OpenSSH's format.
    fn text(passphrase: Option<&str>) -> String {
        let pair = Ed25519Keypair::from_seed(&[7; 32]);
        let key = PrivateKey::from(pair);
        let key = match passphrase {
            None => key,
            Some(passphrase) => key.encrypt(&mut safe_rng(), passphrase).expect("encrypted"),
        };
        key.to_openssh(LineEnding::LF).expect("written").to_string()
    }

    fn read_key(
        key_or_path: &str,
        passphrase: Option<&str>,
    ) -> std::result::Result<PrivateKey, String> {
        let passphrase = passphrase.map(|passphrase| Sensitive::new(passphrase.to_owned()));
        read(
            &Sensitive::new(key_or_path.to_owned()),
            passphrase.as_ref(),
            &super::super::setting_names::DEVICE,
        )
        .map_err(|error| error.to_string())
    }

    #[test]
    fn a_key_is_read_from_a_file_or_as_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("id");
        fs::write(&file, text(None)).expect("written");
        let from_file = read_key(&file.display().to_string(), None).expect("a key");
        assert_eq!(from_file, read_key(&text(None), None).expect("a key"));
    }

    #[test]
    fn errors_do_not_quote_the_key() {
        let encrypted = text(Some("canary"));
        assert!(read_key(&encrypted, Some("canary")).is_ok());
        let error = read_key(&encrypted, None).expect_err("encrypted");
        assert!(error.contains("`private_key_passphrase`"), "{error}");
        let error = read_key(&encrypted, Some("wrong")).expect_err("wrong");
        assert!(
            error.contains("`private_key_passphrase` is wrong"),
            "{error}"
        );
        let error = read_key("/nowhere/id", None).expect_err("no file");
        assert!(
            error.contains("cannot read the file that it names"),
            "{error}"
        );
        for mangled in ["AAAAB3canary\nmore", "AAAAB3/canary=="] {
            let error = read_key(mangled, None).expect_err("no key");
            assert!(!error.contains("canary"), "{error}");
        }
    }
}
