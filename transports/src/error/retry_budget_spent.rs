//! The error for a spent retry budget.

use std::fmt;
use std::time::Duration;

use super::Error;
use super::text::seconds;

/// A retry budget that was spent without success.
#[derive(Debug)]
pub struct RetryBudgetSpent {
    /// The request; it completes "could not …".
    pub what: String,
    /// The number of tries.
    pub tries: u32,
    /// The time that this run waited in total.
    pub waited: Duration,
    /// The number of consecutive lost logins, if they are the reason why there is no further try.
    pub logins: Option<u32>,
    /// The message of the last error.
    pub last: String,
    /// The last error itself, if there was one.
    pub last_error: Option<Box<Error>>,
}

impl fmt::Display for RetryBudgetSpent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            tries,
            waited,
            logins,
            last,
            ..
        } = self;
        let waited = seconds(*waited);
        if let Some(logins) = logins {
            write!(
                f,
                "could not {what}: {logins} logins of this run ended without an answer, and no more follow, so that \
                 no account is locked"
            )?;
            return if *tries == 0 {
                Ok(())
            } else {
                write!(f, ": {last}")
            };
        }
        if *tries == 0 {
            return write!(
                f,
                "did not {what}: this run has waited {waited} s for the target already"
            );
        }
        let plural = if *tries == 1 { "try" } else { "tries" };
        write!(
            f,
            "could not {what}, given up after {tries} {plural} in {waited} s: {last}"
        )
    }
}

impl std::error::Error for RetryBudgetSpent {}
