//! Connections to real OpenSSH servers: the hosts that `tests/lab/hosts.sh` starts.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use devgate_schemas::{Event, Hash, Listen, Unread, Value};
use devgate_transports::ssh_host::{Exit, Piece, Source, Upload};
use devgate_transports::{Context, Error, HostSettings, Patience, SshConfig, SshHost};
use tokio::time::timeout;

/// A host of the lab.
struct Host {
    lab: serde_json::Value,
    host: serde_json::Value,
}

/// What is told is only looked at where something fails.
#[derive(Debug)]
struct Quiet;

impl Listen for Quiet {
    fn hear(&self, _: Event) {}
}

impl Host {
    fn named(name: &str) -> Self {
        let path = std::env::var_os("DEVGATE_HOSTS").map(PathBuf::from).expect(
            "this test needs real hosts, and DEVGATE_HOSTS does not say where they are: run tests/run",
        );
        let text = fs::read_to_string(path).expect("hosts.json can be read");
        let lab: serde_json::Value = serde_json::from_str(&text).expect("hosts.json is JSON");
        let hosts = lab["hosts"].as_array().expect("hosts.json lists hosts");
        let host = hosts.iter().find(|host| host["name"] == name);
        let host = host.expect("the lab has it").clone();
        Self { lab, host }
    }

    fn text(&self, key: &str) -> &str {
        let found = self.host[key].as_str().or_else(|| self.lab[key].as_str());
        found.expect("hosts.json has it")
    }

    fn port(&self) -> i64 {
        self.host["port"].as_i64().expect("a port")
    }

    /// A file in the host's `/tmp`, as this machine sees it.
    fn tmp(&self, file: &str) -> PathBuf {
        Path::new(self.text("tmp")).join(file)
    }

    /// With the plain key, known hosts, and nothing of the user who runs the tests.
    fn settings(&self, more: &[(&str, Value)]) -> HostSettings {
        self.settings_with(&SshConfig::default(), more)
    }

    fn settings_with(&self, config: &SshConfig, more: &[(&str, Value)]) -> HostSettings {
        let mut raw: Hash = [
            ("host", Value::from("127.0.0.1")),
            ("port", Value::from(self.port())),
            ("user", Value::from("runner")),
            ("private-key", Value::from(self.text("private_key"))),
            ("known-hosts-file", Value::from(self.text("known_hosts"))),
            ("connect-timeout", Value::from(60)),
        ]
        .into_iter()
        .collect();
        for (key, value) in more {
            raw.insert(*key, value.clone());
        }
        let given = raw.into_iter().filter(|(_, value)| !value.is_undef());
        let info = HostSettings::schema()
            .read(Unread::new(given.collect()), |_, told| panic!("{told}"))
            .expect("it fits");
        HostSettings::read(&info, config, |_, told| panic!("{told}")).expect("settings")
    }

    async fn connect(&self, more: &[(&str, Value)]) -> SshHost {
        connect(&self.settings(more)).await.expect("a connection")
    }
}

async fn connect(settings: &HostSettings) -> Result<SshHost, Error> {
    let patience = Patience::at_most(Duration::from_secs(5));
    SshHost::connect(&Context::new("h", &Quiet, &patience), settings).await
}

async fn run(host: &SshHost, command: &str) -> Result<(String, String, Exit), Error> {
    let mut exec = host.exec(command).await?;
    drop(exec.stdin);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    loop {
        match exec.output.next().await? {
            Piece::Stdout(bytes) => stdout.extend_from_slice(&bytes),
            Piece::Stderr(bytes) => stderr.extend_from_slice(&bytes),
            Piece::Ended(_) => {}
            Piece::Exit(exit) => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                return Ok((text(&stdout), text(&stderr), exit));
            }
        }
    }
}

fn ok(stdout: &str) -> (String, String, Exit) {
    (stdout.to_owned(), String::new(), Exit::Code(0))
}

#[tokio::test]
async fn programs_run_side_by_side_on_one_connection() {
    let host = Host::named("h1").connect(&[]).await;
    let commands: Vec<String> = (0..8).map(|n| format!("sleep 0.2; echo {n}")).collect();
    let running = commands.iter().map(|command| run(&host, command));
    let ended = futures_util::future::join_all(running).await;
    for (n, ended) in ended.into_iter().enumerate() {
        assert_eq!(ended.expect("an end"), ok(&format!("{n}\n")));
    }
    let (_, stderr, exit) = run(&host, "echo no >&2; exit 3").await.expect("an end");
    assert_eq!((stderr.as_str(), exit), ("no\n", Exit::Code(3)));
    let killed = run(&host, "kill -KILL $$").await.expect("an end");
    assert_eq!(killed.2, Exit::Signal("KILL".into()));
    host.close().await;
}

