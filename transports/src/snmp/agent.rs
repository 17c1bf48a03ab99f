//! The exchange with an agent over UDP: a request is sent, and only a matching datagram is taken for its
//! answer. Datagrams can be lost, late, or from others.

use std::io;

use rustls::crypto::ring;
use tokio::time::{Instant, timeout_at};

use super::link::Link;
use super::pdu::{Kind, Pdu};
use super::settings::Credentials;
use super::v3::{self, Complaint, Engine, Incoming};

/// An agent at one address.
#[derive(Debug)]
pub(super) struct Agent {
    link: Link,
    last_id: i32,
    engine: Option<Engine>,
    buffer: Vec<u8>,
}

/// Why a request got no answer.
#[derive(Debug)]
pub(super) enum Unanswered {
    /// Nothing arrived in time.
    Silence,
    /// The system reports that nothing can arrive: nothing listens there, or there is no route.
    Unreachable(io::Error),
    /// The engine rejected the request.
    Complaint(Complaint),
}

impl Agent {
    /// Prepares an agent. Nothing is sent yet.
    pub(super) fn new(link: Link) -> io::Result<Self> {
        let [a, b, c, d, ..] = random()?;
        Ok(Self {
            link,
            last_id: i32::from_be_bytes([a & 0x3f, b, c, d]),
            engine: None,
            buffer: vec![0; 1 << 16],
        })
    }

    /// Returns whether the agent has answered, at least to the discovery.
    pub(super) fn is_discovered(&self) -> bool {
        self.engine.is_some()
    }

    /// Returns the identifier of its engine, for version 3.
    pub(super) fn engine_id(&self) -> Option<&[u8]> {
        self.engine.as_ref().map(Engine::id)
    }

    /// Sends a request once, and waits for the answer.
    pub(super) async fn ask(
        &mut self,
        credentials: &Credentials,
        request: &Pdu,
        deadline: Instant,
    ) -> Result<Pdu, Unanswered> {
        let user = match credentials {
            Credentials::User(user) => user,
            Credentials::Community(community) => {
                let request = self.numbered(request);
                let message = request.in_community(community.reveal());
                return self
                    .exchange(&message, deadline, |_, bytes| {
                        let answer = Pdu::of_community(bytes)?;
                        let is_answer = answer.kind == Kind::Response && answer.id == request.id;
                        is_answer.then_some(answer)
                    })
                    .await;
            }
        };
        // One retry after the clock was learnt, and one after the engine turned out to be another.
        let mut again = 2;
        loop {
            if self.engine.is_none() {
                self.engine = Some(self.discover(credentials, deadline).await?);
            }
            let request = self.numbered(request);
            let engine = self.engine.as_mut().expect("it was discovered just now");
            let message = engine.seal(user, &request);
            let incoming = self
                .exchange(&message, deadline, |engine, bytes| {
                    engine.as_mut()?.open(user, request.id, bytes)
                })
                .await?;
            match incoming {
                Incoming::Answer(answer) => return Ok(answer),
                Incoming::Report(Complaint::NotInTimeWindow) if again > 0 => {}
                Incoming::Report(Complaint::UnknownEngineId) if again > 0 => self.engine = None,
                Incoming::Report(complaint) => return Err(Unanswered::Complaint(complaint)),
            }
            again -= 1;
        }
    }

    async fn discover(
        &mut self,
        credentials: &Credentials,
        deadline: Instant,
    ) -> Result<Engine, Unanswered> {
        let Credentials::User(user) = credentials else {
            unreachable!("only version 3 has engines")
        };
        let salt = u64::from_be_bytes(random().map_err(Unanswered::Unreachable)?);
        let id = self.numbered(&Pdu::get(&[])).id;
        let accept = |_: &mut Option<Engine>, bytes: &[u8]| v3::discovered(bytes, id, user, salt);
        self.exchange(&v3::discovery(id), deadline, accept).await
    }

    /// Sends a message and reads datagrams until one is accepted.
    async fn exchange<T>(
        &mut self,
        message: &[u8],
        deadline: Instant,
        mut accept: impl FnMut(&mut Option<Engine>, &[u8]) -> Option<T>,
    ) -> Result<T, Unanswered> {
        self.link
            .send(message)
            .await
            .map_err(Unanswered::Unreachable)?;
        loop {
            let received = timeout_at(deadline, self.link.receive(&mut self.buffer)).await;
            let length = received
                .map_err(|_| Unanswered::Silence)?
                .map_err(Unanswered::Unreachable)?;
            if let Some(accepted) = accept(&mut self.engine, &self.buffer[..length]) {
                return Ok(accepted);
            }
        }
    }

    /// Returns the request with a new number, so that a late answer to another request does not match.
    fn numbered(&mut self, request: &Pdu) -> Pdu {
        self.last_id = self.last_id.checked_add(1).unwrap_or(1);
        Pdu {
            id: self.last_id,
            ..request.clone()
        }
    }
}

fn random() -> io::Result<[u8; 8]> {
    let mut bytes = [0; 8];
    let provider = ring::default_provider();
    let filled = provider.secure_random.fill(&mut bytes);
    filled.map_err(|_| io::Error::other("the system gives no random numbers"))?;
    Ok(bytes)
}
