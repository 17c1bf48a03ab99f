//! The User-based Security Model: keys, authentication and encryption (RFC 3414, 3826 and 7860).

use aes::cipher::{Block, BlockCipherDecrypt, BlockCipherEncrypt, BlockSizeUser, KeyInit};
use devgate_schemas::Sensitive;
use hmac::{EagerHash, Hmac, Mac};
use sha1::Digest;

/// The protocol that authenticates messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AuthProtocol {
    Md5,
    Sha1,
    Sha224,
    Sha256,
    Sha384,
    Sha512,
}

/// The protocol that encrypts messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrivProtocol {
    Des,
    Aes128,
    Aes192,
    Aes256,
}

/// A password's key, localized to an engine.
#[derive(Clone, Debug)]
pub(super) struct Key(Sensitive<Vec<u8>>);

/// Calls a function with the protocol's hash.
macro_rules! with_hash {
    ($protocol:expr, $function:ident($($argument:expr),*)) => {
        match $protocol {
            AuthProtocol::Md5 => $function::<md5::Md5>($($argument),*),
            AuthProtocol::Sha1 => $function::<sha1::Sha1>($($argument),*),
            AuthProtocol::Sha224 => $function::<sha2::Sha224>($($argument),*),
            AuthProtocol::Sha256 => $function::<sha2::Sha256>($($argument),*),
            AuthProtocol::Sha384 => $function::<sha2::Sha384>($($argument),*),
            AuthProtocol::Sha512 => $function::<sha2::Sha512>($($argument),*),
        }
    };
}

impl AuthProtocol {
    /// The protocols by the names that users write.
    pub(super) const NAMES: [(&str, Self); 6] = [
        ("MD5", Self::Md5),
        ("SHA", Self::Sha1),
        ("SHA-224", Self::Sha224),
        ("SHA-256", Self::Sha256),
        ("SHA-384", Self::Sha384),
        ("SHA-512", Self::Sha512),
    ];

    pub(super) fn name(self) -> &'static str {
        let own = Self::NAMES.iter().find(|(_, protocol)| *protocol == self);
        own.map_or("", |(name, _)| name)
    }

    /// Derives the key of a password at an engine (RFC 3414, 2.6 and A.2).
    ///
    /// This hashes a megabyte, by design, so do it once for each engine.
    pub(super) fn key(self, password: &Sensitive<String>, engine: &[u8]) -> Key {
        let password = password.reveal().as_bytes();
        Key(Sensitive::new(with_hash!(
            self,
            localized(password, engine)
        )))
    }

    /// Returns the signature of a message, truncated to the protocol's length.
    pub(super) fn sign(self, key: &Key, message: &[&[u8]]) -> Vec<u8> {
        let mut code = with_hash!(self, code(key.0.reveal(), message));
        code.truncate(self.signature_length());
        code
    }

    /// Returns whether a signature is the message's. The comparison takes constant time.
    pub(super) fn verify(self, key: &Key, message: &[&[u8]], signature: &[u8]) -> bool {
        let expected = self.sign(key, message);
        let differences = expected.iter().zip(signature);
        let differences = differences.fold(0, |found, (one, other)| found | (one ^ other));
        expected.len() == signature.len() && differences == 0
    }

    /// Returns the length of the truncated code in bytes (RFC 3414, 6.3.1 and 7.3.1; RFC 7860, 4).
    pub(super) fn signature_length(self) -> usize {
        match self {
            Self::Md5 | Self::Sha1 => 12,
            Self::Sha224 => 16,
            Self::Sha256 => 24,
            Self::Sha384 => 32,
            Self::Sha512 => 48,
        }
    }

    fn key_length(self) -> usize {
        match self {
            Self::Md5 => 16,
            Self::Sha1 => 20,
            Self::Sha224 => 28,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }
}

impl PrivProtocol {
    /// The protocols by the names that users write.
    pub(super) const NAMES: [(&str, Self); 4] = [
        ("DES", Self::Des),
        ("AES", Self::Aes128),
        ("AES-192", Self::Aes192),
        ("AES-256", Self::Aes256),
    ];

