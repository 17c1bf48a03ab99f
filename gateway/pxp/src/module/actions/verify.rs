//! `verify`: can the targets be reached, and do they take the credentials.

use devgate_core::failure::Failure;
use devgate_engine::operations::Reached;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::module::actions::{Action, CommandContext, Operation, Whom};

/// Tests that targets can be reached and that their credentials are accepted.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Verify {
    #[serde(flatten)]
    whom: Whom,
}

impl Action for Verify {
    const NAME: &str = "verify";
    const ITEMS: &str = "verify";
    type Value = Reached;

    fn operation(self, _: &CommandContext) -> Result<(Whom, Operation), Failure> {
        Ok((self.whom, Operation::Verify))
    }
}
