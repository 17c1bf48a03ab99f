//! Carries the connections of a relay's clients: between its frames and one stream for each client.

use std::collections::{HashMap, VecDeque};
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use devgate_transports::Error;
use devgate_transports::ssh_host::Piece;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::{Semaphore, mpsc};

use super::super::access::Stdin;
use super::super::running_script::RunningScript;
use super::frames::{CHUNK, Frame, FrameReader, MAX_CLIENTS, NoFrame, WINDOW};

/// The number of frames that wait to be sent.
const QUEUE: usize = 32;

/// Why a relay does not carry any more.
#[derive(Debug)]
pub(super) enum RelayEnd {
    /// It has ended.
    Ended,
    /// It sent what a relay does not send.
    Misbehaved,
    /// The connection to its host was lost.
    Lost(Error),
}

/// The connection of a client, as the frames see it.
struct Client {
    /// Bytes of the client. Dropping this ends its stream.
    bytes: mpsc::UnboundedSender<Bytes>,
    flow: Arc<Flow>,
}

/// The bytes under way on a connection.
struct Flow {
    /// The bytes of the client that its stream has not taken yet.
    from_client: AtomicUsize,
    /// How many more bytes may be sent to the client.
    to_client: Semaphore,
}

/// Carries all connections until the relay ends. New clients go to `accepted`.
pub(super) async fn carry(
    stdin: &mut Stdin,
    script: &mut RunningScript,
    accepted: &mpsc::Sender<DuplexStream>,
) -> RelayEnd {
    let (frames, mut queue) = mpsc::channel::<Bytes>(QUEUE);
    let sending = async {
        while let Some(frame) = queue.recv().await {
            if stdin.write_all(frame).await.is_err() {
                break;
            }
        }
        // The output tells why nothing is read any more.
        pending::<()>().await;
    };
    tokio::pin!(sending);
    let mut reader = FrameReader::new(&std::mem::take(&mut script.rest));
    let mut clients: HashMap<u32, Client> = HashMap::new();
    let mut waiting: VecDeque<(u32, DuplexStream)> = VecDeque::new();
    let mut streams = FuturesUnordered::new();
    loop {
        loop {
            let (number, frame) = match reader.next() {
                Ok(Some(frame)) => frame,
                Ok(None) => break,
                Err(NoFrame) => return RelayEnd::Misbehaved,
            };
            let is_valid = match (frame, clients.get(&number)) {
                (Frame::Opened, None) if clients.len() < MAX_CLIENTS => {
                    let (client, ours) = Client::new();
                    let (theirs, stream) = tokio::io::duplex(WINDOW);
                    let flow = Arc::clone(&client.flow);
                    clients.insert(number, client);
                    waiting.push_back((number, theirs));
                    streams.push(connect(number, stream, ours, flow, frames.clone()));
                    true
                }
                (Frame::Opened, _) => false,
                (Frame::Data(bytes), Some(client)) => client.take(bytes),
                (Frame::PassedOn(count), Some(client)) => client.flow.may_send(count),
                (Frame::Ended, Some(_)) => {
                    waiting.retain(|(waiting, _)| *waiting != number);
                    clients.remove(&number).is_some()
                }
                // The connection has ended meanwhile.
                (Frame::Data(_) | Frame::PassedOn(_) | Frame::Ended, None) => true,
            };
            if !is_valid {
                return RelayEnd::Misbehaved;
            }
        }
        tokio::select! {
            () = &mut sending => {}
            Ok(place) = accepted.reserve(), if !waiting.is_empty() => {
                if let Some((_, client)) = waiting.pop_front() {
                    place.send(client);
                }
            }
            Some(number) = streams.next() => {
                clients.remove(&number);
            }
            piece = script.output.next() => match piece {
                Ok(Piece::Stdout(bytes)) => reader.push(&bytes),
                Ok(Piece::Stderr(_)) => {}
                Ok(Piece::Ended(_) | Piece::Exit(_)) => return RelayEnd::Ended,
                Err(error) => return RelayEnd::Lost(error),
            },
        }
    }
}

/// Carries one connection until one side ends it. Returns its number.
async fn connect(
    number: u32,
    stream: DuplexStream,
    mut from_client: mpsc::UnboundedReceiver<Bytes>,
    flow: Arc<Flow>,
    frames: mpsc::Sender<Bytes>,
) -> u32 {
    let (mut reader, mut writer) = tokio::io::split(stream);
    let reading = async {
        while let Some(bytes) = from_client.recv().await {
            if writer.write_all(&bytes).await.is_err() {
                // The other direction reports the end.
                pending::<()>().await;
            }
            flow.from_client.fetch_sub(bytes.len(), Ordering::Relaxed);
            drop(
                frames
                    .send(Frame::PassedOn(bytes.len()).encode(number))
                    .await,
            );
        }
    };
    let writing = async {
        let mut buffer = vec![0; CHUNK];
        while let Ok(count @ 1..) = reader.read(&mut buffer).await {
            let permits = u32::try_from(count).expect("it is at most a chunk");
            let room = flow.to_client.acquire_many(permits).await;
            room.expect("it is never closed").forget();
            let data = Frame::Data(Bytes::copy_from_slice(&buffer[..count]));
            drop(frames.send(data.encode(number)).await);
        }
        drop(frames.send(Frame::Ended.encode(number)).await);
    };
    tokio::select! {
        () = reading => {}
        () = writing => {}
    }
    number
}

impl Client {
    fn new() -> (Self, mpsc::UnboundedReceiver<Bytes>) {
        let (bytes, ours) = mpsc::unbounded_channel();
        let flow = Arc::new(Flow {
            from_client: AtomicUsize::new(0),
            to_client: Semaphore::new(WINDOW),
        });
        (Self { bytes, flow }, ours)
    }

    /// Passes bytes of the client on, unless more are under way than may be.
    fn take(&self, bytes: Bytes) -> bool {
        let under_way = &self.flow.from_client;
        let count = under_way.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
        // Its stream may have ended meanwhile.
        drop(self.bytes.send(bytes));
        count <= WINDOW
    }
}

impl Flow {
    /// Permits more bytes to the client, unless that are more than were sent.
    fn may_send(&self, count: usize) -> bool {
        let is_valid = self.to_client.available_permits() + count <= WINDOW;
        if is_valid {
            self.to_client.add_permits(count);
        }
        is_valid
    }
}
