//! A terminal line of the switch: its mode, and the reply of a command.

use super::interface::InterfaceName;
use super::vlans::VlanList;

/// One terminal line: its user, its mode and its screen size.
#[derive(Debug)]
pub(super) struct Vty {
    pub(super) user: String,
    pub(super) mode: Mode,
    /// Lines before the pager stops; 0 for never.
    pub(super) rows: usize,
    pub(super) width: usize,
}

/// The current mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// `practice>`
    User,
    /// `practice#`
    Privileged,
    /// `practice(config)#`
    Config,
    /// `practice(config-if)#`
    Interface(InterfaceName),
    /// `practice(config-vlan)#`
    Vlan(VlanList),
}

impl Mode {
    /// Whether lines change the configuration here.
    pub(super) fn is_config(&self) -> bool {
        !matches!(self, Self::User | Self::Privileged)
    }

    /// The prompt, for a host with this name. Config prompts show only its first twenty characters.
    pub(super) fn prompt(&self, hostname: &str) -> String {
        let cut: String = hostname.chars().take(20).collect();
        match self {
            Self::User => format!("{hostname}>"),
            Self::Privileged => format!("{hostname}#"),
            Self::Config => format!("{cut}(config)#"),
            Self::Interface(_) => format!("{cut}(config-if)#"),
            Self::Vlan(_) => format!("{cut}(config-vlan)#"),
        }
    }
}

/// The reply of a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Some text, or none, and the next prompt.
    Text(String),
    /// The password of `enable`.
    Password,
    /// A question to answer first.
    Ask(Question),
    /// A line in privileged mode that is run next, typed from this column on (`do`).
    Exec {
        /// The line.
        line: String,
        /// Where it begins on the screen.
        column: usize,
    },
    /// The end of the session.
    Close,
}

impl Reply {
    /// No output.
    pub(super) fn empty() -> Self {
        Self::Text(String::new())
    }

    /// One line of text.
    pub(super) fn line(text: impl std::fmt::Display) -> Self {
        Self::Text(format!("{text}\n"))
    }
}

/// The question of a command before it acts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// `configure` without `terminal`.
    ConfigureFrom,
    /// `copy running-config startup-config`.
    CopyTo,
    /// `write erase`.
    Erase,
}

impl Question {
    /// The question, with the default answer for Enter.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::ConfigureFrom => "Configuring from terminal, memory, or network [terminal]? ",
            Self::CopyTo => "Destination filename [startup-config]? ",
            Self::Erase => {
                "Erasing the nvram filesystem will remove all configuration files! \
                 Continue? [confirm]"
            }
        }
    }
}
