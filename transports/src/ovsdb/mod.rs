//! `ovsdb`: database servers of Open vSwitch and OVN (RFC 7047), over TLS, TCP or a local socket.
//!
//! The protocol is small and no library that is kept speaks it: this is all of it that a client
//! of one database needs.

mod data;
mod database;
mod query;
mod rpc;
mod scan;
mod session;
mod settings;
mod stream;

mod transact;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::{Connect, Context, Result, Transport, tls};
pub use database::{Atomic, ColumnType, DatabaseSchema};
use rpc::Message;
use scan::Scanner;
pub use session::OvsdbSession;

/// Opens sessions with database servers.
#[derive(Debug)]
pub struct Ovsdb {
    schema: TransportSchema,
}

impl Ovsdb {
    /// For any database.
    pub fn new() -> Self {
        let schema = TransportSchema::built_in(include_str!("schema.yaml")).on(&tls::SCHEMA);
        Self { schema }
    }

    /// Opens a session, as [`Connect::connect`] does, for those who need to know its kind.
    ///
    /// # Errors
    /// As [`Connect::connect`].
    pub async fn open(&self, ctx: &Context<'_>, info: &ConnectionInfo) -> Result<OvsdbSession> {
        OvsdbSession::open(ctx, info).await
    }
}

impl Default for Ovsdb {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl Connect for Ovsdb {
    fn schema(&self) -> &TransportSchema {
        &self.schema
    }

    async fn connect(
        &self,
        ctx: &Context<'_>,
        info: &ConnectionInfo,
    ) -> Result<Box<dyn Transport>> {
        Ok(Box::new(self.open(ctx, info).await?))
    }
}

/// Reads a stream at once and byte by byte, which must make no difference: for fuzzing.
pub(crate) fn objects(data: &[u8]) {
    let mut read = [data.len().max(1), 1].map(|size| {
        let mut scanner = Scanner::new(1 << 10);
        let mut objects = Vec::new();
        for piece in data.chunks(size) {
            scanner.push(piece);
            while let Ok(Some(object)) = scanner.next() {
                objects.push(object);
            }
        }
        objects
    });
    let [whole, bytewise] = &mut read;
    assert_eq!(whole, bytewise);
    for object in whole {
        let _ = Message::read(object);
    }
}
