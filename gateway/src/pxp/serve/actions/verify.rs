//! `verify`: can the targets be reached, and do they take the credentials.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Action, Operation, Setting, Value, Whom};

#[derive(Deserialize)]
pub(super) struct Verify {
    #[serde(flatten)]
    whom: Whom,
}

impl Action for Verify {
    const NAME: &str = "verify";
    const ABOUT: &str = "Tests that targets can be reached and that their credentials are accepted";
    const ITEMS: &str = "verify";

    fn input() -> Json {
        json!({})
    }

    fn value() -> Value {
        Value::Closed(json!({}))
    }

    fn operation(self, _: &Setting) -> anyhow::Result<(Whom, Operation)> {
        Ok((self.whom, Operation::Verify))
    }
}
