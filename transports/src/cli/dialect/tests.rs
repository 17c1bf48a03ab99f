//! Tests of dialects.

use super::*;

#[test]
fn a_command_is_harmless_if_all_of_it_is_known() {
    let patterns = |sources: &[&str]| {
        let compiled = sources.iter().map(|source| LinePattern::new(source));
        compiled
            .collect::<Result<Vec<_>, _>>()
            .expect("they compile")
    };
    let dialect = Dialect {
        harmless: patterns(&[r"sh(ow)? \S.*", "dir"]),
        filters: patterns(&[r"i(nclude)? \S.*", "count"]),
        ..Dialect::default()
    };
    for command in [
        "show version",
        " sh ip route  ",
        "dir",
        "show run | i mtu 9000 | count",
        "dir|count",
    ] {
        assert!(dialect.is_harmless(command), "{command}");
    }
    for command in [
        "",
        "show",
        "no show version",
        "directory",
        "show run | redirect flash:x",
        "show run | i mtu | tee flash:x",
        "show run | i a|b",
        "show run |",
        "show run > flash:x",
        "show clock ; reload",
        "show clock\nreload",
        "show clock\rreload",
        "reload | i x",
    ] {
        assert!(!dialect.is_harmless(command), "{command}");
    }
    assert!(!Dialect::generic().is_harmless("show version"));
}

#[test]
fn built_in_patterns_compile_and_know_pagers() {
    let Dialect {
        pager,
        failure,
        unsolicited,
        prompt,
        ..
    } = Dialect::generic();
    let is_pager = |line| pager.iter().any(|answer| answer.pattern.is_found_in(line));
    for line in [
        "--More--",
        " --More-- ",
        "<--- More --->",
        "-- More --",
        "---- More ----",
        "---(more)---",
        "---(more 45%)---",
        "[More]",
        "--More--(50%)",
        "Press any key to continue (Q to quit)",
        "--More-- (q to quit)",
        "-- MORE --, next page: Space, next line: Enter, quit: Control-C",
    ] {
        assert!(is_pager(line), "{line}");
    }
    for line in [
        "more",
        "- more than one",
        "no more",
        "description --More-- or less",
        "r1#",
    ] {
        assert!(!is_pager(line), "{line}");
    }
    assert!(failure[0].is_found_in("% Invalid input detected at '^' marker."));
    assert!(failure[0].is_found_in("% Unknown command: show bogus"));
    assert!(!failure[0].is_found_in("% BGP not active"));
    assert!(unsolicited[0].is_found_in("*Nov 21 10:00:00: %SYS-5-CONFIG_I: by admin"));
    assert!(unsolicited[0].is_found_in("%LINEPROTO-SP-5-UPDOWN: down"));
    assert!(!unsolicited[0].is_found_in("% Invalid input"));
    assert!(prompt.exec.is("r1#") && prompt.exec.is("> ") && !prompt.exec.is("Password:"));
    assert!(password_prompt().is_found_in("Password: "));
    for line in [
        "Proceed with reload? [confirm]",
        "Are you sure you want to save? (y/n) ",
        "Continue? [yes/no]: ",
        "Delete? [Y/N]:",
        "Really? (yes/no)[no]: ",
        "Save? [no]:",
        "Destination filename [startup-config]? ",
        "Password: ",
        "Press any key to continue",
        "Press <Enter> to reload the switch: ",
    ] {
        assert!(is_question(line), "{line}");
    }
    for line in [
        "r1#",
        "value [1]",
        "neighbor x password",
        "is it?",
        "do not express any key",
        "10:00:00: ",
    ] {
        assert!(!is_question(line), "{line}");
    }
    let Authentication {
        user_prompt,
        password_prompt,
    } = Authentication::default();
    for line in [
        "Username: ",
        "login: ",
        "r1 login: ",
        "User:",
        "login as: ",
        "User Name:",
    ] {
        assert!(user_prompt.is_found_in(line), "{line}");
    }
    for line in ["Last login: ", "last login: Mon", "r1#", "Users: "] {
        assert!(!user_prompt.is_found_in(line), "{line}");
    }
    assert!(password_prompt.is_found_in("Password: "));
    assert!(password_prompt.is_found_in("admin@r1's password:"));
    assert!(!password_prompt.is_found_in("Password: never tell it"));
}
