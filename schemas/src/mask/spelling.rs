//! How a secret is spelled in what others write, where undoing escapes ([`Decoded`](super::decoded::Decoded)) does
//! not bring it back: servers echo what they were sent.

use base64ct::{Base64Unpadded, Encoding};
use zeroize::Zeroizing;

/// No longer secret, and none of several lines, has other spellings: keys are long, and no server echoes one.
const LONGEST: usize = 256;

/// So many characters of Base64 do not stand anywhere by chance.
const LEAST_OF_BASE64: usize = 6;

/// The secret as it is, as a form has its blanks, and as a shell has its apostrophes within others.
pub(super) fn of(secret: &str) -> Vec<Zeroizing<String>> {
    let mut spelled = vec![secret.to_owned()];
    if secret.len() <= LONGEST && !secret.contains('\n') {
        spelled.push(secret.replace(' ', "+"));
        spelled.extend([r"'\''", "'\"'\"'"].map(|within| secret.replace('\'', within)));
    }
    spelled.into_iter().map(Zeroizing::new).collect()
}

/// What Base64 has of the secret wherever it stands in what was encoded: three texts, since three bytes
/// become four characters, in both alphabets. Of a character that holds bits of something else as well,
/// nothing is known.
pub(super) fn in_base64(secret: &str) -> Vec<Zeroizing<String>> {
    let mut spelled = Vec::new();
    if secret.len() > LONGEST || secret.contains('\n') {
        return spelled;
    }
    for before in 0..3 {
        let mut bytes = Zeroizing::new(vec![0; before]);
        bytes.extend_from_slice(secret.as_bytes());
        let text = Zeroizing::new(Base64Unpadded::encode_string(&bytes));
        let text = &text[(before * 8).div_ceil(6)..bytes.len() * 8 / 6];
        if text.len() >= LEAST_OF_BASE64 {
            spelled.push(Zeroizing::new(text.replace('+', "-").replace('/', "_")));
            spelled.push(Zeroizing::new(text.to_owned()));
        }
    }
    spelled
}
