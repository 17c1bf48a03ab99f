//! Tests of the awkward device itself: an unprotected client sees each habit raw.

use std::time::Duration;

use russh::ChannelMsg;
use russh::client::{AuthResult, KeyboardInteractiveAuthResponse};

#[path = "support/awkward/mod.rs"]
mod awkward;
#[path = "support/client.rs"]
mod client;

use awkward::{Awkward, PASSWORD};
use client::{Shell, connected};

/// The prompt of the user with colours.
const COLOURED: &str = "\x1b[1m\x1b[32mswitch#\x1b[0m";

/// Returns what a user's terminal answers to a line.
async fn answer(user: &str, line: &str, end: &str) -> String {
    let device = Awkward::start();
    let mut shell = Shell::of(device.port(), user, PASSWORD).await;
    let prompt = if user == "colours" {
        COLOURED
    } else {
        "switch#"
    };
    shell.until(prompt).await;
    shell.answer(line, end).await
}

#[tokio::test]
async fn output_comes_in_every_bad_way() {
    for (command, expected) in [
        ("show version", "Awkward OS, Version 1.0\r\nswitch#"),
        (
            "show prompt-like 20",
            "before\r\nswitch#\r\nafter\r\nswitch#",
        ),
        ("show no-newline", "first\r\noutputswitch#"),
        (
            "show colours",
            "\x1b[1;31mred\x1b[0m \x1b[Kplain\x1b[m\r\nswitch#",
        ),
        ("show bytes", "Z\u{fffd}rich\r\ncafé\r\nswitch#"),
        ("show slow-bytes 20", "one byte at a time\r\nswitch#"),
        ("show slow 0", "switch#"),
        ("show failure", "% Invalid input detected\r\nswitch#"),
        ("hostname edge", "edge#"),
    ] {
        let seen = answer("admin", command, &format!("\r\n{expected}")).await;
        assert_eq!(seen, format!("{command}\r\n{expected}"));
    }
    let syslog = answer("admin", "show syslog", "to up\r\n").await;
    assert!(
        syslog.contains("output\r\nswitch#\r\n*Nov 21"),
        "{syslog:?}"
    );
}

#[tokio::test]
async fn a_channel_or_the_whole_connection_ends_during_the_output() {
    let device = Awkward::start();
    for (command, stays) in [("show drop-channel", true), ("show drop-connection", false)] {
        let mut shell = Shell::of(device.port(), "admin", PASSWORD).await;
        shell.until("switch#").await;
        let seen = shell.answer(command, "what is never shown").await;
        assert_eq!(seen, format!("{command}\r\npartial\r\nout"));
        assert_eq!(
            shell.client.channel_open_session().await.is_ok(),
            stays,
            "{command}"
        );
    }
}

#[tokio::test]
async fn silence_lasts() {
    let device = Awkward::start();
    let mut shell = Shell::of(device.port(), "admin", PASSWORD).await;
    shell.until("switch#").await;
    shell.answer("show silence", "silence\r\n").await;
    let more = tokio::time::timeout(Duration::from_millis(300), shell.channel.wait()).await;
    assert!(more.is_err(), "{more:?}");
}

#[tokio::test]
async fn a_pager_that_cannot_be_turned_off_waits_for_keys() {
    let device = Awkward::start();
    let mut shell = Shell::of(device.port(), "admin", PASSWORD).await;
    shell.until("switch#").await;
    shell.answer("terminal length 0", "switch#").await;
    let first = shell.answer("show pages", "\0").await;
    assert!(first.ends_with("line 10\r\n --More-- \0\0"), "{first:?}");
    shell.send("   ").await;
    let rest = shell.until("switch#").await;
    assert!(rest.ends_with("line 31\r\nswitch#"), "{rest:?}");
    assert_eq!(rest.matches("\x08 ").count(), 3);
}

#[tokio::test]
async fn ten_megabytes_are_all_sent() {
    let device = Awkward::start();
    let mut shell = Shell::of(device.port(), "admin", PASSWORD).await;
    shell.until("switch#").await;
    let size = shell.answer("show big 10", "switch#").await.len();
    assert_eq!(
        size,
        "show big 10\r\n".len() + 10 * 1024 * 1024 + "switch#".len()
    );
}

#[tokio::test]
async fn endless_output_ends_with_the_client() {
    let device = Awkward::start();
    let mut shell = Shell::of(device.port(), "admin", PASSWORD).await;
    shell.send("show endless\r").await;
    let mut lines = 0;
    while lines < 20 {
        match shell.channel.wait().await {
            Some(ChannelMsg::Data { data }) => {
                lines += data.iter().filter(|byte| **byte == b'\n').count();
            }
            other => assert!(other.is_some(), "the channel stays open"),
        }
    }
}

#[tokio::test]
async fn terminals_behave_as_badly_as_their_users() {
    let device = Awkward::start();
    let greeting = Shell::of(device.port(), "banner", PASSWORD)
        .await
        .until("\r\n\r\nswitch#")
        .await;
    assert_eq!(greeting.matches("switch#\r\n").count(), 2, "{greeting:?}");

    assert!(
        answer("colours", "show version", COLOURED)
            .await
            .ends_with(COLOURED)
    );
    assert!(
        answer("no-echo", "show version", "switch#")
            .await
            .starts_with("\r\nAwkward")
    );
    assert!(
        answer("noisy", "show version", "switch#")
            .await
            .starts_with("\r\n*Nov 21")
    );
    for (user, edge) in [("wraps", " \r"), ("wraps-back", " \x08")] {
        let echo = format!("{}{edge}{}\r\n% Unknown", "x".repeat(73), "x".repeat(27));
        assert!(
            answer(user, &"x".repeat(100), "switch#")
                .await
                .starts_with(&echo)
        );
    }
}

#[tokio::test]
async fn only_the_password_opens_and_some_want_it_by_keyboard() {
    let device = Awkward::start();
    let mut client = connected(device.port()).await;
    let refused = client.authenticate_password("admin", "canary-wrong").await;
    assert!(matches!(refused, Ok(AuthResult::Failure { .. })));

    let mut client = connected(device.port()).await;
    let refused = client.authenticate_password("keyboard", PASSWORD).await;
    assert!(matches!(refused, Ok(AuthResult::Failure { .. })));
    let request = client
        .authenticate_keyboard_interactive_start("keyboard", None)
        .await;
    assert!(matches!(
        request,
        Ok(KeyboardInteractiveAuthResponse::InfoRequest { .. })
    ));
    let answers = vec![PASSWORD.to_owned()];
    let opened = client
        .authenticate_keyboard_interactive_respond(answers)
        .await;
    assert!(matches!(
        opened,
        Ok(KeyboardInteractiveAuthResponse::Success)
    ));
}

#[tokio::test]
async fn a_connection_is_reset_during_configuration_and_the_received_lines_are_known() {
    let device = Awkward::start();
    let mut shell = Shell::of(device.port(), "resets-2", PASSWORD).await;
    shell
        .send("configure terminal\rvlan 7\rname seven\rvlan 8\r")
        .await;
    shell.until("what is never shown").await;
    let received = device.received();
    let lines: Vec<&str> = received
        .iter()
        .map(|received| received.line.as_str())
        .collect();
    assert_eq!(lines, ["configure terminal", "vlan 7", "name seven"]);
    assert!(received.iter().all(|received| received.connection == 1));
    assert!(received.is_sorted_by_key(|received| received.at));
    assert_eq!(device.count_received("vlan 7"), 1);
    assert!(device.known_hosts().starts_with("[127.0.0.1]:"));
}
