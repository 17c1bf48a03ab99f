//! Checks the names of targets.

use super::uri::Uri;

/// Turns a text into a target's name. The password of a URI is removed.
pub(super) fn target_name(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("expected a target's name that is not empty".to_owned());
    }
    // A name need not be a URI, but with an `@` it may contain a password.
    if !text.contains('@') {
        return checked_name(text.to_owned());
    }
    let uri = Uri::parse(text).map_err(|message| format!("invalid name: {message}"))?;
    checked_name(uri.to_string())
}

pub(super) fn checked_name(name: String) -> Result<String, String> {
    if !name.is_ascii() {
        return Err("expected a target's name in ASCII characters".to_owned());
    }
    match illegal(&name) {
        Some(character) => Err(format!(
            "illegal character {character:?} in a target's name"
        )),
        None => Ok(name),
    }
}

/// Returns a character that would end the name in a list of targets.
pub(super) fn illegal(name: &str) -> Option<char> {
    name.chars()
        .find(|c| c.is_whitespace() || c.is_control() || *c == ',')
}
