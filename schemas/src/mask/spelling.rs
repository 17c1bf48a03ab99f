//! How a secret is spelled in what others write: servers echo what they were sent.

use base64ct::{Base64Unpadded, Encoding};
use serde_json::Value as Json;
use zeroize::Zeroizing;

/// No longer secret, and none of several lines, has other spellings than those of JSON: keys are long,
/// and no server echoes one.
const LONGEST: usize = 256;

/// So many characters of Base64 do not stand anywhere by chance.
const LEAST_OF_BASE64: usize = 6;

/// The secret as it is, and as JSON, XML, addresses and shells have it.
pub(super) fn of(secret: &str) -> Vec<Zeroizing<String>> {
    let json = in_json(secret);
    let mut spelled = vec![secret.to_owned(), json.clone(), in_ascii(&json)];
    if secret.len() <= LONGEST && !secret.contains('\n') {
        // RFC 3986, 2.3; then what JavaScript and Python leave as it is.
        for kept in ["-._~", "-._~!'()*", "-._~/"] {
            let [upper, lower] = percent(secret, kept);
            spelled.push(upper.replace("%20", "+"));
            spelled.extend([upper, lower]);
        }
        spelled.push(secret.replace('\'', r"'\''"));
        spelled.push(secret.replace('\'', "'\"'\"'"));
        spelled.push(backslashed(secret, |c| "\"\\$`".contains(c)));
        spelled.push(backslashed(secret, |c| {
            c.is_ascii() && !c.is_ascii_alphanumeric() && !"_-./,:@%+=".contains(c)
        }));
        let text = secret
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        let quoted = text.replace('"', "&quot;");
        for apostrophe in ["&#39;", "&apos;", "&#x27;"] {
            spelled.push(quoted.replace('\'', apostrophe));
        }
        spelled.push(quoted);
        spelled.push(text);
    }
    // What a shell or a page was given may stand in a text of JSON.
    let nested: Vec<String> = spelled.iter().skip(3).map(|text| in_json(text)).collect();
    spelled.extend(nested);
    spelled.into_iter().map(Zeroizing::new).collect()
}

/// A text as a text of JSON has it, without its quotes.
fn in_json(text: &str) -> String {
    let json = Json::from(text).to_string();
    json[1..json.len() - 1].to_owned()
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

/// Text of JSON with its other characters as `\u` escapes, as many programs print it.
fn in_ascii(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii() {
            spelled.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            spelled.push_str(&format!("\\u{unit:04x}"));
        }
    }
    spelled
}

/// Percent-encoded, but for letters, digits and these; with large digits, and with small ones.
fn percent(text: &str, kept: &str) -> [String; 2] {
    let mut spelled = [String::new(), String::new()];
    let [upper, lower] = &mut spelled;
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
            upper.push(char::from(byte));
            lower.push(char::from(byte));
        } else {
            upper.push_str(&format!("%{byte:02X}"));
            lower.push_str(&format!("%{byte:02x}"));
        }
    }
    spelled
}

fn backslashed(text: &str, is_special: impl Fn(char) -> bool) -> String {
    let mut spelled = String::with_capacity(text.len());
    for c in text.chars() {
        if is_special(c) {
            spelled.push('\\');
        }
        spelled.push(c);
    }
    spelled
}
