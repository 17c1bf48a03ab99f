//! Texts in quotes, as command lines read and show values with blanks: `description "core \"A\""`.

const QUOTE: char = '"';
const ESCAPE: char = '\\';

/// Escapes quotes, backslashes, and the characters of `also`, each with a backslash.
pub(super) fn escaped(text: &str, also: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if [QUOTE, ESCAPE].contains(&character) || also.contains(character) {
            escaped.push(ESCAPE);
        }
        escaped.push(character);
    }
    escaped
}

/// Returns the text in quotes, without what escapes its characters. A text without quotes around it stays as it is.
pub(super) fn unquoted(text: &str) -> String {
    let inside = text.strip_prefix(QUOTE);
    let Some(inside) = inside.and_then(|text| text.strip_suffix(QUOTE)) else {
        return text.to_owned();
    };
    let mut characters = inside.chars();
    let mut unquoted = String::with_capacity(inside.len());
    while let Some(character) = characters.next() {
        let escaped = (character == ESCAPE).then(|| characters.next());
        unquoted.push(escaped.flatten().unwrap_or(character));
    }
    unquoted
}
