//! Tests of parsing and writing.

use super::{BASE, Element};

fn parse(text: &str) -> Element {
    Element::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refusal(text: &str) -> String {
    Element::parse(text)
        .expect_err("it should be refused")
        .to_string()
}

#[test]
fn names_are_found_by_namespace_whatever_the_prefix() {
    for text in [
        "<rpc-reply xmlns='urn:ietf:params:xml:ns:netconf:base:1.0'><ok/></rpc-reply>",
        "\u{feff}\n<?xml version='1.0' encoding='UTF-8'?>\n<!-- x --><a:rpc-reply \
         xmlns:a='urn:ietf:params:xml:ns:netconf:base:1.0'> <a:ok></a:ok><?x y?></a:rpc-reply>\n",
    ] {
        let reply = parse(text);
        assert!(reply.is_base("rpc-reply"), "{reply:?}");
        assert!(reply.child("ok").expect("an ok").is_base("ok"));
    }
    let other = parse("<x:ok xmlns:x='urn:other'/>");
    assert!(!other.is_base("ok"));
}

#[test]
fn a_namespace_is_what_its_entities_stand_for() {
    let element = parse("<a xmlns='urn:a?b&amp;c=&lt;\n'><b/></a>");
    assert_eq!(element.namespace.as_deref(), Some("urn:a?b&c=< "));
    assert_eq!(parse(&element.to_string()), element);
}

#[test]
fn texts_stay_what_they_are() {
    let text = "<a k=\"&lt;&#10;&quot;\">&lt;b&gt; &amp; <![CDATA[<c>]]]]><![CDATA[>]]> &#228;&#13;<!-- no -->!</a>";
    let element = parse(text);
    assert_eq!(element.content(), "<b> & <c>]]> ä\r!");
    assert_eq!(element.attribute_value("k"), Some("<\n\""));
    let written = element.to_string();
    assert!(!written.contains("]]>"), "{written}");
    assert_eq!(parse(&written), element);
}

#[test]
fn a_devices_mistakes_are_passed_over() {
    let read = |text: &str| Element::received(text).map(|element| element.to_string());
    for (text, expected) in [
        ("<x:a y:b='1'/>", "<x:a y:b=\"1\"/>"),
        ("<a>&nbsp;&#8;</a>", "<a>\u{fffd}\u{fffd}</a>"),
        ("<a><b><c/><d/></a >", "<a><b><c/><d/></b></a>"),
        ("<a><b/></c></a>", "<a><b/></a>"),
    ] {
        assert_eq!(read(text).as_deref(), Ok(expected), "{text}");
        assert!(Element::parse(text).is_err(), "{text}");
    }
    for text in ["<a>", "<a><b></b>", "", "<a/><b/>", "<!DOCTYPE a><a/>"] {
        read(text).expect_err(text);
    }
}

#[test]
fn what_is_no_xml_or_forbidden_is_refused_without_quoting_values() {
    for (text, expected) in [
        ("", "no element"),
        ("<a>canary", "ends inside"),
        ("<a>canary</b>", "expected `</a>`"),
        ("<a/><b/>", "more than one"),
        ("canary", "outside of its elements"),
        ("<!DOCTYPE a [<!ENTITY x 'canary'>]><a>&x;</a>", "DOCTYPE"),
        ("<a>&canary;</a>", "an entity"),
        ("<a>&#xFFFFFFF;</a>", "does not exist"),
        ("<a>canary \u{1b}[2J</a>", "control character"),
        ("<x:a/>", "`x` is not declared"),
        ("<a y:canary='1'/>", "`y` is not declared"),
        ("<a b=canary/>", "malformed"),
        ("<a b='canary' b='c'/>", "malformed"),
        ("<a,b/>", "no name can have"),
        ("<a:b:c xmlns:a='u'/>", "no name can have"),
        ("<1/>", "no name can have"),
    ] {
        let refusal = refusal(text);
        assert!(refusal.contains(expected), "{text}: {refusal}");
        assert!(
            !refusal.contains("canary") || text.contains("&canary"),
            "{text}: {refusal}"
        );
    }
    assert!(refusal("<a>\n<b>\n</c></a>").contains("line 3"));
    let deep = "<a>".repeat(300);
    assert!(refusal(&deep).contains("too deep"));
}

#[test]
fn what_users_write_may_be_several_elements_and_stays_in_its_namespaces() {
    let elements = Element::parse_all("<a xmlns='urn:a'/><b nc:operation='delete'><c/></b>")
        .expect("well-formed");
    assert_eq!(elements.len(), 2);
    let message = Element::in_namespace(BASE, "config")
        .with(elements)
        .to_string();
    let read = parse(&message);
    assert_eq!(read.child("a").and_then(Element::namespace), Some("urn:a"));
    assert_eq!(read.child("b").and_then(Element::namespace), None);
    assert_eq!(read.at(&["b", "c"]).and_then(Element::namespace), None);
    Element::parse_all("</config><config>").expect_err("nothing breaks out of its place");
    assert_eq!(Element::parse_all(" <!-- nothing --> "), Ok(Vec::new()));
}

#[test]
fn a_part_keeps_the_prefixes_that_its_values_use() {
    let reply = parse(
        "<n:rpc-reply xmlns:n='urn:ietf:params:xml:ns:netconf:base:1.0' xmlns:t='urn:types'>\
         <n:data><a xmlns='urn:a'>t:b</a></n:data></n:rpc-reply>",
    );
    let data = reply
        .child("data")
        .expect("data")
        .clone()
        .taken_from(&reply);
    let alone = parse(&data.to_string());
    assert_eq!(alone.attribute_value("xmlns:t"), Some("urn:types"));
    assert_eq!(
        alone.at(&["a"]).map(Element::content).as_deref(),
        Some("t:b")
    );
    let parts = data.into_children();
    assert_eq!(parts[0].attribute_value("xmlns:t"), Some("urn:types"));
    assert_eq!(parts[0].attribute_value("xmlns"), Some("urn:a"));
}

#[test]
fn people_get_an_element_a_line_and_texts_as_they_are() {
    let text = "<a><b> x </b>\n\n<c><d/>mixed <e/></c><f>1\n2</f><g>  </g></a>";
    let expected = "<a>\n  <b> x </b>\n  <c><d/>mixed <e/></c>\n  <f>1\n2</f>\n  <g>  </g>\n</a>\n";
    assert_eq!(parse(text).to_pretty(), expected);
}

#[test]
fn containers_occur_once_and_entries_with_other_keys_stay_apart() {
    let joined = |texts: &[&str], levels, own| -> String {
        let elements = texts.iter().map(|text| parse(text)).collect();
        let joined = Element::joined(elements, levels, own);
        joined.iter().map(Element::to_string).collect()
    };
    let unit = |name: &str, unit: &str| {
        format!(
            "<interfaces><interface><name>{name}</name><unit><name>{unit}</name></unit></interface></interfaces>"
        )
    };
    let units = [unit("e1", "0"), unit("e2", "0"), unit("e1", "1")];
    let units: Vec<&str> = units.iter().map(String::as_str).collect();
    assert_eq!(
        joined(&units, 2, "unit"),
        "<interfaces><interface><name>e1</name><unit><name>0</name></unit><unit><name>1</name></unit></interface>\
         <interface><name>e2</name><unit><name>0</name></unit></interface></interfaces>"
    );
    let servers = [
        "<ntp><server>1</server></ntp>",
        "<ntp><server>2</server></ntp>",
    ];
    assert_eq!(
        joined(&servers, 1, "server"),
        "<ntp><server>1</server><server>2</server></ntp>"
    );
    let deleted = ["<a><b k='1'/></a>", "<a x='y'><b/></a>"];
    assert_eq!(
        joined(&deleted, 2, "b"),
        deleted.concat().replace('\'', "\"")
    );
    assert_eq!(joined(&servers, 0, "ntp"), servers.concat());
}
