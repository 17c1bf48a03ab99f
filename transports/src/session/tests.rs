//! Tests of what providers report: messages, records, misuses.

use std::sync::{Mutex, PoisonError};

use devgate_schemas::{Event, EventSink, Level, TypeSchema, yaml};

use super::*;
use crate::RetryBudget;

#[derive(Default)]
struct RecordedEvents(Mutex<Vec<String>>);

impl EventSink for RecordedEvents {
    fn emit(&self, event: Event) {
        let line = format!(
            "{} {}: {}",
            event.level,
            event.subject.unwrap_or_default(),
            event.message
        );
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        events.push(line);
    }
}

impl RecordedEvents {
    /// Returns the messages, without durations.
    fn lines(self) -> Vec<String> {
        let events = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let timeless = |line: String| {
            let words = line.split(' ').map(|word| match word.parse::<f64>() {
                Ok(_) if word.contains('.') => "N",
                _ => word,
            });
            words.collect::<Vec<_>>().join(" ")
        };
        events.into_iter().map(timeless).collect()
    }
}

fn schema() -> TypeSchema {
    let definition = "{name: res, attributes: {name: {type: String, behaviour: namevar}, \
                      mtu: {type: 'Optional[Integer]'}, key: {type: 'Optional[String]', sensitive: true}}}";
    let definition = yaml::parse(definition).expect("YAML").to_value();
    TypeSchema::register(&definition).expect("a type")
}

fn resource(text: &str) -> devgate_schemas::Resource {
    match yaml::parse(text).expect("YAML").to_value() {
        devgate_schemas::Value::Hash(hash) => hash.into(),
        _ => panic!("a hash"),
    }
}

