//! What those who start runs lend them of their own: home folder, variables, OpenSSH's configuration.

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

/// The surroundings of whoever starts runs, as far as they are lent to these.
///
/// Nothing but a front end looks at the process for them. The default lends nothing: that is how a service works for
/// others.
#[derive(Default)]
pub struct Environment {
    home: Option<PathBuf>,
    variables: BTreeMap<OsString, OsString>,
    /// Read when a target first needs it.
    config: OnceLock<SshConfig>,
}

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        Self::new(std::env::home_dir(), std::env::vars_os())
    }

    /// A home folder and variables.
    pub fn new(
        home: Option<PathBuf>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        Self {
            home,
            variables: variables.into_iter().collect(),
            config: OnceLock::new(),
        }
    }

    /// The same, with this configuration of OpenSSH and no other.
    #[must_use]
    pub fn with_ssh_config(self, config: SshConfig) -> Self {
        Self {
            config: OnceLock::from(config),
            ..self
        }
    }

    /// The home folder.
    pub fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// A variable.
    pub fn variable(&self, name: &str) -> Option<&OsStr> {
        self.variables
            .get(OsStr::new(name))
            .map(OsString::as_os_str)
    }

    /// A variable that holds text, and some.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.variable(name)?
            .to_str()
            .filter(|text| !text.is_empty())
    }

    /// A path as people write it: `~/` is the home folder.
    pub fn path(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => PathBuf::from(text),
        }
    }

    /// The place for temporary files.
    pub fn temporary(&self) -> PathBuf {
        let said = self.variable("TMPDIR").filter(|path| !path.is_empty());
        PathBuf::from(said.unwrap_or_else(|| OsStr::new("/tmp")))
    }

    /// The account to log in to where nobody names one: `USER`, or else whom the node knows; a service has no `USER`.
    ///
    /// # Errors
    /// [`Error::Setting`](crate::Error::Setting): there is none.
    pub(crate) fn user(&self) -> Result<String> {
        let known = || User::from_uid(Uid::current()).ok().flatten();
        let name = self.text("USER").map(str::to_owned);
        let name = name.or_else(|| known().map(|user| user.name));
        name.ok_or_else(|| problem("user", "is not given: name the account to log in to"))
    }

    /// The configuration of OpenSSH, read once. The `tell` of who asks first hears what cannot be read, and what is
    /// skipped.
    pub fn ssh_config(&self, tell: impl FnMut(Level, String)) -> &SshConfig {
        self.config
            .get_or_init(|| SshConfig::load(self.home(), tell))
    }
}

/// Variables may hold secrets.
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
        let said = |name| with(&[("USER", name)]).user().expect("a name");
        assert_eq!(said("somebody"), "somebody");
        let known = Environment::default().user().expect("a name");
        assert_eq!(said(""), known);
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
