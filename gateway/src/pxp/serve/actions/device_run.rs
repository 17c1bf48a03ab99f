//! `device_run`: devices are brought to a desired state.

use std::path::PathBuf;

use anyhow::bail;
use devgate_schemas::yaml;
use devgate_transports::Mode;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Action, Operation, Setting, Value, Whom};
use crate::device_run::{Options, Strict};
use crate::failure::Failure;
use crate::manifest::Manifest;
use crate::operations::{Apply, Rollback, Splay};
use crate::pxp::serve::report;
use crate::pxp::serve::schema::{flag, list, one_of, open, word};

#[derive(Deserialize)]
pub(super) struct DeviceRun {
    #[serde(flatten)]
    whom: Whom,
    manifest: Option<Json>,
    manifest_file: Option<PathBuf>,
    #[serde(default)]
    noop: bool,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    rollback: Rollback,
    busy: Option<String>,
}

impl Action for DeviceRun {
    const NAME: &str = "device_run";
    const ABOUT: &str = "Brings devices to the state of a manifest or of a compiled catalog";
    const ITEMS: &str = "device";

    fn input() -> Json {
        let busy = "What becomes of a device that another run is changing: `wait` (300 seconds, the \
                    default), `wait=SECONDS`, or `refuse`";
        json!({
            "manifest": open(
                "The manifest itself, {TYPE: {TITLE: {attribute: value}}}, or a catalog as Puppet \
                 compiles it; it is written to no disk",
                json!({}),
            ),
            "manifest_file": word(
                "Instead of `manifest`: its file on the node of this module (YAML, JSON or .pp), from \
                 the project's folder",
            ),
            "noop": flag("Only tell what would change"),
            "tags": list("Only resources with one of these tags", word("A tag")),
            "rollback": one_of(
                "When a device is brought back to where it was before the run (default: never)",
                &["never", "on-error"],
            ),
            "busy": {
                "type": "string", "description": busy, "pattern": "^(refuse|wait|wait=[0-9]{1,9})$",
            },
        })
    }

    fn value() -> Value {
        Value::Closed(report::properties())
    }

    fn operation(self, setting: &Setting) -> anyhow::Result<(Whom, Operation)> {
        let project = setting.workspace.project().root.clone();
        let text = self.manifest.as_ref().map(yaml::from_json);
        let file = self.manifest_file.map(|file| project.join(file));
        let manifest = match (text, file) {
            (Some(text), None) => Manifest::Text {
                name: "input.manifest",
                text,
            },
            (None, Some(file)) => Manifest::File(file),
            _ => {
                let message = "expected either `manifest` or `manifest_file`";
                bail!(Failure::new("devgate/invalid-input", message));
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
            splay: Splay::within(0),
            reports: None,
            project,
        };
        Ok((self.whom, Operation::Apply(apply)))
    }
}
