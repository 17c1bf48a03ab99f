//! Authentication and trust: keys, certificates, agents, and jump hosts.

use std::fs;
use std::path::{Path, PathBuf};

use devgate_schemas::Value;
use devgate_transports::ssh_host::Exit;
use devgate_transports::{Environment, Error, HostSettings, SshConfig};

use crate::host::{Host, connect, ok, run};

#[tokio::test]
async fn a_password_opens_a_connection_and_a_wrong_one_does_not() {
    let lab = Host::named("h1");
    let with = |password: &str| {
        lab.settings(&[
            ("private-key", Value::Undef),
            ("password", Value::from(password)),
        ])
    };
    let host = connect(&with(lab.text("password"))).await.expect("let in");
    assert_eq!(run(&host, "id -un").await.expect("an end"), ok("runner\n"));
    host.close().await;
    let error = connect(&with("wrong-canary")).await.expect_err("refused");
    assert!(matches!(error, Error::Authentication(_)), "{error}");
    assert!(!error.to_string().contains("canary"), "{error}");
}

/// Returns an environment whose OpenSSH configuration has these lines.
fn config(folder: &Path, lines: &str) -> Environment {
    let file = folder.join("config");
    fs::write(&file, lines).expect("written");
    let config = SshConfig::from_file(&file, |_, message| panic!("{message}"));
    Environment::default().with_ssh_config(config)
}

/// Removes the settings that OpenSSH's configuration provides: the host's address and its key.
const UNSAID: [(&str, Value); 3] = [
    ("port", Value::Undef),
    ("user", Value::Undef),
    ("private-key", Value::Undef),
];

fn by(name: &str) -> Vec<(&'static str, Value)> {
    let mut more = UNSAID.to_vec();
    more.push(("host", Value::from(name)));
    more
}

async fn who(settings: &HostSettings) -> String {
    let host = connect(settings).await.expect("a connection");
    let (who, _, exit) = run(&host, "id -un; hostname").await.expect("an end");
    assert_eq!(exit, Exit::Code(0));
    host.close().await;
    who.replace('\n', " ").trim().to_owned()
}

#[tokio::test]
async fn what_the_inventory_does_not_say_openssh_s_configuration_says() {
    let lab = Host::named("h1");
    let folder = tempfile::tempdir().expect("a folder");
    let lines = format!(
        "Host first\nHostName 127.0.0.1\nPort {}\nUser runner\nIdentityFile /nowhere/id\n\
         IdentityFile {}\nIdentityAgent none\nHost *\nUser nobody\n",
        lab.port(),
        lab.text("rsa_key"),
    );
    let config = config(folder.path(), &lines);
    assert_eq!(
        who(&lab.settings_with(&config, &by("first"))).await,
        "runner h1"
    );
    let mut more = by("first");
    more.push(("user", Value::from("worker")));
    assert_eq!(who(&lab.settings_with(&config, &more)).await, "worker h1");
    // Without the configuration files, the name has no meaning.
    more.push(("load-config", Value::from(false)));
    let error = connect(&lab.settings_with(&config, &more)).await;
    assert!(matches!(error, Err(Error::Resolve { .. })), "{error:?}");
}

