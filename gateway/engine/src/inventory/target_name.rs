//! Names of targets: what they may hold.

use super::uri::Uri;

/// A target's name from what someone wrote: without the password where it is a URI.
pub(super) fn target_name(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("expected a target's name that is not empty".to_owned());
    }
    // A name need not be a URI, but where it has the `@` of one it may hold a password.
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

/// What would end the name in a list of targets.
pub(super) fn illegal(name: &str) -> Option<char> {
    name.chars()
        .find(|c| c.is_whitespace() || c.is_control() || *c == ',')
}
