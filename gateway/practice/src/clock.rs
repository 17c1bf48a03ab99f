//! Times as IOS writes them, always in UTC, because the practice switch has no time zone.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// `09:48:53.123 UTC Sat Nov 21 2026`, as `show clock` has it after its asterisk.
pub(super) fn to_the_millisecond(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (day, date) = day_and_date(since);
    format!(
        "{}.{:03} UTC {day} {date}",
        time_of_day(since),
        since.subsec_millis()
    )
}

/// `09:48:53 UTC Sat Nov 21 2026`, as the head of a configuration has it.
pub(super) fn to_the_second(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (day, date) = day_and_date(since);
    format!("{} UTC {day} {date}", time_of_day(since))
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

fn time_of_day(since: Duration) -> String {
    let seconds = since.as_secs();
    format!(
        "{:02}:{:02}:{:02}",
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// The weekday and `Nov 21 2026`: counts whole 400-year cycles from 1 March, so that the leap day
/// is the last of its year.
fn day_and_date(since: Duration) -> (&'static str, String) {
    let days = since.as_secs() / 86_400;
    let weekday = DAYS[usize::try_from(days % 7).unwrap_or_default()];
    let shifted = days + 719_468;
    let cycle = shifted / 146_097;
    let day_of_cycle = shifted % 146_097;
    let year_of_cycle = (day_of_cycle - day_of_cycle / 1_460 + day_of_cycle / 36_524
        - day_of_cycle / 146_096)
        / 365;
    let day_of_year =
        day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12;
    let year = cycle * 400 + year_of_cycle + u64::from(month < 2);
    let month = MONTHS[usize::try_from(month).unwrap_or_default()];
    (weekday, format!("{month} {day} {year}"))
}

#[cfg(test)]
mod tests {
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
