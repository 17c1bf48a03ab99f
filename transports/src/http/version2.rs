//! Detecting HTTP/2 without TLS, after a server did not answer HTTP/1.1 (RFC 9113, 3.3 and 3.4).

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use crate::{Context, Destination, dial};

/// The time in which a server must answer.
const LIMIT: Duration = Duration::from_secs(2);

/// The client's connection preface, with an empty SETTINGS frame.
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// The offset of the type in a frame header, and the type of SETTINGS, with which a server begins.
const TYPE: usize = 3;
const SETTINGS: u8 = 4;

/// Returns whether a server answers as HTTP/2 requires.
pub(super) async fn is_supported(ctx: &Context<'_>, host: &str, port: u16) -> bool {
    let deadline = Instant::now() + LIMIT;
    let asking = async {
        let mut stream = dial::connect(ctx, Destination::tcp(host, port), LIMIT, deadline)
            .await
            .ok()?;
        stream.write_all(PREFACE).await.ok()?;
        let mut header = [0; 9];
        stream.read_exact(&mut header).await.ok()?;
        Some(header[TYPE] == SETTINGS && header[5..] == [0; 4])
    };
    timeout_at(deadline, asking).await.ok().flatten() == Some(true)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;
    use crate::cli::fake::TestBench;

    #[tokio::test]
    async fn only_a_server_that_answers_with_settings_supports_http2() {
        for (answer, expected) in [
            (&b"\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64"[..], true),
            (b"HTTP/1.1 400 Bad Request\r\n\r\n", false),
            (b"", false),
        ] {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let port = listener.local_addr().expect("an address").port();
            let serving = async {
                let (mut stream, _) = listener.accept().await.expect("a client");
                let mut preface = [0; PREFACE.len()];
                stream.read_exact(&mut preface).await.expect("it begins");
                stream.write_all(answer).await.expect("it answers");
            };
            let bench = TestBench::default();
            let ctx = bench.ctx();
            let asking = is_supported(&ctx, "127.0.0.1", port);
            let (supported, ()) = tokio::join!(asking, serving);
            assert_eq!(supported, expected, "{answer:?}");
        }
    }
}
