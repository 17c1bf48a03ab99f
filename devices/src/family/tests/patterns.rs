//! Tests of the regular expressions in the built-in families.

use std::collections::BTreeSet;

use devgate_schemas::Regexp;
use serde_json::Value as Json;

use crate::family::folder::{self, Folder};

fn texts(value: &Json, into: &mut BTreeSet<String>) {
    match value {
        Json::String(text) => {
            into.insert(text.clone());
        }
        Json::Array(items) => items.iter().for_each(|item| texts(item, into)),
        Json::Object(members) => members.values().for_each(|item| texts(item, into)),
        _ => {}
    }
}

/// An expression that begins with `^` is only tried at the start of a line. Behind `(?=)`, it is tried everywhere.
#[test]
fn every_pattern_of_a_dialect_matches_the_lines_of_devices_as_if_it_were_tried_everywhere() {
    let (mut patterns, mut lines) = (BTreeSet::new(), BTreeSet::new());
    for name in folder::built_in() {
        for (path, text) in Folder::BuiltIn(name).built_in_files() {
            if path == "family.yaml" {
                let family: Json = devgate_schemas::yaml::from_str(text).expect("it is YAML");
                texts(&family["dialect"], &mut patterns);
            }
            lines.extend(text.lines());
        }
    }
    let mut matched = 0;
    for pattern in &patterns {
        let Ok(regexp) = Regexp::new(pattern) else {
            continue;
        };
        let everywhere = Regexp::new(&format!("(?=)(?:{pattern})")).expect("it compiles, too");
        // The whole of what a failure may begin with, wherever it is in a line.
        let own = pattern.trim_start_matches('^').replace('\\', "");
        let variants = [own.clone(), format!("x{own}"), format!("x\n{own}")];
        for line in lines
            .iter()
            .copied()
            .chain(variants.iter().map(String::as_str))
        {
            let found = regexp.is_match(line);
            assert_eq!(found, everywhere.is_match(line), "/{pattern}/ in {line:?}");
            matched += usize::from(found == Ok(true));
        }
    }
    assert!(matched > 0, "no pattern matches any line");
}
