//! The user environment that a front end passes to runs: home folder, variables, OpenSSH's configuration.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use devgate_schemas::Level;
use nix::unistd::{Uid, User};

use crate::Result;
use crate::info::problem;
use crate::ssh_config::SshConfig;

/// The user environment that runs may use.
///
/// Only front ends read the process environment. The default is empty, which suits a service that works for other
/// users.
#[derive(Default)]
pub struct Environment {
    home: Option<PathBuf>,
    /// Where relative paths of settings begin.
    folder: PathBuf,
    variables: BTreeMap<OsString, OsString>,
    /// Read when a target first needs it.
    config: OnceLock<SshConfig>,
}

impl Environment {
    /// Returns the environment of this process.
    pub fn of_process() -> Self {
        Self::new(std::env::home_dir(), std::env::vars_os())
    }

    /// Creates an environment from a home folder and variables.
    pub fn new(
        home: Option<PathBuf>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        Self {
            home,
            folder: PathBuf::new(),
            variables: variables.into_iter().collect(),
            config: OnceLock::new(),
        }
    }

    /// Lets relative paths of settings begin at this folder, instead of the current one.
    #[must_use]
    pub fn with_folder(self, folder: PathBuf) -> Self {
        Self { folder, ..self }
    }

    /// Uses this OpenSSH configuration instead of the user's and the system's files.
    #[must_use]
    pub fn with_ssh_config(self, config: SshConfig) -> Self {
        Self {
            config: OnceLock::from(config),
            ..self
        }
    }

    /// Returns the home folder.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// Returns the value of a variable.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
    }

    /// Returns the value of a variable that holds non-empty UTF-8 text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.variable(name)?
            .to_str()
            .filter(|text| !text.is_empty())
    }

    /// Expands a path as users write it: a leading `~/` stands for the home folder. Other relative paths begin at the
    /// folder of the project.
    pub fn path(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.folder.join(text),
        }
    }

    /// Returns the folder for temporary files: `TMPDIR`, or `/tmp`.
    pub fn temporary(&self) -> PathBuf {
        let message = self.variable("TMPDIR").filter(|path| !path.is_empty());
        PathBuf::from(message.unwrap_or_else(|| OsStr::new("/tmp")))
    }

    /// Returns the default login account: `USER`, or the name of this process's user (services have no `USER`).
    ///
    /// # Errors
    /// Fails with [`Error::Setting`](crate::Error::Setting) when there is neither.
    pub(crate) fn user(&self) -> Result<String> {
        let known = || User::from_uid(Uid::current()).ok().flatten();
        let name = self.text("USER").map(str::to_owned);
        let name = name.or_else(|| known().map(|user| user.name));
        name.ok_or_else(|| problem("user", "is not given: name the account to log in to"))
    }

    /// Returns OpenSSH's configuration. It is read once, by the first caller, whose `tell` receives a message for each
    /// part that cannot be read or is skipped.
    pub fn ssh_config(&self, tell: impl FnMut(Level, String)) -> &SshConfig {
        self.config
            .get_or_init(|| SshConfig::load(self.home(), tell))
    }
}

/// Shows no variables, because they may hold secrets.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("home", &self.home)
            .field("variables", &self.variables.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Environment {
        let variables = variables
            .iter()
            .map(|(name, text)| (name.into(), text.into()));
        Environment::new(Some("/home/runner".into()), variables)
    }

    #[test]
    fn a_name_is_what_the_environment_says_or_else_the_node() {
        let message = |name| with(&[("USER", name)]).user().expect("a name");
        assert_eq!(message("somebody"), "somebody");
        let known = Environment::default().user().expect("a name");
        assert_eq!(message(""), known);
        assert!(!known.is_empty());
    }

    #[test]
    fn who_lends_nothing_has_no_home_and_no_variable() {
        let none = Environment::default();
        assert_eq!(none.path("~/.ssh/id_rsa"), Path::new("~/.ssh/id_rsa"));
        assert_eq!((none.variable("PATH"), none.home()), (None, None));
        assert_eq!(none.temporary(), Path::new("/tmp"));
        let some = with(&[("TMPDIR", "/var/tmp")]);
        assert_eq!(
            some.path("~/.ssh/id_rsa"),
            Path::new("/home/runner/.ssh/id_rsa")
        );
        assert_eq!(some.temporary(), Path::new("/var/tmp"));
    }

    #[test]
    fn no_variable_is_shown() {
        let shown = format!("{:?}", with(&[("TOKEN", "canary")]));
        assert!(!shown.contains("canary"), "{shown}");
    }
}
