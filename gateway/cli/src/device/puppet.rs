//! Options of `puppet device` that have no effect here, or another meaning.

use std::convert::Infallible;
use std::io;

use clap::Args;
use devgate_core::failure::{ErrorContext, Failure};
use nix::unistd::{Uid, User, initgroups, setgid, setuid};

use crate::targets::RefusedOption;

/// Options for lines of cron and unit files that were written for `puppet device`.
#[derive(Args, Debug)]
pub(super) struct PuppetOptions {
    /// Run as this user of this node (only for root); --login is the user of the device
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    #[arg(short, long, hide = true, value_name = "SECONDS")]
    waitforcert: Option<String>,
    #[arg(long, hide = true, value_parser = RefusedOption(NO_SERVER))]
    port: Option<Infallible>,
    #[arg(long, hide = true, value_parser = RefusedOption(NO_SERVER))]
    server: Option<Infallible>,
    #[arg(long, hide = true, value_parser = RefusedOption(NO_SERVER), num_args = 0..=1, default_missing_value = "")]
    centrallogging: Option<Infallible>,
    #[arg(short = 'a', hide = true, value_parser = RefusedOption(NO_A))]
    a: Option<Infallible>,
}

const NO_SERVER: &str = "--server, --port and --centrallogging are for devices that get their catalogs from a Puppet \
                         server, which devgate does not use: compile the catalog and pass it to --apply";

const NO_A: &str = "-a is ambiguous in Puppet, and devgate does not have it: use --apply";

impl PuppetOptions {
    /// Switches to the requested user.
    ///
    /// # Errors
    /// There is no such user, or this user cannot switch to another.
    pub(super) fn switch_user(&self) -> Result<(), Failure> {
        let Some(name) = &self.user else {
            return Ok(());
        };
        let user = User::from_name(name).with_context(|| format!("--user {name}"))?;
        let Some(user) = user else {
            return Err(Failure::other(format!(
                "--user {name}: this node has no such user; --login is the user of the device"
            )));
        };
        if user.uid == Uid::effective() {
            return Ok(());
        }
        if !Uid::effective().is_root() {
            return Err(Failure::other(format!(
                "--user {name}: only root can run as another user; --login is the user of the device"
            )));
        }
        let groups = std::ffi::CString::new(name.as_str()).map_err(io::Error::from)?;
        initgroups(&groups, user.gid).context("--user")?;
        setgid(user.gid).context("--user")?;
        setuid(user.uid).context("--user")
    }
}
