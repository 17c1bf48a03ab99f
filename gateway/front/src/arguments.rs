//! Parsers for option values that several commands share.

use std::io;
use std::path::Path;
use std::time::Duration;

use devgate_core::failure::{ErrorContext, Failure};
use devgate_transports::reading;

/// Reads the text of an option: the value itself, a file (`@FILE`), or stdin (`-`).
///
/// # Errors
/// What cannot be read.
pub fn read_argument(option: &str, text: &str) -> Result<String, Failure> {
    if text == "-" {
        let text = reading::text_of(io::stdin());
        return text.with_context(|| format!("{option} -: cannot read stdin"));
    }
    match text.strip_prefix('@') {
        None => Ok(text.to_owned()),
        Some(path) => {
            let unreadable = |error| {
                let message = format!("cannot read {option} @{path}: {error}");
                Failure::new("bolt/file-error", message)
            };
            Ok(reading::text(Path::new(path)).map_err(unreadable)?)
        }
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
