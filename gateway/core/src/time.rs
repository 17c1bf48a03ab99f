//! Times in texts: RFC 3339, in UTC.

use std::time::SystemTime;

use jiff::Timestamp;

/// Formats a time to the second: `2026-11-21T09:48:53Z`.
pub fn rfc_3339(at: SystemTime) -> String {
    timestamp(at).strftime("%FT%TZ").to_string()
}

/// Formats a time to the nanosecond, as in Puppet's reports: `2026-11-21T09:48:53.000000042+00:00`.
pub fn to_the_nanosecond(at: SystemTime) -> String {
    timestamp(at).strftime("%FT%T%.9f+00:00").to_string()
}

/// A clock after the year 9999 shows the last time that has these formats.
fn timestamp(at: SystemTime) -> Timestamp {
    Timestamp::try_from(at).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn times_are_in_utc() {
        let at = UNIX_EPOCH + Duration::new(1_795_254_533, 42);
        assert_eq!(rfc_3339(at), "2026-11-21T09:48:53Z");
        assert_eq!(to_the_nanosecond(at), "2026-11-21T09:48:53.000000042+00:00");
    }

    #[test]
    fn a_time_that_no_calendar_has_is_the_last() {
        let at = UNIX_EPOCH + Duration::from_secs(400_000_000_000);
        assert!(rfc_3339(at).starts_with("9999-12-30T"));
    }
}
