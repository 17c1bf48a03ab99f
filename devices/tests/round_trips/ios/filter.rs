//! What may follow `|` behind a command.

use fancy_regex::Regex;

/// Filters an output. A section is a line that matches and the lines below it.
///
/// # Errors
/// Fails when there is no such filter.
pub(super) fn filtered(output: &str, filter: &str) -> Result<String, String> {
    let (word, pattern) = filter.split_once(' ').unwrap_or((filter, ""));
    if word.is_empty() {
        return Ok(output.to_owned());
    }
    let pattern = Regex::new(pattern.trim()).map_err(|error| error.to_string())?;
    let matches = |line: &str| pattern.is_match(line).unwrap_or(false);
    let mut kept = String::new();
    // The indentation of the section, or whether `begin` has begun.
    let mut section = None;
    for line in output.lines() {
        let indent = line.len() - line.trim_start().len();
        let is_kept = match word {
            "include" => matches(line),
            "exclude" => !matches(line),
            "begin" => section.is_some() || matches(line),
            "section" => matches(line) || section.is_some_and(|above| indent > above),
            _ => return Err(format!("`| {word}`: the simulator has no such filter")),
        };
        if is_kept {
            kept.push_str(line);
            kept.push('\n');
        }
        section = match (is_kept, section) {
            (true, None) => Some(indent),
            (true, Some(above)) => Some(above.min(indent)),
            (false, _) => None,
        };
    }
    Ok(kept)
}
