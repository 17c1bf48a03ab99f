//! The plugin `age`: values and files that were encrypted with age (<https://age-encryption.org/v1>).
//!
//! It contains only what is needed to decrypt for X25519 identities: the header with its stanzas and its MAC, and the
//! payload in chunks. The library `age` would add a second generation of every cipher to the program, and its
//! translations.

use std::path::Path;

use base64ct::{Base64, Base64Unpadded, Encoding};
use chacha20poly1305::aead::{Aead, KeyInit};
use chacha20poly1305::{ChaCha20Poly1305, Nonce};
use curve25519_dalek::MontgomeryPoint;
use devgate_schemas::Value;
use devgate_transports::permissions::others_may_read;
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::options::{Options, read};
use crate::inventory::PluginError;

/// The default file of the identities.
const IDENTITY: &str = "keys/age.txt";

const VERSION: &[u8] = b"age-encryption.org/v1\n";
/// The size of a chunk in clear, and of its authentication tag.
const CHUNK: usize = 64 * 1024;
const TAG: usize = 16;

/// A private key, and its public key.
struct Identity {
    secret: Zeroizing<[u8; 32]>,
    public: [u8; 32],
}

/// A stanza, which wraps the key of the file.
struct Stanza {
    share: [u8; 32],
    body: Vec<u8>,
}

/// Decrypts `encrypted_value` or a `file`. The text is a secret. A line end at its end is removed.
pub(super) fn resolve(folder: &Path, options: Options<'_>) -> Result<Value, PluginError> {
    options.refuse_unknown(&["encrypted_value", "file", "identity"])?;
    let encrypted = match (
        options.text("encrypted_value")?,
        options.path("file", folder)?,
    ) {
        (Some(text), None) => text.as_bytes().to_vec(),
        (None, Some(path)) => read(&options, "the encrypted file", &path)?,
        _ => return Err(options.invalid("expected either `encrypted_value` or `file`")),
    };
    let path = options.path("identity", folder)?;
    let path = path.unwrap_or_else(|| folder.join(IDENTITY));
    let text = Zeroizing::new(read(&options, "the identity", &path)?);
    if others_may_read(&path) {
        let path = path.display();
        tracing::warn!(
            "other users can read the age identity {path}: `chmod 600 {path}`; consider it compromised"
        );
    }
    let identities = identities(&text).ok_or_else(|| {
        let message = "expected lines with AGE-SECRET-KEY-1..., as age-keygen writes them";
        options.failed(format!("{}: {message}", path.display()))
    })?;
    let clear = decrypt(&encrypted, &identities).map_err(|message| options.failed(message))?;
    let mut clear = String::from_utf8(clear)
        .map_err(|_| options.failed("expected an encrypted text in UTF-8"))?;
    if clear.ends_with('\n') {
        clear.pop();
    }
    Ok(Value::from(clear).into_sensitive())
}

fn identities(text: &[u8]) -> Option<Vec<Identity>> {
    let lines = std::str::from_utf8(text).ok()?.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let identities: Option<Vec<_>> = lines.map(identity).collect();
    identities.filter(|identities| !identities.is_empty())
}

fn identity(line: &str) -> Option<Identity> {
    let (prefix, bytes) = bech32::decode(line).ok()?;
    if !prefix.as_str().eq_ignore_ascii_case("age-secret-key-") {
        return None;
    }
    let bytes = Zeroizing::new(bytes);
    let secret = Zeroizing::new(<[u8; 32]>::try_from(bytes.as_slice()).ok()?);
    let public = MontgomeryPoint::mul_base_clamped(*secret).to_bytes();
    Some(Identity { secret, public })
}

fn decrypt(file: &[u8], identities: &[Identity]) -> Result<Vec<u8>, &'static str> {
    let binary;
    let file = match unarmored(file)? {
        Some(bytes) => {
            binary = bytes;
            binary.as_slice()
        }
        None => file,
    };
    let damaged = "expected an age file, version 1: it is damaged or something else";
    let rest = file.strip_prefix(VERSION).ok_or(damaged)?;
    let (stanzas, rest) = parse_header(rest).ok_or(damaged)?;
    // The MAC covers everything before it, including its three dashes.
    let (mac, payload) = split_line(rest.strip_prefix(b"--- ").ok_or(damaged)?).ok_or(damaged)?;
    let authenticated = &file[..file.len() - rest.len() + 3];
    let mut pairs = stanzas
        .iter()
        .flat_map(|stanza| identities.iter().map(move |identity| (stanza, identity)));
    let key = pairs
        .find_map(|(stanza, identity)| unwrap_key(stanza, identity))
        .ok_or("it was encrypted for none of these identities")?;
    let mut hmac =
        Hmac::<Sha256>::new_from_slice(&*derive_key(&key, &[], b"header")).map_err(|_| damaged)?;
    hmac.update(authenticated);
    let mac = Base64Unpadded::decode_vec(std::str::from_utf8(mac).map_err(|_| damaged)?)
        .map_err(|_| damaged)?;
    hmac.verify_slice(&mac).map_err(|_| damaged)?;
    let (nonce, chunks) = payload.split_at_checked(16).ok_or(damaged)?;
    open_payload(chunks, &derive_key(&key, nonce, b"payload")).ok_or(damaged)
}

