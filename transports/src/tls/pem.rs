//! Certificates and keys, from a file or as text.

use std::borrow::Cow;

use devgate_schemas::Sensitive;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::info::problem;
use crate::{Environment, Error, Result, reading};

/// Certificates from a file: of authorities, or a chain that begins with the leaf.
pub(super) type Certificates = Vec<CertificateDer<'static>>;

/// Our certificate and key, for targets that request them.
pub(super) struct Identity {
    /// Our certificate, followed by the intermediate certificates.
    pub(super) chain: Certificates,
    pub(super) key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Reads both settings. It is an error if only one of them is given.
    pub(super) fn read(
        certificate: Option<&str>,
        key: Option<&Sensitive<String>>,
        environment: &Environment,
    ) -> Result<Option<Self>> {
        match (certificate, key) {
            (None, None) => Ok(None),
            (Some(_), None) => Err(problem("ssl_key_file", "is missing beside `ssl_cert_file`")),
            (None, Some(_)) => Err(problem("ssl_cert_file", "is missing beside `ssl_key_file`")),
            (Some(chain), Some(key)) => Ok(Some(Self {
                chain: certificates("ssl_cert_file", chain, environment)?,
                key: private_key(key, environment)?,
            })),
        }
    }
}

/// Reads the authorities of `ssl_ca_file`.
pub(super) fn authorities(given: &str, environment: &Environment) -> Result<Certificates> {
    certificates("ssl_ca_file", given, environment)
}

fn certificates(
    setting: &'static str,
    given: &str,
    environment: &Environment,
) -> Result<Certificates> {
    let text = text(setting, given, environment)?;
    let found: std::result::Result<Certificates, _> =
        CertificateDer::pem_slice_iter(text.as_bytes()).collect();
    match found {
        Ok(found) if found.is_empty() => {
            Err(problem(setting, "holds no certificate in PEM format"))
        }
        Ok(found) => Ok(found),
        Err(error) => Err(problem(setting, &format!("is no PEM ({})", why(&error)))),
    }
}

fn private_key(
    given: &Sensitive<String>,
    environment: &Environment,
) -> Result<PrivateKeyDer<'static>> {
    let text = Sensitive::new(text("ssl_key_file", given.reveal(), environment)?.into_owned());
    let text = text.reveal();
    PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|error| {
        let why = if text.contains("ENCRYPTED") {
            "is encrypted: `openssl pkey -in FILE` writes it without its passphrase".to_owned()
        } else {
            format!("holds no private key in PEM format ({})", why(&error))
        };
        problem("ssl_key_file", &why)
    })
}

/// Returns the given text, or the text of the file that it names.
fn text<'a>(
    setting: &'static str,
    given: &'a str,
    environment: &Environment,
) -> Result<Cow<'a, str>> {
    if given.contains("-----BEGIN ") {
        return Ok(Cow::Borrowed(given));
    }
    // The apparent path may be a key that lost its first line, so it is not quoted.
    reading::text(&environment.path(given))
        .map(Cow::Owned)
        .map_err(|error| Error::Setting {
            setting,
            problem: format!("cannot read the file that it names: {error}"),
        })
}

/// Returns what is wrong with a PEM text, without quoting it.
fn why(error: &pem::Error) -> &'static str {
    match error {
        pem::Error::NoItemsFound => "nothing of that kind is in it",
        pem::Error::MissingSectionEnd { .. } => "its last line is missing",
        _ => "it is damaged",
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::tls::tests::{CLIENT, CLIENT_KEY};

    fn sensitive(text: &str) -> Sensitive<String> {
        Sensitive::new(text.to_owned())
    }

    fn refused(certificate: Option<&str>, key: Option<&str>) -> String {
        let error = Identity::read(
            certificate,
            key.map(sensitive).as_ref(),
            &Environment::default(),
        );
        error.err().expect("it is refused").to_string()
    }

    #[test]
    fn certificates_and_keys_are_read_from_files_or_as_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            fs::write(&file, text).expect("written");
            file.display().to_string()
        };
        let files = (
            write("cert.pem", CLIENT),
            sensitive(&write("key.pem", CLIENT_KEY)),
        );
        let read = |certificate: &str, key: &Sensitive<String>| {
            let none = Environment::default();
            Identity::read(Some(certificate), Some(key), &none).expect("read")
        };
        let from_files = read(&files.0, &files.1);
        let from_text = read(CLIENT, &sensitive(CLIENT_KEY));
        let (from_files, from_text) = (from_files.expect("both"), from_text.expect("both"));
        assert_eq!(from_files.chain, from_text.chain);
        assert_eq!(from_files.key, from_text.key);
    }

    #[test]
    fn errors_do_not_quote_the_key() {
        assert!(refused(Some(CLIENT), None).contains("ssl_key_file: is missing"));
        assert!(refused(None, Some(CLIENT_KEY)).contains("ssl_cert_file: is missing"));
        assert!(refused(Some("/nowhere"), Some(CLIENT_KEY)).contains("cannot read the file"));
        assert!(refused(Some(CLIENT_KEY), Some(CLIENT_KEY)).contains("holds no certificate"));
        let canary = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nY2FuYXJ5\n-----END ENCRYPTED PRIVATE KEY-----\n";
        let error = refused(Some(CLIENT), Some(canary));
        assert!(error.contains("is encrypted"), "{error}");
        for mangled in ["canaryAAAA==", "-----BEGIN PRIVATE KEY-----\ncanary"] {
            let error = refused(Some(CLIENT), Some(mangled));
            assert!(error.starts_with("ssl_key_file: "), "{error}");
            assert!(!error.contains("canary"), "{error}");
        }
    }
}
