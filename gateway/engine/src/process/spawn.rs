//! Starts processes: their command line and the environment that they inherit.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::{LazyLock, PoisonError, RwLock, RwLockReadGuard};

use devgate_core::budget;
use devgate_schemas::task::Exit;
use nix::errno::Errno;
use tokio::process::{Child, Command};

use super::Program;
use super::mark::{MARK, marked};

/// The prefixes of devgate's own settings, and of the parameters of a task that may be our caller. No child inherits
/// them.
const OWN_PREFIXES: [&str; 2] = ["DEVGATE_", "PT_"];

/// The variables of this process with such a prefix.
static NOT_INHERITED: LazyLock<Vec<OsString>> = LazyLock::new(|| {
    let names = std::env::vars_os().map(|(name, _)| name);
    names.filter(|name| !is_inherited(name)).collect()
});

/// Held shared while an executable file is written, and exclusively while a process is started. Otherwise a child that
/// is forked while the file is open for writing would keep it open for a moment, and executing the file would fail with
/// "text file busy".
static WRITING: RwLock<()> = RwLock::new(());

/// Returns a guard to hold while an executable file is written.
pub(crate) fn writing_executables() -> RwLockReadGuard<'static, ()> {
    WRITING.read().unwrap_or_else(PoisonError::into_inner)
}

/// Returns why the operating system did not start a program, with a hint.
pub fn start_failure(error: &io::Error) -> String {
    let hint = match error.kind() {
        io::ErrorKind::NotFound => ": is the interpreter in its first line (`#!`) installed?",
        io::ErrorKind::PermissionDenied => ": is it executable, and its file system?",
        // ENOEXEC has no `ErrorKind`.
        _ if error.raw_os_error() == Some(Errno::ENOEXEC as i32) => {
            ": a script begins with `#!` and its interpreter"
        }
        _ => "",
    };
    format!("it cannot be started ({error}){hint}")
}

/// Builds the command of a program with its environment.
pub(super) fn command(program: &Program, mark: &str) -> io::Result<Command> {
    let mut command = new_command(&program.argv)?;
    for name in NOT_INHERITED.iter() {
        command.env_remove(name);
    }
    command.env(MARK, marked(mark));
    for (name, value) in &program.environment {
        command.env(name, value.reveal());
    }
    Ok(command)
}

/// Builds a command from an executable and its arguments.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the file that may start children"
)]
pub(super) fn new_command(argv: &[OsString]) -> io::Result<Command> {
    let [file, arguments @ ..] = argv else {
        let message = "no program was named";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    let mut command = Command::new(file);
    command.args(arguments);
    Ok(command)
}

pub(super) fn spawn(command: &mut Command) -> io::Result<Child> {
    let _alone = WRITING.write().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn()?;
    child.id().into_iter().for_each(budget::restore_for);
    Ok(child)
}

/// Whether children inherit a variable of this process.
fn is_inherited(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    !OWN_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

pub(super) fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Code(code),
        (None, Some(signal)) => Exit::Signal(signal),
        (None, None) => Exit::Code(status.into_raw()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_settings_and_parameters_are_not_inherited() {
        for (name, inherited) in [
            ("PATH", true),
            ("HTTP_PT_X", true),
            ("PT_password", false),
            ("DEVGATE_PASSWORD", false),
        ] {
            assert_eq!(is_inherited(OsStr::new(name)), inherited, "{name}");
        }
    }
}
