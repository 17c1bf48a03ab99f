//! That a change was made, but did not stand the check behind it.

use std::fmt;
use std::time::Duration;

use super::Error;
use super::text::seconds;

/// A change that was made, but not confirmed.
#[derive(Debug)]
pub struct Unconfirmed {
    /// Whom.
    pub peer: String,
    /// Why it was not confirmed.
    pub why: Box<Error>,
    /// What became of it.
    pub then: Aftermath,
}

/// What became of a change that was not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aftermath {
    /// It was taken back.
    TakenBack,
    /// The device takes it back by itself, at the latest after so long.
    WillBeTakenBack(Duration),
    /// It stands: the device cannot take a change back.
    Stands,
}

impl fmt::Display for Unconfirmed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { peer, why, then } = self;
        write!(f, "the change on {peer} was not confirmed ({why}); ")?;
        match then {
            Aftermath::TakenBack => {
                f.write_str("it was taken back: the configuration is as it was before")
            }
            Aftermath::WillBeTakenBack(limit) => write!(
                f,
                "the device takes it back by itself, within {} s (`confirm_timeout`)",
                seconds(*limit)
            ),
            Aftermath::Stands => f.write_str(
                "it stands, because the device cannot take a change back: look at what it does",
            ),
        }
    }
}

impl std::error::Error for Unconfirmed {}
