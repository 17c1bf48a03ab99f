//! The host settings of an inventory: the options of a transport that concern running tasks.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use devgate_schemas::{
    ConnectionInfo, Hash, InvalidConnectionInfo, Level, RawConnectionInfo, TransportSchema, Value,
};
use devgate_transports::Environment;
use devgate_transports::HostSettings;
use nix::unistd::{Uid, User};

use crate::inventory::{Target, TargetKind};

/// How tasks run on a host. This node and hosts behind SSH have the same settings.
#[derive(Clone, Debug)]
pub struct TaskHostSettings {
    /// Where the directories of tasks are created. Without it, the host's default is used.
    pub tmpdir: Option<PathBuf>,
    /// Whether the directories of tasks are removed.
    pub cleanup: bool,
    /// The interpreters of files, by the extension without its dot.
    pub(crate) interpreters: Vec<(String, Vec<String>)>,
    /// The user under which tasks run, unless it is the logged-in user.
    pub(crate) run_as: Option<RunAs>,
    /// The limits of tasks.
    pub(crate) budget: TaskBudget,
}

/// How the user is changed.
#[derive(Clone, Debug)]
pub(crate) struct RunAs {
    /// The user under which tasks run.
    pub user: String,
    /// What is run instead of sudo and its options, before the user and the command.
    pub command: Option<Vec<String>>,
    /// The program that changes the user.
    pub sudo: String,
    /// The password for that program: a hidden text.
    pub password: Option<Value>,
}

impl RunAs {
    /// Whether this is the user that runs devgate, so that no change is needed.
    fn is_current_user(&self) -> bool {
        let user = User::from_name(&self.user).ok().flatten();
        user.is_some_and(|user| user.uid == Uid::effective())
    }
}

/// The limits of tasks, of a host or for a target behind one. A missing limit is not set here.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TaskBudget {
    /// The longest time of one task.
    pub time: Option<Duration>,
    /// The bytes of stdout that are kept of one task.
    pub output: Option<usize>,
    /// The number of tasks at once.
    pub concurrency: Option<NonZeroUsize>,
}

/// The options of this node: how tasks run on a host.
static LOCAL_SCHEMA: LazyLock<TransportSchema> =
    LazyLock::new(|| TransportSchema::built_in(include_str!("settings.yaml")));

/// The options of a host behind SSH: those of this node, and how it is reached.
static SSH_SCHEMA: LazyLock<TransportSchema> =
    LazyLock::new(|| HostSettings::schema().with(&LOCAL_SCHEMA));

/// The options of a remote target that are for the gateway, and that no transport knows.
static REMOTE_SCHEMA: LazyLock<TransportSchema> = LazyLock::new(|| {
    LOCAL_SCHEMA
        .only(&TransportSchema::GATEWAYS)
        .renamed("remote", "The gateway's own options of a remote target.")
});

impl TaskHostSettings {
    /// Reads the settings of this node, of a target whose transport is `local`. `log` receives a warning about unknown
    /// keys.
    ///
    /// # Errors
    /// Fails with every option of a wrong type.
    pub fn local(
        target: &Target,
        environment: &Environment,
        log: impl FnMut(Level, String),
    ) -> Result<Self, InvalidConnectionInfo> {
        let info = LOCAL_SCHEMA.read(target.connection_info(), log)?;
        let mut settings = Self::from_info(&info);
        settings.run_as = settings.run_as.filter(|run_as| !run_as.is_current_user());
        settings
            .tmpdir
            .get_or_insert_with(|| environment.temporary());
        Ok(settings)
    }

    /// Reads the settings of a host behind SSH, and the connection info with all its options. `log` receives a warning
    /// about unknown keys.
    ///
    /// # Errors
    /// Fails with every option that has a wrong type or is missing.
    pub fn ssh(
        target: &Target,
        mut log: impl FnMut(Level, String),
    ) -> Result<(Self, ConnectionInfo), InvalidConnectionInfo> {
        if target.options_of(["run-on"].into_iter()).keys().len() > 0 {
            let message = "`run-on` has no effect on a host: name the hosts on the way to it with `proxyjump`";
            log(Level::Warning, message.to_owned());
        }
        let info = SSH_SCHEMA.read(target.connection_info(), log)?;
        let mut settings = Self::from_info(&info);
        if let Some(run_as) = &mut settings.run_as {
            // As in Bolt, sudo gets the password of the login.
            let password = || info.get("password").cloned();
            run_as.password = run_as.password.take().or_else(password);
        }
        Ok((settings, info))
    }

