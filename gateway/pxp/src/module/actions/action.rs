//! The parts of each action of the module: its name, its schemas, and its operation.

use devgate_core::failure::Failure;
use devgate_engine::operations::Operation;
use devgate_front::command_context::CommandContext;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::module::actions::targets::TargetSelection;

/// An action of devgate. The value is its input, whose comment describes the action.
pub(super) trait Action: DeserializeOwned + JsonSchema {
    const NAME: &str;
    /// The name of its items in results.
    const ITEMS: &str;
    /// Additional keys of its items.
    const ADDITIONAL_KEYS: &[&str] = &[];
    /// The description of its values.
    const VALUE: &str = "What came of it; with `_error` where it failed";
    /// The content of its values after a success.
    type Value: JsonSchema;

    /// The operation, and its targets.
    ///
    /// # Errors
    /// The input is invalid.
    fn operation(self, context: &CommandContext) -> Result<(TargetSelection, Operation), Failure>;
}
