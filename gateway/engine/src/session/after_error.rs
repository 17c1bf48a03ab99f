//! What happens to a session after an error in it.

use devgate_core::failure::Failure;
use devgate_transports::Error;

/// What happens to a session after an error in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AfterError {
    /// The device has refused the request; the session can still be used.
    Usable,
    Lost,
    /// The credentials are refused, or the device is not the expected one.
    Refused,
}

impl From<&Error> for AfterError {
    fn from(error: &Error) -> Self {
        match error {
            Error::Authentication(_) | Error::HostKey(_) => Self::Refused,
            Error::CommandFailed { .. } | Error::Configuration(_) | Error::Refused(_) => {
                Self::Usable
            }
            Error::ControlCharacter { .. } | Error::Unsupported(_) => Self::Usable,
            _ => Self::Lost,
        }
    }
}

impl From<&Failure> for AfterError {
    fn from(failure: &Failure) -> Self {
        if failure.is_of_connection() {
            Self::Lost
        } else {
            Self::Usable
        }
    }
}
