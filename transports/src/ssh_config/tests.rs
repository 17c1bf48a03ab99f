//! Tests that compare the parser with OpenSSH itself.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;
use crate::ssh::algorithm_list::AlgorithmList;

/// Configurations, each with the hosts to look up in both.
const TABLE: &[(&str, &[&str])] = &[
    ("", &["h1"]),
    (
        "Host h1\n  HostName 192.0.2.1\n  User one\n  Port 2222\nHost *\n  User rest\n",
        &["h1", "h2"],
    ),
    (
        "host=h1 h2\nhostname = %h.example.org\nUSER\tdeep\n\n# a comment\nHost !h2 h?\nPort=17\n",
        &["h1", "h2", "h3", "other"],
    ),
    (
        "User everybody\nHost *.example.org !bad.example.org\nUser org\nIdentityFile ~/.ssh/org\n",
        &["a.example.org", "bad.example.org"],
    ),
    (
        "Host h*\nIdentityAgent /agent\nIdentityFile ~/.ssh/one\nIdentityFile \"/keys/with blank %h\"\nIdentitiesOnly yes\n\
         Host *\nIdentityFile ~/.ssh/two\nCertificateFile /certs/a\nCertificateFile /certs/b\n",
        &["h1", "x"],
    ),
    (
        "Host h1\nProxyJump me@b1:2222,b2\nHost h2\nProxyJump none\nHost *\nProxyJump b3\n",
        &["h1", "h2", "h3"],
    ),
    (
        "Host h1\nCiphers +aes128-cbc\nMACs -umac-*\nKexAlgorithms ^curve25519-sha256\n\
         HostKeyAlgorithms ssh-ed25519,rsa-sha2-512\nPubkeyAcceptedAlgorithms -ecdsa-*\n\
         Host h2\nCiphers aes256-ctr\nCiphers aes128-ctr\n",
        &["h1", "h2", "h3"],
    ),
    (
        "ServerAliveInterval 20\nServerAliveCountMax 7\nConnectTimeout 1m30\n\
         Host h1\nServerAliveInterval 5\n",
        &["h1"],
    ),
    (
        "Host h1\nStrictHostKeyChecking accept-new\nUserKnownHostsFile /a /b\nHostKeyAlias alias\n\
         Host h2\nStrictHostKeyChecking no\nHost h3\nStrictHostKeyChecking ask\n",
        &["h1", "h2", "h3", "h4"],
    ),
    (
        "Host h1\nInclude DIR/inc*\nUser behind\nHost *\nUser last\nPort 5\n",
        &["h1", "h2", "deep"],
    ),
    ("Include DIR/inc1\nUser behind\n", &["h1", "deep"]),
    (
        "Host 'h 1' \"h2\"\nUser quoted # not a part of it\n",
        &["h2"],
    ),
    ("Host h1 # h2\nUser one\n", &["h1", "h2"]),
    ("  Host   h1\n\tUser   \"one\"  \n", &["h1"]),
];

fn parsed(text: &str, folder: &Path) -> (SshConfig, Vec<String>) {
    let file = folder.join("config");
    fs::write(&file, text.replace("DIR", &folder.display().to_string())).expect("written");
    let mut told = Vec::new();
    let config = SshConfig::from_file(&file, |_, text| told.push(text));
    (config, told)
}

/// Returns OpenSSH's options from a file, by keyword.
#[expect(clippy::disallowed_methods, reason = "OpenSSH is a program")]
fn openssh(file: &Path, host: &str) -> HashMap<String, Vec<String>> {
    let output = Command::new("ssh")
        .arg("-F")
        .arg(file)
        .args(["-G", host])
        .stdin(Stdio::null())
        .output()
        .expect("ssh is there: install openssh-client");
    let options_for = String::from_utf8(output.stderr).expect("text");
    assert!(output.status.success(), "{}: {options_for}", file.display());
    let mut values: HashMap<String, Vec<String>> = HashMap::new();
    for line in String::from_utf8(output.stdout).expect("text").lines() {
        let (name, value) = line.split_once(' ').unwrap_or((line, ""));
        values
            .entry(name.to_owned())
            .or_default()
            .push(value.to_owned());
    }
    values
}

