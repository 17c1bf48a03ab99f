//! `.pp` files: compared with Puppet's own result for the same file, and what is refused.

use std::collections::BTreeSet;

use devgate_schemas::Value;

use super::*;
use crate::manifest::catalog;

const DECLARATIONS: &str = include_str!("../../../../../tests/catalogs/declarations.pp");
const COMPILED: &str = include_str!("../../../../../tests/catalogs/declarations.json");

/// Formats each resource with its attributes, without the namevars that Puppet adds from titles.
fn resources(catalog: &Catalog) -> Vec<String> {
    let mut shown: Vec<String> = catalog
        .resources
        .iter()
        .map(|declared| {
            let mut attributes = declared.attributes.clone();
            for namevar in ["prefix", "next_hop", "asn", "neighbor"] {
                attributes.remove(namevar);
            }
            let attributes = Value::Hash(attributes).to_json();
            let attributes: std::collections::BTreeMap<String, serde_json::Value> =
                serde_json::from_value(attributes).expect("it is an object");
            let meta = &declared.meta;
            let line = declared.location.line;
            format!(
                "{} {attributes:?} noop {:?} audit {:?} alias {:?} level {:?} line {line}",
                declared.name, meta.noop, meta.audit, meta.aliases, meta.loglevel
            )
        })
        .collect();
    shown.sort();
    shown
}

fn relations(catalog: &Catalog) -> BTreeSet<String> {
    let relations = catalog.relations.iter();
    relations
        .map(|it| {
            format!(
                "{} {} {}",
                it.from,
                ["->", "~>"][usize::from(it.notifies)],
                it.to
            )
        })
        .collect()
}

#[test]
fn declarations_mean_what_puppet_makes_of_them() {
    let ours = read(DECLARATIONS, "declarations.pp").expect("all of it is read");
    let document = catalog::document(COMPILED).expect("it is a catalog");
    let theirs = catalog::read(document, "declarations.json", |_| None).expect("it is right");
    let without_line = |text: &String| text.rsplit_once(" line ").map(|(text, _)| text.to_owned());
    assert_eq!(
        resources(&ours)
            .iter()
            .map(without_line)
            .collect::<Vec<_>>(),
        resources(&theirs)
            .iter()
            .map(without_line)
            .collect::<Vec<_>>()
    );
    assert_eq!(relations(&ours), relations(&theirs));
    for declared in &ours.resources {
        let mut compiled = theirs.resources.iter();
        let compiled = compiled.find(|theirs| theirs.name == declared.name);
        let tags = &compiled.expect("it was compared").meta.tags;
        assert!(declared.meta.tags.is_subset(tags), "{declared:?} {tags:?}");
    }
}

/// Returns the problems of a text.
fn problems(text: &str) -> String {
    read(text, "a.pp").expect_err(text).to_string()
}

#[test]
fn what_needs_puppet_is_refused_by_name_with_its_place_and_a_way_out() {
    for (text, expected) in [
        ("class a { }", "1:1: the definition of a class"),
        ("define a { }", "1:1: the definition of a resource type"),
        ("node default { }", "1:1: the definition of a node"),
        ("function a() { }", "1:1: the definition of a function"),
        ("type A = String", "1:1: the definition of a data type"),
        ("class { 'a': }", "1:1: a class (`class { 'x': }`)"),
        ("include a", "1:1: a call of a function"),
        ("notice('x')", "1:1: a call of a function"),
        ("t { 'a': x => lookup('y') }", "1:15: a call of a function"),
        (
            "t { 'a': x => Deferred('y') }",
            "1:15: a call of a function",
        ),
        ("t { 'a': x => 'y'.upcase }", "1:18: a call of a method"),
        ("[1].each |$x| { }", "1:4: a call of a method"),
        ("if true { }", "1:1: a condition (`if`, `unless`)"),
        ("t { 'a': x => if true { 1 } }", "1:15: a condition"),
        ("case 1 { }", "1:1: a condition (`case`)"),
        ("$a = 1 ? { default => 2 }", "1:8: a selector"),
        ("$a = 1 == 2", "1:8: a comparison"),
        ("$a = !true", "1:6: a comparison"),
        ("$a = true and false", "1:11: a condition"),
        ("$a = 1 + 2", "1:8: a calculation"),
        ("$a = \"${1 + 2}\"", "1:11: a calculation"),
        ("$a += 1", "1:4: an assignment that adds"),
        (
            "[$a, $b] = [1, 2]",
            "1:1: an assignment to several variables",
        ),
        ("T <| |>", "1:3: a collector (`<| |>`)"),
        ("T <<| |>>", "1:3: a collector of exported resources"),
        ("@t { 'a': }", "1:1: a virtual resource"),
        ("@@t { 'a': }", "1:1: an exported resource"),
        ("T['a'] { x => 1 }", "1:1: an override of a resource"),
        ("t { 'a': x +> 1 }", "1:12: an attribute that is added to"),
        ("$a = $facts['os']", "1:6: a variable of Puppet's"),
        ("$a = $x::y", "1:6: a variable of Puppet's"),
        ("$a = Integer", "1:6: a data type as a value"),
        ("$a = /x/", "1:6: a regular expression"),
    ] {
        let problems = problems(text);
        assert!(
            problems.starts_with(&format!("a.pp:{expected}")),
            "{text}: {problems}"
        );
        assert!(
            problems.contains(" is not supported: "),
            "{text}: {problems}"
        );
        assert!(
            problems.ends_with("(--apply catalog.json)"),
            "{text}: {problems}"
        );
    }
}

