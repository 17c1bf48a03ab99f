//! Which algorithms are offered, and in which order.

use std::borrow::Cow;

use russh::keys::Algorithm;
use russh::{Preferred, cipher, kex, mac};

/// Key exchanges beyond russh's own choice that are still sound and that devices often have.
const MORE_KEX: [kex::Name; 3] = [
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

/// Whether algorithms are allowed that are known to be weak.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Strength {
    Sound,
    Legacy,
}

/// What is offered to a host of which keys of these algorithms are recorded.
pub(super) fn preferred(strength: Strength, recorded: &[Algorithm]) -> Preferred {
    let default = Preferred::DEFAULT;
    let legacy = strength == Strength::Legacy;
    // The extension names at the end of russh's list must stay last.
    let (exchanges, extensions): (Vec<_>, Vec<_>) =
        default.kex.iter().partition(|name| !is_extension(name));
    let mut kex: Vec<kex::Name> = exchanges;
    kex.splice(3..3, MORE_KEX);
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
    // A host must be asked for the keys that are known of it: another one would look like a change.
    key.sort_by_key(|offered| !recorded.iter().any(|recorded| is_same(recorded, offered)));
    Preferred {
        kex: Cow::Owned(kex),
        key: Cow::Owned(key),
        cipher: Cow::Owned(cipher),
        mac: Cow::Owned(mac),
        compression: Cow::Borrowed(&[russh::compression::NONE]),
        ..default
    }
}

/// Whether one of the peer's algorithms is among the weak ones that can be allowed.
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

/// Whether a key of the recorded algorithm can be asked for under the offered one.
fn is_same(recorded: &Algorithm, offered: &Algorithm) -> bool {
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

    #[test]
    fn curve25519_comes_first_and_extensions_last() {
        for strength in [Strength::Sound, Strength::Legacy] {
            let preferred = preferred(strength, &[]);
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
        assert!(!weak(&preferred(Strength::Sound, &[])));
        assert!(weak(&preferred(Strength::Legacy, &[])));
        assert!(is_legacy(&["diffie-hellman-group14-sha1".into()]));
        assert!(!is_legacy(&["hmac-md5".into()]));
    }

    #[test]
    fn recorded_algorithms_are_asked_for_first() {
        let rsa = Algorithm::Rsa { hash: None };
        let preferred = preferred(Strength::Sound, &[rsa]);
        assert_eq!(
            preferred.key[0],
            Algorithm::Rsa {
                hash: Some(HashAlg::Sha512)
            }
        );
        assert_eq!(preferred.key[2], Algorithm::Ed25519);
    }
}
