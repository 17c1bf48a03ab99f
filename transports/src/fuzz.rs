//! Properties that must hold for any input from a peer. The fuzz targets call these functions, and so does the
//! test that replays their corpora.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context as Task, Poll};
use std::time::Duration;

use devgate_schemas::{Event, EventSink};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::runtime::Builder;
use tokio::time::Instant;

use crate::Line;
use crate::cli::screen::Screen;
use crate::cli::{Cli, CliSettings, Credentials};
use crate::netconf::Element;
use crate::netconf::framing::{Decoder, Framing};
use crate::{Context, Dialect, RetryBudget};

/// Checks that a screen shows the same text whether bytes arrive at once or one by one.
pub fn screen(data: &[u8]) {
    let (mut whole, mut bytewise) = (Screen::default(), Screen::default());
    whole.push(data);
    for byte in data {
        bytewise.push(&[*byte]);
    }
    assert_eq!(whole.text(), bytewise.text());
    assert_eq!(whole.last_line(), bytewise.last_line());
}

/// Checks that NETCONF messages are the same however they are chunked, and that XML is written as it was read.
pub fn netconf(data: &[u8]) {
    let cut = |framing, size| {
        let mut decoder = Decoder::new(1_000);
        decoder.switch(framing);
        let mut messages = Vec::new();
        for piece in data.chunks(size) {
            decoder.push(piece);
            loop {
                match decoder.next() {
                    Ok(Some(message)) => messages.push(message),
                    Ok(None) => break,
                    Err(error) => return (messages, Some(error)),
                }
            }
        }
        (messages, None)
    };
    for framing in [Framing::EndOfMessage, Framing::Chunked] {
        assert_eq!(cut(framing, data.len().max(1)), cut(framing, 1));
    }
    let text = String::from_utf8_lossy(data);
    if let Ok(element) = Element::parse(&text) {
        let written = element.to_string();
        assert!(!written.contains("]]>"));
        assert_eq!(Element::parse(&written).as_ref(), Ok(&element));
        Element::parse(&element.to_pretty()).expect("people get XML");
    }
    let _ = Element::parse_all(&text);
}

/// Shared, because compiling its patterns takes longer than a session.
static DIALECT: LazyLock<Arc<Dialect>> = LazyLock::new(|| Arc::new(Dialect::generic()));

/// Checks that a session and its commands end in time and without a panic, whatever the device answers.
pub fn command_line(data: &[u8]) {
    let limits = Duration::from_secs(10);
    let runtime = Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build();
    runtime.expect("a runtime can be made").block_on(async {
        let retry_budget = RetryBudget::new();
        let ctx = Context::new("fuzz", &Deaf, &retry_budget);
        let settings = CliSettings {
            peer: "fuzz:22".to_owned(),
            dialect: Arc::clone(&DIALECT),
            timeout: limits,
            idle_timeout: limits,
            command_timeout: limits * 3,
        };
        let started = Instant::now();
        let device = Device::new(data);
        let nothing = Credentials {
            user: String::new(),
            login: None,
            enable_password: None,
        };
        let opening = Cli::open(&ctx, device, settings, started + limits, &nothing);
        let Ok(mut cli) = opening.await else {
            return;
        };
        for command in ["show version", "show clock"] {
            let asked = Instant::now();
            let _ = cli.run(&ctx, &Line::new(command)).await;
            assert!(asked.elapsed() <= limits * 4, "{:?}", asked.elapsed());
        }
    });
}

/// Checks that JSON objects from a stream are the same wherever it is split, and that parsing never panics.
pub fn json_objects(data: &[u8]) {
    crate::ovsdb::objects(data);
}

/// Checks that parsing a datagram never panics.
pub fn snmp(data: &[u8]) {
    crate::snmp::read(data);
}

#[derive(Debug)]
struct Deaf;

impl EventSink for Deaf {
    fn emit(&self, _: Event) {}
}

/// A device that answers each line as the input says: with an echo, a prompt, other bytes.
#[derive(Debug)]
struct Device<'d> {
    script: &'d [u8],
    answer: VecDeque<u8>,
    /// Whether it closes the connection at the end of the input. Otherwise it falls silent.
    hangs_up: bool,
}

impl<'d> Device<'d> {
    fn new(script: &'d [u8]) -> Self {
        let mut device = Self {
            script,
            answer: VecDeque::new(),
            hangs_up: script.last().is_some_and(|last| last % 2 == 0),
        };
        device.hear(b"");
        device
    }

    fn take(&mut self) -> Option<u8> {
        let (first, rest) = self.script.split_first()?;
        self.script = rest;
        Some(*first)
    }

    fn hear(&mut self, typed: &[u8]) {
        let Some(how) = self.take() else {
            return;
        };
        if how & 1 == 0 {
            self.answer.extend(typed);
        }
        if how & 2 == 0 {
            self.answer.extend(b"\r\n");
        }
        if how & 4 != 0 {
            let length = usize::from(self.take().unwrap_or_default()).min(self.script.len());
            let (message, rest) = self.script.split_at(length);
            self.answer.extend(message);
            self.script = rest;
        }
        if how & 8 == 0 {
            self.answer.extend(b"r1#");
        }
    }
}

impl AsyncRead for Device<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Task<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.answer.is_empty() {
            return if self.script.is_empty() && self.hangs_up {
                Poll::Ready(Ok(()))
            } else {
                Poll::Pending
            };
        }
        let some = self.answer.len().min(buffer.remaining()).min(7);
        for byte in self.answer.drain(..some).collect::<Vec<_>>() {
            buffer.put_slice(&[byte]);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Device<'_> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Task<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.hear(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Task<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Task<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
