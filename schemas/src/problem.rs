//! What is wrong with a definition: everything at once, each with its place.

use std::fmt;

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The keys that lead to the place, from the outermost.
    pub path: Vec<String>,
    /// What is wrong, in one sentence.
    pub message: String,
}

/// Everything that is wrong with a definition; at least one problem when it is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Notes a problem at the place that `path` leads to.
    pub(crate) fn add(&mut self, path: &[&str], message: impl Into<String>) {
        let path = path.iter().map(|&key| key.to_owned()).collect();
        self.0.push(Problem {
            path,
            message: message.into(),
        });
    }

    /// The value, if nothing is wrong.
    pub(crate) fn or<T>(self, value: impl FnOnce() -> T) -> Result<T, Self> {
        if self.0.is_empty() {
            Ok(value())
        } else {
            Err(self)
        }
    }

    /// Whether nothing is wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The problems, in the order of the definition.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{}", problem.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
