//! Tests of type schemas: definitions, desired resources, rows and titles.

mod titles;

use super::*;
use crate::{Hash, Resource, Value, yaml};

const ROUTE: &str = r"
name: route
desc: A route.
features: [remote_resource]
attributes:
  ensure: { type: 'Enum[present, absent]', default: present }
  prefix: { type: 'Pattern[/\A[0-9.]+\/\d+\z/]', behaviour: namevar }
  table: { type: Integer, behaviour: namevar }
  metric: { type: 'Optional[Integer[1, 255]]' }
  key: { type: 'Optional[String[8]]', sensitive: true }
  seen: { type: 'Optional[String]', behaviour: read_only }
  owner: { type: String }
title_patterns: ['\A(?<prefix>\S+) table (?<table>\d+)\z']
";

fn schema() -> TypeSchema {
    TypeSchema::register(&yaml::parse(ROUTE).expect("YAML").to_value()).expect("a schema")
}

fn given(text: &str) -> Hash {
    match yaml::parse(text).expect("YAML").to_value() {
        Value::Hash(hash) => hash,
        _ => Hash::new(),
    }
}

#[test]
fn a_title_gives_the_namevars_with_their_types() {
    let (name, resource) = schema()
        .desire(
            Some("10.0.0.0/8 table 7"),
            given("{owner: me, key: canary-x}"),
        )
        .expect("it fits");
    assert_eq!(name.title(), "10.0.0.0/8 table 7");
    assert_eq!(resource.get("table"), Some(&Value::Integer(7)));
    assert_eq!(resource.get("ensure"), Some(&Value::from("present")));
    assert!(matches!(resource.get("key"), Some(Value::Sensitive(_))));
}

#[test]
fn everything_wrong_with_a_desired_resource_is_reported_without_secrets() {
    let wrong = schema()
        .desire(
            Some("10.0.0.0 table 7"),
            given("{metrik: 1, metric: 300, seen: x, key: canary}"),
        )
        .expect_err("it is wrong");
    assert_eq!(
        wrong.problems(),
        [
            "`route` has no attribute `metrik`; did you mean `metric`?",
            "Attempting to set `seen` read_only attribute value to `x`",
            "`prefix` expects a match for Pattern[/\\A[0-9.]+\\/\\d+\\z/], got '10.0.0.0'; \
             a title looks like `<prefix> table <table>`",
            "`metric` expects a value of type Undef or Integer[1, 255], got 300",
            "`key` expects a value of type Undef or String[8], got String",
            "The following mandatory attributes were not provided:\n    *  owner",
        ]
    );
    let wrong = schema()
        .desire(Some("nonsense"), Hash::new())
        .expect_err("no pattern takes it");
    assert_eq!(
        wrong.problems()[0],
        "the title \"nonsense\" is not a valid title of `route`: a title looks like `<prefix> table <table>`"
    );
}

#[test]
fn a_title_that_leaves_a_namevar_open_names_nothing() {
    let definition = ROUTE.replace(
        "title_patterns: [",
        r"title_patterns: ['\A(?<prefix>\S+)\z', ",
    );
    let definition = yaml::parse(&definition).expect("YAML").to_value();
    let schema = TypeSchema::register(&definition).expect("a schema");
    let desire = |attributes| schema.desire(Some("10.0.0.0/8"), given(attributes));
    let wrong = desire("{owner: me}").expect_err("no table");
    assert_eq!(
        wrong.problems(),
        ["`table` is missing: it names the resource; give it as an attribute"]
    );
    assert!(desire("{owner: me, table: 7}").is_ok());
}

#[test]
fn an_absent_resource_needs_no_properties() {
    schema()
        .desire(Some("10.0.0.0/8 table 7"), given("{ensure: absent}"))
        .expect("it fits");
}

#[test]
fn a_row_is_checked_and_named() {
    let row = |text| Resource::from(given(text));
    let name = schema()
        .check_row(&row(
            "{title: 1.0.0.0/8 table 2, prefix: 1.0.0.0/8, table: 2, owner: me}",
        ))
        .expect("it fits");
    assert_eq!(name.title(), "1.0.0.0/8 table 2");
    let wrong = |text| {
        schema()
            .check_row(&row(text))
            .expect_err("it is wrong")
            .to_string()
    };
    assert_eq!(
        wrong("{prefix: 1.0.0.0/8}"),
        "`route.get` did not return a value for the `table` namevar attribute"
    );
    assert_eq!(
        wrong("{prefix: 1.0.0.0/8, table: 2}"),
        "route[1.0.0.0/8 2]#get has not provided a title attribute."
    );
    assert_eq!(
        wrong("{title: 1.0.0.0/8 table 3, prefix: 1.0.0.0/8, table: 2}"),
        "route[1.0.0.0/8 table 3]#get has provided a title attribute which does not match all namevars.\n\
         Namevars which do not match: [:table]\n\
         Returned parsed title hash:  {:prefix=>\"1.0.0.0/8\", :table=>3}\n\
         Expected hash:               {:prefix=>\"1.0.0.0/8\", :table=>2}"
    );
    assert!(
        wrong("{title: nonsense, prefix: 1.0.0.0/8, table: 2}")
            .contains("do not match: [:prefix, :table]\nReturned parsed title hash:  {}\n")
    );
    assert_eq!(
        wrong("{title: 1.0.0.0/8 table 2, prefix: 1.0.0.0/8, table: 2, x: 1, metric: no}"),
        "Provider returned data that does not match the Type Schema for `route[1.0.0.0/8 table \
             2]`\n Unknown attribute:\n    * x\n Value type mismatch:\n    * metric: false (expects \
             a value of type Undef or Integer, got Boolean)"
    );
}

