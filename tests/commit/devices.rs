//! Tests of the devices themselves: an unprotected client types as an operator would.

use crate::candidate::{Candidate, Fault, PASSWORD, Planned, USER, Vendor};
use crate::client::Shell;

/// Types lines at a new session, each with a text that the answer must contain, and the end of its prompt.
async fn talk(device: &Candidate, first: &str, lines: &[(&str, &str, &str)]) -> Shell {
    let mut shell = Shell::of(device.port(), USER, PASSWORD).await;
    shell.until(first).await;
    for (line, expected, end) in lines {
        let answer = shell.answer(line, end).await;
        let answer = answer.replace("\r\n", "\n");
        assert!(
            answer.contains(expected),
            "{line}: no {expected:?} in {answer}"
        );
    }
    shell
}

fn holds(device: &Candidate, text: &str) -> bool {
    let mut device = device.device();
    let lines = device.running().lines();
    lines.iter().any(|line| line.contains(text))
}

#[tokio::test]
async fn junos_checks_commits_confirms_and_rolls_back() {
    let device = Candidate::start(Vendor::Junos);
    let shell = talk(
        &device,
        "> ",
        &[
            (
                "configure exclusive",
                "warning: uncommitted changes will be discarded on exit\n",
                "[edit]\r\nnetops@edge# ",
            ),
            (
                "set interfaces ge-0/0/0 speed 1g",
                "^\nsyntax error.\n",
                "# ",
            ),
            ("set interfaces ge-0/0/0 mtu 9000", "\n\n[edit]", "# "),
            (
                "show | compare",
                "[edit interfaces ge-0/0/0]\n-   mtu 1500;\n+   mtu 9000;\n",
                "# ",
            ),
            ("set interfaces ge-0/0/1 mtu 9199", "", "# "),
            (
                "commit check",
                "[edit interfaces ge-0/0/1]\n  'mtu'\n    the MTU exceeds",
                "# ",
            ),
            ("commit", "error: configuration check-out failed\n", "# "),
            ("delete interfaces ge-0/0/1", "", "# "),
            (
                "delete interfaces ge-0/0/1",
                "warning: statement not found",
                "# ",
            ),
            (
                "commit confirmed 1",
                "commit complete\n\n# commit confirmed will be rolled back in 1 minutes\n[edit]",
                "edge# ",
            ),
        ],
    )
    .await;
    assert!(holds(&device, "mtu 9000") && device.device().is_pending());
    let locked = (
        "configure exclusive",
        "error: configuration database locked by:",
        "> ",
    );
    talk(&device, "> ", &[locked]).await;
    device.device().pass_time();
    assert!(holds(&device, "mtu 1500") && !device.device().is_pending());
    drop(shell);
    talk(
        &device,
        "> ",
        &[
            ("configure private", "Entering configuration mode", "# "),
            ("set system host-name core", "", "edge# "),
            ("commit confirmed 1", "", "core# "),
            ("commit", "commit complete", "core# "),
            ("exit configuration-mode", "", "core> "),
            (
                "show configuration | display set",
                "set system host-name core\n",
                "core> ",
            ),
        ],
    )
    .await;
    device.device().pass_time();
    assert!(holds(&device, "host-name core"));
}

#[tokio::test]
async fn junos_discards_exclusive_changes_with_the_session_and_keeps_shared_ones() {
    let device = Candidate::start(Vendor::Junos);
    for (enter, kept) in [("configure exclusive", false), ("configure", true)] {
        let planned = Planned {
            step: 3,
            fault: Fault::LoseBefore,
        };
        device.device().plan(&[planned]);
        let mut shell = talk(
            &device,
            "> ",
            &[
                (enter, "Entering configuration mode", "# "),
                ("set interfaces ge-0/0/0 mtu 9000", "", "# "),
            ],
        )
        .await;
        shell.send("commit\r").await;
        shell.until("what is never shown").await;
        while device.device().connections() > 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(!device.device().uncommitted().is_empty(), kept, "{enter}");
        assert!(holds(&device, "mtu 1500"));
    }
    let modified = (
        "configure exclusive",
        "error: configuration database modified",
        "> ",
    );
    talk(&device, "> ", &[modified]).await;
}

