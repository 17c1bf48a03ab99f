//! Tests of what the built-in families declare harmless.

use devgate_transports::dialect::Save;

use super::super::*;
use super::folder;

#[test]
fn what_a_built_in_family_reads_with_is_harmless_and_what_changes_is_not() {
    for family in all().map(BuiltIn::read) {
        let Some(dialect) = &family.dialect else {
            continue;
        };
        let name = family.name();
        let types = family.types.iter().flat_map(DeclaredType::commands);
        for command in family.fact_commands().chain(types) {
            assert!(family.is_harmless(command), "{name}: {command}");
        }
        for command in &dialect.on_open {
            assert!(!family.is_harmless(command), "{name}: {command}");
        }
        let save = dialect.save.as_ref().map(Save::command);
        let changes = dialect.enter_config.as_deref().into_iter().chain(save);
        let others = ["reload", "show version | redirect x", "clear counters"];
        for command in changes.chain(others) {
            assert!(!family.is_harmless(command), "{name}: {command}");
        }
        assert!(family.is_harmless("sh ver | include x"), "{name}");
    }
}

#[test]
fn a_family_behind_an_api_declares_harmless_commands_and_no_prompts() {
    let load = |dialect: &str| {
        let file = format!("name: sw\ndesc: A switch.\nprotocol: eapi\ndialect: {{ {dialect} }}\n");
        Family::load(folder(&[("family.yaml", &file)]).path())
    };
    let family = load("harmless: ['show .+'], filters: ['json']").expect("it is valid");
    assert!(family.is_harmless("show version | json"));
    assert!(!family.is_harmless("show version | bash"));
    let refused = load("harmless: ['show .+'], prompt: { exec: '#' }").expect_err("a prompt");
    let message = refused.to_string();
    assert!(message.contains("family.yaml:4:"), "{message}");
    assert!(message.contains("harmless, filters"), "{message}");
}
