//! The plugin `pkcs7`: values that were encrypted with eyaml or Bolt.
//!
//! Such a value is an enveloped message (RFC 5652) in Base64. Its content is encrypted with AES in CBC mode, with a key
//! that is itself encrypted with RSA.

use std::path::Path;

use aes::{Aes128, Aes192, Aes256};
use base64ct::{Base64, Encoding};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockCipherDecrypt, BlockModeDecrypt, KeyInit, KeyIvInit};
use cms::content_info::ContentInfo;
use cms::enveloped_data::{EnvelopedData, RecipientInfo};
use der::Decode;
use der::asn1::{ObjectIdentifier, OctetString};
use devgate_schemas::Value;
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::DecodePrivateKey;
use rsa::{Pkcs1v15Encrypt, RsaPrivateKey};
use zeroize::Zeroizing;

use super::options::{Options, read};
use crate::inventory::PluginError;

/// The default file of the private key, which is Bolt's.
const PRIVATE_KEY: &str = "keys/private_key.pkcs7.pem";

const ENVELOPED_DATA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.7.3");
const AES_128_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.2");
const AES_192_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.22");
const AES_256_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.42");

/// Decrypts `encrypted_value`. The text is a secret.
pub(super) fn resolve(folder: &Path, mut options: Options<'_>) -> Result<Value, PluginError> {
    // Bolt once had these names, and users of eyaml know them.
    for (old, new) in [("private-key", "private_key"), ("public-key", "public_key")] {
        if let Some(value) = options.values.remove(old) {
            options.values.insert(new, value);
        }
    }
    options.refuse_unknown(&["encrypted_value", "private_key", "public_key", "keysize"])?;
    let encrypted = options.required("encrypted_value")?;
    let path = options.path("private_key", folder)?;
    let path = path.unwrap_or_else(|| folder.join(PRIVATE_KEY));
    let pem = Zeroizing::new(read(&options, "the private key", &path)?);
    let key = private_key(&pem).ok_or_else(|| {
        let message = "expected an RSA private key in PEM, without a passphrase";
        options.failed(format!("{}: {message}", path.display()))
    })?;
    let clear = decrypt(encrypted, &key).map_err(|message| options.failed(message))?;
    String::from_utf8(clear)
        .map(|text| Value::from(text).into_sensitive())
        .map_err(|_| options.failed("expected an encrypted text in UTF-8"))
}

fn private_key(pem: &[u8]) -> Option<RsaPrivateKey> {
    let pem = std::str::from_utf8(pem).ok()?;
    RsaPrivateKey::from_pkcs8_pem(pem)
        .ok()
        .or_else(|| RsaPrivateKey::from_pkcs1_pem(pem).ok())
}

fn decrypt(encrypted: &str, key: &RsaPrivateKey) -> Result<Vec<u8>, String> {
    let compact: String = encrypted.split_whitespace().collect();
    let base64 = compact
        .strip_prefix("ENC[PKCS7,")
        .and_then(|rest| rest.strip_suffix(']'))
        .ok_or("expected `encrypted_value` to be ENC[PKCS7,...]")?;
    let message = Base64::decode_vec(base64).map_err(|_| "expected Base64 in ENC[PKCS7,...]")?;
    let damaged = |_| "expected a PKCS7 message in ENC[PKCS7,...]: it is damaged".to_owned();
    let message = ContentInfo::from_der(&message).map_err(damaged)?;
    if message.content_type != ENVELOPED_DATA {
        return Err("expected an encrypted PKCS7 message, found another kind".to_owned());
    }
    let message: EnvelopedData = message.content.decode_as().map_err(damaged)?;
    let content = message.encrypted_content;
    let parameters = content.content_enc_alg.parameters;
    let iv = parameters.and_then(|iv| iv.decode_as::<OctetString>().ok());
    let (Some(iv), Some(encrypted)) = (iv, content.encrypted_content) else {
        return Err("expected an encrypted text in the PKCS7 message, found none".to_owned());
    };
    let mut wrapped = message
        .recip_infos
        .0
        .iter()
        .filter_map(|recipient| match recipient {
            RecipientInfo::Ktri(recipient) => Some(recipient.enc_key.as_bytes()),
            _ => None,
        });
    let secret = wrapped
        .find_map(|wrapped| key.decrypt(Pkcs1v15Encrypt, wrapped).ok())
        .map(Zeroizing::new)
        .ok_or("it was encrypted for another key than this private key")?;
    let (iv, encrypted) = (iv.as_bytes(), encrypted.as_bytes());
    let clear = match content.content_enc_alg.oid {
        AES_128_CBC => cbc_decrypt::<Aes128>(&secret, iv, encrypted),
        AES_192_CBC => cbc_decrypt::<Aes192>(&secret, iv, encrypted),
        AES_256_CBC => cbc_decrypt::<Aes256>(&secret, iv, encrypted),
        other => {
            return Err(format!(
                "expected AES in CBC mode, found the cipher {other}"
            ));
        }
    };
    clear.ok_or_else(|| "it was encrypted for another key, or is damaged".to_owned())
}

fn cbc_decrypt<C: BlockCipherDecrypt + KeyInit>(
    key: &[u8],
    iv: &[u8],
    encrypted: &[u8],
) -> Option<Vec<u8>> {
    let cipher = cbc::Decryptor::<C>::new_from_slices(key, iv).ok()?;
    cipher.decrypt_padded_vec::<Pkcs7>(encrypted).ok()
}
