//! The events of a program at work: messages, and the outcomes of resources.

use devgate_schemas::{Hash, Level, Mask, Value};
use devgate_transports::Context;

/// The keys of an event.
const KEYS: [&str; 7] = [
    "level",
    "message",
    "title",
    "action",
    "attribute",
    "is",
    "should",
];

const EXPECTED: &str = "an event is an object of `level` (debug, info, notice, warning, err), `message` \
                        and perhaps the `title` (or titles) that it is about, or of `action` (created, \
                        updated, deleted, unchanged, failed, attribute_changed), `title` and perhaps \
                        `message`";

/// Reports an event without these secrets.
///
/// # Errors
/// Fails with a description of valid events if this is none.
pub(super) fn report(ctx: &Context<'_>, mask: &Mask, event: &Value) -> Result<(), String> {
    report_valid(ctx, mask, event).ok_or_else(|| EXPECTED.to_owned())
}

/// Reports the events of a list, as results contain it.
///
/// # Errors
/// Fails with a description of valid events if one is invalid.
pub(super) fn report_all(ctx: &Context<'_>, mask: &Mask, events: &Value) -> Result<(), String> {
    let Value::Array(events) = events else {
        return Err("expected `events` as a list".to_owned());
    };
    events.iter().try_for_each(|event| report(ctx, mask, event))
}

fn report_valid(ctx: &Context<'_>, mask: &Mask, event: &Value) -> Option<()> {
    let event = event.as_hash()?;
    let is_valid_key = |key: &str| KEYS.contains(&key);
    if !event
        .iter()
        .all(|(key, _)| key.as_str().is_some_and(is_valid_key))
    {
        return None;
    }
    // A text is optional. Any other value makes the event invalid.
    let text = |key: &str| match event.get(key) {
        None | Some(Value::Undef) => Some(None),
        Some(value) => Some(Some(value.as_str()?)),
    };
    let titles = match event.get("title") {
        Some(Value::Array(titles)) => titles.iter().map(Value::as_str).collect(),
        _ => text("title").map(|title| title.into_iter().collect::<Vec<_>>()),
    };
    let (titles, message) = (titles?, text("message")?);
    let message = message.map(|message| mask.text(message).into_owned());
    match (text("action")?, text("level")?) {
        (None, Some(level)) => {
            let (level, message) = (parse_level(level)?, message?);
            if titles.is_empty() {
                ctx.log(level, message);
            } else {
                ctx.log_about(level, &titles, message);
            }
        }
        (Some(action), None) if !titles.is_empty() => {
            report_action(ctx, mask, action, &titles, message.as_deref(), event)?;
        }
        (Some(_), None) => return None,
        (None, None) | (Some(_), Some(_)) => return None,
    }
    Some(())
}

fn report_action(
    ctx: &Context<'_>,
    mask: &Mask,
    action: &str,
    titles: &[&str],
    message: Option<&str>,
    event: &Hash,
) -> Option<()> {
    match (action, message) {
        ("created", message) => ctx.report_action(message.unwrap_or("Created"), titles),
        ("updated", message) => ctx.report_action(message.unwrap_or("Updated"), titles),
        ("deleted", message) => ctx.report_action(message.unwrap_or("Deleted"), titles),
        ("unchanged", _) => ctx.unchanged(titles),
        ("failed", message) => {
            let message = message?;
            titles.iter().for_each(|title| ctx.failed(title, message));
        }
        ("attribute_changed", message) => {
            let &[title] = titles else { return None };
            let value = |key: &str| event.get(key).cloned().map(|value| mask.value(value));
            let (is, should) = (value("is"), value("should"));
            let attribute = event.get("attribute")?.as_str()?;
            ctx.attribute_changed(title, attribute, is.as_ref(), should.as_ref(), message);
        }
        _ => return None,
    }
    Some(())
}

