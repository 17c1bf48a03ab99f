//! A small HTTP/1.1 server on its own port, with answers that a test determines.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// A request as it was received.
#[derive(Clone, Debug)]
pub(crate) struct HttpRequest {
    pub(crate) method: String,
    /// The path with its query, as it was sent.
    pub(crate) path: String,
    /// The headers by their names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

/// The server; it ends with the test process.
pub(crate) struct Server {
    pub(crate) port: u16,
    requests: Arc<Mutex<Vec<HttpRequest>>>,
}

impl HttpRequest {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// Returns the request line: `METHOD PATH`.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.method, self.path)
    }
}

impl HttpResponse {
    pub(crate) fn new(status: u16, media_type: &str, body: impl Into<String>) -> Self {
        Self {
            status,
            headers: vec![("content-type".to_owned(), media_type.to_owned())],
            body: body.into(),
        }
    }

    pub(crate) fn json(status: u16, body: &serde_json::Value) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    pub(crate) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: String::new(),
        }
    }

    pub(crate) fn with(mut self, header: &str, value: &str) -> Self {
        self.headers.push((header.to_owned(), value.to_owned()));
        self
    }
}

impl Server {
    /// Starts a server that answers each request with the result of `answer`; with `None` it falls silent.
    pub(crate) fn start(
        answer: impl FnMut(&HttpRequest) -> Option<HttpResponse> + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let port = listener
            .local_addr()
            .expect("a listener has an address")
            .port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (log, answer) = (Arc::clone(&requests), Arc::new(Mutex::new(answer)));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (log, answer) = (Arc::clone(&log), Arc::clone(&answer));
                std::thread::spawn(move || {
                    serve(&client, |request| {
                        log.lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push(request.clone());
                        answer.lock().unwrap_or_else(PoisonError::into_inner)(request)
                    })
                });
            }
        });
        Self { port, requests }
    }

    /// Returns all requests so far.
    pub(crate) fn requests(&self) -> Vec<HttpRequest> {
        self.requests
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Returns the number of requests whose body or line contains `words`.
    pub(crate) fn count(&self, words: &str) -> usize {
        let has =
            |request: &&HttpRequest| request.body.contains(words) || request.line().contains(words);
        self.requests().iter().filter(has).count()
    }
}

/// Serves a connection to its end.
fn serve(
    client: &TcpStream,
    mut answer: impl FnMut(&HttpRequest) -> Option<HttpResponse>,
) -> Option<()> {
    let mut reader = BufReader::new(client);
    loop {
        let request = read(&mut reader)?;
        let Some(HttpResponse {
            status,
            headers,
            body,
        }) = answer(&request)
        else {
            // The server is silent, but keeps the connection open until the client leaves.
            let _ = std::io::copy(&mut reader, &mut std::io::sink());
            return None;
        };
        let mut head = format!("HTTP/1.1 {status} Status\r\n");
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if status != 204 {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        let mut out = format!("{head}\r\n");
        if request.method != "HEAD" && status != 204 {
            out.push_str(&body);
        }
        (&*client).write_all(out.as_bytes()).ok()?;
    }
}

fn read(reader: &mut impl BufRead) -> Option<HttpRequest> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let Some((name, value)) = line.split_once(':') else {
            break;
        };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers
        .get("content-length")
        .map_or(Some(0), |length| length.parse().ok())?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    Some(HttpRequest {
        method,
        path,
        headers,
        body,
    })
}

/// Returns the value of `Authorization` for Basic authentication.
pub(crate) fn basic(user: &str, password: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = "Basic ".to_owned();
    for chunk in format!("{user}:{password}").as_bytes().chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for index in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * index) & 63) as usize];
            text.push(if index > chunk.len() {
                '='
            } else {
                char::from(letter)
            });
        }
    }
    text
}

/// Decodes a text of a form or a query.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'+', _) => bytes.push(b' '),
            (b'%', [high, low, after @ ..]) => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).expect("two digits");
                bytes.push(u8::from_str_radix(digits, 16).expect("two digits"));
                rest = after;
            }
            (byte, _) => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).expect("it is UTF-8")
}

/// Returns the fields of a form.
pub(crate) fn form(body: &str) -> BTreeMap<String, String> {
    let pairs = body.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}
