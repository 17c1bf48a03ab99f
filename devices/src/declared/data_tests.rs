//! Tests of the forms for data with a simulated device that records its requests.

use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use devgate_schemas::{Facts, Name, Value};
use devgate_transports::error::Refused;
use devgate_transports::{
    Context, DataRequest, DataStore, Document, Mode, Resources, RetryBudget, Transport,
};
use serde_json::{Value as Json, json};

use super::DeclaredType;
use crate::fake::EventLog;
use crate::file_node::{Problems, YamlFile};
use crate::source::{FamilyProtocol, ProtocolKind};
use crate::{Change, Changes, CurrentState, ResourceFilter, ResourceType, SecretVisibility};

/// A device with documents. It refuses requests whose body contains a word. With `is_atomic`, it accepts or
/// refuses all changes of a set together.
#[derive(Debug, Default)]
struct Store {
    documents: Vec<(&'static str, Json)>,
    refuses: &'static str,
    /// The status of a refusal.
    status: &'static str,
    is_atomic: bool,
    sent: Mutex<Vec<String>>,
}

impl Store {
    fn record(&self, request: String) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.push(request);
    }

    fn sent(&self) -> Vec<String> {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.clone()
    }
}

#[async_trait]
impl DataStore for Store {
    async fn get(&self, _: &Context<'_>, what: &str) -> devgate_transports::Result<Document> {
        self.record(format!("GET {what}"));
        let mut documents = self.documents.iter();
        let found = documents.find(|(name, _)| *name == what);
        let document = found.map_or(Json::Null, |(_, document)| document.clone());
        Ok(Document::Data(document.into()))
    }

    async fn set(
        &self,
        _: &Context<'_>,
        request: &DataRequest,
    ) -> devgate_transports::Result<Document> {
        let body = request.body.as_ref().map(Value::reveal_json);
        let body = match body {
            Some(Json::String(text)) => text,
            body => body.unwrap_or_default().to_string(),
        };
        let method = request.method.as_deref().unwrap_or("-");
        self.record(format!("{method} {} {body}", request.what));
        if self.refuses.is_empty() || !body.contains(self.refuses) {
            return Ok(Document::Text(String::new()));
        }
        Err(devgate_transports::Error::Refused(Box::new(Refused {
            peer: "fake:80".to_owned(),
            request: method.to_owned(),
            status: self.status.to_owned(),
            message: String::new(),
            hint: String::new(),
            details: None,
            busy: false,
        })))
    }

    async fn all_or_nothing(&self, _: &Context<'_>) -> devgate_transports::Result<bool> {
        Ok(self.is_atomic)
    }
}

#[async_trait]
impl Transport for Store {
    async fn verify(&self, _: &Context<'_>) -> devgate_transports::Result<()> {
        Ok(())
    }

    async fn facts(&self, _: &Context<'_>) -> devgate_transports::Result<Facts> {
        Ok(Facts::new())
    }