fn parse_level(name: &str) -> Option<Level> {
    Some(match name {
        "debug" => Level::Debug,
        "info" => Level::Info,
        "notice" => Level::Notice,
        "warning" => Level::Warning,
        "err" => Level::Err,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use devgate_core::lock::locked;
    use devgate_schemas::{Event, EventSink, TypeSchema, yaml};
    use devgate_transports::{Mode, Resources, RetryBudget};
    use serde_json::json;

    use super::*;

    #[derive(Default)]
    struct EventRecorder(Mutex<Vec<String>>);

    impl EventSink for EventRecorder {
        fn emit(&self, event: Event) {
            let subject = event.subject.unwrap_or_default();
            let line = format!("{} {subject}: {}", event.level, event.message);
            locked(&self.0).push(line);
        }
    }

    /// Returns the messages of an event, and the titles that failed by it.
    fn report_one(event: serde_json::Value) -> (Result<(), String>, Vec<String>, Vec<String>) {
        let definition =
            "{name: port, desc: x, attributes: {name: {type: String, behaviour: namevar}}}";
        let definition = yaml::parse(definition).expect("YAML").to_value();
        let schema = TypeSchema::register(&definition).expect("a type");
        let resources = Resources::new(&schema, Mode::Enforce).restricted_to(["a", "c"]);
        let (recorder, retry_budget) = (EventRecorder::default(), RetryBudget::new());
        let ctx = Context::new("panel", &recorder, &retry_budget);
        let mask = Mask::new(&[Value::from("canary").into_sensitive()]);
        let outcome = report(&ctx.for_resources(&resources), &mask, &Value::from(event));
        let failed = resources
            .failed()
            .into_iter()
            .map(|one| one.title)
            .collect();
        (outcome, locked(&recorder.0).clone(), failed)
    }

    #[test]
    fn messages_and_actions_are_reported_like_those_of_any_provider_without_secrets() {
        for (event, line) in [
            (
                json!({"level": "info", "message": "hello"}),
                "info port: hello",
            ),
            (
                json!({"level": "warning", "message": "got canary", "title": "a"}),
                "warning port[a]: got ********",
            ),
            (
                json!({"action": "created", "title": "a"}),
                "notice port: Created: a",
            ),
            (
                json!({"action": "updated", "title": "a", "message": "Moved"}),
                "notice port: Moved: a",
            ),
            (
                json!({"action": "unchanged", "title": "a"}),
                "debug port: Unchanged: a",
            ),
            (
                json!({"level": "info", "message": "hello", "title": ["a", "c"]}),
                "info port[a, c]: hello",
            ),
            (
                json!({"action": "created", "title": ["a", "c"]}),
                "notice port: Created: [\"a\", \"c\"]",
            ),
            (
                json!({"action": "attribute_changed", "title": "a", "attribute": "x", "is": 1, "should": 2}),
                "notice port: a: attribute 'x' changed from 1 to 2",
            ),
        ] {
            let (outcome, lines, failed) = report_one(event);
            assert_eq!((outcome, failed), (Ok(()), Vec::new()));
            assert_eq!(lines, [line]);
        }
        let (_, lines, failed) =
            report_one(json!({"action": "failed", "title": "a", "message": "no"}));
        assert_eq!(
            (lines, failed),
            (vec!["err port[a]: no".to_owned()], vec!["a".to_owned()])
        );
        let (outcome, _, failed) = report_one(json!({"action": "deleted", "title": "b"}));
        assert_eq!((outcome, failed), (Ok(()), vec!["b".to_owned()]));
    }

    #[test]
    fn an_invalid_event_is_refused_and_reports_nothing() {
        for event in [
            json!("hello"),
            json!({}),
            json!({"level": "loud", "message": "x"}),
            json!({"level": "info"}),
            json!({"level": "info", "message": 5}),
            json!({"level": "info", "message": "x", "titel": "a"}),
            json!({"action": "created"}),
            json!({"action": "created", "title": []}),
            json!({"action": "created", "title": ["a", 1]}),
            json!({"action": "attribute_changed", "title": ["a", "c"], "attribute": "x"}),
            json!({"action": "failed", "title": "a"}),
            json!({"action": "painted", "title": "a"}),
            json!({"action": "created", "level": "info", "title": "a"}),
        ] {
            let (outcome, lines, _) = report_one(event.clone());
            assert!(outcome.is_err() && lines.is_empty(), "{event}: {lines:?}");
        }
    }
}