#[test]
fn a_wrong_definition_is_refused_with_every_problem() {
    let problems = TypeSchema::register(
        &yaml::parse(
            "name: x\nfeatures: [remote_resorce]\nattributes:\n  title: {type: String}\n  \
                 ensure: {type: String}\n  a: {type: String, behaviour: namevar}\n  \
                 b: {type: String, behaviour: namevar}\n",
        )
        .expect("YAML")
        .to_value(),
    )
    .expect_err("it is wrong");
    let problems: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
    assert_eq!(
        problems,
        [
            "must not define an attribute called `:title`",
            "`x.ensure` must be an `Enum[present, absent]`, not `String`",
            "unknown feature `remote_resorce`; did you mean `remote_resource`?",
            "a type with several namevars needs `title_patterns` that take a title apart",
        ]
    );
}

#[test]
fn namevars_name_a_resource_that_has_no_title() {
    let (name, _) = schema()
        .desire(None, given("{prefix: 10.0.0.0/8, table: 7, owner: me}"))
        .expect("it fits");
    assert_eq!(name.title(), "10.0.0.0/8 7");
    let wrong = schema()
        .desire(None, given("{table: 7, owner: me}"))
        .expect_err("it has no name");
    assert_eq!(wrong.problems(), ["expected a `title`, or prefix, table"]);
}

#[test]
fn a_resource_depends_by_itself_on_what_its_type_says() {
    let definition = r"
name: port
autorequire: { Bridge: $bridge, package: [openvswitch, ipset] }
autonotify: { vlan: $vlans }
attributes:
  name: { type: String, behaviour: namevar }
  bridge: { type: 'Optional[String]' }
  vlans: { type: 'Optional[Array[Integer]]' }
";
    let definition = yaml::parse(definition).expect("YAML").to_value();
    let schema = TypeSchema::register(&definition).expect("a schema");
    let related = |attributes: &str| {
        let (_, resource) = schema
            .desire(Some("p"), given(attributes))
            .expect("it fits");
        let related = schema.related(&resource);
        let told = related.map(
            |Related {
                 kind,
                 type_name,
                 title,
             }| format!("{kind:?} {type_name} {title}"),
        );
        told.collect::<Vec<_>>()
    };
    let always = ["Require package openvswitch", "Require package ipset"];
    assert_eq!(related("{}"), always);
    assert_eq!(
        related("{bridge: br0, vlans: [1, 2]}"),
        [
            &["Require bridge br0"],
            &always[..],
            &["Notify vlan 1", "Notify vlan 2"]
        ]
        .concat()
    );
}

#[test]
fn a_relation_to_what_an_unknown_attribute_says_is_refused() {
    let definition = "{name: port, autobefore: {bridge: $brigde}, autonotify: 7, attributes: {bridge: {type: String, behaviour: namevar}}}";
    let definition = yaml::parse(definition).expect("YAML").to_value();
    let problems = TypeSchema::register(&definition).expect_err("it is wrong");
    let told = problems.to_string();
    assert!(
        told.contains("there is no attribute `brigde`; did you mean `bridge`?"),
        "{told}"
    );
    assert!(told.contains("`autonotify` must be a hash"), "{told}");
}

fn of(definition: &str) -> TypeSchema {
    TypeSchema::register(&yaml::parse(definition).expect("YAML").to_value()).expect("a type")
}

#[test]
fn each_row_is_checked_by_itself_and_its_secrets_are_wrapped() {
    let row = "{title: 1.0.0.0/8 table 2, prefix: 1.0.0.0/8, table: 2, key: canary, metric: many}";
    let row = schema().read_row(given(row).into()).expect("it is named");
    assert_eq!(row.name.title(), "1.0.0.0/8 table 2");
    assert!(matches!(row.resource.get("key"), Some(Value::Sensitive(_))));
    let [doubt] = row.doubts.as_slice() else {
        panic!("{:?}", row.doubts)
    };
    assert!(
        doubt.contains("    * key: << redacted value >> expects"),
        "{doubt}"
    );
    assert!(doubt.contains("    * metric: many (expects"), "{doubt}");
    assert!(!doubt.contains("canary"), "{doubt}");
    // Without a table, the row could be any resource.
    let nameless = schema().read_row(given("{prefix: 1.0.0.0/8}").into());
    let nameless = nameless.expect_err("it has no table");
    assert!(nameless.to_string().ends_with("`table` namevar attribute"));
}