#[tokio::test]
async fn ios_xr_commits_a_target_and_asks_about_the_changes_of_others() {
    let device = Candidate::start(Vendor::IosXr);
    let interface = "interface GigabitEthernet0/0/0/0";
    let mut shell = talk(
        &device,
        "edge#",
        &[
            ("configure", "UTC\n", "(config)#"),
            (interface, "", "(config-if)#"),
            ("mtu 9000", "", "(config-if)#"),
            (
                "mtu none",
                "^\n% Invalid input detected at '^' marker.\n",
                "(config-if)#",
            ),
            ("router static", "", "(config-static)#"),
            ("address-family ipv4 unicast", "", "(config-static-afi)#"),
            ("10.1.0.0/16 192.0.2.66", "", "(config-static-afi)#"),
            (
                "show commit changes diff",
                "   interface GigabitEthernet0/0/0/0\n-   mtu 1514\n+   mtu 9000\n",
                "afi)#",
            ),
            ("commit", "% Failed to commit one or more", "afi)#"),
            (
                "show configuration failed",
                "  10.1.0.0/16 192.0.2.66\n!!% the next hop",
                "afi)#",
            ),
            ("no 10.1.0.0/16 192.0.2.66", "", "afi)#"),
            ("end", "", "[cancel]:"),
            ("cancel", "", "afi)#"),
        ],
    )
    .await;
    device.device().commit_change();
    shell.answer("commit confirmed 60", "[no]: ").await;
    shell.answer("yes", "afi)#").await;
    assert!(holds(&device, "mtu 9000") && holds(&device, "description anna"));
    shell.answer("commit", "afi)#").await;
    assert!(!device.device().is_pending());
    let nothing = shell.answer("commit", "afi)#").await;
    assert!(nothing.contains("% No configuration changes to commit."));
    shell.answer("end", "edge#").await;
    let shown = shell.answer("show running-config", "edge#").await;
    let expected = "interface GigabitEthernet0/0/0/0\r\n description uplink\r\n mtu 9000\r\n!\r\n";
    assert!(shown.contains(expected), "{shown}");
}

#[tokio::test]
async fn eos_keeps_sessions_until_they_are_committed_or_aborted() {
    let device = Candidate::start(Vendor::Eos);
    talk(
        &device,
        "edge#",
        &[
            (
                "configure session one-two-three",
                "",
                "edge(config-s-one-tw)#",
            ),
            ("interface Ethernet1", "", "(config-s-one-tw-if-Et1)#"),
            ("mtu 9000", "", "#"),
            ("mtu 10", "% Invalid input\n", "#"),
            ("banner motd", "Enter TEXT message.", "\r\n"),
        ],
    )
    .await;
    assert!(!device.device().pending_sessions().is_empty());
    talk(
        &device,
        "edge#",
        &[
            ("configure session one-two-three", "", ")#"),
            (
                "show session-config diffs",
                "   interface Ethernet1\n-     mtu 1500\n+     mtu 9000\n",
                ")#",
            ),
            ("commit timer 00:01:00", "", "edge#"),
            ("show configuration sessions", "pendingCommit", "edge#"),
            ("configure session other", "", ")#"),
            ("commit", "% Cannot commit", ")#"),
            ("abort", "", "edge#"),
            ("configure session one-two-three commit", "", "edge#"),
            (
                "configure session one-two-three commit",
                "% Session does not exist",
                "edge#",
            ),
        ],
    )
    .await;
    assert!(holds(&device, "mtu 9000") && !device.device().is_pending());
    let saved = |device: &Candidate| {
        device
            .device()
            .startup()
            .lines()
            .join(" ")
            .contains("mtu 9000")
    };
    assert!(!saved(&device));
    talk(&device, "edge#", &[("write memory", "completed", "edge#")]).await;
    assert!(saved(&device));
    for number in 1..=5 {
        let enter = format!("configure session s{number}");
        talk(
            &device,
            "edge#",
            &[(&enter, "", ")#"), ("end", "", "edge#")],
        )
        .await;
    }
    let sixth = (
        "configure session s6",
        "% Maximum number of pending sessions",
        "edge#",
    );
    talk(&device, "edge#", &[sixth]).await;
}
