//! The selection of targets by words.

use std::io::Read;

use super::*;
use crate::inventory::target_words;

#[test]
fn words_select_groups_targets_aliases_patterns_and_unlisted_targets_in_order_and_once() {
    let inventory = inventory(NETWORK);
    assert_eq!(
        names(&inventory, &["all"]),
        ["proxy1", "r2", "r1", "edge2.example.com"]
    );
    assert_eq!(names(&inventory, &["routers"]), ["r2", "r1"]);
    assert_eq!(
        names(&inventory, &["lab,r1", "edge"]),
        ["r1", "edge2.example.com"]
    );
    assert_eq!(names(&inventory, &["R2", "CORE1"]), ["r2", "r1"]);
    assert_eq!(
        names(&inventory, &["{r,proxy}[12] edge*"]),
        ["proxy1", "r2", "r1", "edge2.example.com"]
    );
    assert_eq!(
        names(&inventory, &["core*"]),
        ["r1"],
        "a pattern over aliases, and over groups"
    );
    assert_eq!(names(&inventory, &["LA?"]), ["r1", "edge2.example.com"]);
    assert_eq!(names(&inventory, &["ssh://me@new:22"]), ["ssh://me@new:22"]);
    let error = choose(&inventory, &["x*", "r1", "{y,z}"]).expect_err("a refusal");
    assert_eq!(error.kind(), "bolt.inventory/wildcard-error");
    assert!(error.to_string().contains("x*, {y,z}"), "{error}");
}

#[test]
fn an_unknown_word_gets_a_warning_if_a_name_is_similar() {
    let inventory = inventory(NETWORK);
    let warnings = |word| one(&inventory, word).warnings.clone();
    let suggestion = |name: &str| {
        vec![format!(
            "it is not in the inventory; did you mean `{name}`?"
        )]
    };
    assert_eq!(warnings("ruoters"), suggestion("routers"));
    assert_eq!(warnings("proxi1"), suggestion("proxy1"));
    assert_eq!(warnings("core11"), suggestion("core1"));
    for word in ["elsewhere", "r1.example.com", "ssh://ruoters", "r1"] {
        assert!(warnings(word).is_empty(), "{word}");
    }
}

#[test]
fn words_come_from_files_and_standard_input_too() -> Result<(), Box<dyn std::error::Error>> {
    let nothing: &mut dyn Read = &mut std::io::empty();
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("targets");
    let list = "# two routers\nr2 # the second\nr1, proxy1 #r9\n  #edge2.example.com\n";
    std::fs::write(&path, list)?;
    assert_eq!(
        target_words(&[format!("@{}", path.display())], nothing)?,
        ["r2", "r1", "proxy1"]
    );
    let stdin: &mut dyn Read = &mut "lab # of all\n".as_bytes();
    assert_eq!(target_words(&["-".to_owned()], stdin)?, ["lab"]);
    let missing = format!("@{}", folder.path().join("none").display());
    let error = target_words(&[missing], nothing).expect_err("a refusal");
    assert!(matches!(error, InventoryError::Unreadable { .. }));
    for word in ["-", "@targets"] {
        let error = choose(&inventory(NETWORK), &[word]).expect_err("a refusal");
        assert!(matches!(error, InventoryError::InvalidWord { .. }));
    }
    Ok(())
}

#[test]
fn an_address_suggests_the_target_that_has_it() {
    let inventory = inventory(NETWORK);
    let why = |word: &str| crate::inventory::unknown_target(&one(&inventory, word)).msg;
    let message = why("ssh://192.0.2.2");
    assert!(
        message.contains("did you mean `r2`, which has this URI?"),
        "{message}"
    );
    let message = why("ssh://192.0.2.9");
    assert!(
        message.contains("a URI has the settings of the group `all`"),
        "{message}"
    );
    let message = why("r9");
    assert!(!message.contains("URI"), "{message}");
}

#[test]
fn twenty_thousand_targets_in_two_thousand_groups_are_chosen_one_by_one() {
    let mut text = "config: {transport: remote}\ngroups:\n".to_owned();
    for group in 0..2_000 {
        text.push_str(&format!(
            "- name: g{group}\n  vars: {{group: {group}}}\n  targets:\n"
        ));
        for target in 0..10 {
            text.push_str(&format!("  - {{name: t{group}-{target}, uri: 'https://h{group}', alias: a{group}-{target}}}\n"));
        }
    }
    let inventory = inventory(&text);
    let words: Vec<_> = (0..20_000)
        .map(|at| format!("A{}-{}", at / 10, at % 10))
        .collect();
    let targets = now(inventory.select(&words, &Overrides::default())).expect("targets");
    assert_eq!(targets.len(), 20_000);
    assert_eq!(
        targets[19_999].vars.get("group"),
        Some(&Value::Integer(1_999))
    );
}