#[tokio::test]
async fn jump_hosts_are_used_and_named() {
    let (lab, bastion) = (Host::named("h2"), Host::named("bastion"));
    let folder = tempfile::tempdir().expect("a folder");
    let lines = |key: &str| {
        format!(
            "Host bastion\nHostName 127.0.0.1\nPort {}\nUser runner\nIdentityFile {key}\n\
             IdentityAgent none\n",
            bastion.port(),
        )
    };
    let known = config(folder.path(), &lines(lab.text("private_key")));
    let through = |list: &str| [("proxyjump", Value::from(list))];
    let settings = lab.settings_with(&known, &through("bastion"));
    assert_eq!(who(&settings).await, "runner h2");
    let log = fs::read_to_string(bastion.text("log")).expect("a log");
    let request = format!("127.0.0.1 port {}", lab.port());
    assert!(
        log.contains(&request),
        "the bastion was not asked for {request}"
    );
    let h1 = Host::named("h1");
    let list = format!("bastion,runner@127.0.0.1:{}", h1.port());
    let error = connect(&lab.settings_with(&known, &through(&list))).await;
    let text = error.expect_err("h1 knows no key of ours").to_string();
    assert!(
        text.contains(&format!("127.0.0.1:{} refuses the login", h1.port())),
        "{text}"
    );
    let keyless = config(folder.path(), &lines("/nowhere"));
    let error = connect(&lab.settings_with(&keyless, &through("bastion"))).await;
    let text = error.expect_err("no key").to_string();
    assert!(
        text.contains(&format!("127.0.0.1:{} refuses the login", bastion.port())),
        "{text}"
    );
    // A closed port behind the bastion is reported by the bastion.
    let mut closed = vec![("port", Value::from(9))];
    closed.extend(through("bastion"));
    let text = connect(&lab.settings_with(&known, &closed)).await;
    let text = text.expect_err("closed").to_string();
    assert!(
        text.contains("no connection to 127.0.0.1:9 through")
            && text.contains("(Connection refused)"),
        "{text}"
    );
}

#[tokio::test]
async fn certificates_prove_the_host_and_the_user() {
    let lab = Host::named("h5");
    let certified = [("private-key", Value::from(lab.text("certified_key")))];
    assert_eq!(who(&lab.settings(&certified)).await, "runner h5");
    // This host does not accept a key without a certificate.
    let error = connect(&lab.settings(&[])).await.expect_err("refused");
    assert!(matches!(error, Error::Authentication(_)), "{error}");
    // The certificate may be named explicitly, and need not be next to the key.
    let folder = tempfile::tempdir().expect("a folder");
    let copy = folder.path().join("copy");
    fs::copy(lab.text("certified_key"), &copy).expect("copied");
    let lines = format!(
        "IdentityFile {}\nIdentityAgent none\nCertificateFile {}-cert.pub\n",
        copy.display(),
        lab.text("certified_key")
    );
    let unnamed = [("private-key", Value::Undef)];
    let config = config(folder.path(), &lines);
    assert_eq!(
        who(&lab.settings_with(&config, &unnamed)).await,
        "runner h5"
    );

    // The authority is trusted only for certain names, and may be revoked.
    let known_hosts = fs::read_to_string(lab.text("known_hosts")).expect("a file");
    let location = format!("[127.0.0.1]:{}", lab.port());
    let authority = known_hosts
        .lines()
        .find(|line| line.contains(&location))
        .expect("a line");
    let file = folder.path().join("known_hosts");
    let with = |text: String| {
        fs::write(&file, text).expect("written");
        let mut more = certified.to_vec();
        more.push(("known-hosts-file", Value::from(file.display().to_string())));
        lab.settings(&more)
    };
    let revoked = authority.replace("@cert-authority", "@revoked");
    let error = connect(&with(format!("{authority}\n{revoked}\n")))
        .await
        .expect_err("revoked");
    assert!(error.to_string().contains("is revoked at"), "{error}");
    let other = known_hosts
        .lines()
        .find(|line| !line.starts_with('@'))
        .expect("a key");
    let key = other.split_once(' ').expect("a key").1;
    let error = connect(&with(format!("@cert-authority {location} {key}\n"))).await;
    let error = error.expect_err("another authority").to_string();
    assert!(
        error.contains("which no `@cert-authority` line trusts"),
        "{error}"
    );
}

#[tokio::test]
async fn an_encrypted_key_is_opened_by_its_passphrase() {
    let lab = Host::named("h1");
    let key = ("private-key", Value::from(lab.text("encrypted_key")));
    let open = [
        key.clone(),
        (
            "private-key-passphrase",
            Value::from(lab.text("passphrase")),
        ),
    ];
    assert_eq!(who(&lab.settings(&open)).await, "runner h1");
    let error = connect(&lab.settings(&[key]))
        .await
        .expect_err("closed")
        .to_string();
    assert!(
        error.contains("private-key: the file that it names is encrypted"),
        "{error}"
    );
}

