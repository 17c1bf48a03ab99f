//! The one place where the type engine looks into a secret: to judge it, never to show it.

use crate::{Sensitive, Value};

/// What a sensitive value hides. Messages about it must be [`Quoting::Forbidden`].
///
/// [`Quoting::Forbidden`]: super::mismatch::Quoting::Forbidden
pub(super) fn hidden(secret: &Sensitive<Value>) -> &Value {
    secret.reveal()
}
