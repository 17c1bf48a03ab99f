//! Parsers for option values that several commands share.

use std::io;
use std::path::Path;
use std::time::Duration;

use devgate_core::failure::{ErrorContext, Failure};
use devgate_transports::reading;

/// Reads the text of an option: the value itself, a file (`@FILE`), or stdin (`-`). A byte order mark, with which some
/// editors begin a file, is no part of it.
///
/// # Errors
/// What cannot be read.
pub fn read_argument(option: &str, text: &str) -> Result<String, Failure> {
    if text == "-" {
        let text = reading::text_of(io::stdin());
        let text = text.with_context(|| format!("{option} -: cannot read stdin"))?;
        return Ok(without_mark(text));
    }
    match text.strip_prefix('@') {
        None => Ok(text.to_owned()),
        Some(path) => {
            let unreadable = |error| {
                let message = format!("cannot read {option} @{path}: {error}");
                Failure::new("bolt/file-error", message)
            };
            let text = reading::text(Path::new(path)).map_err(unreadable)?;
            Ok(without_mark(text))
        }
    }
}

fn without_mark(text: String) -> String {
    match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }
}

/// A time: seconds, or a number with a unit.
pub fn duration(text: &str) -> Result<Duration, String> {
    let at = text.find(|c: char| c.is_ascii_alphabetic());
    let (number, unit) = text.split_at(at.unwrap_or(text.len()));
    let unit = match unit {
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        "d" => 86400.0,
        _ => f64::NAN,
    };
    let seconds = number.trim().parse().unwrap_or(f64::NAN) * unit;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "expected seconds, or a number with s, m, h or d: 90, 5m, 1h, 1d".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("targets");
        std::fs::write(&file, "\u{feff}r1\nr2\n").expect("it is written");
        let read = read_argument("--targets", &format!("@{}", file.display()));
        assert_eq!(read.expect("it is read"), "r1\nr2\n");
    }

    #[test]
    fn a_time_is_seconds_or_has_a_unit() {
        for (text, seconds) in [
            ("90", 90.0),
            ("0.5", 0.5),
            ("5m", 300.0),
            ("1.5h", 5400.0),
            ("2d", 172_800.0),
        ] {
            assert_eq!(
                duration(text),
                Ok(Duration::from_secs_f64(seconds)),
                "{text}"
            );
        }
        for text in ["", "0", "-1", "5w", "m", "nan", "inf", "1e400"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