/// An SSH agent that ends when it is dropped.
struct Agent {
    process: std::process::Child,
    socket: PathBuf,
}

impl Agent {
    /// Starts an agent in `folder` with these keys.
    fn start(folder: &Path, keys: &[&str]) -> Self {
        let socket = folder.join("agent");
        let mut agent = program("ssh-agent");
        let agent = agent
            .arg("-D")
            .arg("-a")
            .arg(&socket)
            .stdout(std::process::Stdio::null());
        let agent = Self {
            process: agent
                .spawn()
                .expect("ssh-agent starts: install openssh-client"),
            socket,
        };
        for key in keys {
            loop {
                let mut add = program("ssh-add");
                let add = add.arg("-q").arg(key).env("SSH_AUTH_SOCK", &agent.socket);
                if add.output().expect("ssh-add runs").status.success() {
                    break;
                }
                assert!(!agent.socket.exists() || Path::new(key).exists(), "{key}");
            }
        }
        agent
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "an agent is a program")]
fn program(name: &str) -> std::process::Command {
    std::process::Command::new(name)
}

#[tokio::test]
async fn an_agent_signs_with_the_keys_that_are_requested() {
    let (h1, h5) = (Host::named("h1"), Host::named("h5"));
    let folder = tempfile::tempdir().expect("a folder");
    let strangers: Vec<String> = (0..6)
        .map(|n| {
            let key = folder
                .path()
                .join(format!("stranger{n}"))
                .display()
                .to_string();
            let mut keygen = program("ssh-keygen");
            let made = keygen
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &key])
                .status();
            assert!(made.expect("ssh-keygen runs").success());
            key
        })
        .collect();
    let mut keys: Vec<&str> = strangers.iter().map(String::as_str).collect();
    keys.extend([h1.text("private_key"), h5.text("certified_key")]);
    let agent = Agent::start(folder.path(), &keys);
    let with = |lines: &str| {
        let agent = format!("IdentityAgent {}\n", agent.socket.display());
        config(folder.path(), &format!("{agent}{lines}"))
    };
    let unnamed = [("private-key", Value::Undef)];
    // Six unknown keys come first, and no host accepts a seventh attempt.
    let error = connect(&h1.settings_with(&with(""), &unnamed)).await;
    let error = error.expect_err("strangers").to_string();
    assert!(error.contains("agent key SHA256:"), "{error}");
    // The public key selects the right one.
    let public = folder.path().join("which");
    fs::copy(
        format!("{}.pub", h1.text("private_key")),
        public.with_extension("pub"),
    )
    .expect("copied");
    fs::write(&public, "no key\n").expect("written");
    let lines = format!("IdentitiesOnly yes\nIdentityFile {}\n", public.display());
    assert_eq!(
        who(&h1.settings_with(&with(&lines), &unnamed)).await,
        "runner h1"
    );
    // The agent has the certificate too, because ssh-add found it next to the key.
    let lines = format!(
        "IdentitiesOnly yes\nIdentityFile {}\n",
        h5.text("certified_key")
    );
    assert_eq!(
        who(&h5.settings_with(&with(&lines), &unnamed)).await,
        "runner h5"
    );
}

#[tokio::test]
async fn algorithms_are_those_that_are_requested() {
    let lab = Host::named("h1");
    let list = |names: &[&str]| Value::Array(names.iter().map(|name| Value::from(*name)).collect());
    let more = [
        ("kex-algorithms", list(&["ecdh-sha2-nistp256"])),
        ("encryption-algorithms", list(&["aes128-ctr", "defaults"])),
        ("mac-algorithms", list(&["hmac-sha2-256"])),
        ("host-key-algorithms", list(&["defaults"])),
    ];
    assert_eq!(who(&lab.settings(&more)).await, "runner h1");
    let more = [("encryption-algorithms", list(&["no-such-cipher"]))];
    let error = connect(&lab.settings(&more))
        .await
        .expect_err("none")
        .to_string();
    assert!(
        error.starts_with("encryption-algorithms: none of `no-such-cipher`"),
        "{error}"
    );
}
