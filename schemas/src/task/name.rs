//! Task names: `module::task`, or just `module` for the module's `init` task.

use std::fmt;
use std::str::FromStr;

/// A task's name in its parts (Task Specification, "Task name and filename").
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskName {
    module: String,
    task: String,
}

/// Whether a text is a valid name of a module, a task or a parameter: `\A[a-z][a-z0-9_]*\z`.
pub fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

impl TaskName {
    /// Creates the name of a module's task. The name of the module alone stands for its task `init`.
    pub fn new(module: &str, task: &str) -> Self {
        Self {
            module: module.to_owned(),
            task: task.to_owned(),
        }
    }

    /// Returns the module of the task.
    pub fn module(&self) -> &str {
        &self.module
    }

    /// Returns the base name of the task's files.
    pub fn task(&self) -> &str {
        &self.task
    }
}

impl FromStr for TaskName {
    type Err = String;

    /// Parses `module` or `module::task`. The error has Bolt's wording.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (module, task) = text.split_once("::").unwrap_or((text, "init"));
        if is_name(module) && task.split("::").all(is_name) {
            Ok(Self::new(module, task))
        } else {
            Err(format!("Invalid task '{}'", text.escape_default()))
        }
    }
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task.as_str() {
            "init" => f.write_str(&self.module),
            task => write!(f, "{}::{task}", self.module),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_alone_stands_for_its_init_task() {
        for text in ["sample", "sample::init"] {
            let name: TaskName = text.parse().expect("a name");
            assert_eq!((name.module(), name.task()), ("sample", "init"));
            assert_eq!(name.to_string(), "sample");
        }
        assert_eq!(
            "sample::a_1".parse::<TaskName>().map(|n| n.to_string()),
            Ok("sample::a_1".into())
        );
    }

    #[test]
    fn a_name_outside_the_pattern_is_refused() {
        for text in [
            "", "Sample", "1a", "a::", "::a", "a::B", "a/b", "a::b\n", "../a", "ä",
        ] {
            assert!(text.parse::<TaskName>().is_err(), "{text:?}");
        }
    }
}
