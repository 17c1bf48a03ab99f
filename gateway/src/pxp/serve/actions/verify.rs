//! `verify`: can the targets be reached, and do they take the credentials.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Action, Value, Whom, Work};
use crate::cli::{Ending, verify};

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

    async fn act(self, work: &Work<'_>) -> anyhow::Result<Ending> {
        let (_, targets) = self.whom.choose(work).await?;
        let concurrency = self.whom.concurrency(work);
        verify::verify(work.setting, &targets, concurrency, work.output).await
    }
}
