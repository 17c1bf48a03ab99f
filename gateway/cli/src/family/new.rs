//! `devgate family new`: makes the skeleton of a family.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use devgate_core::failure::{ErrorContext, Failure};
use devgate_devices::{Comparison, Family, Recording, Skeleton, UpdateExpected};
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;
use serde_json::json;

use crate::complete;

/// Make a new family that passes its test: a skeleton with comments that say what to do next
///
/// The family is made in the first folder of the module path, in NAME/devices/NAME/, with a resource type and its test
/// cases. Nothing that exists is changed. A recording of `devgate record` gives the prompt, the command that tells the
/// version, and a test case.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate family new acme --protocol ssh_cli\n  devgate family new acme --protocol ssh_cli \
                  --from recorded/sw1"
)]
pub struct New {
    /// Name of the family: lower-case letters, digits and _
    name: String,
    /// How its devices are reached: a name of `devgate transport list`
    #[arg(long, value_name = "PROTOCOL", add = complete::transports())]
    protocol: String,
    /// Begin with this recording of `devgate record`
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
}

impl New {
    pub(super) fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let name = &self.name;
        let recording = self.from.as_deref().map(Recording::read).transpose()?;
        let skeleton = Skeleton::new(name, &self.protocol, recording.as_ref())?;
        let modules = context.workspace.project().modulepath.first();
        let modules = modules.ok_or_else(|| {
            Failure::other("the module path is empty, so there is no place for a family: name a folder with --modulepath")
        })?;
        let folder = modules.join(name).join("devices").join(name);
        if folder.exists() {
            return Err(Failure::other(format!(
                "{} exists already, and is left as it is: choose another name, or remove it",
                folder.display()
            )));
        }
        for (path, text) in &skeleton.files {
            write(&folder.join(path), text)?;
        }
        let family = Family::load(&folder)?;
        family.test(UpdateExpected::Yes, Comparison::Whole)?;
        let shown = folder.display().to_string();
        let files: Vec<&str> = skeleton
            .files
            .iter()
            .map(|(path, _)| path.as_str())
            .collect();
        let document = json!({ "family": name, "folder": shown, "files": files });
        printer.document(&document, || {
            let files: String = files.iter().map(|file| format!("  {file}\n")).collect();
            format!(
                "{shown}:\n{files}\nNext steps:\n  devgate family test {name}          # its cases, which pass\n  \
                 devgate family test {name} --watch  # again whenever you save a file\n  devgate family lint {name}          \
                 # what is left open\n"
            )
        });
        Ok(ExitStatus::Success)
    }
}

/// Writes a new file, and makes its folder.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let shown = path.display();
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {shown}"))
}