#[test]
fn mandatory_parameters_are_always_needed_and_attributes_of_what_is_to_be_present() {
    let definition = "{name: vm, attributes: {name: {type: String, behaviour: namevar}, ensure: {type: 'Enum[present, absent]'}, \
                      image: {type: String, behaviour: init_only}, size: {type: Integer}, \
                      by: {type: String, behaviour: parameter}, seen: {type: String, behaviour: read_only}}}";
    let missing = |definition: &str, attributes: &str| {
        let desired = of(definition).desire(Some("x"), given(attributes));
        desired.map_or_else(
            |wrong| wrong.problems().into_iter().map(str::to_owned).collect(),
            |_| Vec::new(),
        )
    };
    let parameters = "The following mandatory parameters were not provided:\n    *  by";
    let attributes =
        "The following mandatory attributes were not provided:\n    *  image, \n    *  size";
    assert_eq!(
        missing(definition, "{ensure: present}"),
        [parameters, attributes]
    );
    assert_eq!(missing(definition, "{ensure: absent}"), [parameters]);
    assert_eq!(missing(definition, "{}"), [parameters]);
    let without_ensure = definition.replace("ensure: {type: 'Enum[present, absent]'}, ", "");
    assert_eq!(missing(&without_ensure, "{by: me}"), [""; 0]);
}

#[test]
fn unsupported_parts_of_a_puppet_definition_are_reported_or_ignored() {
    let definition = "{name: address, desc: x, features: [canonicalize, custom_generate], \
                      attributes: {name: {type: String, desc: x, behaviour: namevar, xpath: '@name'}, ip: {type: String}}}";
    let definition = yaml::parse(definition).expect("YAML").to_value();
    let (schema, warnings) = TypeSchema::register_foreign(&definition).expect("a type");
    assert_eq!(schema.features(), [Feature::Canonicalize]);
    assert_eq!(
        warnings,
        [
            "`address.ip` has no documentation, add it using a `desc` key",
            "Unknown feature detected: [\"custom_generate\"]",
        ]
    );
    let problems = TypeSchema::register(&definition).expect_err("ours has no such things");
    assert_eq!(problems.iter().len(), 2, "{problems}");

    // Without patterns, a title is the first namevar, and rows need no title.
    let two = "{name: pair, desc: x, attributes: {a: {type: String, desc: x, behaviour: namevar}, \
               b: {type: String, desc: x, behaviour: namevar}}}";
    let definition = yaml::parse(two).expect("YAML").to_value();
    assert!(TypeSchema::register(&definition).is_err());
    let (schema, _) = TypeSchema::register_foreign(&definition).expect("a type");
    assert_eq!(
        schema.parse_title("x y").expect("a title").get("a"),
        Some(&Value::from("x y"))
    );
    let row = [("a", "x"), ("b", "y")].map(|(name, value)| (name, Value::from(value)));
    let row = Resource::from(row.into_iter().collect::<Hash>());
    assert_eq!(schema.read_row(row).expect("it has a name").doubts, [""; 0]);
}

#[test]
fn a_type_without_properties_is_asked_as_a_whole_if_it_wants_to_be_asked() {
    let definition = "{name: job, features: [custom_insync], attributes: {name: {type: String, behaviour: namevar}, \
                      force: {type: Boolean, behaviour: parameter, default: false}}}";
    assert!(of(definition).is_asked_as_a_whole());
    assert!(!of(&definition.replace("custom_insync", "canonicalize")).is_asked_as_a_whole());
    assert!(!of(&definition.replace(", behaviour: parameter", "")).is_asked_as_a_whole());
    let taken = definition.replace("force:", "rsapi_custom_insync_trigger:");
    let taken = TypeSchema::register(&yaml::parse(&taken).expect("YAML").to_value());
    let taken = taken.expect_err("the name is taken").to_string();
    assert!(
        taken.starts_with("`rsapi_custom_insync_trigger` cannot be specified"),
        "{taken}"
    );
}

#[test]
fn docs_stands_for_desc_where_there_is_only_one_of_them() {
    let docs =
        "{name: x, docs: ' A text. ', attributes: {a: {type: String, desc: x, behavior: namevar}}}";
    assert_eq!(of(docs).desc(), "A text.");
    let both = docs.replace("docs:", "desc: x, docs:");
    let both = TypeSchema::register(&yaml::parse(&both).expect("YAML").to_value());
    let both = both.expect_err("it has both").to_string();
    assert_eq!(both, "`x` has both `desc` and `docs`, prefer using `desc`");
}
