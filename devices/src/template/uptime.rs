//! Parses durations as devices write them.

/// Returns the seconds of `01:02:03`, `1d02h03m`, `3d04:05:06` or `1 week, 2 days, 3 hours`.
///
/// # Errors
/// Fails with the part that is not a duration.
pub(super) fn seconds(text: &str) -> Result<i64, String> {
    let invalid = |part: &str| format!("`{part}` in `{text}` is no length of time");
    let mut total: i64 = 0;
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err("an empty text is no length of time".to_owned());
    }
    while !rest.is_empty() {
        let (number, remainder) = split(rest, |character| {
            character.is_ascii_digit() || character == ':'
        });
        let remainder = remainder.trim_start();
        let (unit, remainder) = split(remainder, char::is_alphabetic);
        let amount = if number.contains(':') {
            if !unit.is_empty() {
                return Err(invalid(unit));
            }
            clock(number).ok_or_else(|| invalid(number))?
        } else {
            let number: i64 = number.parse().map_err(|_| invalid(rest))?;
            number
                .checked_mul(unit_seconds(unit).ok_or_else(|| invalid(rest))?)
                .ok_or_else(|| invalid(rest))?
        };
        total = total.checked_add(amount).ok_or_else(|| invalid(rest))?;
        rest = remainder.trim_start_matches([',', ' ']);
        rest = rest.strip_prefix("and ").unwrap_or(rest);
    }
    Ok(total)
}

/// Parses a clock: `02:03` is hours and minutes, `01:02:03` also has seconds.
fn clock(text: &str) -> Option<i64> {
    let numbers: Option<Vec<i64>> = text.split(':').map(|part| part.parse().ok()).collect();
    match numbers?.as_slice() {
        [hours, minutes] => Some(hours * 3600 + minutes * 60),
        [hours, minutes, seconds] => Some(hours * 3600 + minutes * 60 + seconds),
        _ => None,
    }
}

fn unit_seconds(unit: &str) -> Option<i64> {
    Some(match unit.to_ascii_lowercase().as_str() {
        "y" | "yr" | "yrs" | "year" | "years" => 365 * 86_400,
        "w" | "wk" | "wks" | "week" | "weeks" => 7 * 86_400,
        "d" | "day" | "days" => 86_400,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600,
        "m" | "min" | "mins" | "minute" | "minutes" => 60,
        "s" | "sec" | "secs" | "second" | "seconds" => 1,
        _ => return None,
    })
}

fn split(text: &str, belongs: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(
        text.find(|character| !belongs(character))
            .unwrap_or(text.len()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_it_is_read() {
        for (text, expected) in [
            ("01:02:03", 3723),
            ("1d02h03m", 93_780),
            ("3d04:05:06", 273_906),
            ("2w3d04h", 1_483_200),
            ("1 week, 2 days, 3 hours", 788_400),
            ("2 hours, 5 minutes", 7500),
            ("3 days, 1 hour and 2 minutes", 262_920),
            ("0 minutes", 0),
            ("1 year, 1 day", 31_622_400),
        ] {
            assert_eq!(seconds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "never",
            "3 parsecs",
            "1:2:3:4",
            "12",
            "1:02 days",
            "99999999999999999 years",
        ] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
