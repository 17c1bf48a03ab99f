//! Errors of regular expressions.

use super::inspect;

/// The reason why a text is not a supported regular expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegexpError {
    /// Ruby refuses the expression too, with this reason.
    #[error("{reason}: {}", inspect::Plain(source_text))]
    Invalid {
        /// The reason.
        reason: String,
        /// The expression.
        source_text: String,
    },
    /// Ruby supports the construct, but this engine does not. Refusing it is better than matching
    /// differently.
    #[error(
        "unsupported regular expression ({reason}): {}",
        inspect::Plain(source_text)
    )]
    Unsupported {
        /// The unsupported construct.
        reason: String,
        /// The expression.
        source_text: String,
    },
}
