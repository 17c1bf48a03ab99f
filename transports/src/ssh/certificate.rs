//! Checking host certificates (OpenSSH's PROTOCOL.certkeys).

use std::time::{SystemTime, UNIX_EPOCH};

use russh::keys::ssh_key::certificate::CertType;
use russh::keys::{Algorithm, Certificate, HashAlg, PublicKey};

use crate::glob::glob;

/// Checks a certificate against the authorities that are trusted for the host.
///
/// # Errors
/// Fails with the problem, as the end of a sentence that begins with "it".
pub(super) fn check(
    certificate: &Certificate,
    host: &str,
    authorities: &[&PublicKey],
) -> Result<(), String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    check_at(
        certificate,
        host,
        authorities,
        now.map_or(0, |now| now.as_secs()),
    )
}

fn check_at(
    certificate: &Certificate,
    host: &str,
    authorities: &[&PublicKey],
    now: u64,
) -> Result<(), String> {
    let signer = certificate.signature_key().fingerprint(HashAlg::Sha256);
    if certificate.cert_type() != CertType::Host {
        return Err("is for a user, not for a host".to_owned());
    }
    let trusted: Vec<_> = authorities
        .iter()
        .map(|authority| authority.fingerprint(HashAlg::Sha256))
        .collect();
    if !trusted.contains(&signer) {
        return Err(format!(
            "is signed by {signer}, which no `@cert-authority` line trusts for it"
        ));
    }
    if certificate.signature().algorithm() == (Algorithm::Rsa { hash: None }) {
        return Err("is signed with SHA-1, which is too weak".to_owned());
    }
    if now < certificate.valid_after() {
        return Err("is not valid yet: check the clocks".to_owned());
    }
    if now >= certificate.valid_before() {
        return Err("has expired: sign the host's key again".to_owned());
    }
    // A certificate without principals is valid for every host.
    let names = certificate.valid_principals();
    let host = host.to_lowercase();
    if !names.is_empty() && !names.iter().any(|name| glob(&name.to_lowercase(), &host)) {
        return Err(format!("is for {}, not for {host}", names.join(", ")));
    }
    if let Some((option, _)) = certificate.critical_options().iter().next() {
        return Err(format!(
            "has the critical option `{option}`, which is not known"
        ));
    }
    let valid = certificate.validate_at(now, &trusted);
    valid.map_err(|_| "has a signature that is wrong".to_owned())
}

#[cfg(test)]
mod tests {
    use russh::keys::ssh_key::certificate::Builder;

    use super::*;
    use crate::ssh::server::key;

    const NOW: u64 = 1_800_000_000;

    fn certificate(kind: CertType, change: impl FnOnce(&mut Builder)) -> Certificate {
        let nonce = [7; 16];
        let (from, to) = (NOW - 60, NOW + 60);
        let subject = key(1).public_key().key_data().clone();
        let mut builder = Builder::new(nonce, subject, from, to).expect("times");
        builder.cert_type(kind).expect("a type");
        change(&mut builder);
        builder.sign(&key(5)).expect("signed")
    }

    fn checked(host: &str, now: u64, change: impl FnOnce(&mut Builder)) -> Result<(), String> {
        let authority = key(5);
        check_at(
            &certificate(CertType::Host, change),
            host,
            &[authority.public_key()],
            now,
        )
    }

    fn for_sw1(builder: &mut Builder) {
        builder.valid_principal("sw1").expect("a name");
        builder.valid_principal("*.example.org").expect("a name");
    }

    #[test]
    fn a_certificate_of_a_trusted_authority_is_valid_for_its_principals() {
        assert_eq!(checked("SW1", NOW, for_sw1), Ok(()));
        assert_eq!(checked("a.example.org", NOW, for_sw1), Ok(()));
        let error = checked("sw2", NOW, for_sw1).expect_err("another host");
        assert!(
            error.contains("is for sw1, *.example.org, not for sw2"),
            "{error}"
        );
        let everywhere = |builder: &mut Builder| drop(builder.all_principals_valid());
        assert_eq!(checked("sw2", NOW, everywhere), Ok(()));
    }

    #[test]
    fn problems_of_a_certificate_are_reported() {
        let error_of =
            |now, change: fn(&mut Builder)| checked("sw1", now, change).expect_err("wrong");
        assert!(error_of(NOW + 60, for_sw1).contains("expired"));
        assert!(error_of(NOW - 61, for_sw1).contains("not valid yet"));
        let user = certificate(CertType::User, for_sw1);
        let error = check_at(&user, "sw1", &[key(5).public_key()], NOW).expect_err("wrong");
        assert!(error.contains("for a user"), "{error}");
        let critical = |builder: &mut Builder| {
            for_sw1(builder);
            builder.critical_option("x", "").expect("an option");
        };
        assert!(error_of(NOW, critical).contains("critical option `x`"));
        let other = key(6);
        let error = check_at(
            &certificate(CertType::Host, for_sw1),
            "sw1",
            &[other.public_key()],
            NOW,
        );
        assert!(
            error
                .expect_err("not trusted")
                .contains("no `@cert-authority` line")
        );
    }
}
