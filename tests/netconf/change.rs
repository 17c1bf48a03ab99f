//! Changes: applied, refused, prevented, and rolled back.

use std::time::Duration;

use async_trait::async_trait;
use devgate_schemas::Value;
use devgate_transports::error::ChangeOutcome;
use devgate_transports::netconf::{
    Change, Check, Client, Datastore, DefaultOperation, Element, Operation,
};
use devgate_transports::{Context, DataRequest, DataStore, Document, Error, Result, Transport};

use crate::device::{Device, contact};

const SYSTEM: &str = "urn:ietf:params:xml:ns:yang:ietf-system";

/// Returns the device's answer to a change.
fn as_json(document: Document) -> serde_json::Value {
    match document {
        Document::Data(data) => data.to_json(),
        Document::Text(text) => panic!("it answers {text}"),
    }
}

#[tokio::test]
async fn every_kind_of_server_is_changed_and_holds_what_was_set() {
    for (name, expected) in [
        (
            "candidate",
            serde_json::json!({"committed": true, "confirmed": true, "saved": false}),
        ),
        (
            "old",
            serde_json::json!({"committed": true, "confirmed": true, "saved": false}),
        ),
        (
            "running",
            serde_json::json!({"committed": false, "confirmed": false, "saved": false}),
        ),
        (
            "startup",
            serde_json::json!({"committed": true, "confirmed": true, "saved": true}),
        ),
    ] {
        let device = Device::lease(name);
        let session = device.session().await;
        for text in ["first", "second &lt;&amp;&gt; ]]&gt;]]&gt; \u{e4}"] {
            let changed = session.set(&device.ctx(), &contact(text)).await;
            assert_eq!(as_json(changed.expect("a change")), expected, "{name}");
            let read = device.contact(&session, "running").await;
            assert_eq!(read, text, "{name}");
        }
        if name == "startup" {
            let saved = device.contact(&session, "startup").await;
            assert!(saved.starts_with("second"), "{saved}");
        }
        Box::new(session).close(&device.ctx()).await;
    }
}

#[tokio::test]
async fn a_lock_that_another_session_holds_is_reported_with_its_holder() {
    let device = Device::lease("candidate");
    let (holder, session) = (device.session().await, device.session().await);
    let ctx = device.ctx();
    let mut held = holder.hold(&ctx).await.expect("a session");
    let lock = Operation::lock(Datastore::Candidate);
    held.perform(&ctx, &lock).await.expect("a lock");
    let error = session.set(&ctx, &contact("x")).await.expect_err("locked");
    let text = error.to_string();
    let id = held.session_id().expect("a number");
    assert!(
        text.contains(&format!("session {id} of the device holds the lock")),
        "{text}"
    );
    assert!(text.contains("lock-denied"), "{text}");

    let other = Device::ctx(&device);
    let unlock = Operation::unlock(Datastore::Candidate);
    held.perform(&other, &unlock).await.expect("no lock");
}

/// A check that reports a fault, after it has verified that the change is there.
struct Fault<'a>(&'a Device, &'static str);

#[async_trait]
impl Check for Fault<'_> {
    async fn check(&self, _: &Context<'_>, _: &mut Client) -> Result<()> {
        let Self(device, expected) = self;
        let other = device.session().await;
        assert_eq!(device.contact(&other, "running").await, *expected);
        Err(Error::Unsupported("the neighbours are gone".into()))
    }
}

/// A check during which the session of the change is cut.
struct Cut<'a>(&'a Device);

#[async_trait]
impl Check for Cut<'_> {
    async fn check(&self, _: &Context<'_>, _: &mut Client) -> Result<()> {
        self.0.fault("sever");
        Ok(())
    }
}

fn change(text: &str) -> Change {
    Change {
        config: vec![
            Element::in_namespace(SYSTEM, "system").with([Element::new("contact").text(text)]),
        ],
        default_operation: DefaultOperation::Merge,
    }
}

/// Waits until the running configuration has the `expected` contact or the time is over, and returns the
/// contact.
async fn contact_becomes(device: &Device, expected: &str) -> String {
    let session = device.session().await;
    for _ in 0..100 {
        if device.contact(&session, "running").await == expected {
            break;
        }
        tokio::task::yield_now().await;
    }
    device.contact(&session, "running").await
}

