//! The algorithms that are offered, and their order.

use std::borrow::Cow;

use russh::keys::Algorithm;
use russh::keys::key::ALL_KEY_TYPES;
use russh::{Preferred, cipher, kex, mac};

use super::algorithm_list::AlgorithmList;

/// Key exchanges beyond russh's defaults that are still secure and common on devices.
const ADDITIONAL_KEX: [kex::Name; 3] = [
    kex::ECDH_SHA2_NISTP256,
    kex::ECDH_SHA2_NISTP384,
    kex::ECDH_SHA2_NISTP521,
];

const LEGACY_KEX: [kex::Name; 3] = [kex::DH_GEX_SHA1, kex::DH_G14_SHA1, kex::DH_G1_SHA1];

const LEGACY_CIPHERS: [cipher::Name; 4] = [
    cipher::AES_256_CBC,
    cipher::AES_192_CBC,
    cipher::AES_128_CBC,
    cipher::TRIPLE_DES_CBC,
];

const LEGACY_MACS: [mac::Name; 2] = [mac::HMAC_SHA1_ETM, mac::HMAC_SHA1];

/// Whether algorithms that are known to be weak are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    Sound,
    Legacy,
}

/// The strength of the defaults, and the configured lists.
#[derive(Clone, Debug)]
pub(crate) struct Algorithms {
    pub(crate) strength: Strength,
    pub(crate) kex: Option<AlgorithmList>,
    pub(crate) ciphers: Option<AlgorithmList>,
    pub(crate) macs: Option<AlgorithmList>,
    pub(crate) host_keys: Option<AlgorithmList>,
    /// For the user's own keys.
    pub(crate) user_keys: Option<AlgorithmList>,
}

impl Algorithms {
    /// Returns the algorithms to offer to a host with recorded keys of these algorithms. With `certified`,
    /// certificates of its keys are offered, too.
    ///
    /// # Errors
    /// Fails with the kind of algorithms, and the reason, when none of a configured list is supported.
    pub(super) fn preferred(
        &self,
        recorded: &[Algorithm],
        certified: bool,
    ) -> Result<Preferred, (AlgorithmKind, String)> {
        let mut preferred = preferred(self.strength);
        if let Some(algorithm_list) = &self.kex {
            // The extension names at the end of russh's list must stay last.
            let (defaults, extensions): (Vec<kex::Name>, Vec<_>) =
                preferred.kex.iter().partition(|name| !is_extension(name));
            let mut kex = selected(AlgorithmKind::Kex, algorithm_list, &defaults, |name| {
                kex::Name::try_from(name).ok()
            })?;
            kex.extend(extensions);
            preferred.kex = Cow::Owned(kex);
        }
        if let Some(algorithm_list) = &self.ciphers {
            let parse_name = |name: &str| cipher::Name::try_from(name).ok();
            preferred.cipher = Cow::Owned(selected(
                AlgorithmKind::Ciphers,
                algorithm_list,
                &preferred.cipher,
                parse_name,
            )?);
        }
        if let Some(algorithm_list) = &self.macs {
            let parse_name = |name: &str| mac::Name::try_from(name).ok();
            preferred.mac = Cow::Owned(selected(
                AlgorithmKind::Macs,
                algorithm_list,
                &preferred.mac,
                parse_name,
            )?);
        }
        let mut certificates = preferred.key.to_vec();
        if let Some(algorithm_list) = &self.host_keys {
            let names: Vec<String> = [CERTIFICATE, ""]
                .iter()
                .flat_map(|end| preferred.key.iter().map(move |key| format!("{key}{end}")))
                .collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let applied = algorithm_list.applied_to(&names);
            let plain = applied.iter().filter(|name| !name.ends_with(CERTIFICATE));
            let keys: Vec<Algorithm> = plain.filter_map(|name| key_algorithm(name)).collect();
            let bare = applied
                .iter()
                .filter_map(|name| name.strip_suffix(CERTIFICATE));
            certificates = bare.filter_map(key_algorithm).collect();
            if keys.is_empty() && (certificates.is_empty() || !certified) {
                return Err((
                    AlgorithmKind::HostKeys,
                    none_supported(&applied, preferred.key.iter()),
                ));
            }
            preferred.key = Cow::Owned(keys);
        }
        if certified {
            preferred.host_key_certificates = Cow::Owned(certificates);
        }
        // Recorded key algorithms come first: a key of another algorithm would look like a changed key.
        preferred.key.to_mut().sort_by_key(|offered| {
            !recorded
                .iter()
                .any(|recorded| is_same_key_type(recorded, offered))
        });
        Ok(preferred)
    }