#[tokio::test]
async fn all_that_is_sent_arrives_and_all_that_comes_is_given() {
    let host = Host::named("h1").connect(&[]).await;
    let sent: Vec<u8> = (0..20_000_000_u32).map(|n| (n % 251) as u8).collect();
    let mut exec = host.exec("cat").await.expect("started");
    let mut stdin = exec.stdin;
    let writing = async {
        stdin.write_all(sent.clone()).await.expect("read");
        drop(stdin);
    };
    let reading = async {
        let mut read = Vec::new();
        loop {
            match exec.output.next().await.expect("a piece") {
                Piece::Stdout(bytes) => read.extend_from_slice(&bytes),
                Piece::Stderr(bytes) => panic!("{bytes:?}"),
                Piece::Ended(_) => {}
                Piece::Exit(exit) => return (read, exit),
            }
        }
    };
    let ((), (read, exit)) = tokio::join!(writing, reading);
    assert!(read == sent && exit == Exit::Code(0));
}

#[tokio::test]
async fn a_third_program_is_too_many_where_two_are_allowed() {
    let host = Host::named("h3").connect(&[]).await;
    let first = host.exec("sleep 60").await.expect("started");
    let second = host.exec("sleep 60").await.expect("started");
    let error = host.exec("true").await.expect_err("full");
    assert!(matches!(error, Error::NoMoreSessions { .. }), "{error}");
    let error = host.put(&[upload("x", b"x", 0o600)]).await;
    let error = error.expect_err("full");
    assert!(matches!(error, Error::NoMoreSessions { .. }), "{error}");
    drop((first, second));
    host.close().await;
}

fn upload(to: &str, bytes: &'static [u8], mode: u32) -> Upload {
    Upload {
        from: Source::Bytes(bytes.into()),
        to: to.to_owned(),
        mode,
    }
}

fn mode(path: &Path) -> u32 {
    let metadata = fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    metadata.permissions().mode() & 0o7777
}

