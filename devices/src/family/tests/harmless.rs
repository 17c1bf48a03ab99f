//! Tests of what the built-in families declare harmless.

use devgate_transports::dialect::Save;

use super::folder;
use super::*;

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
        let mut filters = ["include", "match"].iter();
        assert!(
            filters.any(|filter| family.is_harmless(&format!("sh ver | {filter} x"))),
            "{name}"
        );
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
    assert!(message.contains("harmless, filters, text"), "{message}");
}

#[test]
fn what_shows_the_configuration_is_harmless_and_saved_for_a_rollback() {
    let load = |dialect: &str, checkpoint: &str| {
        let file = format!(
            "name: sw\ndesc: A switch.\nprotocol: ssh_cli\ndialect:\n  harmless: ['show .+']\n  {dialect}\n\
             checkpoint: {{ {checkpoint}undo: \"'no ' ~ LINE\", ignore: ['^!'] }}\n"
        );
        Family::load(folder(&[("family.yaml", &file)]).path())
    };
    let command = "show configuration | display set | no-more";
    let family = load(&format!("config_text: {command}"), "").expect("it is valid");
    assert_eq!(family.config_text(), Some(command));
    assert!(family.is_harmless(command) && !family.is_harmless("show x | no-more"));
    let counted = family.lines_that_count("! 10:00\nvlan 1\n ! 20\n name a\n");
    assert_eq!(counted, "vlan 1\n name a\n");
    let refused = load("newline: lf", "").expect_err("nothing shows it");
    assert!(
        refused.to_string().contains("missing key `show`"),
        "{refused}"
    );
    load("newline: lf", "show: show run, ").expect("its own command");
    for (dialect, message) in [
        (
            "config_text: show ?",
            "family.yaml:6:16: at dialect.config_text: `?` asks",
        ),
        (
            "config_text: ' '",
            "at dialect.config_text: expected one command, in one line",
        ),
        (
            "config_text: \"a\\nb\"",
            "at dialect.config_text: expected one command, in one line",
        ),
    ] {
        let refused = load(dialect, "").expect_err("no command").to_string();
        assert!(refused.contains(message), "{refused}");
    }
}
