//! Extracting facts from a device's answers, and reporting missing ones.

use devgate_schemas::{Facts, Value};
use serde_json::Value as Json;

use crate::{Context, Error, Result};

/// The position of a fact in an answer, and the fact's name. If several rows have the same name, the first one
/// with a value counts.
pub(crate) type FactRow = (&'static str, &'static str);

/// Sets facts from the texts and numbers of an answer. `source` names the request, for messages.
pub(crate) fn set_facts(
    ctx: &Context<'_>,
    facts: &mut Facts,
    answer: &Json,
    rows: &[FactRow],
    source: &str,
) {
    let mut absent = Vec::new();
    for (pointer, fact) in rows {
        if facts.get(fact).is_some() {
            continue;
        }
        let told = answer.pointer(pointer);
        match told
            .filter(|told| told.is_number() || told.as_str().is_some_and(|text| !text.is_empty()))
        {
            Some(told) => {
                absent.retain(|name| name != fact);
                facts.set(fact, Value::from(told.clone()));
            }
            None if !absent.contains(fact) => absent.push(fact),
            None => {}
        }
    }
    if !absent.is_empty() {
        ctx.notice(format!(
            "`{source}` does not provide the facts {}",
            absent.join(", ")
        ));
    }
}

/// Returns the result of a request for facts. If the device refuses it, reports that and returns `None`.
///
/// # Errors
/// Fails with any other error.
pub(crate) fn unless_refused<T>(
    ctx: &Context<'_>,
    asked: Result<T>,
    facts: &str,
) -> Result<Option<T>> {
    match asked {
        Ok(answer) => Ok(Some(answer)),
        Err(error @ (Error::Refused(_) | Error::CommandFailed { .. })) => {
            ctx.notice(format!("the facts {facts} could not be read: {error}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use devgate_schemas::{Event, EventSink};
    use serde_json::json;

    use super::*;
    use crate::RetryBudget;

    #[derive(Debug, Default)]
    struct RecordedEvents(Mutex<Vec<String>>);

    impl EventSink for RecordedEvents {
        fn emit(&self, event: Event) {
            self.0.lock().expect("no poison").push(event.message);
        }
    }

    #[test]
    fn what_is_there_is_taken_as_it_is_and_what_is_not_is_told() {
        let (events, retry_budget) = (RecordedEvents::default(), RetryBudget::new());
        let ctx = Context::new("sw1", &events, &retry_budget);
        let mut facts = Facts::new();
        let answer = json!({ "version": "1.2", "uptime": 12, "old_name": "sw1", "serial": "" });
        let rows = [
            ("/version", "os.release.full"),
            ("/uptime", "system_uptime.seconds"),
            ("/name", "networking.hostname"),
            ("/old_name", "networking.hostname"),
            ("/serial", "dmi.product.serial_number"),
        ];
        set_facts(&ctx, &mut facts, &answer, &rows, "show version");
        assert_eq!(
            Value::Hash(facts.into_hash()).to_json(),
            json!({
                "os": { "release": { "full": "1.2" } },
                "system_uptime": { "seconds": 12 },
                "networking": { "hostname": "sw1" },
            })
        );
        assert_eq!(
            *events.0.lock().expect("no poison"),
            ["`show version` does not provide the facts dmi.product.serial_number"]
        );
    }
}
