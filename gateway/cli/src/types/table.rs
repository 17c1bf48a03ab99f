//! Reads CSV (RFC 4180), with commas, semicolons or tabs.

use devgate_core::failure::Failure;
use serde_json::{Map, Value as Json};

/// The records below the headings, each value under its heading in lower case.
///
/// # Errors
/// Fails when a quotation does not end, or when a record has more values than there are headings.
pub(super) fn records(text: &str) -> Result<Vec<Map<String, Json>>, Failure> {
    let text = text.trim_start_matches('\u{feff}');
    let first = text.lines().next().unwrap_or_default();
    let separator = [',', ';', '\t']
        .into_iter()
        .max_by_key(|c| first.matches(*c).count());
    let mut lines = fields(text, separator.unwrap_or(','))?.into_iter();
    let headings = lines.next().unwrap_or_default();
    let headings: Vec<String> = headings.iter().map(|it| it.trim().to_lowercase()).collect();
    let mut records = Vec::new();
    for (number, fields) in (2..).zip(lines) {
        if fields.len() > headings.len() {
            let message = format!(
                "record {number}: expected at most {} values, as there are headings, found {}",
                headings.len(),
                fields.len()
            );
            return Err(Failure::other(message));
        }
        let pairs = headings
            .iter()
            .cloned()
            .zip(fields.into_iter().map(Json::String));
        records.push(pairs.collect());
    }
    Ok(records)
}

/// The fields of each line that is not empty.
fn fields(text: &str, separator: char) -> Result<Vec<Vec<String>>, Failure> {
    let (mut lines, mut line, mut field) = (Vec::new(), Vec::new(), String::new());
    let (mut is_quoted, mut characters) = (false, text.chars().peekable());
    while let Some(character) = characters.next() {
        match character {
            '"' if is_quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' if is_quoted || field.is_empty() => is_quoted = !is_quoted,
            c if is_quoted => field.push(c),
            '\r' => {}
            '\n' => {
                line.push(std::mem::take(&mut field));
                lines.push(std::mem::take(&mut line));
            }
            c if c == separator => line.push(std::mem::take(&mut field)),
            c => field.push(c),
        }
    }
    if is_quoted {
        return Err(Failure::other(
            "a quotation does not end: expected another `\"`",
        ));
    }
    if !field.is_empty() || !line.is_empty() {
        line.push(field);
        lines.push(line);
    }
    lines.retain(|line| line.iter().any(|field| !field.is_empty()));
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_may_have_separators_quotes_and_line_ends() {
        let records = records("Name;Desc\n\na;\"x;\n\"\"y\"\"\"\r\nb\n").expect("it is read");
        assert_eq!(records.len(), 2);
        assert_eq!(records[0]["desc"], "x;\n\"y\"");
        assert_eq!(records[1]["name"], "b");
        assert!(super::records("a\n\"b\n").is_err());
    }
}
