//! Tests of the practice switch with an SSH client.

use std::future;

use russh::client::{self, AuthResult, Handle};
use russh::keys::{PrivateKeyWithHashAlg, PublicKeyOrCertificate};
use russh::{Channel, ChannelMsg, client::Msg};

use super::*;

/// A client that trusts the key it was told of and no other.
struct Client {
    host_key: PublicKey,
}

impl client::Handler for Client {
    type Error = russh::Error;

    fn check_server_key(
        &mut self,
        key: &PublicKeyOrCertificate,
    ) -> impl Future<Output = Result<bool, Self::Error>> + Send {
        let is_host_key = match key {
            PublicKeyOrCertificate::PublicKey { key, .. } => {
                key.key_data() == self.host_key.key_data()
            }
            PublicKeyOrCertificate::Certificate(_) => false,
        };
        future::ready(Ok(is_host_key))
    }
}

async fn connected(
    practice: &PracticeSwitch,
) -> Result<Handle<Client>, Box<dyn std::error::Error>> {
    let host_key = PublicKey::from_openssh(practice.host_key())?;
    let config = Arc::new(client::Config::default());
    Ok(client::connect(config, practice.address(), Client { host_key }).await?)
}

async fn logged_in(
    practice: &PracticeSwitch,
) -> Result<Handle<Client>, Box<dyn std::error::Error>> {
    let mut client = connected(practice).await?;
    let result = client.authenticate_password("admin", "let-me-in").await?;
    if !matches!(result, AuthResult::Success) {
        return Err("not let in".into());
    }
    Ok(client)
}

/// Reads until a text, or until the channel is closed.
async fn read_until(channel: &mut Channel<Msg>, end: &str) -> String {
    let mut output = String::new();
    while !output.ends_with(end) || end.is_empty() {
        match channel.wait().await {
            Some(ChannelMsg::Data { data }) => output += &String::from_utf8_lossy(&data),
            Some(_) => {}
            None => break,
        }
    }
    output
}

async fn executed(
    client: &Handle<Client>,
    command: &str,
) -> Result<String, Box<dyn std::error::Error>> {
    let mut channel = client.channel_open_session().await?;
    channel.exec(true, command).await?;
    Ok(read_until(&mut channel, "").await)
}

#[tokio::test]
async fn a_session_configures_what_other_sessions_see() -> Result<(), Box<dyn std::error::Error>> {
    let practice = PracticeSwitch::start(PracticeSettings::default()).await?;
    let client = logged_in(&practice).await?;
    let mut shell = client.channel_open_session().await?;
    shell.request_pty(true, "vt100", 80, 24, 0, 0, &[]).await?;
    shell.request_shell(true).await?;
    assert_eq!(read_until(&mut shell, ">").await, "\r\npractice>");
    shell
        .data(&b"enable\nlet-me-configure\nconf t\nvlan 30\nname garden\nend\nexit\n"[..])
        .await?;
    let output = read_until(&mut shell, "").await;
    assert!(
        output.ends_with("practice(config-vlan)#end\r\npractice#exit\r\n"),
        "{output}"
    );

    let other = logged_in(&practice).await?;
    let vlans = executed(&other, "show vlan brief | include garden").await?;
    assert_eq!(vlans, format!("\r\n30   {:<32} active    \r\n", "garden"));
    practice.stop().await;
    Ok(())
}

#[tokio::test]
async fn only_the_user_with_the_password_or_a_known_key_is_let_in()
-> Result<(), Box<dyn std::error::Error>> {
    let authorized_key = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519)?;
    let unknown = PrivateKey::random(&mut safe_rng(), Algorithm::Ed25519)?;
    let authorized_keys = vec![authorized_key.public_key().clone()];
    let settings = PracticeSettings {
        authorized_keys,
        privileged: true,
        ..PracticeSettings::default()
    };
    let practice = PracticeSwitch::start(settings).await?;
    for (user, key, welcome) in [
        ("admin", &authorized_key, true),
        ("admin", &unknown, false),
        ("root", &authorized_key, false),
    ] {
        let mut client = connected(&practice).await?;
        let key = PrivateKeyWithHashAlg::new(Arc::new(key.clone()), None);
        let result = client.authenticate_publickey(user, key).await?;
        assert_eq!(matches!(result, AuthResult::Success), welcome, "{user}");
    }
    let mut client = connected(&practice).await?;
    assert!(
        !client
            .authenticate_password("root", "let-me-in")
            .await?
            .success()
    );
    assert!(
        !client
            .authenticate_password("admin", "canary")
            .await?
            .success()
    );
    assert!(
        client
            .authenticate_password("admin", "let-me-in")
            .await?
            .success()
    );
    assert!(executed(&client, "show privilege").await?.contains("is 15"));
    practice.stop().await;
    Ok(())
}

#[tokio::test]
async fn stopping_closes_the_sessions_and_the_port() -> Result<(), Box<dyn std::error::Error>> {
    let practice = PracticeSwitch::start(PracticeSettings::default()).await?;
    let address = practice.address();
    let client = logged_in(&practice).await?;
    let mut shell = client.channel_open_session().await?;
    shell.request_shell(true).await?;
    read_until(&mut shell, ">").await;
    practice.stop().await;
    assert_eq!(read_until(&mut shell, "").await, "");
    assert!(TcpStream::connect(address).await.is_err());
    Ok(())
}