    /// Returns the schema of the options of a target that is a host.
    pub fn schema(target: &Target) -> Option<&'static TransportSchema> {
        match target.kind {
            TargetKind::Local => Some(&LOCAL_SCHEMA),
            TargetKind::Ssh => Some(&SSH_SCHEMA),
            TargetKind::Remote { .. } | TargetKind::Other(_) => None,
        }
    }

    /// Returns the schema of the options of hosts with this transport: `ssh` or `local`.
    pub fn schema_of(transport: &str) -> Option<&'static TransportSchema> {
        [&*SSH_SCHEMA, &*LOCAL_SCHEMA]
            .into_iter()
            .find(|schema| schema.name() == transport)
    }

    fn from_info(info: &ConnectionInfo) -> Self {
        let text = |name: &str| info.text(name).map(str::to_owned);
        Self {
            tmpdir: info.text("tmpdir").map(PathBuf::from),
            cleanup: info.boolean("cleanup").unwrap_or(true),
            interpreters: info
                .get("interpreters")
                .map(interpreters)
                .unwrap_or_default(),
            run_as: text("run-as").map(|user| RunAs {
                user,
                command: info.get("run-as-command").map(words),
                sudo: text("sudo-executable").unwrap_or_else(|| "sudo".to_owned()),
                password: info.get("sudo-password").cloned(),
            }),
            budget: TaskBudget::from_info(info),
        }
    }

    /// Returns the interpreter for files with this extension, if one is configured.
    pub(crate) fn interpreter(&self, extension: &str) -> Option<&[String]> {
        let mut all = self.interpreters.iter();
        let found = all.find(|(configured, _)| configured.eq_ignore_ascii_case(extension))?;
        Some(&found.1)
    }

    /// Returns the secrets in the settings.
    pub fn secrets(&self) -> impl Iterator<Item = &Value> {
        self.run_as
            .iter()
            .filter_map(|run_as| run_as.password.as_ref())
    }
}

impl Default for TaskHostSettings {
    fn default() -> Self {
        Self {
            tmpdir: None,
            cleanup: true,
            interpreters: Vec::new(),
            run_as: None,
            budget: TaskBudget::default(),
        }
    }
}

impl TaskBudget {
    /// Returns the schema of the options of a remote target that set the limits.
    pub(crate) fn schema() -> &'static TransportSchema {
        &REMOTE_SCHEMA
    }

    /// Reads the limits from a remote target's own options.
    ///
    /// # Errors
    /// Fails with every option of a wrong type.
    pub(crate) fn remote(target: &Target) -> Result<Self, InvalidConnectionInfo> {
        let options = target.connection_info().into_hash().into_iter();
        let gateway_options: Hash = options
            .filter(|(key, _)| {
                REMOTE_SCHEMA
                    .connection_info()
                    .contains_key(&key.to_string())
            })
            .collect();
        let info = REMOTE_SCHEMA.read(RawConnectionInfo::new(gateway_options), |_, _| {})?;
        Ok(Self::from_info(&info))
    }

    fn from_info(info: &ConnectionInfo) -> Self {
        let count = |name: &str| {
            let count = info.integer(name)?;
            NonZeroUsize::new(usize::try_from(count).unwrap_or(usize::MAX))
        };
        Self {
            // A number of seconds that is too large for a duration means no limit.
            time: info
                .number("task-timeout")
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            output: count("output-limit").map(NonZeroUsize::get),
            concurrency: count("concurrency"),
        }
    }
}