/// Puts files on a host and looks at its disk.
async fn puts_files(name: &str) {
    let lab = Host::named(name);
    let host = lab.connect(&[]).await;
    let folder = format!("put-{}", std::process::id());
    let local = tempfile::tempdir().expect("a folder");
    let big = local.path().join("big");
    let content: Vec<u8> = (0..8_000_000_u32).map(|n| (n % 241) as u8).collect();
    fs::write(&big, &content).expect("written");
    let mut files = vec![Upload {
        from: Source::File(big),
        to: format!("/tmp/{folder}/deep/er/big"),
        mode: 0o600,
    }];
    for n in 0..100 {
        files.push(upload(
            &format!("/tmp/{folder}/it's {n}"),
            b"#!/bin/sh\necho it\n",
            0o700,
        ));
    }
    files.push(upload(&format!("/tmp/{folder}/empty"), b"", 0o644));
    host.put(&files).await.expect("put");
    let there = lab.tmp(&folder);
    assert!(fs::read(there.join("deep/er/big")).expect("a file") == content);
    assert_eq!(mode(&there.join("deep/er/big")), 0o600);
    assert_eq!(mode(&there.join("deep")), 0o700);
    assert_eq!(mode(&there.join("it's 99")), 0o700);
    assert_eq!(mode(&there.join("empty")), 0o644);
    let command = format!("'/tmp/{folder}/it'\\''s 42'; ls /tmp/{folder} | wc -l");
    assert_eq!(run(&host, &command).await.expect("an end"), ok("it\n102\n"));
    // What is put again replaces what was there, and its permissions.
    let again = upload(&format!("/tmp/{folder}/empty"), b"2", 0o600);
    host.put(&[again]).await.expect("put");
    assert_eq!(fs::read(there.join("empty")).expect("a file"), b"2");
    assert_eq!(mode(&there.join("empty")), 0o600);
    for (to, why) in [
        ("/proc/no/file", ""),
        ("/etc/shadow", "ermission denied"),
        (&format!("/tmp/{folder}/empty/file"), ""),
    ] {
        let error = host.put(&[upload(to, b"x", 0o600)]).await.expect_err(to);
        assert!(matches!(error, Error::Upload { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains(why) && text.contains("cannot put"), "{text}");
    }
    run(&host, &format!("rm -r /tmp/{folder}"))
        .await
        .expect("an end");
    host.close().await;
}

#[tokio::test]
async fn files_are_put_by_sftp() {
    puts_files("h1").await;
}

#[tokio::test]
async fn files_are_put_without_sftp() {
    puts_files("h4").await;
}

#[tokio::test]
async fn a_full_disk_is_an_error_whichever_way_files_are_put() {
    for name in ["h1", "h4"] {
        let host = Host::named(name).connect(&[]).await;
        let error = host.put(&[upload("/dev/full", b"x", 0o600)]).await;
        // The device belongs to root, so it is its permissions or its room that is told.
        assert!(matches!(error, Err(Error::Upload { .. })), "{error:?}");
        host.close().await;
    }
}

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

#[tokio::test]
async fn a_connection_that_goes_silent_ends_all_that_runs_on_it() {
    let lab = Host::named("h2");
    let more = [
        ("keepalive-interval", Value::Float(0.2)),
        ("keepalive-count-max", Value::from(2)),
    ];
    let host = lab.connect(&more).await;
    // The program stops the server's process for this connection: as if the line were cut.
    let mut exec = host
        .exec("trap '' HUP; kill -STOP $PPID; sleep 3600")
        .await
        .expect("started");
    let ended = timeout(Duration::from_secs(60), exec.output.next()).await;
    let error = ended.expect("it is noticed").expect_err("lost");
    assert!(matches!(error, Error::Lost { .. }), "{error}");
    assert!(error.to_string().contains("silent"), "{error}");
    let error = host.exec("true").await.expect_err("lost");
    assert!(matches!(error, Error::Lost { .. }), "{error}");
    assert!(host.is_closed());
}

/// OpenSSH's configuration with these lines.
fn config(folder: &Path, lines: &str) -> SshConfig {
    let file = folder.join("config");
    fs::write(&file, lines).expect("written");
    SshConfig::from_file(&file, |_, told| panic!("{told}"))
}

/// Nothing but what OpenSSH's configuration has: the host's address and its key.
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
    // Without the files the name means nothing.
    more.push(("load-config", Value::from(false)));
    let error = connect(&lab.settings_with(&config, &more)).await;
    assert!(matches!(error, Err(Error::Resolve { .. })), "{error:?}");
}

#[tokio::test]
async fn hosts_on_the_way_are_gone_through_and_named() {
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
    let asked = format!("127.0.0.1 port {}", lab.port());
    assert!(
        log.contains(&asked),
        "the bastion was not asked for {asked}"
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
    // A closed port beyond the bastion is the bastion's answer.
    let mut closed = vec![("port", Value::from(9))];
    closed.extend(through("bastion"));
    let text = connect(&lab.settings_with(&known, &closed)).await;
    let text = text.expect_err("closed").to_string();
    assert!(
        text.contains("refuses a connection on to 127.0.0.1:9"),
        "{text}"
    );
}

#[tokio::test]
async fn certificates_prove_the_host_and_the_user() {
    let lab = Host::named("h5");
    let certified = [("private-key", Value::from(lab.text("certified_key")))];
    assert_eq!(who(&lab.settings(&certified)).await, "runner h5");
    // A key without a certificate is not enough for this host.
    let error = connect(&lab.settings(&[])).await.expect_err("refused");
    assert!(matches!(error, Error::Authentication(_)), "{error}");
    // The certificate may be named instead of lying beside the key.
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

    // The authority is trusted for certain names alone, and may be revoked.
    let known = fs::read_to_string(lab.text("known_hosts")).expect("a file");
    let place = format!("[127.0.0.1]:{}", lab.port());
    let authority = known
        .lines()
        .find(|line| line.contains(&place))
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
    let other = known
        .lines()
        .find(|line| !line.starts_with('@'))
        .expect("a key");
    let key = other.split_once(' ').expect("a key").1;
    let error = connect(&with(format!("@cert-authority {place} {key}\n"))).await;
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

/// An agent that lives as long as this.
struct Agent {
    process: std::process::Child,
    socket: PathBuf,
}

impl Agent {
    /// Starts one in `folder` with these keys.
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
async fn an_agent_signs_with_the_keys_that_are_asked_for() {
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
    // Six strangers come first, and no host waits for a seventh key.
    let error = connect(&h1.settings_with(&with(""), &unnamed)).await;
    let error = error.expect_err("strangers").to_string();
    assert!(error.contains("agent key SHA256:"), "{error}");
    // The public half says which one is meant.
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
    // The agent has the certificate too, as ssh-add found it beside the key.
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
async fn algorithms_are_those_that_are_asked_for() {
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

#[tokio::test]
async fn a_host_that_takes_nothing_more_is_found_out_in_the_middle_of_writing() {
    let more = [
        ("keepalive-interval", Value::Float(0.3)),
        ("keepalive-count-max", Value::from(2)),
    ];
    let host = Host::named("h2").connect(&more).await;
    let mut writing = Vec::new();
    let (mut outputs, mut sent) = (Vec::new(), Vec::new());
    for n in 0..8 {
        // The last one stops the server's process for this connection.
        let command = if n < 7 {
            "cat >/dev/null"
        } else {
            "kill -STOP $PPID; sleep 3600"
        };
        let exec = host.exec(command).await.expect("started");
        outputs.push(exec.output);
        sent.push(exec.stdin);
    }
    for mut stdin in sent {
        writing.push(tokio::spawn(async move {
            stdin.write_all(vec![0; 100_000_000]).await
        }));
    }
    for output in &mut outputs {
        let ended = timeout(Duration::from_secs(120), output.next()).await;
        let error = ended.expect("it is noticed").expect_err("lost");
        assert!(matches!(error, Error::Lost { .. }), "{error}");
        assert!(error.to_string().contains("silent"), "{error}");
    }
    for writing in writing {
        let ended = timeout(Duration::from_secs(60), writing)
            .await
            .expect("it ends");
        ended.expect("no panic").expect_err("nobody reads");
    }
}
