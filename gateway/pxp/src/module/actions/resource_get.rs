//! `resource_get`: reads resources of one type from devices.

use devgate_core::failure::Failure;
use devgate_engine::device_run::Strict;
use devgate_engine::operations::{DeviceResources, Inspect, Operation, Splay};
use devgate_front::command_context::CommandContext;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::module::actions::action::Action;
use crate::module::actions::targets::TargetSelection;

/// Reads the resources of a type, or one of them, from devices.
#[derive(Deserialize, JsonSchema)]
pub(super) struct ResourceGet {
    #[serde(flatten)]
    selection: TargetSelection,
    /// The resource type: frr_interface.
    #[serde(rename = "type")]
    #[schemars(length(min = 1))]
    type_name: String,
    /// The title of one resource (default: all of the type).
    #[schemars(length(min = 1))]
    title: Option<String>,
}

impl Action for ResourceGet {
    const NAME: &str = "resource_get";
    const ITEMS: &str = "device";
    type Value = DeviceResources;

    fn operation(self, _: &CommandContext) -> Result<(TargetSelection, Operation), Failure> {
        let inspect = Inspect {
            type_name: self.type_name,
            title: self.title,
            as_yaml: false,
            strict: Strict::Error,
            splay: Splay::at_most(0),
        };
        Ok((self.selection, Operation::Inspect(inspect)))
    }
}