#[tokio::test]
async fn a_change_that_does_not_stand_its_check_is_taken_back() {
    for name in ["candidate", "old"] {
        let device = Device::lease(name);
        let session = device.session().await;
        let ctx = device.ctx();
        session
            .set(&ctx, &contact("before"))
            .await
            .expect("a change");
        let check = Fault(&device, "on probation");
        let result = session
            .change(&ctx, &change("on probation"), Some(&check))
            .await;
        let error = result.expect_err("it does not stand");
        let Error::UnconfirmedChange(unconfirmed) = &error else {
            panic!("another error: {error}")
        };
        let expected = if name == "candidate" {
            ChangeOutcome::RolledBack
        } else {
            ChangeOutcome::WillRollBack(Duration::from_secs(60))
        };
        assert_eq!(unconfirmed.outcome, expected, "{error}");
        assert!(
            error.to_string().contains("the neighbours are gone"),
            "{error}"
        );
        assert_eq!(contact_becomes(&device, "before").await, "before", "{name}");
        // Nothing of it remains for the next change.
        session
            .set(&ctx, &contact("after"))
            .await
            .expect("a change");
    }
}

#[tokio::test]
async fn a_change_whose_session_is_cut_is_taken_back_by_the_device() {
    let device = Device::lease("candidate");
    let session = device.session().await;
    let ctx = device.ctx();
    session
        .set(&ctx, &contact("before"))
        .await
        .expect("a change");
    let check = Cut(&device);
    let result = session.change(&ctx, &change("cut off"), Some(&check)).await;
    let error = result.expect_err("its session is gone");
    assert!(
        matches!(&error, Error::Interrupted(i) if i.changing),
        "{error}"
    );
    assert_eq!(contact_becomes(&device, "before").await, "before");
}

#[tokio::test]
async fn a_user_who_may_only_read_gets_an_error_and_leaves_no_lock() {
    let device = Device::lease("running");
    let (reader, session) = (device.session_of("oper", &[]).await, device.session().await);
    reader.get(&device.ctx(), "").await.expect("it may read");
    let result = reader.set(&device.ctx(), &contact("oper was here")).await;
    let error = result.expect_err("it may not write").to_string();
    assert!(
        error.contains("(access-denied)") && error.contains("`oper`"),
        "{error}"
    );
    session
        .set(&device.ctx(), &contact("admin"))
        .await
        .expect("no lock is left");
}

#[tokio::test]
async fn what_the_data_model_does_not_have_is_refused_with_its_location_and_discarded() {
    let device = Device::lease("candidate");
    let session = device.session().await;
    let ctx = device.ctx();
    session.set(&ctx, &contact("kept")).await.expect("a change");
    let wrong = DataRequest {
        body: Some(Value::from(format!(
            "<system xmlns='{SYSTEM}'><contact>lost</contact><colour>red</colour></system>"
        ))),
        ..DataRequest::default()
    };
    let error = session.set(&ctx, &wrong).await.expect_err("no such leaf");
    let Error::Refused(refused) = error else {
        panic!("another error: {error}")
    };
    assert_eq!(refused.status, "unknown-element", "{refused}");
    let details = refused.details.clone().expect("details").to_json();
    let path = details[0]["path"].as_str().expect("a path").to_owned();
    let text = refused.to_string();
    assert!(text.contains(&path) && text.contains("colour"), "{text}");
    for datastore in ["candidate", "running"] {
        assert_eq!(
            device.contact(&session, datastore).await,
            "kept",
            "{datastore}"
        );
    }
}

#[tokio::test]
async fn xpath_and_subtree_filters_find_the_same() {
    let device = Device::lease("candidate");
    let session = device.session().await;
    let ctx = device.ctx();
    session
        .set(&ctx, &contact("found"))
        .await
        .expect("a change");
    // This server knows only the prefix of the module itself.
    for what in [
        "<filter type='xpath' xmlns:sys='urn:ietf:params:xml:ns:yang:ietf-system' select='/sys:system'/>",
        "<filter type='xpath' xmlns:sys='urn:ietf:params:xml:ns:yang:ietf-system' select='/sys:system/contact'/>",
        "running <system xmlns='urn:ietf:params:xml:ns:yang:ietf-system'><contact/></system>",
        "state <filter><system xmlns='urn:ietf:params:xml:ns:yang:ietf-system'/></filter>",
    ] {
        let found = session.get(&ctx, what).await.expect("an answer");
        assert!(
            matches!(&found, Document::Text(text) if text.contains(">found</")),
            "{what}: {found:?}"
        );
    }
    let error = session.get(&ctx, "/ietf-system:system").await;
    let error = error.expect_err("another prefix").to_string();
    assert!(error.contains("xmlns:PREFIX"), "{error}");
    let error = session.get(&ctx, "/system/contact").await;
    let error = error.expect_err("no namespace").to_string();
    assert!(error.contains("`system` needs a prefix"), "{error}");
}
