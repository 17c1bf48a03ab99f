//! The problems of a definition: all of them at once, each with its place.

use std::fmt;

/// One problem and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionProblem {
    /// The keys that lead to the place, outermost first.
    pub path: Vec<String>,
    /// What is wrong, in one sentence.
    pub message: String,
}

/// All problems of a definition. As an error it holds at least one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefinitionProblems(Vec<DefinitionProblem>);

impl DefinitionProblems {
    /// Adds a problem at the place that `path` leads to.
    pub(crate) fn add(&mut self, path: &[&str], message: impl Into<String>) {
        let path = path.iter().map(|&key| key.to_owned()).collect();
        self.0.push(DefinitionProblem {
            path,
            message: message.into(),
        });
    }

    /// Returns the value if there are no problems.
    pub(crate) fn or<T>(self, value: impl FnOnce() -> T) -> Result<T, Self> {
        if self.0.is_empty() {
            Ok(value())
        } else {
            Err(self)
        }
    }

    /// Whether there are no problems so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the problems in the order of the definition.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &DefinitionProblem> {
        self.0.iter()
    }
}

impl fmt::Display for DefinitionProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "\n" };
            write!(f, "{separator}{}", problem.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for DefinitionProblems {}
