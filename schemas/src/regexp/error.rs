//! Why a text is no regular expression.

use super::inspect;

/// Why a text is no regular expression here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegexpError {
    /// Ruby refuses it too, in these words.
    #[error("{reason}: {}", inspect::Plain(source_text))]
    Invalid {
        /// What is wrong with it.
        reason: String,
        /// The expression.
        source_text: String,
    },
    /// Ruby knows the construct, this engine does not: better refused than matched differently.
    #[error(
        "unsupported regular expression ({reason}): {}",
        inspect::Plain(source_text)
    )]
    Unsupported {
        /// What is not supported.
        reason: String,
        /// The expression.
        source_text: String,
    },
}
