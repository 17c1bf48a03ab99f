//! `ovsdb`: the database servers of Open vSwitch and OVN (RFC 7047), over TLS, TCP or a Unix socket.
//!
//! The protocol is small and no maintained library implements it. This module implements all that a
//! client of a single database needs.

mod data;
mod database;
mod edit;
mod query;
mod rpc;
mod scan;
mod session;
mod settings;
mod stream;
mod transact;

pub use database::{Atomic, ColumnType, DatabaseSchema};
pub use session::OvsdbSession;

/// Parses a stream at once and byte by byte, which must make no difference. For fuzzing.
#[cfg(feature = "fuzz")]
pub(crate) fn objects(data: &[u8]) {
    let mut read = [data.len().max(1), 1].map(|size| {
        let mut scanner = scan::Scanner::new(1 << 10);
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
        let _ = rpc::Message::read(object);
    }
}
