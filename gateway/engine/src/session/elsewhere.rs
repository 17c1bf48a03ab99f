//! Sessions for programs on other hosts: the clients come over a relay.

use std::convert::Infallible;
use std::io;

use futures_util::FutureExt;
use futures_util::future::LocalBoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio::io::{DuplexStream, copy_bidirectional};
use tokio::net::UnixStream;

use super::borrowed::OuterSession;
use super::broker::LentSession;
use super::clients::Listen;
use crate::hosts::{Lend, RelayedClients};

impl Listen for RelayedClients {
    type Stream = DuplexStream;

    async fn accept(&self) -> io::Result<DuplexStream> {
        Self::accept(self).await
    }

    fn is_trusted(_: &DuplexStream) -> io::Result<bool> {
        // The host let only the task's user and root open the socket.
        Ok(true)
    }
}

impl Lend for LentSession<'_> {
    fn serve<'a>(&'a self, clients: &'a RelayedClients) -> LocalBoxFuture<'a, Infallible> {
        self.serve(clients).boxed_local()
    }
}

/// The session that another devgate lends to this one is passed on: its socket serves the clients.
impl Lend for OuterSession {
    fn serve<'a>(&'a self, clients: &'a RelayedClients) -> LocalBoxFuture<'a, Infallible> {
        let serving = async move {
            let mut connections = FuturesUnordered::new();
            loop {
                tokio::select! {
                    Some(()) = connections.next() => {}
                    Ok(mut client) = clients.accept() => connections.push(async move {
                        if let Ok(mut session) = UnixStream::connect(&self.socket).await {
                            // Both ends know what they have not received.
                            drop(copy_bidirectional(&mut client, &mut session).await);
                        }
                    }),
                }
            }
        };
        serving.boxed_local()
    }
}