#[test]
fn what_is_said_of_a_host_is_what_openssh_makes_of_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    fs::write(path.join("inc1"), "Port 1111\nHost deep\nUser one\n").expect("written");
    fs::write(path.join("inc2"), "Port 2222\nHostName included\n").expect("written");
    fs::write(path.join("none"), "").expect("written");
    for (text, hosts) in TABLE {
        let (config, told) = parsed(text, path);
        assert!(told.is_empty(), "{told:?}");
        for host in *hosts {
            let options_for = config.options_for(host).expect("nothing is wrong");
            let theirs = openssh(&path.join("config"), host);
            // Options that the file does not set are the same as without the file.
            let usual = openssh(&path.join("none"), host);
            let one = |ours: Option<String>, name: &str| {
                let expected = theirs.get(name).map(|values| values.join(" "));
                let usual = || usual.get(name).map(|values| values.join(" "));
                assert_eq!(ours.or_else(usual), expected, "{name} of {host} in\n{text}");
            };
            one(options_for.host_name.clone(), "hostname");
            one(options_for.user.clone(), "user");
            one(options_for.port.map(|port| port.to_string()), "port");
            one(options_for.host_key_alias.clone(), "hostkeyalias");
            let files =
                Some(options_for.identity_files.join(" ")).filter(|files| !files.is_empty());
            one(files, "identityfile");
            let files =
                Some(options_for.certificate_files.join(" ")).filter(|files| !files.is_empty());
            one(files, "certificatefile");
            let only = if options_for.identities_only {
                "yes"
            } else {
                "no"
            };
            one(Some(only.to_owned()), "identitiesonly");
            one(options_for.identity_agent.clone(), "identityagent");
            let jump = options_for.proxy_jump.clone().filter(|jump| jump != "none");
            one(jump, "proxyjump");
            let seconds = |time: Option<Duration>| time.map(|time| time.as_secs().to_string());
            one(seconds(options_for.alive_interval), "serveraliveinterval");
            one(
                options_for.alive_count_max.map(|most| most.to_string()),
                "serveralivecountmax",
            );
            one(seconds(options_for.connect_timeout), "connecttimeout");
            one(
                options_for.known_hosts.map(|files| files.join(" ")),
                "userknownhostsfile",
            );
            let strict = options_for.strict.map(|strict| match strict {
                Strict::Yes => theirs["stricthostkeychecking"]
                    .iter()
                    .find(|word| ["ask", "true"].contains(&word.as_str()))
                    .expect("one of these")
                    .clone(),
                Strict::AcceptNew => "accept-new".to_owned(),
                Strict::No => "false".to_owned(),
            });
            one(strict, "stricthostkeychecking");
            for (algorithm_list, name) in [
                (&options_for.kex, "kexalgorithms"),
                (&options_for.ciphers, "ciphers"),
                (&options_for.macs, "macs"),
                (&options_for.host_keys, "hostkeyalgorithms"),
                (&options_for.user_keys, "pubkeyacceptedalgorithms"),
            ] {
                let usual: Vec<&str> = usual[name][0].split(',').collect();
                let algorithm_list = algorithm_list.as_deref().map(AlgorithmList::parse);
                one(
                    algorithm_list
                        .map(|algorithm_list| algorithm_list.applied_to(&usual).join(",")),
                    name,
                );
            }
        }
    }
}

#[test]
fn match_blocks_are_skipped_and_told_once_with_their_places() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "Match host h1\nUser one\nHost h1\nPort 5\nMatch all\nPort 6\nHostName no\n";
    let (config, told) = parsed(text, folder.path());
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0].contains("config:1, ") && told[0].contains("config:5)"),
        "{told:?}"
    );
    let options_for = config.options_for("h1").expect("nothing is wrong");
    assert_eq!(
        (options_for.user, options_for.port, options_for.host_name),
        (None, Some(5), None)
    );
}

#[test]
fn a_wrong_value_is_told_with_its_place_to_those_whom_it_concerns() {
    let folder = tempfile::tempdir().expect("a folder");
    for (line, expected) in [
        ("Port many", "Port: `many` is not a port number"),
        (
            "ServerAliveInterval soon",
            "ServerAliveInterval: `soon` is no time",
        ),
        (
            "StrictHostKeyChecking maybe",
            "StrictHostKeyChecking: `maybe` is none of",
        ),
        (
            "ProxyCommand nc %h %p",
            "ProxyCommand: would start a program",
        ),
    ] {
        let (config, _) = parsed(&format!("Host h1\n{line}\n"), folder.path());
        let error = config.options_for("h1").expect_err("wrong").to_string();
        assert!(
            error.contains(expected) && error.contains("config:2)"),
            "{error}"
        );
        assert_eq!(
            config.options_for("h2").expect("another host"),
            HostOptions::default()
        );
    }
    let (config, _) = parsed("ProxyJump b\nProxyCommand nc\n", folder.path());
    assert_eq!(
        config
            .options_for("h1")
            .expect("a jump")
            .proxy_jump
            .as_deref(),
        Some("b")
    );
}
