//! Old and strict SSH servers: the settings that each requires, and the errors without them.

use serde_json::{Value, json};

use crate::support::lab::{lab, text};
use crate::support::project::Project;

/// The settings that reach a server.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reached {
    /// The default settings.
    Usually,
    /// `ssh_algorithms: legacy`.
    WithLegacy,
    /// No settings reach it: it offers only this algorithm of one kind.
    Never(&'static str),
}

/// Each server of `tests/lab/legacyssh.sh`; `docs/ssh.md` has the same table in terms of algorithms.
const PROFILES: [(&str, Reached); 14] = [
    ("g14sha1", Reached::WithLegacy),
    ("g1sha1", Reached::WithLegacy),
    ("cbc", Reached::WithLegacy),
    ("3des", Reached::WithLegacy),
    ("rsasha1", Reached::WithLegacy),
    ("gexsha1", Reached::WithLegacy),
    ("sha196", Reached::Never("hmac-sha1-96")),
    ("md5", Reached::Never("hmac-md5")),
    ("dss", Reached::Never("ssh-dss")),
    ("modern", Reached::Usually),
    ("kbdint", Reached::Usually),
    ("nopass", Reached::Usually),
    ("slow", Reached::Usually),
    ("dropbear", Reached::Usually),
];

/// Returns the connection info of a server, with additional settings.
fn connection_info(lab: &Value, profile: &str, more: Value) -> Value {
    let mut info = json!({
        "remote-transport": "ssh_cli",
        "host": text(lab, "host"),
        "port": lab["ports"][profile],
        "user": text(lab, "user"),
        "password": text(lab, "password"),
        "private_key": (profile == "nopass").then(|| text(lab, "private_key")),
        "known_hosts_file": text(lab, "known_hosts"),
        "timeout": 30,
    });
    for (key, value) in more.as_object().expect("settings are an object") {
        info[key] = value.clone();
    }
    info
}

#[test]
fn every_server_is_reached_with_its_setting_or_says_what_it_lacks() {
    let lab = lab("legacyssh");
    let ports = lab["ports"].as_object().expect("ports");
    assert_eq!(ports.len(), PROFILES.len(), "the table has every profile");
    let mut project = Project::new();
    for (profile, _) in PROFILES {
        project.add_target(
            &format!("{profile}-usual"),
            connection_info(&lab, profile, json!({})),
        );
        let legacy = json!({ "ssh_algorithms": "legacy" });
        project.add_target(
            &format!("{profile}-legacy"),
            connection_info(&lab, profile, legacy),
        );
    }
    let run = project.devgate("verify -t all --format json").failed();
    let document = run.json();
    let items = document["items"].as_array().expect("items is a list");
    // `None` means success.
    let error = |target: String| {
        let item = items.iter().find(|item| item["target"] == *target);
        let item = item.expect("every target has an item");
        let success = item["status"] == "success";
        (!success).then(|| text(&item["value"]["_error"], "msg").to_owned())
    };
    for (profile, reached) in PROFILES {
        let usual = error(format!("{profile}-usual"));
        let legacy = error(format!("{profile}-legacy"));
        match reached {
            Reached::Usually => {
                assert_eq!((usual, legacy), (None, None), "{profile}");
            }
            Reached::WithLegacy => {
                let usual = usual.expect(profile);
                assert!(usual.contains("no common "), "{profile}: {usual}");
                assert!(
                    usual.contains("`ssh_algorithms: legacy`"),
                    "{profile}: {usual}"
                );
                assert_eq!(legacy, None, "{profile}");
            }
            Reached::Never(offered) => {
                assert!(usual.is_some(), "{profile}");
                let legacy = legacy.expect(profile);
                assert!(legacy.contains(offered), "{profile}: {legacy}");
                assert!(legacy.contains("docs/ssh.md"), "{profile}: {legacy}");
                assert!(!legacy.contains("legacy"), "{profile}: {legacy}");
            }
        }
    }
}

#[test]
fn a_server_that_takes_only_sha_1_signatures_is_logged_in_to_with_an_rsa_key() {
    let lab = lab("legacyssh");
    let mut project = Project::new();
    let key = json!({
        "ssh_algorithms": "legacy",
        "private_key": text(&lab, "rsa_key"),
        "password": null,
    });
    project.add_target("old", connection_info(&lab, "rsasha1", key));
    project.devgate("verify -t old").succeeded();
}

#[test]
fn a_server_that_drops_who_comes_too_many_is_survived() {
    let lab = lab("legacyssh");
    let mut project = Project::new();
    for number in 0..8 {
        let info = connection_info(&lab, "slow", json!({}));
        project.add_target(&format!("slow{number}"), info);
    }
    let run = project.devgate("verify -t all --format json").succeeded();
    assert_eq!(run.json()["items"].as_array().map(Vec::len), Some(8));
}
