//! Tests of values with several lines, and of question marks.

use std::sync::Arc;

use devgate_schemas::{Name, Value};
use devgate_transports::{Context, Mode, Resources, RetryBudget};

use super::DeclaredType;
use crate::fake::{EventLog, FakeSession};
use crate::file_node::{Problems, YamlFile};
use crate::source::{FamilyProtocol, ProtocolKind};
use crate::{Change, CurrentState, ResourceType, SecretVisibility};

const BANNER: &str = "
name: banner
desc: A banner.
attributes:
  name: { type: 'Enum[login, motd]', behaviour: namevar, desc: Which one. }
  ensure: { type: 'Enum[present, absent]', default: present, desc: Whether it is there. }
  text: { type: 'Optional[String]', desc: What it says. }
  key: { type: 'Optional[String]', sensitive: true, desc: A secret. }
  note: { type: 'Optional[String]', desc: A line. }
canonicalize: { text: text | trim }
cli:
  texts: [text, key]
  get:
    command: show banner
    textfsm: |
      Value NAME (\\S+)
      Value List TEXT (.*)

      Start
        ^banner ${NAME}$$ -> Text

      Text
        ^EOF$$ -> Record Start
        ^${TEXT}$$
    resource: { name: NAME, text: TEXT | join('\\n') }
  create: |
    banner {{ name }}
    {{ key if key else text }}
    EOF
    {% if note is not none %}
    note {{ note }}
    {% endif %}
  delete: no banner {{ name }}
";

const DIALECT: &str = r#"{"text": [{"opens": "^banner (login|motd)$", "end": "EOF"}]}"#;

fn read(dialect: &str) -> (Option<DeclaredType>, Problems) {
    let file = YamlFile::parse("banner.yaml", BANNER).expect("it is YAML");
    let mut problems = Problems::new();
    let protocol = FamilyProtocol {
        kind: ProtocolKind::Commands,
        dialect: Some(Arc::new(serde_json::from_str(dialect).expect("a dialect"))),
    };
    let read = |_: &str| Ok(String::new());
    let kind = DeclaredType::read(&file.top(), Some(&protocol), &read, &mut problems);
    (kind, problems)
}

fn banner() -> DeclaredType {
    let (kind, problems) = read(DIALECT);
    assert_eq!(problems, []);
    kind.expect("nothing is wrong")
}

fn change(kind: &DeclaredType, attribute: &str, value: &str) -> (Name, Change) {
    let given = [(attribute, Value::from(value))].into_iter().collect();
    let (name, should) = kind.schema().desire(Some("motd"), given).expect("it fits");
    let change = Change {
        is: CurrentState::Absent,
        should: Some(should),
    };
    (name, change)
}

#[tokio::test]
async fn a_value_of_several_lines_is_typed_as_a_text() {
    let kind = banner();
    let session = FakeSession::default();
    let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
    let resources = Resources::new(kind.schema(), Mode::Enforce);
    let ctx = Context::new("sw1", &events, &retry_budget);
    let ctx = ctx.with_transport(&session);
    let ctx = ctx.for_resources(&resources);
    let changes = [change(&kind, "text", "One\n  two?\n\nhostname evil")];
    let mut provider = kind.provider();
    let set = provider.set(&ctx, changes.into_iter().collect());
    set.await.expect("nothing was refused");
    let typed = [
        "configure",
        "banner motd",
        "One",
        "  two?",
        "",
        "hostname evil",
        "EOF",
    ];
    assert_eq!(session.typed(), typed);
}

#[test]
fn a_text_is_read_as_it_is_typed() {
    let kind = banner();
    let rows = kind
        .parse("banner motd\nOne\n  two\nEOF\n", None)
        .expect("it fits");
    assert_eq!(rows[0].get("text"), Some(&Value::from("One\n  two")));
    // A text of several lines has a canonical form, too.
    let (_, Change { should, .. }) = change(&kind, "text", "One\n  two\n");
    let mut should = should.expect("it is wanted");
    assert_eq!(kind.canonical(&mut should).len(), 0);
    assert_eq!(should.get("text"), Some(&Value::from("One\n  two")));
}

#[test]
fn no_line_of_a_secret_text_is_shown() {
    let kind = banner();
    let (name, change) = change(&kind, "key", "canary one\ncanary two");
    let lines = |secrets| kind.render(&name, &change, None, secrets).expect("lines");
    let redacted = "Sensitive [value redacted]";
    assert_eq!(
        lines(SecretVisibility::Redacted),
        ["banner motd", redacted, redacted, "EOF"]
    );
    assert_eq!(
        lines(SecretVisibility::InClear),
        ["banner motd", "canary one", "canary two", "EOF"]
    );
}

#[test]
fn what_cannot_be_typed_is_refused_with_the_attribute() {
    let kind = banner();
    for (attribute, value, expected) in [
        (
            "text",
            "One\nEOF\nreload",
            "`text` of banner[motd] holds `EOF`, which ends the text: nothing was sent",
        ),
        (
            "text",
            "EOF",
            "`text` of banner[motd] holds `EOF`, which ends the text",
        ),
        (
            "text",
            "a\tb",
            "`text` of banner[motd] holds '\\t', which a command line",
        ),
        (
            "note",
            "a\nreload",
            "`note` of banner[motd] holds '\\n', which a command line",
        ),
        (
            "note",
            "why?",
            "`note` of banner[motd] holds '?', which a command line",
        ),
        (
            "key",
            "one\nEOF",
            "holds a value with `EOF`, which ends the text",
        ),
    ] {
        let (name, change) = change(&kind, attribute, value);
        let error = kind.render(&name, &change, None, SecretVisibility::Redacted);
        let error = error.expect_err("refused").to_string();
        assert!(error.contains(expected), "{error}");
        if attribute != "key" {
            let should = change.should.expect("it is wanted");
            let error = ResourceType::check(&kind, &name, &should);
            let error = error.expect_err("refused").to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}

#[test]
fn a_question_mark_is_typed_where_the_dialect_has_a_key_for_it_or_needs_none() {
    for key in ["ctrl-v", "none"] {
        let with_key = format!(r#"{{"literal": "{key}", "text""#);
        let (kind, _) = read(&DIALECT.replace(r#"{"text""#, &with_key));
        let kind = kind.expect("nothing is wrong");
        let (name, mut change) = change(&kind, "note", "why?");
        let should = change.should.as_mut().expect("it is wanted");
        should.set("text", Value::from("a"));
        let lines = kind.render(&name, &change, None, SecretVisibility::Redacted);
        let lines = lines.expect("lines");
        assert_eq!(lines.last().map(String::as_str), Some("note why?"), "{key}");
    }
}

#[test]
fn texts_need_a_dialect_that_has_them() {
    let (_, problems) = read("{}");
    let problems: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "banner.yaml:12:10: at cli.texts: the family's dialect has no `text`: expected the lines \
          that open a text of several lines, and what ends it"
        ]
    );
}
