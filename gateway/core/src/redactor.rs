//! Redaction: takes the events of one target, and masks its secrets in them.

use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;

use devgate_schemas::{Event, EventDisplay, EventSink, Level, Mask, Value};
use serde_json::{Map, Value as Json};

use crate::failure::Failure;
use crate::lock::locked;
use crate::results::{Collected, TargetResult};

/// A sink for events: the events of a run, or the sink for events that belong to no run.
pub trait Sink: Debug + Send + Sync {
    /// Whether this level is enabled.
    fn is_enabled(&self, level: Level) -> bool;

    /// Takes an event that may hold secrets.
    fn accept(&self, event: Event);

    /// Takes the end of the retries for a target.
    fn retries_ended(&self, target: &str);

    /// The secrets of all current targets.
    fn mask(&self) -> &Mutex<Mask>;

    /// The outer sink, which masks the secrets of a run, too.
    fn outer(&self) -> Option<&dyn Sink> {
        None
    }
}

/// The masks of a sink and of its outer sinks.
fn masks(sink: &dyn Sink) -> impl Iterator<Item = &Mutex<Mask>> {
    std::iter::successors(Some(sink), |sink| sink.outer()).map(Sink::mask)
}

/// Logs a line that is about no target.
pub fn log_line(sink: &dyn Sink, level: Level, message: String) {
    if sink.is_enabled(level) {
        sink.accept(Event {
            level,
            target: String::new(),
            subject: None,
            message,
            display: EventDisplay::Once,
        });
    }
}

/// Takes the events of one target. While it exists, its sink masks the secrets of the target everywhere.
#[derive(Debug)]
pub struct Redactor<'a> {
    sink: &'a dyn Sink,
    mask: Mutex<Mask>,
    /// The hashes of logged warnings, so that a reopened session does not repeat them.
    seen_warnings: Mutex<HashSet<u64>>,
    hasher: RandomState,
}

impl<'a> Redactor<'a> {
    /// Takes the events of a target. No secret is known yet.
    pub fn new(sink: &'a dyn Sink) -> Self {
        Self {
            sink,
            mask: Mutex::default(),
            seen_warnings: Mutex::default(),
            hasher: RandomState::new(),
        }
    }

    /// Masks these secrets of the target from now on.
    pub fn hide<'s>(&self, secrets: impl IntoIterator<Item = &'s Value>) {
        let mut own = locked(&self.mask);
        let mut merged = own.clone();
        merged.add(secrets);
        for all in masks(self.sink) {
            // The old secrets stay masked all the time.
            let mut all = locked(all);
            all.remove(&own);
            all.merge(&merged);
        }
        *own = merged;
    }

    /// A text without the secrets of all targets of the run.
    pub fn masked_text(&self, text: &str) -> String {
        locked(self.sink.mask()).text(text).into_owned()
    }

    /// Data in which these secrets are masked.
    pub fn masked_value(&self, value: Json) -> Json {
        locked(self.sink.mask()).json(value)
    }

    /// The result of the target, in which these secrets are masked.
    pub fn masked(&self, result: TargetResult) -> TargetResult {
        // Every field is named, so that a new one with a text is masked, too.
        let TargetResult {
            status,
            value,
            text,
            collected,
        } = result;
        TargetResult {
            status,
            value: self.masked_value(value),
            text: text.map(|text| self.masked_text(&text)),
            collected: collected.map(|collected| self.masked_collected(collected)),
        }
    }

    fn masked_collected(&self, collected: Collected) -> Collected {
        let Collected {
            at,
            age,
            from,
            because,
        } = collected;
        let because = because.map(|Failure { kind, msg, details }| Failure {
            kind,
            msg: self.masked_text(&msg),
            details: match self.masked_value(Json::Object(details)) {
                Json::Object(details) => details,
                _ => Map::new(),
            },
        });
        Collected {
            at,
            age,
            from,
            because,
        }
    }
}

/// The secrets of a finished target are not masked in events of others.
impl Drop for Redactor<'_> {
    fn drop(&mut self) {
        let own = locked(&self.mask);
        masks(self.sink).for_each(|all| locked(all).remove(&own));
    }
}

impl EventSink for Redactor<'_> {
    fn emit(&self, event: Event) {
        // Disabled levels are not masked, because masking costs time with many secrets.
        if !self.sink.is_enabled(event.level) {
            return;
        }
        if event.level == Level::Warning {
            let hash = self.hasher.hash_one((&event.subject, &event.message));
            if !locked(&self.seen_warnings).insert(hash) {
                return;
            }
        }
        self.sink.accept(event);
    }

    fn settled(&self, target: &str) {
        self.sink.retries_ended(target);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::events::{Events, silence};

    #[test]
    fn the_result_of_a_target_has_none_of_its_secrets() {
        let events = Events::new(Level::Debug, 0, None);
        let redactor = Redactor::new(&*events);
        redactor.hide(&[Value::from("canary").into_sensitive()]);
        let value = json!({"password": "canary", "_error": {"msg": "it said canary1"}});
        let result = redactor.masked(TargetResult::success(value).with_text("a canary".into()));
        assert_eq!(
            result.value,
            json!({"password": "Sensitive [value redacted]", "_error": {"msg": "it said ********1"}})
        );
        assert_eq!(result.text.as_deref(), Some("a ********"));
    }

    #[test]
    fn secrets_are_masked_in_all_sinks_until_the_target_ends() {
        let outer = silence();
        let events = Events::new(Level::Debug, 0, Some(Arc::clone(&outer)));
        let check = |expected| {
            for sink in [&*events as &dyn Sink, &*outer] {
                assert_eq!(locked(sink.mask()).text("a canary"), expected);
            }
        };
        for _ in 0..100 {
            let redactor = Redactor::new(&*events);
            redactor.hide(&[Value::from("canary").into_sensitive()]);
            check("a ********");
        }
        check("a canary");
    }
}
