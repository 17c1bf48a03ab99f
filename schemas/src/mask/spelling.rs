//! The spellings of a secret that undoing escapes ([`Decoded`](super::decoded::Decoded)) does not reveal:
//! servers echo what they received.

use base64ct::{Base64Unpadded, Encoding};
use zeroize::Zeroizing;

/// The maximum length of a secret that has other spellings. Longer secrets and those of several lines are
/// keys, which no server echoes.
const MAX_SECRET_LENGTH: usize = 256;

/// The minimum number of Base64 characters that are unlikely to occur by chance.
const MIN_BASE64_LENGTH: usize = 6;

/// Returns the secret as it is, with the `+` of forms for its blanks, and with quoted apostrophes as in
/// shells.
pub(super) fn of(secret: &str) -> Vec<Zeroizing<String>> {
    let mut spelled = vec![secret.to_owned()];
    if secret.len() <= MAX_SECRET_LENGTH && !secret.contains('\n') {
        spelled.push(secret.replace(' ', "+"));
        spelled.extend([r"'\''", "'\"'\"'"].map(|within| secret.replace('\'', within)));
    }
    spelled.into_iter().map(Zeroizing::new).collect()
}

/// Returns the Base64 forms of a secret at any offset of the encoded data: three texts, because three bytes
/// become four characters, in both alphabets. A character that also holds bits of neighbouring data is
/// unknown and left out.
pub(super) fn in_base64(secret: &str) -> Vec<Zeroizing<String>> {
    let mut spelled = Vec::new();
    if secret.len() > MAX_SECRET_LENGTH || secret.contains('\n') {
        return spelled;
    }
    for before in 0..3 {
        let mut bytes = Zeroizing::new(vec![0; before]);
        bytes.extend_from_slice(secret.as_bytes());
        let text = Zeroizing::new(Base64Unpadded::encode_string(&bytes));
        let text = &text[(before * 8).div_ceil(6)..bytes.len() * 8 / 6];
        if text.len() >= MIN_BASE64_LENGTH {
            spelled.push(Zeroizing::new(text.replace('+', "-").replace('/', "_")));
            spelled.push(Zeroizing::new(text.to_owned()));
        }
    }
    spelled
}
