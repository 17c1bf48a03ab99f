//! Dialogues with a terminal, as they appear on the screen.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use devgate_schemas::Sensitive;

use super::super::interface::InterfaceName;
use super::*;

fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(1_795_262_400_250)
}

fn switch() -> Switch {
    Switch::new("practice", Sensitive::new("canary".to_owned()), noon)
}

/// An enabled terminal without a pager.
fn enabled() -> Terminal {
    let mut terminal = Terminal::new("admin", Mode::Privileged);
    terminal.vty.rows = 0;
    terminal
}

fn typed(terminal: &mut Terminal, switch: &mut Switch, text: &str) -> String {
    String::from_utf8(terminal.input(switch, text.as_bytes())).expect("text")
}

/// The output of a new switch for some lines at `practice#`.
fn dialogue(lines: &str) -> String {
    typed(&mut enabled(), &mut switch(), lines)
}

#[test]
fn typed_characters_are_echoed_and_a_prompt_follows_each_line() {
    let mut terminal = Terminal::new("admin", Mode::User);
    let mut switch = switch();
    assert_eq!(terminal.greeting(&switch), b"\r\npractice>");
    assert_eq!(
        typed(&mut terminal, &mut switch, "sh clock\r\n\r"),
        "sh clock\r\n*12:00:00.250 UTC Sat Nov 21 2026\r\npractice>\r\npractice>"
    );
}

#[test]
fn lines_pasted_at_once_are_run_in_order() {
    assert_eq!(
        dialogue(
            "conf t\nhostname edge\nvlan 7\nname seven\ninterface gi0/3\nend\nexit\nshow clock\n"
        ),
        "conf t\r\n\
         Enter configuration commands, one per line.  End with CNTL/Z.\r\n\
         practice(config)#hostname edge\r\n\
         edge(config)#vlan 7\r\n\
         edge(config-vlan)#name seven\r\n\
         edge(config-vlan)#interface gi0/3\r\n\
         edge(config-if)#end\r\n\
         edge#exit\r\n"
    );
}

#[test]
fn enable_asks_three_times_and_shows_no_password() {
    let mut terminal = Terminal::new("admin", Mode::User);
    let mut switch = switch();
    let refused = typed(&mut terminal, &mut switch, "en\nwrong\nwrong\nwrong\n");
    let prompts = "Password: \r\n".repeat(3);
    assert_eq!(
        refused,
        format!("en\r\n{prompts}% Access denied\r\n\r\npractice>")
    );
    assert_eq!(
        typed(&mut terminal, &mut switch, "en\ncanarz\x08y\n"),
        "en\r\nPassword: \r\npractice#"
    );
}

#[test]
fn what_needs_enable_is_not_there_without() {
    let mut terminal = Terminal::new("admin", Mode::User);
    let output = typed(&mut terminal, &mut switch(), "show running-config\n");
    // `practice>show ` and what `run` shares with no other keyword.
    let caret = format!("{}^", " ".repeat(14));
    assert_eq!(
        output,
        format!(
            "show running-config\r\n{caret}\r\n\
             % Invalid input detected at '^' marker.\r\n\r\npractice>"
        )
    );
}

#[test]
fn refusals_are_those_of_ios() {
    let of = |line: &str| {
        let output = dialogue(&format!("{line}\n"));
        output
            .split_once("\r\n")
            .expect("an echo")
            .1
            .replace("\r\n", "\n")
    };
    let invalid = |column: usize| {
        format!(
            "{:>column$}\n% Invalid input detected at '^' marker.\n\npractice#",
            '^'
        )
    };
    assert_eq!(of("show verzion"), invalid(18));
    assert_eq!(of("foo bar"), invalid(10));
    assert_eq!(of("show version now"), invalid(23));
    assert_eq!(of("write | include x"), invalid(16));
    assert_eq!(of("show clock | inklude x"), invalid(25));
    assert_eq!(of("show v"), "% Ambiguous command:  \"show v\"\npractice#");
    assert_eq!(of("terminal length"), "% Incomplete command.\n\npractice#");
    assert_eq!(of("show clock |"), "% Incomplete command.\n\npractice#");
    assert_eq!(
        of("show"),
        "% Type \"show ?\" for a list of subcommands\npractice#"
    );
    assert!(of("foo").ends_with(
        "% Unknown command or computer name, or unable to find computer address\npractice#"
    ));
}