fn interpreters(value: &Value) -> Vec<(String, Vec<String>)> {
    let pairs = value.as_hash().into_iter().flat_map(Hash::iter);
    pairs
        .map(|(extension, program)| {
            let extension = extension.to_string();
            (extension.trim_start_matches('.').to_owned(), words(program))
        })
        .collect()
}

/// Returns a text as one word, and a list as its words.
fn words(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().flat_map(words).collect(),
        one => one.as_str().map(str::to_owned).into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(options: serde_json::Value) -> (Result<TaskHostSettings, String>, Vec<String>) {
        let Value::Hash(options) = Value::from(options) else {
            panic!("options are an object");
        };
        let mut messages = Vec::new();
        let info = LOCAL_SCHEMA.read(RawConnectionInfo::new(options), |level, message| {
            messages.push(format!("{level:?} {message}"));
        });
        let settings = info.map(|info| TaskHostSettings::from_info(&info));
        (settings.map_err(|error| error.to_string()), messages)
    }

    #[test]
    fn every_setting_is_read() {
        let (settings, messages) = read(json!({
            "tmpdir": "/var/tmp", "cleanup": false, "run-as": "root", "sudo-password": "canary",
            "run-as-command": ["doas", "-u"], "sudo-executable": "/bin/sudo",
            "interpreters": {".rb": "/usr/bin/ruby", "pp": ["puppet", "apply"]},
            "task-timeout": 1.5, "output-limit": 1000, "concurrency": 3,
        }));
        let settings = settings.expect("settings");
        assert!(messages.is_empty(), "{messages:?}");
        assert!(!settings.cleanup && settings.tmpdir == Some("/var/tmp".into()));
        assert_eq!(
            settings.interpreter("rb"),
            Some(&["/usr/bin/ruby".to_owned()][..])
        );
        assert_eq!(settings.interpreter("pp").map(<[_]>::len), Some(2));
        assert_eq!(settings.interpreter("sh"), None);
        assert_eq!(settings.budget.time, Some(Duration::from_millis(1500)));
        assert_eq!(settings.budget.output, Some(1000));
        assert_eq!(settings.budget.concurrency, NonZeroUsize::new(3));
        assert_eq!(settings.secrets().count(), 1);
        assert!(!format!("{settings:?}").contains("canary"));
        let run_as = settings.run_as.expect("a user");
        assert_eq!(
            run_as.command,
            Some(vec!["doas".to_owned(), "-u".to_owned()])
        );
    }

    #[test]
    fn all_wrong_types_are_reported_at_once_and_unknown_keys_in_one_warning() {
        let (settings, messages) = read(json!({
            "tmpdir": 5, "task-timeout": 0, "sudo-password": ["canary"], "tmpdri": "/", "clean-up": 1,
        }));
        let error = settings.expect_err("three wrong types");
        for key in ["tmpdir", "task-timeout", "sudo-password"] {
            assert!(error.contains(key), "{error}");
        }
        assert!(!error.contains("canary"), "{error}");
        let [warning] = messages.as_slice() else {
            panic!("expected one warning, got {messages:?}");
        };
        for word in ["tmpdri", "tmpdir", "clean-up", "cleanup"] {
            assert!(warning.contains(word), "{warning}");
        }
    }

    #[test]
    fn a_host_behind_ssh_has_every_setting_once() {
        let (connection, tasks) = (HostSettings::schema(), &LOCAL_SCHEMA);
        let twice: Vec<_> = tasks
            .connection_info()
            .keys()
            .filter(|name| connection.connection_info().contains_key(*name))
            .collect();
        assert!(twice.is_empty(), "{twice:?}");
        assert!(SSH_SCHEMA.connection_info().contains_key("run-as") && SSH_SCHEMA.name() == "ssh");
        for name in ["ssh", "local"] {
            let schema = TaskHostSettings::schema_of(name);
            assert_eq!(schema.map(TransportSchema::name), Some(name));
        }
        assert_eq!(TaskHostSettings::schema_of("remote"), None);
        let limits: Vec<_> = REMOTE_SCHEMA.connection_info().keys().collect();
        assert_eq!(limits.len(), 3, "{limits:?}");
    }
}