    pub(super) fn name(self) -> &'static str {
        let own = Self::NAMES.iter().find(|(_, protocol)| *protocol == self);
        own.map_or("", |(name, _)| name)
    }

    /// Returns whether the keys of an authentication protocol are long enough. Vendors extend shorter keys in
    /// different ways, for which there is no standard.
    pub(super) fn has_keys_from(self, auth: AuthProtocol) -> bool {
        auth.key_length() >= self.key_length()
    }

    fn key_length(self) -> usize {
        match self {
            Self::Des | Self::Aes128 => 16,
            Self::Aes192 => 24,
            Self::Aes256 => 32,
        }
    }

    /// Encrypts in place. `salt` is new for each message and is sent with it.
    pub(super) fn encrypt(self, key: &Key, clock: (u32, u32), salt: [u8; 8], data: &mut Vec<u8>) {
        let key = &key.0.reveal()[..self.key_length()];
        match self {
            Self::Des => {
                // The padding of the last block is up to the sender (RFC 3414, 8.1.1.2).
                data.resize(data.len().next_multiple_of(8), 0);
                cbc_encrypt(key, salt, data);
            }
            Self::Aes128 => cfb::<aes::Aes128>(key, clock, salt, data, Way::Encrypt),
            Self::Aes192 => cfb::<aes::Aes192>(key, clock, salt, data, Way::Encrypt),
            Self::Aes256 => cfb::<aes::Aes256>(key, clock, salt, data, Way::Encrypt),
        }
    }

    /// Decrypts in place. The padding of a last block remains. Returns `None` if the data cannot have
    /// been encrypted in this way.
    pub(super) fn decrypt(
        self,
        key: &Key,
        clock: (u32, u32),
        salt: &[u8],
        data: &mut [u8],
    ) -> Option<()> {
        let salt = salt.try_into().ok()?;
        let key = &key.0.reveal()[..self.key_length()];
        match self {
            Self::Des if !data.len().is_multiple_of(8) => return None,
            Self::Des => cbc_decrypt(key, salt, data),
            Self::Aes128 => cfb::<aes::Aes128>(key, clock, salt, data, Way::Decrypt),
            Self::Aes192 => cfb::<aes::Aes192>(key, clock, salt, data, Way::Decrypt),
            Self::Aes256 => cfb::<aes::Aes256>(key, clock, salt, data, Way::Decrypt),
        }
        Some(())
    }
}

fn localized<D: Digest>(password: &[u8], engine: &[u8]) -> Vec<u8> {
    const STRETCHED: usize = 1 << 20;
    let mut hash = D::new();
    // Hashes several repetitions of the password at once, because single bytes take long.
    let block: Vec<u8> = password
        .iter()
        .copied()
        .cycle()
        .take(password.len() * 64)
        .collect();
    let mut left = STRETCHED;
    while left > 0 && !block.is_empty() {
        let some = left.min(block.len());
        hash.update(&block[..some]);
        left -= some;
    }
    let user = hash.finalize();
    let mut hash = D::new();
    hash.update(&user);
    hash.update(engine);
    hash.update(&user);
    hash.finalize().to_vec()
}

fn code<D: EagerHash>(key: &[u8], message: &[&[u8]]) -> Vec<u8> {
    let mut mac = Hmac::<D>::new_from_slice(key).expect("HMAC takes keys of any length");
    for part in message {
        mac.update(part);
    }
    mac.finalize().into_bytes().to_vec()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Encrypt,
    Decrypt,
}

/// AES in cipher feedback mode with whole blocks (RFC 3826, 3.1).
fn cfb<C: KeyInit + BlockCipherEncrypt>(
    key: &[u8],
    (boots, time): (u32, u32),
    salt: [u8; 8],
    data: &mut [u8],
    way: Way,
) {
    let cipher = C::new_from_slice(key).expect("the key was cut to its length");
    let mut feedback = [&boots.to_be_bytes()[..], &time.to_be_bytes(), &salt].concat();
    for chunk in data.chunks_mut(C::block_size()) {
        let mut stream = block_of::<C>(&feedback);
        cipher.encrypt_block(&mut stream);
        if way == Way::Decrypt {
            feedback = chunk.to_vec();
        }
        for (byte, mask) in chunk.iter_mut().zip(&stream) {
            *byte ^= mask;
        }
        if way == Way::Encrypt {
            feedback = chunk.to_vec();
        }
    }
}

/// DES in cipher block chaining mode (RFC 3414, 8.1.1). Half of the key is for the initialization vector.
fn cbc_encrypt(key: &[u8], salt: [u8; 8], data: &mut [u8]) {
    let (cipher, mut vector) = des_of(key, salt);
    for chunk in data.chunks_exact_mut(8) {
        let mixed: Vec<u8> = chunk
            .iter()
            .zip(&vector)
            .map(|(one, other)| one ^ other)
            .collect();
        let mut block = block_of::<des::Des>(&mixed);
        cipher.encrypt_block(&mut block);
        chunk.copy_from_slice(&block);
        vector = chunk.to_vec();
    }
}

