//! Splits the words of a command line that name targets: lists, files and standard input.

use std::io::Read;
use std::path::Path;

use devgate_transports::reading;

use super::InventoryError;

/// Splits arguments into single words. `@file` reads words from a file, `-` from standard input; there, a `#` at the
/// start of a word begins a comment.
///
/// # Errors
/// Fails when an input cannot be read.
pub fn target_words(
    arguments: &[String],
    stdin: &mut dyn Read,
) -> Result<Vec<String>, InventoryError> {
    let mut all = Vec::new();
    for word in arguments {
        if word == "-" {
            let text = reading::text_of(&mut *stdin).map_err(InventoryError::Stdin)?;
            all.extend(split(&without_comments(&text)));
        } else if let Some(path) = word.strip_prefix('@') {
            let path = Path::new(path);
            let text = reading::text(path).map_err(|source| {
                let path = path.to_owned();
                InventoryError::Unreadable {
                    what: "the file of targets",
                    path,
                    source,
                }
            })?;
            all.extend(split(&without_comments(&text)));
        } else {
            all.extend(split(word));
        }
    }
    Ok(all)
}

/// Removes comments: everything on a line from a `#` that begins a word. A byte order mark, with which some editors begin
/// a file, is removed, too.
fn without_comments(text: &str) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut text_left = String::with_capacity(text.len());
    for line in text.lines() {
        let begins = |(at, _): &(usize, &str)| {
            at == &0 || line[..*at].ends_with(|c: char| c.is_whitespace() || c == ',')
        };
        let comment = line.match_indices('#').find(begins);
        text_left.push_str(comment.map_or(line, |(at, _)| &line[..at]));
        text_left.push('\n');
    }
    text_left
}

/// Splits at commas and white space, but not within braces: `{a,b}` is one pattern.
pub(super) fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut depth) = (Vec::new(), String::new(), 0_usize);
    for c in text.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c.is_whitespace() || (c == ',' && depth == 0) {
            depth = 0;
            words.push(std::mem::take(&mut word));
        } else {
            word.push(c);
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_name() -> Result<(), InventoryError> {
        let text = "\u{feff}r1 # one\nr2\n";
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("targets");
        std::fs::write(&file, text).expect("it is written");
        let arguments = [format!("@{}", file.display()), "-".to_owned()];
        let words = target_words(&arguments, &mut text.as_bytes())?;
        assert_eq!(words, ["r1", "r2", "r1", "r2"]);
        Ok(())
    }
}
