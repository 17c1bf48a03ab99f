//! The targets of a command, and its connection options.

use std::convert::Infallible;
use std::ffi::OsStr;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use clap::{Arg, Args, Command};
use devgate_core::failure::{ErrorContext, Failure};
use devgate_core::results::counted;
use devgate_engine::inventory::{self, InventoryError, LOCALHOST, Overrides};
use devgate_engine::workspace::{SelectedTargets, no_target};
use devgate_front::command_context::CommandContext;
use devgate_front::prompt;
use devgate_schemas::{Level, Value};

use crate::complete;

/// The targets of a command.
#[derive(Args, Clone, Debug)]
pub struct TargetOptions {
    /// Names, groups, globs or URIs, separated by commas; `all`; @FILE; - for stdin
    #[arg(short, long, visible_alias = "target", value_name = "TARGETS", add = complete::targets())]
    pub targets: Vec<String>,
    #[arg(short, long, hide = true, value_parser = RefusedOption(NO_QUERY))]
    query: Option<Infallible>,
    /// Maximum number of targets at once (default: the project's, else 100)
    #[arg(short, long, value_name = "N", value_parser = concurrency)]
    pub concurrency: Option<NonZeroUsize>,
    /// Succeed if there is nothing to do: no target, no resource with a tag (default: exit with 1)
    #[arg(long)]
    pub allow_empty: bool,
    #[command(flatten)]
    connection: Connection,
}

/// Connection options, which override the inventory.
#[derive(Args, Clone, Debug)]
struct Connection {
    /// User to log in as
    #[arg(id = "user_of_device", short, long = "user", value_name = "NAME", help_heading = HEADING)]
    user: Option<String>,
    /// Prompt for the password
    #[arg(long, help_heading = HEADING)]
    password_prompt: bool,
    #[arg(short, long, hide = true, value_parser = RefusedOption(NO_PASSWORD))]
    password: Option<Infallible>,
    /// Private key file to log in with
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    private_key: Option<PathBuf>,
    /// Accept any host key: an attacker in between can then read and change everything
    #[arg(long, overrides_with = "host_key_check", help_heading = HEADING)]
    no_host_key_check: bool,
    #[arg(long, hide = true, overrides_with = "no_host_key_check")]
    host_key_check: bool,
    /// Time limit to connect
    #[arg(long, value_name = "SECONDS", help_heading = HEADING)]
    connect_timeout: Option<u32>,
    #[command(flatten)]
    direct: DirectOption,
    /// Transport of the targets; the protocol of a device is in the inventory (`remote-transport`)
    #[arg(long, value_name = "NAME", value_parser = ["ssh", "local", "remote"], help_heading = HEADING)]
    transport: Option<String>,
}

/// Whether proxies are used.
#[derive(Args, Clone, Copy, Debug)]
pub struct DirectOption {
    /// Connect from this node, even if `run-on` names a proxy
    #[arg(long, help_heading = HEADING)]
    direct: bool,
}

/// Options for tasks on hosts, which override the inventory.
#[derive(Args, Clone, Debug)]
pub struct HostOptions {
    /// Run tasks as this user, with sudo
    #[arg(long, value_name = "USER", help_heading = HEADING)]
    run_as: Option<String>,
    /// Prompt for the password for sudo
    #[arg(long, help_heading = HEADING)]
    sudo_password_prompt: bool,
    #[arg(long, hide = true, value_parser = RefusedOption(NO_SUDO_PASSWORD))]
    sudo_password: Option<Infallible>,
    /// Folder on the hosts for the files of tasks (default: the host's temporary folder)
    #[arg(long, value_name = "DIR", help_heading = HEADING)]
    tmpdir: Option<String>,
    /// Keep the files of tasks on the hosts, for debugging
    #[arg(long, overrides_with = "cleanup", help_heading = HEADING)]
    no_cleanup: bool,
    #[arg(long, hide = true, overrides_with = "no_cleanup")]
    cleanup: bool,
    /// Ignored, with a warning: a terminal would echo the input of tasks, including secrets
    #[arg(long, overrides_with = "no_tty", help_heading = HEADING)]
    tty: bool,
    #[arg(long, hide = true, overrides_with = "tty")]
    no_tty: bool,
}

/// The heading of the options that override the inventory.
pub const HEADING: &str = "Connection options (override the inventory)";

const NO_QUERY: &str = "--query needs PuppetDB, which devgate does not use: select targets with --targets; `--targets \
                        -` reads names from stdin";

const NO_PASSWORD: &str = "all users of this node can read a password on a command line: use --password-prompt, or in \
                           the inventory `password: {_plugin: env_var, var: NAME}`";

const NO_SUDO_PASSWORD: &str = "all users of this node can read a password on a command line: use \
                                --sudo-password-prompt, or in the inventory `sudo-password: {_plugin: env_var, var: \
                                NAME}`";

impl TargetOptions {
    /// The targets of a command; without `-t`, all devices of the `device.conf`. `None` if there is no such file.
    ///
    /// # Errors
    /// The inventory or that file is invalid, or does not contain a name.
    pub async fn select_or_devices(
        &self,
        context: &CommandContext,
    ) -> Result<Option<SelectedTargets>, Failure> {
        if !self.targets.is_empty() {
            return self.select(context).await.map(Some);
        }
        let Some(file) = context.workspace.device_file() else {
            return Ok(None);
        };
        let overrides = self.overrides(None).await?;
        let inventory = context.inventory().await?;
        let names: Vec<String> = inventory.device_names().map(str::to_owned).collect();
        if names.is_empty() {
            let message = format!("No device found in {}", file.display());
            return Err(Failure::new("devgate/no-devices", message));
        }
        let devices = counted(names.len()).replace("target", "device");
        let message = format!("no --target: {devices} of {}", file.display());
        context.logger.log(Level::Notice, &message);
        context
            .choose(inventory, &names, &overrides)
            .await
            .map(Some)
    }

