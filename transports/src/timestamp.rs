//! Timestamps of protocols, as seconds since the beginning of 1970.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the time of this node's clock.
pub(crate) fn now() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |now| i64::try_from(now.as_secs()).unwrap_or(i64::MAX))
}

/// Parses YANG's `date-and-time` (RFC 6991), which is that of RFC 3339. Returns `None` for any other text.
pub(crate) fn yang(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<i64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let marks = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    let bytes = text.as_bytes();
    let has_marks = marks.iter().all(|(at, mark)| bytes[*at] == *mark);
    if !has_marks || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let zone = text[19..].trim_start_matches(|c: char| c == '.' || c.is_ascii_digit());
    let offset = match zone.split_at_checked(1)? {
        ("Z", "") => 0,
        (sign @ ("+" | "-"), offset) => {
            let (hours, minutes) = offset.split_once(':')?;
            let minutes = 60 * hours.parse::<i64>().ok()? + minutes.parse::<i64>().ok()?;
            if sign == "-" { -minutes } else { minutes }
        }
        _ => return None,
    };
    let minutes = 60 * (24 * days(year, month, day) + hour) + minute - offset;
    Some(60 * minutes + second)
}

/// Parses HTTP's `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7). Returns `None` for any other text, including
/// the two obsolete forms, which must not be sent.
pub(crate) fn http(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (_, text) = text.trim().split_once(", ")?;
    let words: Vec<&str> = text.split(' ').collect();
    let [day, month, year, time, "GMT"] = words[..] else {
        return None;
    };
    let month = 1 + MONTHS.iter().position(|name| *name == month)?;
    yang(&format!("{year:0>4}-{month:02}-{day:0>2}T{time}Z"))
}

/// Returns the days since the beginning of 1970 in the Gregorian calendar. Years begin in March here, so that a
/// leap day is the last day of a year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    // From the first of March of year 0 to the beginning of 1970.
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::{http, yang};

    #[test]
    fn times_are_counted_whatever_their_zone() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T01:00:00.25+01:00", 0),
            ("1969-12-31T23:59:59-00:00", -1),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("2026-11-21T23:00:00-02:30", 1_795_311_000),
        ] {
            assert_eq!(yang(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "2026-11-21",
            "2026-13-01T00:00:00Z",
            "2026-11-21T23:00:00",
            "2026-11-21 23:00:00Z",
        ] {
            assert_eq!(yang(text), None, "{text}");
        }
    }

    #[test]
    fn a_date_of_http_is_the_same_time() {
        assert_eq!(http("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        for text in [
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Non 1994 08:49:37 GMT",
            "120",
        ] {
            assert_eq!(http(text), None, "{text}");
        }
    }
}
