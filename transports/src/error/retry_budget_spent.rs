//! How long a run has waited for a target in vain.

use std::fmt;
use std::time::Duration;

use super::Error;
use super::text::seconds;

/// How long a run has waited for a target in vain.
#[derive(Debug)]
pub struct RetryBudgetSpent {
    /// What was tried.
    pub what: String,
    /// How often.
    pub tries: u32,
    /// How long this run waited in all.
    pub waited: Duration,
    /// How many logins in a row came to nothing, if that is why no other follows.
    pub logins: Option<u32>,
    /// What the last try ended with.
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
