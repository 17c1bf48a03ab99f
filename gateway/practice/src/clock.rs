//! Times as IOS writes them, always in UTC, because the practice switch has no time zone.

use std::time::{Duration, SystemTime};

use jiff::Timestamp;

/// `09:48:53.123 UTC Sat Nov 21 2026`, as `show clock` has it after its asterisk.
pub(super) fn to_the_millisecond(time: SystemTime) -> String {
    formatted(time, "%T%.3f UTC %a %b %-d %Y")
}

/// `09:48:53 UTC Sat Nov 21 2026`, as the head of a configuration has it.
pub(super) fn to_the_second(time: SystemTime) -> String {
    formatted(time, "%T UTC %a %b %-d %Y")
}

fn formatted(time: SystemTime, format: &str) -> String {
    let time = Timestamp::try_from(time).unwrap_or(Timestamp::MAX);
    time.strftime(format).to_string()
}

/// `1 week, 2 days, 1 hour, 5 minutes`: weeks to minutes, leading and inner zeros left out.
pub(super) fn uptime(up: Duration) -> String {
    let minutes = up.as_secs() / 60;
    let parts = [
        (minutes / (7 * 24 * 60), "week"),
        (minutes / (24 * 60) % 7, "day"),
        (minutes / 60 % 24, "hour"),
        (minutes % 60, "minute"),
    ];
    let words: Vec<String> = parts
        .iter()
        .filter(|(count, unit)| *count > 0 || *unit == "minute")
        .map(|(count, unit)| format!("{count} {unit}{}", if *count == 1 { "" } else { "s" }))
        .collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn dates_are_right_around_leap_days_and_year_ends() {
        assert_eq!(to_the_second(at(0)), "00:00:00 UTC Thu Jan 1 1970");
        assert_eq!(
            to_the_second(at(951_782_400)),
            "00:00:00 UTC Tue Feb 29 2000"
        );
        assert_eq!(
            to_the_second(at(1_735_689_599)),
            "23:59:59 UTC Tue Dec 31 2024"
        );
        assert_eq!(
            to_the_second(at(1_795_254_533)),
            "09:48:53 UTC Sat Nov 21 2026"
        );
    }

    #[test]
    fn uptime_names_the_units_that_count() {
        assert_eq!(uptime(Duration::ZERO), "0 minutes");
        assert_eq!(uptime(Duration::from_secs(61)), "1 minute");
        assert_eq!(uptime(Duration::from_secs(7_500)), "2 hours, 5 minutes");
        assert_eq!(
            uptime(Duration::from_secs(8 * 86_400)),
            "1 week, 1 day, 0 minutes"
        );
    }
}
