//! Words that the errors share.

use std::io;
use std::time::Duration;

use devgate_schemas::quotable;

/// So many seconds, to the tenth.
pub(crate) fn seconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 10.0).round() / 10.0
}

pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string().to_lowercase();
    text.split(" (os error")
        .next()
        .unwrap_or_default()
        .to_owned()
}

pub(super) fn saying(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() {
        String::new()
    } else {
        format!(", saying `{}`", one_line(text))
    }
}

/// A peer's text on one line, short enough for a message, without what may be a secret: it may be a
/// line of a configuration.
pub(crate) fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    quoted(&lines.join(" / "))
}

/// A line of a peer, short enough and without what may be a secret.
pub(super) fn quoted(line: &str) -> String {
    const LONGEST: usize = 400;
    match line.char_indices().nth(LONGEST) {
        None => quotable(line),
        Some((end, _)) => format!("{}...", quotable(&line[..end])),
    }
}
