//! `device_run`: brings devices to a desired state.

use std::path::PathBuf;

use devgate_core::failure::Failure;
use devgate_engine::device_run::{Options, Strict};
use devgate_engine::manifest::Manifest;
use devgate_engine::operations::{Apply, Operation, Rollback, Splay};
use devgate_front::command_context::CommandContext;
use devgate_schemas::derived::each;
use devgate_schemas::{Report, yaml};
use devgate_transports::Mode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::module::actions::action::Action;
use crate::module::actions::targets::TargetSelection;

/// Brings devices to the state of a manifest or of a compiled catalog.
#[derive(Deserialize, JsonSchema)]
pub(super) struct DeviceRun {
    #[serde(flatten)]
    selection: TargetSelection,
    /// The manifest itself, {TYPE: {TITLE: {attribute: value}}}, or a catalog as Puppet compiles it; it is
    /// written to no disk.
    manifest: Option<Map<String, Json>>,
    /// Instead of `manifest`: its file on the node of this module (YAML, JSON or .pp), from the project's
    /// folder.
    #[schemars(length(min = 1))]
    manifest_file: Option<PathBuf>,
    /// Only tell what would change.
    #[serde(default)]
    noop: bool,
    /// Only resources with one of these tags.
    #[serde(default)]
    #[schemars(inner(length(min = 1)), transform = each("A tag"))]
    tags: Vec<String>,
    /// When a device is brought back to where it was before the run.
    #[serde(default)]
    rollback: Rollback,
    /// What becomes of a device that another run is changing: `wait` (300 seconds, the default),
    /// `wait=SECONDS`, or `refuse`.
    #[schemars(regex(pattern = "^(refuse|wait|wait=[0-9]{1,9})$"))]
    busy: Option<String>,
}

impl Action for DeviceRun {
    const NAME: &str = "device_run";
    const ITEMS: &str = "device";
    type Value = Report;

    fn operation(self, context: &CommandContext) -> Result<(TargetSelection, Operation), Failure> {
        let project = context.workspace.project().root.clone();
        let text = self
            .manifest
            .map(|manifest| yaml::from_json(&manifest.into()));
        let file = self.manifest_file.map(|file| project.join(file));
        let manifest = match (text, file) {
            (Some(text), None) => Manifest::Text {
                name: "input.manifest",
                text,
            },
            (None, Some(file)) => Manifest::File(file),
            _ => {
                let message = "expected either `manifest` or `manifest_file`";
                return Err(Failure::new("devgate/invalid-input", message));
            }
        };
        let busy = self.busy.and_then(|busy| busy.parse().ok());
        let apply = Apply {
            manifest,
            options: Options {
                mode: if self.noop { Mode::Noop } else { Mode::Enforce },
                tags: self.tags,
                strict: Strict::Error,
            },
            allow_empty: false,
            rollback: self.rollback,
            diff: false,
            busy: busy.unwrap_or_default(),
            splay: Splay::at_most(0),
            reports: None,
            project,
        };
        Ok((self.selection, Operation::Apply(apply)))
    }
}
