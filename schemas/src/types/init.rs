//! What `Init[T]` admits beyond values of `T`: whatever a `T` can be made of.

use super::instance::Subject;
use super::model::Type;

/// Whether Puppet can make a value of the type from this one.
pub(super) fn admits(_target: &Type, subject: Subject<'_>) -> bool {
    matches!(subject, Subject::Text(_) | Subject::Integer(_))
}
