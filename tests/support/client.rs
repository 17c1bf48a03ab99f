//! An unprotected SSH client, which sees a device's output as it is sent.

use std::sync::Arc;
use std::time::Duration;

use russh::client::{self, Handle, Msg};
use russh::keys::PublicKeyOrCertificate;
use russh::{Channel, ChannelMsg};

/// The end is searched for only in this many bytes, because the output may be large.
const WINDOW: usize = 200;

/// No tested habit takes longer.
const LIMIT: Duration = Duration::from_secs(30);

/// A client that trusts any server: it only tests habits.
pub(crate) struct AcceptAnyKey;

impl client::Handler for AcceptAnyKey {
    type Error = russh::Error;

    async fn check_server_key(&mut self, _: &PublicKeyOrCertificate) -> Result<bool, Self::Error> {
        Ok(true)
    }
}

pub(crate) async fn connected(port: u16) -> Handle<AcceptAnyKey> {
    client::connect(
        Arc::new(client::Config::default()),
        ("127.0.0.1", port),
        AcceptAnyKey,
    )
    .await
    .expect("the device listens")
}

/// A user's shell.
pub(crate) struct Shell {
    pub(crate) client: Handle<AcceptAnyKey>,
    pub(crate) channel: Channel<Msg>,
}

impl Shell {
    pub(crate) async fn of(port: u16, user: &str, password: &str) -> Self {
        let mut client = connected(port).await;
        let result = client.authenticate_password(user, password).await;
        assert!(result.expect("an answer").success(), "{user} is let in");
        let channel = client.channel_open_session().await.expect("a channel");
        channel.request_shell(true).await.expect("a shell");
        Self { client, channel }
    }

    pub(crate) async fn send(&self, text: &str) {
        self.channel
            .data(text.as_bytes())
            .await
            .expect("an open channel");
    }

    /// Returns the output up to a text, or up to the end of the channel.
    pub(crate) async fn until(&mut self, end: &str) -> String {
        let mut seen = vec![];
        while !String::from_utf8_lossy(&seen[seen.len().saturating_sub(WINDOW)..]).ends_with(end) {
            let next = tokio::time::timeout(LIMIT, self.channel.wait()).await;
            match next.unwrap_or_else(|_| {
                panic!(
                    "{end:?} does not come: {:?}",
                    String::from_utf8_lossy(&seen)
                )
            }) {
                Some(ChannelMsg::Data { data }) => seen.extend_from_slice(&data),
                Some(_) => {}
                None => break,
            }
        }
        String::from_utf8_lossy(&seen).into_owned()
    }

    /// Sends a line, and returns the output up to a text, or up to the end of the channel.
    pub(crate) async fn answer(&mut self, line: &str, end: &str) -> String {
        self.send(&format!("{line}\r")).await;
        self.until(end).await
    }
}
