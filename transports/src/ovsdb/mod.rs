//! `ovsdb`: database servers of Open vSwitch and OVN (RFC 7047), over TLS, TCP or a local socket.
//!
//! The protocol is small and no library that is kept speaks it: this is all of it that a client
//! of one database needs.

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

/// Reads a stream at once and byte by byte, which must make no difference: for fuzzing.
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
