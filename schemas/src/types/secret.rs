//! The only place where the type engine looks into a secret: to check it, never to show it.

use crate::{Sensitive, Value};

/// Returns the value of a secret. Messages about it must be [`Quoting::Forbidden`].
///
/// [`Quoting::Forbidden`]: super::mismatch::Quoting::Forbidden
pub(super) fn hidden(secret: &Sensitive<Value>) -> &Value {
    secret.reveal()
}