fn cbc_decrypt(key: &[u8], salt: [u8; 8], data: &mut [u8]) {
    let (cipher, mut vector) = des_of(key, salt);
    for chunk in data.chunks_exact_mut(8) {
        let mut block = block_of::<des::Des>(chunk);
        cipher.decrypt_block(&mut block);
        let next = chunk.to_vec();
        for ((byte, clear), mask) in chunk.iter_mut().zip(&block).zip(&vector) {
            *byte = clear ^ mask;
        }
        vector = next;
    }
}

fn des_of(key: &[u8], salt: [u8; 8]) -> (des::Des, Vec<u8>) {
    let (key, vector) = key.split_at(8);
    let cipher = des::Des::new_from_slice(key).expect("it was cut to eight bytes");
    let vector = vector.iter().zip(salt).map(|(one, other)| one ^ other);
    (cipher, vector.collect())
}

/// Returns a block that begins with these bytes. Only the last block is shorter, and its rest is unused.
fn block_of<C: BlockSizeUser>(bytes: &[u8]) -> Block<C> {
    let mut block = Block::<C>::default();
    for (to, from) in block.iter_mut().zip(bytes) {
        *to = *from;
    }
    block
}

#[cfg(test)]
mod tests {
    use super::super::pdu::hexadecimal;
    use super::*;

    fn key(auth: AuthProtocol, password: &str, engine: &[u8]) -> Key {
        auth.key(&Sensitive::new(password.to_owned()), engine)
    }

    #[test]
    fn keys_are_those_of_the_standards_examples() {
        // RFC 3414, A.3.1 and A.3.2.
        let engine = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
        for (auth, expected) in [
            (AuthProtocol::Md5, "526f5eed9fcce26f8964c2930787d82b"),
            (
                AuthProtocol::Sha1,
                "6695febc9288e36282235fc7151f128497b38f3f",
            ),
        ] {
            let key = key(auth, "maplesyrup", &engine);
            assert_eq!(hexadecimal(key.0.reveal()).replace(':', ""), expected);
        }
    }

    #[test]
    fn what_is_encrypted_is_decrypted_by_the_same_key_clock_and_salt_alone() {
        for (_, protocol) in PrivProtocol::NAMES {
            let right = key(AuthProtocol::Sha512, "maplesyrup", &[1]);
            let wrong = key(AuthProtocol::Sha512, "maplesugar", &[1]);
            for length in [1, 7, 8, 15, 16, 17, 100] {
                let clear = vec![0x5a; length];
                let mut data = clear.clone();
                protocol.encrypt(&right, (1, 2), [3; 8], &mut data);
                assert_ne!(data[..length], clear);
                let decrypted = |key, salt: &[u8]| {
                    let mut data = data.clone();
                    protocol.decrypt(key, (1, 2), salt, &mut data)?;
                    Some(data[..length].to_vec())
                };
                assert_eq!(decrypted(&right, &[3; 8]), Some(clear.clone()));
                assert_ne!(decrypted(&wrong, &[3; 8]), Some(clear.clone()));
                assert_ne!(decrypted(&right, &[4; 8]), Some(clear));
                assert_eq!(decrypted(&right, &[3; 7]), None);
            }
        }
    }

    #[test]
    fn a_signature_is_for_one_message_and_one_key() {
        for (_, auth) in AuthProtocol::NAMES {
            let (right, wrong) = (key(auth, "maplesyrup", &[1]), key(auth, "maplesugar", &[1]));
            let signature = auth.sign(&right, &[b"mes", b"sage"]);
            assert_eq!(signature.len(), auth.signature_length());
            assert!(auth.verify(&right, &[b"message"], &signature));
            assert!(!auth.verify(&right, &[b"massage"], &signature));
            assert!(!auth.verify(&wrong, &[b"message"], &signature));
            assert!(!auth.verify(&right, &[b"message"], &signature[1..]));
            assert!(!auth.verify(&right, &[b"message"], &[]));
        }
    }

    #[test]
    fn long_keys_come_from_long_hashes_alone() {
        assert!(PrivProtocol::Aes128.has_keys_from(AuthProtocol::Md5));
        assert!(PrivProtocol::Aes256.has_keys_from(AuthProtocol::Sha256));
        assert!(!PrivProtocol::Aes256.has_keys_from(AuthProtocol::Sha224));
        assert!(!PrivProtocol::Aes192.has_keys_from(AuthProtocol::Sha1));
    }
}
