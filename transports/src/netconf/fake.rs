//! A fake device for tests: it exchanges hellos, records requests, and answers as configured.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::time::Instant;

use super::client::{Client, ClientSettings};
use super::framing::{Decoder, Framing, frame};
use super::xml::{BASE, Element};
use crate::cli::fake::TestBench;
use crate::pauses::wait;
use crate::{Error, Result};

/// The device's reaction to a request.
pub(super) enum Answer {
    /// An `rpc-reply` to the request with this content.
    Inside(&'static str),
    /// These bytes, unchanged.
    Bytes(Vec<u8>),
    /// An error with this tag.
    Refusal(&'static str),
    /// `ok`, after this time.
    Late(Duration),
    /// Silence from now on.
    Silence,
    /// The end of the connection.
    End,
}

pub(super) const OK: Answer = Answer::Inside("<ok/>");

/// A device with these capabilities.
pub(super) struct Fake {
    capabilities: Vec<&'static str>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    /// Creates a device that supports these versions and capabilities (`candidate:1.0`).
    pub(super) fn new(capabilities: &[&'static str]) -> Self {
        Self {
            capabilities: capabilities.to_vec(),
            asked: Arc::default(),
        }
    }

    /// Returns the operations requested so far, each with its notable parts.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("no poison").clone()
    }

    /// Opens a session. `answer` returns the reaction to each operation.
    pub(super) async fn open(
        &self,
        bench: &TestBench,
        answer: impl FnMut(&str) -> Answer + Send + 'static,
    ) -> Result<Client> {
        let (near, far) = duplex(64 * 1024);
        let hello = hello(&self.capabilities);
        let is_chunked = self.capabilities.contains(&"base:1.1");
        let asked = Arc::clone(&self.asked);
        tokio::spawn(async move {
            // A test that is done closes its end.
            let _ = run(far, hello, is_chunked, asked, answer).await;
        });
        open(bench, near).await
    }

    /// Opens a session with a device that sends this first, and then ends or goes silent. Returns the error.
    pub(super) async fn says(bench: &TestBench, first: &str, end: Answer) -> Error {
        let (near, mut far) = duplex(64 * 1024);
        far.write_all(first.as_bytes()).await.expect("it fits");
        if let Answer::End = end {
            drop(far);
            open(bench, near).await.expect_err("no session")
        } else {
            let error = open(bench, near).await.expect_err("no session");
            drop(far);
            error
        }
    }
}

async fn open(bench: &TestBench, near: DuplexStream) -> Result<Client> {
    let terms = ClientSettings {
        peer: "192.0.2.1:830".to_owned(),
        user: "admin".to_owned(),
        timeout: Duration::from_secs(10),
        command_timeout: Duration::from_secs(120),
        answer_limit: 1000,
    };
    let deadline = Instant::now() + terms.timeout;
    Client::open(&bench.ctx(), near, None, terms, deadline).await
}

pub(super) fn hello(capabilities: &[&str]) -> String {
    let uri = |name: &&str| {
        let middle = if name.starts_with("base:") {
            ""
        } else {
            "capability:"
        };
        Element::new("capability").text(&format!("urn:ietf:params:netconf:{middle}{name}"))
    };
    let capabilities = Element::new("capabilities").with(capabilities.iter().map(uri));
    let id = Element::new("session-id").text("4");
    let hello = Element::in_namespace(BASE, "hello").with([capabilities, id]);
    hello.to_string()
}

async fn run(
    mut line: DuplexStream,
    hello: String,
    is_chunked: bool,
    asked: Arc<Mutex<Vec<String>>>,
    mut answer: impl FnMut(&str) -> Answer,
) -> std::io::Result<()> {
    // One byte at a time, which must make no difference.
    for byte in frame(Framing::EndOfMessage, &hello) {
        line.write_all(&[byte]).await?;
    }
    let mut decoder = Decoder::new(1_000_000);
    let mut framing = Framing::EndOfMessage;
    let mut bytes = [0; 1024];
    loop {
        while let Some(message) = decoder.next().expect("the client frames as it should") {
            let message = String::from_utf8(message).expect("the client writes UTF-8");
            let message = Element::parse(&message).expect("the client writes XML");
            if message.is_base("hello") {
                if is_chunked {
                    framing = Framing::Chunked;
                    decoder.switch(framing);
                }
                continue;
            }
            let id = message.attribute_value("message-id").expect("an id");
            let operation = message.children().next().expect("an operation");
            let mut reported = operation.name().to_owned();
            for part in ["target", "confirmed"] {
                let part = operation.child(part);
                let part = part.map(|part| part.children().next().unwrap_or(part).name());
                reported.extend(part.into_iter().flat_map(|part| [" ", part]));
            }
            let reply = |inside: &str| {
                format!(
                    "<r:rpc-reply xmlns:r=\"{BASE}\" xmlns=\"{BASE}\" message-id=\"{id}\">{inside}\
                     </r:rpc-reply>"
                )
            };
            let answer = answer(&reported);
            asked.lock().expect("no poison").push(reported);
            let bytes = match answer {
                Answer::Inside(inside) => frame(framing, &reply(inside)),
                Answer::Refusal(tag) => frame(
                    framing,
                    &reply(&format!(
                        "<rpc-error><error-tag>{tag}</error-tag><error-severity>error\
                         </error-severity></rpc-error>"
                    )),
                ),
                Answer::Bytes(bytes) => bytes,
                Answer::Late(time) => {
                    wait(time).await;
                    frame(framing, &reply("<ok/>"))
                }
                Answer::Silence => std::future::pending().await,
                Answer::End => return Ok(()),
            };
            line.write_all(&bytes).await?;
        }
        match line.read(&mut bytes).await? {
            0 => return Ok(()),
            count => decoder.push(&bytes[..count]),
        }
    }
}