    /// The targets of a command.
    ///
    /// # Errors
    /// The inventory is invalid, does not contain a name, or no target matches.
    pub async fn select(&self, context: &CommandContext) -> Result<SelectedTargets, Failure> {
        let overrides = self.overrides(None).await?;
        let (inventory, words) = (context.inventory().await?, words(&self.targets)?);
        let chosen = context.choose(inventory, &words, &overrides).await?;
        if chosen.targets.is_empty() {
            let why = no_target(&chosen.inventory, &words);
            context.nothing_to_do(self.allow_empty, &why)?;
        }
        Ok(chosen)
    }

    /// The connection options of the command line. Prompts for passwords if requested.
    ///
    /// # Errors
    /// There is no terminal to prompt on.
    pub async fn overrides(&self, host: Option<&HostOptions>) -> Result<Overrides, Failure> {
        let mut overrides = Overrides {
            transport: self.connection.transport.clone(),
            ..Overrides::default()
        };
        self.connection.add_to(&mut overrides).await?;
        if let Some(host) = host {
            host.add_to(&mut overrides).await?;
        }
        Ok(overrides)
    }
}

impl Connection {
    /// Hosts have Bolt's options, devices have those of the protocols over SSH.
    async fn add_to(&self, overrides: &mut Overrides) -> Result<(), Failure> {
        let mut both = |host: &str, device: &str, value: Value| {
            overrides.options.insert(host, value.clone());
            overrides.remote.insert(device, value);
        };
        if let Some(user) = &self.user {
            both("user", "user", Value::from(user.as_str()));
        }
        if self.password_prompt {
            both(
                "password",
                "password",
                prompt_password("Password: ", NO_TERMINAL).await?,
            );
        }
        if let Some(path) = &self.private_key {
            let path = std::path::absolute(path)?;
            both("private-key", "private_key", text(&path));
        }
        if let Some(check) = flag(self.host_key_check, self.no_host_key_check) {
            both("host-key-check", "verify_hosts", Value::from(check));
        }
        if let Some(seconds) = self.connect_timeout {
            both("connect-timeout", "timeout", Value::Integer(seconds.into()));
        }
        self.direct.add_to(overrides);
        Ok(())
    }
}

/// The target words of a command line, including those from files and stdin.
///
/// # Errors
/// What cannot be read.
pub fn words(given: &[String]) -> Result<Vec<String>, InventoryError> {
    inventory::target_words(given, &mut io::stdin())
}

impl DirectOption {
    fn add_to(self, overrides: &mut Overrides) {
        if self.direct {
            overrides.remote.insert("run-on", Value::from(LOCALHOST));
        }
    }

    /// The overrides of this option only.
    pub fn overrides(self) -> Overrides {
        let mut overrides = Overrides::default();
        self.add_to(&mut overrides);
        overrides
    }
}

impl HostOptions {
    async fn add_to(&self, overrides: &mut Overrides) -> Result<(), Failure> {
        let options = &mut overrides.options;
        if let Some(user) = &self.run_as {
            options.insert("run-as", Value::from(user.as_str()));
        }
        if self.sudo_password_prompt {
            let password = prompt_password("Password for sudo: ", NO_TERMINAL_FOR_SUDO).await?;
            options.insert("sudo-password", password);
        }
        if let Some(dir) = &self.tmpdir {
            options.insert("tmpdir", Value::from(dir.as_str()));
        }
        if let Some(cleanup) = flag(self.cleanup, self.no_cleanup) {
            options.insert("cleanup", Value::from(cleanup));
        }
        if let Some(tty) = flag(self.tty, self.no_tty) {
            options.insert("tty", Value::from(tty));
        }
        Ok(())
    }
}

/// Parses the maximum number of targets at once.
fn concurrency(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse().map_err(|_| "expected 1 or more")
}

const NO_TERMINAL: &str = "--password-prompt: there is no terminal to prompt on; in the inventory, `password: \
     {_plugin: env_var, var: NAME}` reads it from a variable";

const NO_TERMINAL_FOR_SUDO: &str = "--sudo-password-prompt: there is no terminal to prompt on; in the inventory, \
     `sudo-password: {_plugin: env_var, var: NAME}` reads it from a variable";

async fn prompt_password(question: &str, no_terminal: &str) -> Result<Value, Failure> {
    let terminal =
        prompt::terminal().map_err(|error| Failure::other(format!("{no_terminal} ({error})")))?;
    let answer = prompt::read_secret(terminal, question.to_owned()).await;
    answer.context("cannot read the password")
}

fn text(path: &Path) -> Value {
    Value::from(path.to_string_lossy().into_owned())
}

/// `--x`, `--no-x`, or neither.
fn flag(on: bool, off: bool) -> Option<bool> {
    (on || off).then_some(on)
}

/// An option of Bolt that is refused with a hint to the alternative. Its value is not quoted.
#[derive(Clone, Debug)]
pub struct RefusedOption(pub &'static str);

impl TypedValueParser for RefusedOption {
    type Value = Infallible;

    fn parse_ref(
        &self,
        command: &Command,
        _: Option<&Arg>,
        _: &OsStr,
    ) -> Result<Infallible, clap::Error> {
        let error = clap::Error::raw(ErrorKind::ValueValidation, format!("{}\n", self.0));
        Err(error.with_cmd(command))
    }
}