#[test]
fn mistakes_are_told_with_line_and_column() {
    for (text, expected) in [
        ("t { 'a': x => $y }", "1:15: Unknown variable: 'y'"),
        ("$a = 1\n  $a = 2", "2:3: Cannot reassign variable '$a'"),
        (
            "t { 'a': x => 1, x => 2 }",
            "1:18: The attribute 'x' has already been set",
        ),
        (
            "t { 'a': x => 1, * => {x => 2} }",
            "1:18: The attribute 'x' has already been set",
        ),
        (
            "t { 10: }",
            "1:5: expected a title to be a text, or a list of texts, found a number",
        ),
        (
            "t { '': }",
            "1:5: expected a title to be a text, or a list of texts, found an empty text",
        ),
        (
            "t { x => 1 }",
            "1:7: expected a title with `:` behind it, found `=>`",
        ),
        (
            "t { 'a': x 1 }",
            "1:12: expected `=>` behind the attribute's name, found a number",
        ),
        (
            "t { 'a': x => 1 y => 2 }",
            "1:17: expected `,` behind the attribute",
        ),
        ("t { 'a': x => }", "1:15: expected a value, found `}`"),
        (
            "t { 'a': x => 10.9.0.0 }",
            "1:15: expected a number: addresses",
        ),
        ("t { 'a': x => 09 }", "1:15: expected a number"),
        ("t { 'a': x => 'y }", "1:15: the text is not closed by `'`"),
        (
            "t { 'a': x => \"y }",
            "1:15: the text is not closed by `\"`",
        ),
        ("t { 'a': x => \"${y\" }", "1:19: the text is not closed"),
        (
            "t { 'a': x => @(END) }\n  y",
            "1:15: the heredoc is not ended by a line `END`",
        ),
        ("/* a", "1:1: the comment is not closed"),
        ("t { 'a': } -> ", "1:15: expected a resource"),
        ("t { 'a': * => 1 }", "1:10: expected a hash of attributes"),
        (
            "$s = Sensitive('canary')\n$t = \"x${s}\"",
            "2:10: a text cannot hold a Sensitive value",
        ),
        ("$l = [1]\n$t = \"x$l\"", "2:8: a text cannot hold a list"),
        ("t { 'a': § => x }", "1:10: this character means nothing"),
    ] {
        let problems = problems(text);
        assert!(
            problems.starts_with(&format!("a.pp:{expected}")),
            "{text}: {problems}"
        );
        assert!(!problems.contains("canary"), "{text}: {problems}");
    }
    assert_eq!(
        problems("t { 'a': }\nt { ['b', 'a']: }"),
        "a.pp:2:5: Duplicate declaration: T[a] is already declared at (file: a.pp, line: 1); cannot redeclare"
    );
    let both = problems("$a = $x\n$b = $y");
    assert_eq!(
        both,
        "a.pp:1:6: Unknown variable: 'x'\na.pp:2:6: Unknown variable: 'y'"
    );
}

#[test]
fn no_text_makes_it_fail_otherwise_than_by_a_message() {
    let mut texts: Vec<String> = (0..DECLARATIONS.len())
        .filter(|&at| DECLARATIONS.is_char_boundary(at))
        .map(|at| DECLARATIONS[..at].to_owned())
        .collect();
    texts.extend(["[", "{", "(", "-", "t { [", "$a = {1 => "].map(|open| open.repeat(5000)));
    texts.extend(
        [
            "é",
            "@(",
            "@()",
            "@(\n",
            "$",
            "\"\\",
            "\"$é",
            "\"\\u",
            "::",
            "a::",
            "@(é)\né",
        ]
        .map(str::to_owned),
    );
    for text in texts {
        let _ = read(&text, "a.pp");
    }
}

#[test]
fn each_attribute_knows_where_it_stands() {
    let text = "T { b => 1 }\nt { default: d => 1;\n 'a': schedule => x,\n  * => { c => 2 } }";
    let catalog = read(text, "a.pp").expect("it can be read");
    let [declared] = catalog.resources.as_slice() else {
        panic!("{catalog:?}")
    };
    let at = |name: &str| declared.attribute_locations[name].to_string();
    let attribute_locations = ["b", "c", "d", "schedule"].map(at);
    assert_eq!(
        attribute_locations,
        ["a.pp:1:5", "a.pp:4:3", "a.pp:2:14", "a.pp:3:7"]
    );
    let message = declared.describe(&declared.problems[0]);
    assert!(
        message.starts_with("a.pp:3:7: T[a]: `schedule` is not known here"),
        "{message}"
    );
}
