//! JSON-RPC 1.0 as used by OVSDB (RFC 7047, 4): one request of ours at a time. The server's `echo`
//! requests are answered at any time.
//!
//! A separate task owns the connection. The server sends `echo` even while there is no request of ours,
//! and closes the connection if it gets no answer.

use std::io;
use std::sync::{Arc, OnceLock};

use devgate_schemas::values;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

use super::scan::Scanner;
use crate::error::TlsProblem;
use crate::{ByteStream, Error, tls};

/// The maximum length of a message. The database of a large network has tens of megabytes.
const LONGEST: usize = 64 << 20;

/// A connection for requests.
#[derive(Debug)]
pub(super) struct Rpc {
    calls: mpsc::Sender<Call>,
    last_id: u64,
    ended: Arc<OnceLock<End>>,
    task: JoinHandle<()>,
}

/// Why a request got no answer.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// The connection had ended before, so nothing was sent.
    NotSent(End),
    /// The connection ended before the answer.
    Sent(End),
}

/// How a connection ended.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// It was closed or broken.
    Lost,
    /// TLS ended it: some peers reject our certificate only at the first request.
    Tls(TlsProblem),
    /// The peer sent data that is not OVSDB.
    Nonsense(String),
}

#[derive(Debug)]
struct Call {
    id: u64,
    request: Vec<u8>,
    answer: oneshot::Sender<Result<Json, Json>>,
}

/// A message from the server.
#[derive(Debug, PartialEq)]
pub(super) enum Message {
    /// A request to return these parameters, which checks that this client is alive.
    Echo { id: Json, params: Json },
    /// The answer to the request with this id.
    Answer {
        id: Json,
        answer: Result<Json, Json>,
    },
    /// A notification, which is ignored.
    Notification,
}

impl Rpc {
    /// Takes over a new connection.
    ///
    /// Each message may have at most `most` values.
    pub(super) fn start(stream: Box<dyn ByteStream>, peer: String, most: usize) -> Self {
        let (calls, waiting) = mpsc::channel(1);
        let ended = Arc::new(OnceLock::new());
        let reported = Arc::clone(&ended);
        let task = tokio::spawn(async move {
            let end = serve(stream, waiting, &peer, most).await;
            // Only this task sets it.
            let _ = reported.set(end);
        });
        Self {
            calls,
            last_id: 0,
            ended,
            task,
        }
    }

    /// Returns whether the connection is open, as far as known.
    pub(super) fn is_open(&self) -> bool {
        !self.task.is_finished() && self.ended.get().is_none()
    }

    /// Sends a request and returns the answer: a result, or the server's error.
    ///
    /// After this future was dropped, do not use the connection again: the server may still execute the request.
    pub(super) async fn call(
        &mut self,
        method: &str,
        params: Json,
    ) -> Result<Result<Json, Json>, Unanswered> {
        self.last_id += 1;
        let request = json!({ "method": method, "params": params, "id": self.last_id });
        let (answer, answered) = oneshot::channel();
        let call = Call {
            id: self.last_id,
            request: request.to_string().into_bytes(),
            answer,
        };
        if self.calls.send(call).await.is_err() {
            return Err(Unanswered::NotSent(self.end().await));
        }
        match answered.await {
            Ok(answer) => Ok(answer),
            Err(_) => Err(Unanswered::Sent(self.end().await)),
        }
    }

    /// Waits for the end of the connection, and returns how it ended.
    async fn end(&mut self) -> End {
        let _ = (&mut self.task).await;
        self.ended.get().cloned().unwrap_or(End::Lost)
    }
}

