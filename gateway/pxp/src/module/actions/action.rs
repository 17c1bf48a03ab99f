//! What each action of the module says: its name, its schemas, and the operation that it is.

use devgate_core::failure::Failure;
use devgate_engine::operations::Operation;
use devgate_front::command_context::CommandContext;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::module::actions::targets::TargetSelection;

/// An action of ours; the value is its input, whose comment says what is done.
pub(super) trait Action: DeserializeOwned + JsonSchema {
    const NAME: &str;
    /// What its items are called in results.
    const ITEMS: &str;
    /// What its items have besides.
    const BESIDES: &[&str] = &[];
    /// What is said of its values.
    const VALUE: &str = "What came of it; with `_error` where it failed";
    /// What its values hold where it went well.
    type Value: JsonSchema;

    /// What it asks, and of whom.
    ///
    /// # Errors
    /// What is wrong with its input.
    fn operation(self, context: &CommandContext) -> Result<(TargetSelection, Operation), Failure>;
}