    async fn close(self: Box<Self>, _: &Context<'_>) {}

    fn data_store(&self) -> Option<&dyn DataStore> {
        Some(self)
    }
}

const USER: &str = "
name: user
desc: An account.
attributes:
  name: { type: 'String[1]', behaviour: namevar, desc: Its name. }
  ensure: { type: 'Enum[present, absent]', default: present, desc: Whether it is there. }
  group: { type: 'Optional[String]', desc: Its group. }
  key: { type: 'Optional[String]', sensitive: true, desc: A secret. }
";

const REST: &str = "
rest:
  join: users
  get:
    each: { ask: /groups, values: { GROUP: name } }
    ask: '/groups/{{ GROUP }}/users'
    values: { NAME: name, ID: id }
    join: [{ ask: /keys, values: { KEY: key, OF: users }, on: { ID: OF } }]
    keep: NAME != 'root'
    resource: { name: NAME, group: GROUP, key: KEY }
  create: { method: PATCH, path: /users, body: { users: [{ name: name, key: key, of: group }] } }
  delete: { method: DELETE, path: '/users/{{ name }}', body: { name: name } }
";

const NETCONF: &str = "
netconf:
  get: { ask: running, rows: users/user, values: { NAME: name }, resource: { name: NAME } }
  create: |
    <users xmlns=\"urn:u\"><user><name>{{ name }}</name>
    {% if key is changed(is.key) %}<key>{{ key }}</key>{% endif %}</user></users>
  delete: <users xmlns=\"urn:u\"><user nc:operation=\"delete\"><name>{{ name }}</name></user></users>
";

const OVSDB: &str = "
ovsdb:
  get: { ask: User, values: { NAME: name }, resource: { name: NAME } }
  create:
    - { insert: User, as: row, row: { name: name, key: key } }
    - { mutate: Group, where: { name: group }, add: { users: '[row]' } }
  delete: { delete: User, where: { name: name } }
";

fn read(form: &str, protocol_kind: ProtocolKind) -> (Option<DeclaredType>, Problems) {
    let file = YamlFile::parse("user.yaml", &format!("{USER}{form}")).expect("it is YAML");
    let mut problems = Problems::new();
    let read = |_: &str| Ok(String::new());
    let protocol = FamilyProtocol::without_dialect(protocol_kind);
    let kind = DeclaredType::read(&file.top(), Some(&protocol), &read, &mut problems);
    (kind, problems)
}

fn user(form: &str, protocol_kind: ProtocolKind) -> DeclaredType {
    let (kind, problems) = read(form, protocol_kind);
    assert_eq!(problems, []);
    kind.expect("nothing is wrong")
}

/// Returns a change that creates or removes an account with a secret.
fn change(kind: &DeclaredType, name: &str, ensure: &str) -> (Name, Change) {
    let given = json!({ "ensure": ensure, "group": "staff", "key": "<canary>" });
    let Value::Hash(given) = Value::from(given) else {
        panic!("it is a hash")
    };
    let desired = kind.schema().desire(Some(name), given);
    let (name, should) = desired.expect("it fits");
    let is = match ensure {
        "present" => CurrentState::Absent,
        _ => {
            let mut is = should.clone();
            is.set("ensure", Value::from("present"));
            CurrentState::Present(is)
        }
    };
    let should = (ensure == "present").then_some(should);
    (name, Change { is, should })
}

/// Applies changes, and returns the failures and the events.
async fn set(
    kind: &DeclaredType,
    store: &Store,
    changes: Vec<(Name, Change)>,
) -> (Vec<String>, Vec<String>) {
    let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
    let failed = {
        let ctx = Context::new("it", &events, &retry_budget);
        let ctx = ctx.with_transport(store);
        let resources = Resources::new(kind.schema(), Mode::Enforce);
        let ctx = ctx.for_resources(&resources);
        let changes: Changes = changes.into_iter().collect();
        let outcome = kind.provider().set(&ctx, changes).await;
        outcome.expect("the session stays");
        let failed = resources.failed().into_iter();
        failed.map(|failure| failure.title).collect()
    };
    (failed, events.into_lines())
}

fn all(kind: &DeclaredType, names: &[&str]) -> Vec<(Name, Change)> {
    let changes = names.iter().map(|name| change(kind, name, "present"));
    changes.collect()
}

#[tokio::test]
async fn rows_come_of_each_and_join_and_only_where_they_can_matter() {
    let store = Store {
        documents: vec![
            ("/groups", json!([{ "name": "a/b" }, { "name": "c" }])),
            (
                "/groups/a%2Fb/users",
                json!([{ "name": "root", "id": 0 }, { "name": "eve", "id": 7 }]),
            ),
            ("/groups/c/users", json!([])),
            ("/keys", json!([{ "key": "canary", "users": [3, 7] }])),
        ],
        ..Store::default()
    };
    let kind = user(REST, ProtocolKind::Rest);
    let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
    let ctx = Context::new("it", &events, &retry_budget);
    let ctx = ctx.with_transport(&store);
    let rows = kind
        .provider()
        .get(&ctx, ResourceFilter::All)
        .await
        .expect("rows");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].get("group"), Some(&Value::from("a/b")));
    assert_eq!(
        rows[0].get("key"),
        Some(&Value::from("canary").into_sensitive())
    );
    let paths = ["/groups", "/groups/a%2Fb/users", "/groups/c/users", "/keys"];
    assert_eq!(store.sent(), paths.map(|what| format!("GET {what}")));
}

#[tokio::test]
async fn requests_that_differ_in_one_list_go_as_one_and_what_is_refused_fails_alone() {
    let kind = user(REST, ProtocolKind::Rest);
    let store = Store {
        refuses: "wrong",
        status: "422 Unprocessable Entity",
        ..Store::default()
    };
    let (failed, events) = set(&kind, &store, all(&kind, &["a", "b", "wrong", "c"])).await;
    assert_eq!(failed, ["wrong"]);
    let body = |names: &[&str]| {
        let users = names
            .iter()
            .map(|name| json!({ "name": name, "key": "<canary>", "of": "staff" }));
        format!(
            "PATCH /users {}",
            json!({ "users": users.collect::<Vec<_>>() })
        )
    };
    let expected = [
        body(&["a", "b", "wrong", "c"]),
        body(&["a", "b"]),
        body(&["wrong", "c"]),
        body(&["wrong"]),
        body(&["c"]),
    ];
    assert_eq!(store.sent(), expected);
    assert!(!events.concat().contains("canary"), "{events:?}");
}

#[tokio::test]
async fn an_absent_resource_counts_as_deleted() {
    let kind = user(REST, ProtocolKind::Rest);
    let store = Store {
        refuses: "eve",
        status: "404 Not Found",
        ..Store::default()
    };
    let gone = vec![change(&kind, "eve/../adam", "absent")];
    let (failed, events) = set(&kind, &store, gone).await;
    assert_eq!(failed, Vec::<String>::new());
    assert_eq!(events, ["notice: Deleted: eve/../adam"]);
    let expected = r#"DELETE /users/eve%2F..%2Fadam {"name":"eve/../adam"}"#;
    assert_eq!(store.sent(), [expected]);
    let missing = vec![change(&kind, "eve", "present")];
    assert_eq!(set(&kind, &store, missing).await.0, ["eve"]);
}