#[test]
fn output_longer_than_the_screen_waits_for_a_key() {
    let mut terminal = Terminal::new("admin", Mode::Privileged);
    terminal.resize(80, 5);
    let mut switch = switch();
    let typed = |terminal: &mut Terminal, switch: &mut Switch, text: &str| {
        typed(terminal, switch, text).replace(NO_MORE, "<no more>")
    };
    let first = typed(&mut terminal, &mut switch, "show startup-config\n");
    assert!(
        first.ends_with("!\r\nversion 15.2\r\nno service pad\r\n --More-- "),
        "{first}"
    );
    let line = typed(&mut terminal, &mut switch, "\r");
    assert_eq!(
        line,
        "<no more>service timestamps debug datetime msec\r\n --More-- "
    );
    let page = typed(&mut terminal, &mut switch, " ");
    assert_eq!(page.matches("\r\n").count(), 4, "{page}");
    assert_eq!(typed(&mut terminal, &mut switch, "q"), "<no more>practice#");
    let full = typed(
        &mut terminal,
        &mut switch,
        "terminal length 0\nshow startup-config\n",
    );
    assert!(full.ends_with("end\r\n\r\npractice#") && !full.contains("More"));
}

#[test]
fn control_keys_edit_interrupt_and_end() {
    let mut terminal = enabled();
    let mut switch = switch();
    typed(
        &mut terminal,
        &mut switch,
        "xxx\x15show clok\x7f\x7fock\x1b[A\n",
    );
    assert_eq!(
        typed(&mut terminal, &mut switch, "abc\x03"),
        "abc^C\r\npractice#"
    );
    typed(&mut terminal, &mut switch, "conf t\nint gi0/3\n");
    assert_eq!(
        typed(&mut terminal, &mut switch, "shut\x1a"),
        "shut^Z\r\npractice#"
    );
    assert!(switch.running.interfaces[&InterfaceName::Gigabit(3)].shutdown);
    typed(&mut terminal, &mut switch, "conf t\nint gi0/3\n");
    assert_eq!(
        typed(&mut terminal, &mut switch, "no shut\x03"),
        "no shut^C\r\npractice#"
    );
    assert!(switch.running.interfaces[&InterfaceName::Gigabit(3)].shutdown);
}

#[test]
fn a_question_mark_lists_what_may_follow_and_a_tab_completes() {
    let mut terminal = enabled();
    let mut switch = switch();
    assert_eq!(
        typed(&mut terminal, &mut switch, "show v?"),
        "show v?\r\nversion  vlan\r\n\r\npractice#show v"
    );
    assert_eq!(
        typed(&mut terminal, &mut switch, "e\t"),
        "e\r\npractice#show version "
    );
    let output = typed(&mut terminal, &mut switch, "\x15?");
    assert!(
        output.contains("\r\n  configure  Enter configuration mode\r\n"),
        "{output}"
    );
}

#[test]
fn saving_asks_for_confirmation_and_then_keeps_the_configuration() {
    let mut terminal = enabled();
    let mut switch = switch();
    typed(&mut terminal, &mut switch, "conf t\nvlan 30\nend\n");
    assert_ne!(switch.startup.as_ref(), Some(&switch.running));
    assert_eq!(
        typed(&mut terminal, &mut switch, "copy run start\n"),
        "copy run start\r\nDestination filename [startup-config]? "
    );
    assert_eq!(
        typed(&mut terminal, &mut switch, "\n"),
        "\r\nBuilding configuration...\r\n[OK]\r\npractice#"
    );
    assert_eq!(switch.startup.as_ref(), Some(&switch.running));
    typed(&mut terminal, &mut switch, "write erase\n\n");
    assert!(dialogue("write erase\n\nshow startup-config\n").contains("is not present"));
}

#[test]
fn an_exec_command_is_answered_without_prompt_pager_or_question() {
    let mut switch = switch();
    let mut exec = |command: &str| {
        let mut terminal = Terminal::new("admin", Mode::Privileged);
        let output = terminal.exec(&mut switch, command);
        assert!(terminal.is_closed());
        String::from_utf8(output).expect("text")
    };
    assert!(exec("show running-config").ends_with("!\r\nend\r\n\r\n"));
    assert_eq!(
        exec("copy run start"),
        "\r\nBuilding configuration...\r\n[OK]\r\n"
    );
    assert_eq!(
        exec("show foo"),
        "\r\nLine has invalid autocommand \"show foo\"\r\n"
    );
}