impl Drop for Rpc {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves a connection until it ends, or until its [`Rpc`] is dropped.
async fn serve(
    mut stream: Box<dyn ByteStream>,
    mut calls: mpsc::Receiver<Call>,
    peer: &str,
    most: usize,
) -> End {
    let mut scanner = Scanner::new(LONGEST);
    let mut buffer = vec![0; 64 << 10];
    let mut pending: Option<Call> = None;
    loop {
        tokio::select! {
            read = stream.read(&mut buffer) => {
                let length = match read {
                    Ok(0) => return End::Lost,
                    Ok(length) => length,
                    Err(error) => return End::of(peer, &error),
                };
                scanner.push(&buffer[..length]);
                loop {
                    let message = match scanner.next() {
                        Ok(Some(object)) if values(&object) > most => Err(format!(
                            "it sent more than {most} values (`answer_limit`): ask for less at once, or \
                             raise it"
                        )),
                        Ok(Some(object)) => Message::read(&object),
                        Ok(None) => break,
                        Err(problem) => Err(problem.to_string()),
                    };
                    match message {
                        Ok(Message::Echo { id, params }) => {
                            let reply = json!({ "result": params, "error": null, "id": id });
                            let reply = reply.to_string();
                            if let Err(error) = send(&mut stream, reply.as_bytes()).await {
                                return End::of(peer, &error);
                            }
                        }
                        // An answer without a matching request is to one that was abandoned.
                        Ok(Message::Answer { id, answer }) => {
                            if let Some(call) = pending.take_if(|call| id == json!(call.id)) {
                                let _ = call.answer.send(answer);
                            }
                        }
                        Ok(Message::Notification) => {}
                        Err(problem) => return End::Nonsense(problem),
                    }
                }
            }
            call = calls.recv(), if pending.is_none() => {
                let Some(call) = call else { return End::Lost };
                if let Err(error) = send(&mut stream, &call.request).await {
                    return End::of(peer, &error);
                }
                pending = Some(call);
            }
        }
    }
}

async fn send(stream: &mut Box<dyn ByteStream>, message: &[u8]) -> io::Result<()> {
    stream.write_all(message).await?;
    stream.flush().await
}

impl End {
    fn of(peer: &str, error: &io::Error) -> Self {
        match tls::from_io(peer, error) {
            Some(Error::Tls(problem)) => Self::Tls(*problem),
            _ => Self::Lost,
        }
    }
}

impl Message {
    /// Parses an object. Requests that are not for a client count as notifications.
    pub(super) fn read(object: &[u8]) -> Result<Self, String> {
        let mut message: Json =
            serde_json::from_slice(object).map_err(|error| format!("it sent no JSON ({error})"))?;
        let (id, method) = (message["id"].take(), message["method"].take());
        match method.as_str() {
            Some("echo") => Ok(Self::Echo {
                id,
                params: message["params"].take(),
            }),
            // A notification has the id null (RFC 7047, 4.1.6). Clients get no other requests.
            Some(_) => Ok(Self::Notification),
            None if message.get("result").is_none() && message.get("error").is_none() => {
                Err("it sent a JSON object that neither asks nor answers".to_owned())
            }
            None if id.is_null() => Err(format!(
                "it cannot read what was sent ({})",
                message["error"]
            )),
            None => Ok(Self::Answer {
                id,
                answer: match message["error"].take() {
                    Json::Null => Ok(message["result"].take()),
                    error => Err(error),
                },
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::DuplexStream;

    use super::*;

    /// Returns a connection, and the server's end of it.
    fn pair() -> (Rpc, DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        (
            Rpc::start(Box::new(ours), "192.0.2.1:6640".to_owned(), 1000),
            theirs,
        )
    }

    async fn read_message(server: &mut DuplexStream) -> Json {
        let mut scanner = Scanner::new(LONGEST);
        loop {
            if let Some(object) = scanner.next().expect("we send objects") {
                return serde_json::from_slice(&object).expect("we send JSON");
            }
            let mut byte = [0];
            server.read_exact(&mut byte).await.expect("more comes");
            scanner.push(&byte);
        }
    }

    async fn write_message(server: &mut DuplexStream, message: &str) {
        server
            .write_all(message.as_bytes())
            .await
            .expect("it is open");
    }

    #[tokio::test]
    async fn an_echo_is_answered_while_nobody_asks_and_while_somebody_waits() {
        let (mut rpc, mut server) = pair();
        write_message(
            &mut server,
            r#"{"method":"echo","params":[1,"x"],"id":"echo"}"#,
        )
        .await;
        let expected = json!({ "result": [1, "x"], "error": null, "id": "echo" });
        assert_eq!(read_message(&mut server).await, expected);
        let serving = async {
            let asked = read_message(&mut server).await;
            assert_eq!(
                asked,
                json!({ "method": "list_dbs", "params": [], "id": 1 })
            );
            // The ids of the two sides are independent.
            write_message(&mut server, r#"{"method":"echo","params":[],"id":1}"#).await;
            assert_eq!(read_message(&mut server).await["id"], 1);
            write_message(&mut server, r#"{"id":1,"result":["a"],"error":null}"#).await;
        };
        let (answer, ()) = tokio::join!(rpc.call("list_dbs", json!([])), serving);
        assert_eq!(answer.expect("answered"), Ok(json!(["a"])));
    }

    #[tokio::test]
    async fn late_answers_and_notifications_are_nobodys_answer() {
        let (mut rpc, mut server) = pair();
        let serving = async {
            read_message(&mut server).await;
            write_message(&mut server, r#"{"id":0,"result":"late","error":null}"#).await;
            write_message(
                &mut server,
                r#"{"id":null,"method":"update","params":["v",{}]}"#,
            )
            .await;
            write_message(
                &mut server,
                r#"{"id":1,"error":{"error":"no"},"result":null}"#,
            )
            .await;
        };
        let (answer, ()) = tokio::join!(rpc.call("transact", json!([])), serving);
        assert_eq!(answer.expect("answered"), Err(json!({ "error": "no" })));
    }

    #[tokio::test]
    async fn a_request_that_was_never_sent_is_told_from_one_without_answer() {
        let (mut rpc, mut server) = pair();
        let serving = async {
            read_message(&mut server).await;
            drop(server);
        };
        let (answer, ()) = tokio::join!(rpc.call("transact", json!([])), serving);
        assert!(
            matches!(answer, Err(Unanswered::Sent(End::Lost))),
            "{answer:?}"
        );
        assert!(!rpc.is_open());

        let (mut rpc, mut server) = pair();
        write_message(&mut server, "SSH-2.0-x\r\n").await;
        while rpc.is_open() {
            tokio::task::yield_now().await;
        }
        let answer = rpc.call("list_dbs", json!([])).await;
        let Err(Unanswered::NotSent(End::Nonsense(problem))) = answer else {
            panic!("{answer:?}");
        };
        assert!(problem.contains("SSH-2.0-x"), "{problem}");
    }

    #[tokio::test]
    async fn an_answer_of_too_many_values_ends_the_connection() {
        let (mut rpc, mut server) = pair();
        let many = format!(
            r#"{{"id":1,"result":[{}0],"error":null}}"#,
            "0,".repeat(1000)
        );
        let serving = async {
            read_message(&mut server).await;
            write_message(&mut server, &many).await;
        };
        let (answer, ()) = tokio::join!(rpc.call("transact", json!([])), serving);
        let Err(Unanswered::Sent(End::Nonsense(problem))) = answer else {
            panic!("{answer:?}");
        };
        assert!(
            problem.contains("more than 1000 values (`answer_limit`)"),
            "{problem}"
        );
    }

    #[test]
    fn what_is_no_message_is_told() {
        for text in [
            "{}",
            "{]",
            r#"{"id":3}"#,
            r#"{"id":null,"error":"bad","result":null}"#,
        ] {
            assert!(Message::read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
