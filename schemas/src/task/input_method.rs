//! How parameters reach a task.

/// How parameters reach a task (Task Specification, "Task input").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputMethod {
    /// One JSON object on stdin.
    Stdin,
    /// A variable `PT_<name>` for each.
    Environment,
    /// Both of these, as Bolt's word `both` and as the default.
    Both,
    /// Named arguments of a PowerShell script.
    Powershell,
}

impl InputMethod {
    /// The words for them.
    pub(super) const WORDS: [(&str, Self); 4] = [
        ("stdin", Self::Stdin),
        ("environment", Self::Environment),
        ("both", Self::Both),
        ("powershell", Self::Powershell),
    ];
}
