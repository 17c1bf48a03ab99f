//! The methods of passing parameters to a task.

/// The method of passing parameters to a task (Task Specification, "Task input").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputMethod {
    /// One JSON object on stdin.
    Stdin,
    /// An environment variable `PT_<name>` for each parameter.
    Environment,
    /// Stdin and environment: Bolt's word `both`, and the default.
    Both,
    /// Named arguments of a PowerShell script.
    Powershell,
}

impl InputMethod {
    /// The words of the specification.
    pub(super) const WORDS: [(&str, Self); 4] = [
        ("stdin", Self::Stdin),
        ("environment", Self::Environment),
        ("both", Self::Both),
        ("powershell", Self::Powershell),
    ];
}
