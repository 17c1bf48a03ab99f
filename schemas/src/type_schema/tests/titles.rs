//! Tests of titles: what patterns match and what they must not match.

use super::{given, of};
use crate::type_schema::TypeSchema;
use crate::{Resource, Value, yaml};

const SOFTWARE: &str = r"
name: software
desc: Software.
attributes:
  ensure: { type: 'Enum[present, absent]', desc: x, default: present }
  package: { type: String, desc: x, behaviour: namevar }
  manager: { type: String, desc: x, behaviour: namevar }
title_patterns:
  - { pattern: '^(?<package>.*[^-])-(?<manager>.*)$', desc: Where a hyphen is between them. }
  - { pattern: '^(?<package>.*)$', desc: Where only the package is given. }
";

#[test]
fn the_first_pattern_that_matches_takes_a_title_apart() {
    let software = of(SOFTWARE);
    let named = |title, attributes| {
        let (name, _) = software
            .desire(Some(title), given(attributes))
            .expect("it fits");
        Resource::from(name.namevars().clone())
            .inspect()
            .to_string()
    };
    assert_eq!(
        named("php-yum", "{}"),
        r#"{:package=>"php", :manager=>"yum"}"#
    );
    assert_eq!(
        named("php", "{manager: yum}"),
        r#"{:package=>"php", :manager=>"yum"}"#
    );
}

#[test]
fn a_title_alone_is_as_its_namevar_wants_it() {
    let named = |data_type: &str, title: &str| {
        let definition = format!(
            "{{name: x, desc: x, attributes: {{id: {{type: '{data_type}', desc: x, behaviour: namevar}}}}}}"
        );
        let name = of(&definition).name_of_title(title).expect("it is a title");
        name.namevars().get("id").cloned()
    };
    let nine = Some(Value::Integer(9));
    assert_eq!(named("Integer[1,4094]", "9"), nine);
    assert_eq!(named("Numeric", "9"), nine);
    assert_eq!(named("Float", "9.5"), Some(Value::Float(9.5)));
    assert_eq!(named("Boolean", "true"), Some(Value::Boolean(true)));
    for text in ["String", "Variant[String, Integer]", "Integer[10]"] {
        assert_eq!(named(text, "9"), Some(Value::from("9")), "{text}");
    }
}

#[test]
fn what_a_title_alone_leaves_open_is_as_ever() {
    let software = of(&SOFTWARE.replace(
        "manager: { type: String,",
        "manager: { type: String, default: yum,",
    ));
    let name = |title| software.name_of_title(title).expect("it is a title");
    assert_eq!(name("php"), name("php-yum"));
    assert_ne!(name("php"), name("php-gem"));
    assert_eq!(name("php").title(), "php");
}

#[test]
fn the_title_of_a_row_stands_for_its_namevars() {
    let software = of(SOFTWARE);
    let row = "{title: php-yum, package: php, manager: yum, ensure: present}";
    let name = software
        .check_row(&given(row).into())
        .expect("as in the document");
    assert_eq!(name.title(), "php-yum");
    let row = row.replace("php-yum", "php-gem");
    software
        .check_row(&given(&row).into())
        .expect_err("another manager");
}

#[test]
fn patterns_capture_namevars_and_nothing_else() {
    let problems = |definition: String| {
        let definition = yaml::parse(&definition).expect("YAML").to_value();
        let problems = TypeSchema::register(&definition).expect_err("it is wrong");
        problems.to_string()
    };
    assert_eq!(
        problems(SOFTWARE.replace("<manager>", "<maker>")),
        "`^(?<package>.*[^-])-(?<maker>.*)$` captures `maker`, which is not a namevar"
    );
    let (without, _) = SOFTWARE.split_once("title_patterns").expect("it has them");
    assert_eq!(
        problems(without.to_owned()),
        "a type with several namevars needs `title_patterns` that take a title apart"
    );
    assert_eq!(
        problems(format!("{without}title_patterns: x")),
        "`:title_patterns` must be an array, not `String`"
    );
}

/// Registers a type whose definition also has these lines.
fn with(lines: &str) -> Result<TypeSchema, String> {
    let text = format!("{}\n{lines}", super::ROUTE);
    let definition = yaml::parse(&text).expect("YAML").to_value();
    TypeSchema::register(&definition).map_err(|problems| problems.to_string())
}

#[test]
fn a_type_s_own_example_shows_what_a_title_looks_like() {
    let schema =
        with("example: { 10.9.0.0/16 table 7: { owner: me, metric: 20 } }").expect("a type");
    let example = schema.example();
    assert_eq!(example.title, "10.9.0.0/16 table 7");
    assert_eq!(example.attributes.get("metric"), Some(&Value::Integer(20)));
    let told = schema.parse_title("10.9.0.0/16").expect_err("no table");
    assert_eq!(
        told.to_string(),
        "the title \"10.9.0.0/16\" is not a valid title of `route`: a title looks like `10.9.0.0/16 table 7`"
    );
}

#[test]
fn an_example_that_is_no_resource_of_the_type_is_refused() {
    for (lines, expected) in [
        (
            "example: { nonsense: { owner: me } }",
            "the title \"nonsense\" is not a valid title of `route`",
        ),
        (
            "example: { 1.0.0.0/8 table 1: { ownr: me } }",
            "has no attribute `ownr`",
        ),
        (
            "example: { 1.0.0.0/8 table 1: {}, 1.0.0.0/8 table 2: {} }",
            "an example is one resource",
        ),
        (
            "example: text",
            "an example is `{TITLE: {attribute: value}}`, not String",
        ),
    ] {
        let told = with(lines).expect_err("it is wrong");
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn a_type_without_an_example_is_shown_as_far_as_its_schema_tells() {
    let derived = |text: &str| {
        let definition = yaml::parse(text).expect("YAML").to_value();
        TypeSchema::register(&definition).expect("a type").example()
    };
    let vlan = derived(
        "{name: v, desc: d, attributes: {id: {type: 'Integer[1, 4094]', behaviour: namevar}, \
         ensure: {type: 'Enum[present, absent]', default: present}, mode: {type: 'Enum[access, trunk]'}, \
         key: {type: String, sensitive: true}, free: {type: 'Optional[String]'}}, \
         title_patterns: ['\\A(?<id>\\d+)\\z']}",
    );
    assert_eq!(vlan.title, "1");
    assert_eq!(vlan.attributes.get("mode"), Some(&Value::from("trunk")));
    assert_eq!(vlan.open, ["key"]);
    let route = derived(super::ROUTE);
    assert_eq!(route.title, "<prefix> table 1");
    assert_eq!(route.open, ["prefix", "table"]);
}
