//! `devgate demo`: shows what devgate does, on the practice switch, without set-up.
//!
//! It runs the commands that it prints, on a project in a temporary folder.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Instant;
use std::{fs, io};

use clap::Args;
use devgate_core::failure::{ErrorContext, Failure};
use devgate_front::exit_status::ExitStatus;
use devgate_front::paint::Paint;
use devgate_front::printer::{self, Printer};
use devgate_practice::{PracticeSettings, PracticeSwitch};

/// Show what devgate does, on a built-in practice switch, in five seconds.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  devgate demo\n  devgate demo --keep tried")]
pub(super) struct Demo {
    /// Keep the demo project in this folder
    #[arg(long, value_name = "DIR")]
    keep: Option<std::path::PathBuf>,
}

/// The demo's project: path and text. `{port}` and `{key}` are the switch's.
const PROJECT: [(&str, &str); 5] = [
    (
        "inventory.yaml",
        include_str!("demo_project/inventory.yaml"),
    ),
    ("vlans.yaml", include_str!("demo_project/vlans.yaml")),
    ("known_hosts", "[127.0.0.1]:{port} {key}\n"),
    (
        "modules/demo/tasks/greeting.json",
        include_str!("demo_project/greeting.json"),
    ),
    (
        "modules/demo/tasks/greeting.sh",
        include_str!("demo_project/greeting.sh"),
    ),
];

/// A host key of no host: known_hosts contains it for the target that is refused.
const OTHER_KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f";

struct Step {
    words: &'static [&'static str],
    why: &'static str,
    /// Whether the command is expected to be refused.
    refused: bool,
}

const STEPS: [Step; 7] = [
    Step {
        words: &["verify", "-t", "switch"],
        why: "Test that it is reachable and accepts the credentials.",
        refused: false,
    },
    Step {
        words: &["facts", "-t", "switch"],
        why: "Collect its facts.",
        refused: false,
    },
    Step {
        words: &["task", "run", "demo::greeting", "-t", "switch", "whom=you"],
        why: "Run a remote task: it runs on this node, with the switch's connection info as _target.",
        refused: false,
    },
    Step {
        words: &[
            "device",
            "--target",
            "switch",
            "--apply",
            "vlans.yaml",
            "--noop",
        ],
        why: "Show a preview of the changes that vlans.yaml needs.",
        refused: false,
    },
    Step {
        words: &["device", "--target", "switch", "--apply", "vlans.yaml"],
        why: "Apply the changes.",
        refused: false,
    },
    Step {
        words: &["device", "--target", "switch", "--apply", "vlans.yaml"],
        why: "Apply them again: the switch is in the desired state, so nothing is sent.",
        refused: false,
    },
    Step {
        words: &["verify", "-t", "impostor"],
        why: "Connect to the same address with a wrong host key: the connection is refused.",
        refused: true,
    },
];

const TITLE: Paint = Paint::Bold;

impl Demo {
    /// Shows each step; `run` runs the command line with these words.
    ///
    /// # Errors
    /// The practice switch cannot be started, or its project cannot be written.
    pub(super) async fn run(
        self,
        printer: &Printer,
        run: impl AsyncFn(Vec<OsString>) -> Result<ExitStatus, Failure>,
    ) -> Result<ExitStatus, Failure> {
        let started = Instant::now();
        if let Some(folder) = &self.keep
            && fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
        {
            let message = format!(
                "{} is not empty: name a new folder, so that none of your files is lost",
                folder.display()
            );
            return Err(Failure::new("devgate/usage", message));
        }
        let practice = PracticeSwitch::start(PracticeSettings {
            hostname: "demo".to_owned(),
            ..PracticeSettings::default()
        })
        .await
        .context("cannot start the practice switch")?;
        let temporary = tempfile::tempdir().context("cannot create a temporary folder")?;
        let project = self.keep.as_deref().unwrap_or_else(|| temporary.path());
        write(project, &practice)
            .with_context(|| format!("cannot write to {}", project.display()))?;
        let address = practice.address();
        printer.line(format!(
            "A practice switch listens on {address}. It supports a small part of Cisco IOS, and keeps its \
             configuration.\n"
        ));
        let mut exit_status = ExitStatus::Success;
        for step in &STEPS {
            let Step {
                words,
                why,
                refused,
            } = step;
            printer.line(format!(
                "# {why}\n{TITLE}$ devgate {}{TITLE:#}",
                words.join(" ")
            ));
            let manifest = project.join("vlans.yaml");
            let words = words.iter().map(|&word| match word {
                "vlans.yaml" => manifest.as_os_str(),
                word => word.as_ref(),
            });
            let project = [
                "devgate".as_ref(),
                "--project".as_ref(),
                project.as_os_str(),
            ];
            let words = project.into_iter().chain(words).map(OsStr::to_owned);
            let status = run(words.collect()).await?;
            let expected = if *refused {
                ExitStatus::Failure
            } else {
                ExitStatus::Success
            };
            if let ExitStatus::Interrupted(_) = status {
                return Ok(status);
            }
            if status != expected {
                exit_status = ExitStatus::Failure;
            }
            printer.line("");
        }
        practice.stop().await;
        printer.line(format!(
            "The demo took {}. Next: `devgate practice` runs a switch to try your own commands on; `devgate --help` \
             lists all commands.",
            printer::seconds(started.elapsed())
        ));
        Ok(exit_status)
    }
}

fn write(project: &Path, practice: &PracticeSwitch) -> io::Result<()> {
    let port = practice.address().port().to_string();
    for (name, text) in PROJECT {
        let text = text
            .replace("{port}", &port)
            .replace("{key}", practice.host_key())
            .replace("{project}", &project.display().to_string());
        write_private(&project.join(name), &text)?;
    }
    write_private(
        &project.join("known_hosts_impostor"),
        &format!("[127.0.0.1]:{port} {OTHER_KEY}\n"),
    )
}

/// Writes a file that only its owner can read, because the inventory contains a password.
fn write_private(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))
}