/// Returns the binary form of an armored file, or `None` if it is not armored.
fn unarmored(file: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
    let damaged = "expected an armored age file: it is damaged";
    let Ok(text) = std::str::from_utf8(file) else {
        return Ok(None);
    };
    let Some(rest) = text
        .trim()
        .strip_prefix("-----BEGIN AGE ENCRYPTED FILE-----")
    else {
        return Ok(None);
    };
    let body = rest.strip_suffix("-----END AGE ENCRYPTED FILE-----");
    let body: String = body.ok_or(damaged)?.split_whitespace().collect();
    Base64::decode_vec(&body).map(Some).map_err(|_| damaged)
}

/// Returns the stanzas of X25519 recipients, and what follows all stanzas.
fn parse_header(mut rest: &[u8]) -> Option<(Vec<Stanza>, &[u8])> {
    let mut stanzas = Vec::new();
    while let Some(stanza) = rest.strip_prefix(b"-> ") {
        let (arguments, mut after) = split_line(stanza)?;
        let mut body = String::new();
        // The first line that is not full ends the body.
        loop {
            let (part, next) = split_line(after)?;
            body.push_str(std::str::from_utf8(part).ok()?);
            after = next;
            if part.len() < 64 {
                break;
            }
        }
        rest = after;
        let arguments: Vec<&str> = std::str::from_utf8(arguments).ok()?.split(' ').collect();
        if let ["X25519", share] = arguments.as_slice() {
            let share = Base64Unpadded::decode_vec(share).ok()?;
            stanzas.push(Stanza {
                share: share.try_into().ok()?,
                body: Base64Unpadded::decode_vec(&body).ok()?,
            });
        }
    }
    Some((stanzas, rest))
}

/// Returns the key of the file if this stanza is for this identity.
fn unwrap_key(stanza: &Stanza, identity: &Identity) -> Option<Zeroizing<Vec<u8>>> {
    let shared = MontgomeryPoint(stanza.share).mul_clamped(*identity.secret);
    let shared = Zeroizing::new(shared.to_bytes());
    if *shared == [0; 32] {
        return None;
    }
    let salt = [stanza.share, identity.public].concat();
    let key = derive_key(&*shared, &salt, b"age-encryption.org/v1/X25519");
    let cipher = ChaCha20Poly1305::new_from_slice(&*key).ok()?;
    let clear = cipher.decrypt(&Nonce::default(), stanza.body.as_slice());
    clear.ok().filter(|key| key.len() == 16).map(Zeroizing::new)
}

/// Decrypts the payload: numbered chunks, of which the last is marked.
fn open_payload(mut chunks: &[u8], key: &[u8; 32]) -> Option<Vec<u8>> {
    let cipher = ChaCha20Poly1305::new_from_slice(key).ok()?;
    let mut clear = Vec::new();
    let mut number = 0_u64;
    loop {
        let (chunk, rest) = chunks.split_at(chunks.len().min(CHUNK + TAG));
        let mut nonce = [0; 12];
        nonce[3..11].copy_from_slice(&number.to_be_bytes());
        nonce[11] = u8::from(rest.is_empty());
        clear.extend(cipher.decrypt(&Nonce::from(nonce), chunk).ok()?);
        if rest.is_empty() {
            return Some(clear);
        }
        number += 1;
        chunks = rest;
    }
}

fn derive_key(key: &[u8], salt: &[u8], info: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut derived = Zeroizing::new([0; 32]);
    Hkdf::<Sha256>::new(Some(salt), key)
        .expand(info, &mut *derived)
        .expect("32 bytes are no more than SHA-256 can derive");
    derived
}

/// Returns a line without its end, and what follows it.
fn split_line(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = text.iter().position(|byte| *byte == b'\n')?;
    Some((&text[..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A payload of so many chunks as age writes it, the last one marked.
    fn seal(clear: &[u8], key: &[u8; 32]) -> Vec<u8> {
        let cipher = ChaCha20Poly1305::new_from_slice(key).expect("a key");
        let chunks: Vec<&[u8]> = clear.chunks(CHUNK).collect();
        let mut sealed = Vec::new();
        for (number, chunk) in chunks.iter().enumerate() {
            let mut nonce = [0; 12];
            nonce[3..11].copy_from_slice(&(number as u64).to_be_bytes());
            nonce[11] = u8::from(number + 1 == chunks.len());
            sealed.extend(
                cipher
                    .encrypt(&Nonce::from(nonce), *chunk)
                    .expect("a chunk"),
            );
        }
        sealed
    }

    #[test]
    fn a_payload_of_many_chunks_is_opened_completely_or_not_at_all() {
        let key = [7; 32];
        for length in [1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let clear = vec![b'x'; length];
            let sealed = seal(&clear, &key);
            assert_eq!(open_payload(&sealed, &key), Some(clear), "{length}");
            let cut = sealed.len().saturating_sub(CHUNK + TAG).max(1);
            assert_eq!(
                open_payload(&sealed[..cut], &key),
                None,
                "the end of {length} is missing"
            );
        }
    }
}
