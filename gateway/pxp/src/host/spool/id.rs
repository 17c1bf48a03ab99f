//! Transaction IDs, which are the names of their folders.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The ID of a transaction. The caller chooses it, and repeats it in later requests.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TransactionId(String);

/// The longest name of a file, in bytes.
const MAX_LENGTH: usize = 255;

impl TransactionId {
    /// A new, unused ID.
    pub(crate) fn new() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }

    /// The id as the name of a folder.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TransactionId {
    type Err = String;

    /// # Errors
    /// What was expected: it becomes the name of a folder, and those with a dot in front are not transactions.
    fn from_str(text: &str) -> Result<Self, String> {
        let is_valid = (1..=MAX_LENGTH).contains(&text.len())
            && !text.starts_with('.')
            && !text.contains(|c: char| c == '/' || c.is_control());
        if is_valid {
            return Ok(Self(text.to_owned()));
        }
        Err(format!(
            "expected a transaction ID of 1 to {MAX_LENGTH} bytes, without `/` and control characters, that does not \
             begin with a dot: 7b3c6a1e-8a2f-4c7e-9d57-0c9f6f1c2a11, change-4711"
        ))
    }
}

impl fmt::Display for TransactionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_name_of_one_folder() {
        let longest_id = "x".repeat(MAX_LENGTH);
        for id in ["1", "a b", "ä", "-x", "x.1", &longest_id] {
            assert_eq!(id.parse().map(|id: TransactionId| id.0), Ok(id.to_owned()));
        }
        let too_long = "x".repeat(MAX_LENGTH + 1);
        for id in ["", ".", "..", ".x", "a/b", "/", "a\0", "a\nb", &too_long] {
            let error = id.parse::<TransactionId>().expect_err(id);
            assert!(error.starts_with("expected a transaction ID"), "{error}");
        }
        assert_ne!(TransactionId::new(), TransactionId::new());
    }
}