/// Returns the messages and the recorded failures of a provider's work on the resources `a` and `b`.
fn messages_of(work: impl FnOnce(&Context<'_>)) -> (Vec<String>, Vec<(String, String)>) {
    let (schema, events, retry_budget) = (schema(), RecordedEvents::default(), RetryBudget::new());
    let resources = Resources::new(&schema, Mode::Enforce).restricted_to(["a", "b"]);
    let ctx = Context::new("sw1", &events, &retry_budget);
    work(&ctx.for_resources(&resources));
    let failed = resources.failed().into_iter();
    let failed = failed
        .map(|failure| (failure.title, failure.message))
        .collect();
    (events.lines(), failed)
}

fn ended(outcome: Result<(), &str>) -> Result<(), String> {
    outcome.map_err(str::to_owned)
}

#[test]
fn a_block_has_the_lines_of_the_gem() {
    let (lines, failed) = messages_of(|ctx| {
        let block = ctx.block(ResourceAction::CREATING, &["a"]);
        block.context().warning("nearly full");
        assert!(block.end(ended(Ok(()))).is_some());
        let block = ctx.block(ResourceAction::UPDATING.quoted_message("Moving"), &["b"]);
        assert!(block.end(ended(Err("boom"))).is_none());
    });
    assert_eq!(
        lines,
        [
            "debug res[a]: Creating: Start",
            "warning res[a]: Creating: nearly full",
            "notice res[a]: Creating: Finished in N seconds",
            "debug res[b]: Moving: Start",
            "err res[b]: Moving: Failed after N seconds: boom",
        ]
    );
    assert_eq!(failed, [("b".to_owned(), "boom".to_owned())]);
}

#[test]
fn blocks_are_of_several_resources_or_fail_by_themselves() {
    let (lines, failed) = messages_of(|ctx| {
        let block = ctx.block(ResourceAction::FAILING, &["a", "b"]);
        assert!(block.end(ended(Ok(()))).is_none());
    });
    assert_eq!(
        lines,
        [
            "debug res[a, b]: Failing: Start",
            "warning res[a, b]: Failing: Finished failing in N seconds",
        ]
    );
    assert_eq!(failed.len(), 2);
}

#[test]
fn processing_reports_both_states_and_blocks_may_be_nested() {
    let (is, should) = (
        resource("{name: a, mtu: 1500}"),
        resource("{name: a, mtu: 9000}"),
    );
    let (lines, failed) = messages_of(|ctx| {
        let outer = ctx.processing("a", Some(&is), Some(&should));
        let about = outer.context();
        let inner = about.block(ResourceAction::UPDATING, &["a"]);
        inner.end(ended(Ok(())));
        about.info("still here");
        outer.end(ended(Ok(())));
    });
    assert_eq!(
        lines,
        [
            "debug res[a]: Processing: Starting processing of a from {:name=>\"a\", :mtu=>1500} to {:name=>\"a\", :mtu=>9000}",
            "debug res[a]: Updating: Start",
            "notice res[a]: Updating: Finished in N seconds",
            "info res[a]: Processing: still here",
            "notice res[a]: Processing: a: attribute 'mtu' changed from 1500 to 9000",
            "notice res[a]: Processing: Finished processing a in N seconds: {:name=>\"a\", :mtu=>9000}",
        ]
    );
    assert_eq!(failed, []);
}

#[test]
fn actions_and_changes_have_the_lines_of_the_gem_and_no_secret() {
    let should = resource("{name: a, mtu: 9000, key: canary}");
    let (lines, failed) = messages_of(|ctx| {
        ctx.processed("a", Some(&resource("{name: a}")), Some(&should));
        ctx.report_action("Moved", &["b"]);
        ctx.report_action("Counted", &["a", "b"]);
        ctx.log_about(Level::Info, &["b"], "it is slow");
        ctx.unchanged(&["b"]);
    });
    assert_eq!(
        lines[0],
        "notice res: a: attribute 'mtu' changed from nil to 9000"
    );
    assert_eq!(
        lines[1],
        "notice res: a: attribute 'key' changed from nil to Sensitive [value redacted]"
    );
    assert_eq!(
        lines[3..],
        [
            "notice res: Moved: b",
            "notice res: Counted: [\"a\", \"b\"]",
            "info res[b]: it is slow",
            "debug res: Unchanged: b",
        ]
    );
    assert!(
        lines.iter().all(|line| !line.contains("canary")),
        "{lines:?}"
    );
    assert_eq!(failed, []);
}

#[test]
fn unrequested_resources_are_an_error() {
    let (_, failed) = messages_of(|ctx| ctx.created("c"));
    let problem = "Managing resource outside of requested set: c".to_owned();
    assert_eq!(failed, [("c".to_owned(), problem)]);
}

#[test]
fn what_a_call_says_that_it_has_done_is_logged_when_it_is_confirmed() {
    let (schema, events, retry_budget) = (schema(), RecordedEvents::default(), RetryBudget::new());
    let resources = Resources::new(&schema, Mode::Enforce).restricted_to(["a", "b"]);
    let resources = resources.keeping_claims();
    let ctx = Context::new("sw1", &events, &retry_budget);
    let ctx = ctx.for_resources(&resources);
    for title in ["a", "b"] {
        ctx.attribute_changed(title, "mtu", None, None, None);
    }
    ctx.report_action("Moved", &["a", "b"]);
    ctx.info("still here");
    ctx.confirm(&resources.claims(), |title| title == "b");
    assert!(resources.is_settled("a") && resources.is_settled("b"));
    assert_eq!(
        events.lines(),
        [
            "info res: still here",
            "notice res: b: attribute 'mtu' changed from nil to nil",
            "notice res: Moved: b",
        ]
    );
}

#[test]
fn reports_in_the_wrong_order_are_an_error() {
    let changed = |ctx: &Context<'_>| ctx.attribute_changed("a", "mtu", None, None, None);
    let (_, failed) = messages_of(|ctx| {
        changed(ctx);
        ctx.updated("a");
    });
    assert_eq!(failed, []);
    let (_, failed) = messages_of(|ctx| {
        ctx.updated("a");
        changed(ctx);
    });
    assert!(
        failed[0]
            .1
            .contains("before the end of the resource's action"),
        "{failed:?}"
    );
    let (_, failed) = messages_of(|ctx| {
        ctx.log_about(Level::Warning, &["a"], "odd");
        ctx.block(ResourceAction::UPDATING, &["a"])
            .end(ended(Ok(())));
    });
    assert!(failed[0].1.contains("must be opened before"), "{failed:?}");
}

#[test]
fn the_outcome_of_a_resource_is_known_once_it_is_reported() {
    let (schema, retry_budget) = (schema(), RetryBudget::new());
    let resources = Resources::new(&schema, Mode::Enforce).restricted_to(["a", "b"]);
    let ctx = Context::new("sw1", &devgate_schemas::NullSink, &retry_budget);
    let ctx = ctx.for_resources(&resources);
    let block = ctx.block(ResourceAction::UPDATING, &["a"]);
    assert!(!resources.is_settled("a"));
    block.end(ended(Err("boom")));
    assert!(resources.is_settled("a") && !resources.is_settled("b"));
}

#[test]
fn messages_have_levels_and_are_about_the_type() {
    let (lines, _) = messages_of(|ctx| {
        ctx.debug("d");
        ctx.info("i");
        ctx.notice("n");
        ctx.warning("Unexpected state detected, continuing in degraded mode.");
        ctx.err("e");
    });
    assert_eq!(
        lines,
        [
            "debug res: d",
            "info res: i",
            "notice res: n",
            "warning res: Unexpected state detected, continuing in degraded mode.",
            "err res: e",
        ]
    );
}

#[test]
fn a_provider_sees_its_type() {
    let (schema, retry_budget) = (schema(), RetryBudget::new());
    let resources = Resources::new(&schema, Mode::Enforce);
    let ctx = Context::new("sw1", &devgate_schemas::NullSink, &retry_budget);
    assert!(ctx.schema().is_none());
    let ctx = ctx.for_resources(&resources);
    let seen = ctx.schema().expect("it is called for a type");
    let attributes: Vec<&String> = seen.attributes().keys().collect();
    assert_eq!(attributes, ["name", "mtu", "key"]);
    assert!(!seen.is_ensurable() && !seen.has(devgate_schemas::Feature::Canonicalize));
}

#[test]
fn successful_processing_reports_each_different_attribute_once() {
    let should = resource("{name: a, mtu: 9000, key: canary}");
    let (schema, events, retry_budget) = (schema(), RecordedEvents::default(), RetryBudget::new());
    let resources = Resources::new(&schema, Mode::Enforce).restricted_to(["a"]);
    let ctx = Context::new("sw1", &events, &retry_budget);
    let ctx = ctx.for_resources(&resources);
    let is = resource("{name: a}");
    let block = ctx.processing("a", Some(&is), Some(&should));
    let (mtu, why) = (devgate_schemas::Value::Integer(9000), Some("jumbo"));
    block
        .context()
        .attribute_changed("a", "mtu", None, Some(&mtu), why);
    block.end(ended(Ok(())));
    let messages_of = resources.changes();
    let messages_of: Vec<_> = messages_of
        .iter()
        .map(|change| (change.attribute.as_str(), change.message.as_deref()))
        .collect();
    assert_eq!(messages_of, [("mtu", why), ("key", None)]);
    assert_eq!(resources.failed(), []);
    let lines = events.lines().join("\n");
    assert!(
        lines.contains("a: attribute 'key' changed from nil to Sensitive"),
        "{lines}"
    );
    assert!(!lines.contains("canary"), "{lines}");
}
