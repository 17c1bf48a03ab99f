//! Why a connection ended without a word, as one more connection tells it.
//!
//! In TLS 1.3 a target looks at our certificate when the handshake is over for us (RFC 8446, 4.4.2.4).
//! If a request is on its way by then, the connection breaks under it, and the alert that says why may
//! never be read. On one more connection nothing is sent, so that it is.

use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::time::{Instant, timeout_at};

use super::{Tls, from_io};
use crate::error::Untrusted;
use crate::{Error, tcp};

/// How long a target may take to complain.
const LIMIT: Duration = Duration::from_secs(2);

impl Tls {
    /// What a target has against TLS with us: [`Error::Tls`]; `None` if it has nothing, or if it
    /// cannot be asked.
    pub(crate) async fn complaint(&self, host: &str, port: u16) -> Option<Error> {
        let deadline = Instant::now() + LIMIT;
        let asking = async {
            let stream = tcp::connect(host, port, LIMIT, deadline).await?;
            let mut stream = self.connect(stream, (host, port), LIMIT, deadline).await?;
            let heard = stream.read_u8().await;
            let complaint = |error| from_io(&tcp::peer(host, port), &error);
            Ok(heard.err().and_then(complaint))
        };
        match timeout_at(deadline, asking).await {
            Ok(Ok(complaint)) => complaint,
            Ok(Err(error @ Error::Tls(_))) => Some(error),
            Ok(Err(_)) | Err(_) => None,
        }
    }
}

/// Whether TLS is spoken at a port where it was not expected.
pub(crate) async fn is_spoken(host: &str, port: u16) -> bool {
    // Who trusts nobody complains of every certificate that he is shown.
    match Tls::none().complaint(host, port).await {
        Some(Error::Tls(problem)) => !matches!(problem.why, Untrusted::Other(_)),
        _ => false,
    }
}
