//! A fake server for tests. It answers requests according to a script, and records them.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufStream};
use tokio::net::{TcpListener, TcpStream};

use crate::pauses::wait;

/// The server's reaction to a request.
#[derive(Clone, Debug)]
pub(crate) enum FakeReaction {
    /// Answers with a status, headers (each with its line end) and a body.
    Answer(u16, &'static str, &'static str),
    /// Writes this and closes the connection.
    Write(&'static str),
    /// Closes the connection.
    Close,
    /// Answers with 200 after this many milliseconds, with headers and a body.
    Late(u64, &'static str, &'static str),
    /// Never answers.
    Hang,
}

/// A server on a port of its own.
pub(crate) struct Server {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts the server. After the script, it answers with 404.
    pub(crate) async fn start(script: impl IntoIterator<Item = FakeReaction>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let script: Arc<Mutex<VecDeque<FakeReaction>>> =
            Arc::new(Mutex::new(script.into_iter().collect()));
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let server = Self {
            port,
            requests: Arc::clone(&requests),
        };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (script, requests) = (Arc::clone(&script), Arc::clone(&requests));
                tokio::spawn(async move { serve(stream, &script, &requests).await });
            }
        });
        server
    }

    /// Returns the requests so far, each with its line, its headers and its body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no poison").clone()
    }

    /// Returns the request lines so far: `GET /a`.
    pub(crate) fn request_lines(&self) -> Vec<String> {
        let line = |request: String| {
            let line = request.lines().next().unwrap_or_default();
            line.trim_end_matches(" HTTP/1.1").to_owned()
        };
        self.requests().into_iter().map(line).collect()
    }
}

async fn serve(
    stream: TcpStream,
    script: &Mutex<VecDeque<FakeReaction>>,
    requests: &Mutex<Vec<String>>,
) -> Option<()> {
    let mut stream = BufStream::new(stream);
    loop {
        let mut request = String::new();
        let mut length = 0;
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).await.ok()? == 0 {
                return None;
            }
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().expect("a length");
            }
            if line.starts_with("PRI ") {
                // It supports HTTP/1.1 only, and the client requests more (RFC 9113, 3.4).
                return None;
            }
            if line.trim().is_empty() {
                break;
            }
            request += &line;
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body).await.ok()?;
        request += &String::from_utf8_lossy(&body);
        requests.lock().expect("no poison").push(request);
        let next = script.lock().expect("no poison").pop_front();
        let next = match next.unwrap_or(FakeReaction::Answer(404, "", "")) {
            FakeReaction::Late(time, headers, body) => {
                wait(Duration::from_millis(time)).await;
                FakeReaction::Answer(200, headers, body)
            }
            next => next,
        };
        match next {
            FakeReaction::Answer(status, headers, body) => {
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {status} x\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
                );
                stream.write_all(answer.as_bytes()).await.ok()?;
                stream.flush().await.ok()?;
            }
            FakeReaction::Write(text) => {
                stream.write_all(text.as_bytes()).await.ok()?;
                stream.flush().await.ok()?;
                return None;
            }
            FakeReaction::Close | FakeReaction::Late(..) => return None,
            FakeReaction::Hang => std::future::pending().await,
        }
    }
}