#[tokio::test]
async fn xml_goes_as_one_configuration_with_its_secrets_escaped() {
    let kind = user(NETCONF, ProtocolKind::Netconf);
    let store = Store {
        is_atomic: true,
        ..Store::default()
    };
    let (failed, events) = set(&kind, &store, all(&kind, &["a&b", "c"])).await;
    assert_eq!(failed, Vec::<String>::new());
    let sent = store.sent().concat();
    let sent: String = sent.split_whitespace().collect();
    assert!(
        sent.contains("<name>a&amp;b</name><key>&lt;canary&gt;</key>"),
        "{sent}"
    );
    assert_eq!(sent.matches("<users").count(), 1, "{sent}");
    assert!(!events.concat().contains("canary"), "{events:?}");
    let store = Store::default();
    set(&kind, &store, all(&kind, &["a", "c"])).await;
    assert_eq!(store.sent().len(), 2, "one by one where a part may stand");
}

#[tokio::test]
async fn operations_go_in_one_transaction_under_names_of_their_own() {
    let kind = user(OVSDB, ProtocolKind::Ovsdb);
    let store = Store {
        is_atomic: true,
        ..Store::default()
    };
    set(&kind, &store, all(&kind, &["a", "b"])).await;
    let operations = |name: &str, row: &str| {
        [
            json!({ "insert": "User", "as": row, "row": { "name": name, "key": "<canary>" } }),
            json!({ "mutate": "Group", "where": { "name": "staff" }, "add": { "users": [row] } }),
        ]
    };
    let expected = [operations("a", "row_1"), operations("b", "row_2")].concat();
    assert_eq!(store.sent(), [format!("edit  {}", Json::from(expected))]);
    let (name, mut nowhere) = change(&kind, "a", "present");
    if let Some(should) = &mut nowhere.should {
        should.set("group", Value::Undef);
    }
    let error = kind.render(&name, &nowhere, None, SecretVisibility::Redacted);
    let error = error
        .expect_err("it would be about every group")
        .to_string();
    assert!(error.contains("which rows are meant"), "{error}");
}

#[test]
fn the_rendering_of_a_change_shows_no_secret() {
    for (form, protocol_kind) in [
        (REST, ProtocolKind::Rest),
        (NETCONF, ProtocolKind::Netconf),
        (OVSDB, ProtocolKind::Ovsdb),
    ] {
        let kind = user(form, protocol_kind);
        let (name, change) = change(&kind, "a", "present");
        let lines = |secrets| {
            kind.render(&name, &change, None, secrets)
                .expect("lines")
                .concat()
        };
        let redacted = lines(SecretVisibility::Redacted);
        assert!(redacted.contains("[value redacted]"), "{redacted}");
        assert!(!redacted.contains("canary"), "{redacted}");
        assert!(lines(SecretVisibility::InClear).contains("canary"));
    }
}

#[test]
fn an_invalid_form_is_reported_with_its_location() {
    for (form, protocol_kind, expected) in [
        (
            REST,
            ProtocolKind::Netconf,
            "has another form: expected `netconf`",
        ),
        (REST, ProtocolKind::ReadOnly, "this protocol only reads"),
        (
            "panos: { get: { ask: /a }, create: { method: put, xpath: /a } }",
            ProtocolKind::Panos,
            "panos.create.method: expected `set`, `edit` or `delete`",
        ),
        (
            "rest: { get: { ask: / } }",
            ProtocolKind::Rest,
            "rest.get: missing key `values`",
        ),
        (
            "rest: { get: { ask: /, values: { A: 'b//c' } } }",
            ProtocolKind::Rest,
            "rest.get.values.A: `b//c` is no path",
        ),
        (
            "ovsdb: { create: { inset: User } }",
            ProtocolKind::Ovsdb,
            "unknown key `inset`; did you mean `insert`?",
        ),
        (
            "ovsdb: { create: { insert: User, as: key } }",
            ProtocolKind::Ovsdb,
            "`key` stands for something else here",
        ),
    ] {
        let (_, problems) = read(form, protocol_kind);
        let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|one| one.contains(expected)), "{found:#?}");
    }
    let path = REST.replace("'/users/{{ name }}'", "'/users/{{ key }}'");
    let kind = user(&path, ProtocolKind::Rest);
    let (name, change) = change(&kind, "a", "absent");
    let error = kind.render(&name, &change, None, SecretVisibility::Redacted);
    let error = error.expect_err("a secret in a path").to_string();
    assert!(
        error.contains("a secret does not belong in a path"),
        "{error}"
    );
}