    /// Returns whether the user's keys may be used with an algorithm.
    pub(super) fn allows_user_key(&self, algorithm: &Algorithm) -> bool {
        let defaults: Vec<String> = ALL_KEY_TYPES.iter().map(ToString::to_string).collect();
        let defaults: Vec<&str> = defaults.iter().map(String::as_str).collect();
        let name = algorithm.to_string();
        let algorithm_list = self.user_keys.as_ref();
        algorithm_list.is_none_or(|algorithm_list| {
            algorithm_list
                .applied_to(&defaults)
                .contains(&name.as_str())
        })
    }
}

/// The kinds of algorithms that can be configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AlgorithmKind {
    Kex,
    Ciphers,
    Macs,
    HostKeys,
}

/// The suffix of certificate algorithms.
const CERTIFICATE: &str = "-cert-v01@openssh.com";

/// Returns the supported algorithms of a configured list. It is an error if there are none.
fn selected<T: AsRef<str> + Clone>(
    kind: AlgorithmKind,
    algorithm_list: &AlgorithmList,
    defaults: &[T],
    parse_name: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, (AlgorithmKind, String)> {
    let names: Vec<&str> = defaults.iter().map(AsRef::as_ref).collect();
    let applied = algorithm_list.applied_to(&names);
    let found: Vec<T> = applied.iter().filter_map(|name| parse_name(name)).collect();
    if found.is_empty() {
        return Err((kind, none_supported(&applied, names.iter())));
    }
    Ok(found)
}

fn none_supported<T: ToString>(selected: &[&str], defaults: impl Iterator<Item = T>) -> String {
    let defaults: Vec<String> = defaults.map(|name| name.to_string()).collect();
    format!(
        "none of `{}` is supported: the usual ones are {}",
        selected.join(", "),
        defaults.join(", ")
    )
}

fn key_algorithm(name: &str) -> Option<Algorithm> {
    ALL_KEY_TYPES
        .iter()
        .find(|key| key.as_str() == name)
        .cloned()
}

/// Returns the default algorithms for a strength.
fn preferred(strength: Strength) -> Preferred {
    let default = Preferred::DEFAULT;
    let legacy = strength == Strength::Legacy;
    // The extension names at the end of russh's list must stay last.
    let (exchanges, extensions): (Vec<_>, Vec<_>) =
        default.kex.iter().partition(|name| !is_extension(name));
    let mut kex: Vec<kex::Name> = exchanges;
    kex.splice(3..3, ADDITIONAL_KEX);
    let mut cipher = default.cipher.to_vec();
    cipher.push(cipher::AES_128_GCM);
    let mut mac = default.mac.to_vec();
    let mut key = default.key.to_vec();
    if legacy {
        kex.extend(LEGACY_KEX);
        cipher.extend(LEGACY_CIPHERS);
        mac.extend(LEGACY_MACS);
    } else {
        key.retain(|algorithm| *algorithm != (Algorithm::Rsa { hash: None }));
    }
    kex.extend(extensions);
    Preferred {
        kex: Cow::Owned(kex),
        key: Cow::Owned(key),
        cipher: Cow::Owned(cipher),
        mac: Cow::Owned(mac),
        compression: Cow::Borrowed(&[russh::compression::NONE]),
        ..default
    }
}

/// Returns whether any of the peer's algorithms is a weak one that can be allowed.
pub(super) fn is_legacy(theirs: &[String]) -> bool {
    let legacy = LEGACY_KEX
        .iter()
        .map(AsRef::as_ref)
        .chain(LEGACY_CIPHERS.iter().map(AsRef::as_ref))
        .chain(LEGACY_MACS.iter().map(AsRef::as_ref))
        .chain(["ssh-rsa"]);
    legacy
        .into_iter()
        .any(|legacy: &str| theirs.iter().any(|name| name == legacy))
}

fn is_extension(name: &kex::Name) -> bool {
    let name: &str = name.as_ref();
    name.starts_with("ext-info") || name.starts_with("kex-strict")
}

/// Returns whether a key of the recorded algorithm can be requested by the offered one.
fn is_same_key_type(recorded: &Algorithm, offered: &Algorithm) -> bool {
    match (recorded, offered) {
        (Algorithm::Rsa { .. }, Algorithm::Rsa { .. }) => true,
        (recorded, offered) => recorded == offered,
    }
}

#[cfg(test)]
mod tests {
    use russh::keys::HashAlg;

    use super::*;

    fn names<T: AsRef<str>>(list: &[T]) -> Vec<&str> {
        list.iter().map(AsRef::as_ref).collect()
    }

    fn default_algorithms(strength: Strength) -> Algorithms {
        Algorithms {
            strength,
            kex: None,
            ciphers: None,
            macs: None,
            host_keys: None,
            user_keys: None,
        }
    }

    fn offered(strength: Strength, recorded: &[Algorithm]) -> Preferred {
        let algorithms = default_algorithms(strength);
        algorithms
            .preferred(recorded, false)
            .expect("the usual ones")
    }

    #[test]
    fn configured_algorithms_are_offered_and_unsupported_ones_are_reported() {
        let algorithms = Algorithms {
            kex: Some(AlgorithmList::parse("curve25519-sha256,no-such")),
            ciphers: Some(AlgorithmList::parse("+aes128-cbc")),
            macs: Some(AlgorithmList::parse("-*-etm@openssh.com")),
            host_keys: Some(AlgorithmList::parse(
                "^rsa-sha2-256,ssh-ed25519-cert-v01@openssh.com",
            )),
            user_keys: Some(AlgorithmList::parse("-ecdsa-*")),
            ..default_algorithms(Strength::Sound)
        };
        let preferred = algorithms.preferred(&[], true).expect("offered");
        assert_eq!(names(&preferred.kex)[0], "curve25519-sha256");
        assert!(
            names(&preferred.kex)[1..]
                .iter()
                .all(|name| name.contains("ext-info") || name.contains("strict"))
        );
        assert_eq!(names(&preferred.cipher).last(), Some(&"aes128-cbc"));
        assert_eq!(names(&preferred.mac), ["hmac-sha2-512", "hmac-sha2-256"]);
        assert_eq!(preferred.key[0].as_str(), "rsa-sha2-256");
        assert_eq!(preferred.host_key_certificates[0], Algorithm::Ed25519);
        assert!(algorithms.allows_user_key(&Algorithm::Ed25519));
        let curve = russh::keys::EcdsaCurve::NistP256;
        assert!(!algorithms.allows_user_key(&Algorithm::Ecdsa { curve }));

        let none = Algorithms {
            ciphers: Some(AlgorithmList::parse("idea-cbc")),
            ..algorithms
        };
        let (kind, text) = none.preferred(&[], false).expect_err("none");
        assert_eq!(kind, AlgorithmKind::Ciphers);
        assert!(
            text.contains("none of `idea-cbc`") && text.contains("aes256-ctr"),
            "{text}"
        );
    }

    #[test]
    fn curve25519_comes_first_and_extensions_last() {
        for strength in [Strength::Sound, Strength::Legacy] {
            let preferred = offered(strength, &[]);
            let kex = names(&preferred.kex);
            assert_eq!(
                kex[..3],
                [
                    "mlkem768x25519-sha256",
                    "curve25519-sha256",
                    "curve25519-sha256@libssh.org"
                ]
            );
            assert!(
                kex[kex.len() - 4..]
                    .iter()
                    .all(|name| name.contains("ext-info") || name.contains("strict"))
            );
        }
    }

    #[test]
    fn weak_algorithms_are_offered_only_where_allowed() {
        let weak = |preferred: &Preferred| {
            let offered = [
                names(&preferred.kex),
                names(&preferred.cipher),
                names(&preferred.mac),
            ]
            .concat();
            offered
                .iter()
                .any(|name| name.contains("sha1") || name.contains("cbc"))
                || preferred.key.contains(&Algorithm::Rsa { hash: None })
        };
        assert!(!weak(&offered(Strength::Sound, &[])));
        assert!(weak(&offered(Strength::Legacy, &[])));
        assert!(is_legacy(&["diffie-hellman-group14-sha1".into()]));
        assert!(!is_legacy(&["hmac-md5".into()]));
    }

    #[test]
    fn recorded_algorithms_are_offered_first() {
        let rsa = Algorithm::Rsa { hash: None };
        let preferred = offered(Strength::Sound, &[rsa]);
        assert_eq!(
            preferred.key[0],
            Algorithm::Rsa {
                hash: Some(HashAlg::Sha512)
            }
        );
        assert_eq!(preferred.key[2], Algorithm::Ed25519);
    }
}
