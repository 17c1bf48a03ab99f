//! Tests of the form for PAN-OS.

use devgate_schemas::{Hash, Value};
use serde_json::json;

use super::DeclaredType;
use crate::file_node::{Problems, YamlFile};
use crate::source::{FamilyProtocol, ProtocolKind};
use crate::{Change, CurrentState, ResourceType, SecretVisibility};

const ADDRESS: &str = "
name: address
desc: An address.
attributes:
  name: { type: 'String[1]', behaviour: namevar, desc: Its name. }
  ensure: { type: 'Enum[present, absent]', default: present, desc: Whether it is there. }
  ip: { type: 'Optional[String]', desc: Its network. }
  key: { type: 'Optional[String]', sensitive: true, desc: A secret. }
panos:
  get:
    ask: /config/shared/address
    rows: result/address/entry
    values: { NAME: '@name', IP: ip-netmask }
    resource: { name: NAME, ip: IP }
  create:
    method: set
    xpath: /config/shared/address/entry[@name='{{ name }}']
    element: <ip-netmask>{{ ip }}</ip-netmask>{% if key %}<key>{{ key }}</key>{% endif %}
  delete: { method: delete, xpath: \"/config/shared/address/entry[@name='{{ name }}']\" }
";

fn address() -> DeclaredType {
    let file = YamlFile::parse("address.yaml", ADDRESS).expect("it is YAML");
    let mut problems = Problems::new();
    let protocol = FamilyProtocol::without_dialect(ProtocolKind::Panos);
    let read = |_: &str| Ok(String::new());
    let kind = DeclaredType::read(&file.top(), Some(&protocol), &read, &mut problems);
    assert_eq!(problems, []);
    kind.expect("nothing is wrong")
}

fn lines(name: &str, secrets: SecretVisibility) -> Result<Vec<String>, String> {
    let kind = address();
    let given = Value::from(json!({ "ip": "192.0.2.0/24", "key": "a&b" }));
    let given: Hash = given.as_hash().cloned().expect("a hash");
    let (name, should) = kind.schema().desire(Some(name), given).expect("it fits");
    let change = Change {
        is: CurrentState::Absent,
        should: Some(should),
    };
    let lines = kind.render(&name, &change, None, secrets);
    lines.map_err(|error| error.to_string())
}

#[test]
fn entries_are_rows() {
    let answer = "<response status='success'><result><address><entry name='web'><ip-netmask>192.0.2.1</ip-netmask>\
                  </entry><entry name='db'/></address></result></response>";
    let rows = address().parse(answer, None).expect("rows");
    let rows = serde_json::to_value(&rows).expect("JSON");
    assert_eq!(
        rows,
        json!([{ "name": "web", "ip": "192.0.2.1", "ensure": "present" }, { "name": "db", "ensure": "present" }])
    );
    let nothing = "<response status='success' code='7'><result/></response>";
    assert_eq!(address().parse(nothing, None).expect("no rows"), []);
}

#[test]
fn a_change_is_an_element_at_an_xpath_and_its_name_cannot_lead_elsewhere() {
    let redacted = lines("web db", SecretVisibility::Redacted).expect("lines");
    assert_eq!(
        redacted,
        [
            "set /config/shared/address/entry[@name='web db']",
            "<ip-netmask>192.0.2.0/24</ip-netmask><key>Sensitive [value redacted]</key>",
        ]
    );
    let clear = lines("web db", SecretVisibility::InClear).expect("lines");
    assert!(clear[1].ends_with("<key>a&amp;b</key>"), "{}", clear[1]);
    let error = lines("x' or 'a'='a", SecretVisibility::Redacted).expect_err("another path");
    assert!(error.contains("does not name something"), "{error}");
}
