//! The causes of an error.

use std::error::Error;
use std::io;

/// Iterates over an error and its causes. The error inside an I/O error is included: its `source` would skip
/// that error and return the next one.
pub(crate) fn causes<'e>(
    error: &'e (dyn Error + 'static),
) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        let held = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        match held {
            Some(held) => Some(held as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}
