//! The way of datagrams to an agent: a socket of this node, or a stream that a dialer has opened.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;

use crate::ByteStream;

/// A way to one agent.
pub(super) enum Link {
    Socket(UdpSocket),
    /// A stream as [`Destination::Udp`](crate::Destination::Udp) has it, and what has been read of it.
    Stream(Box<dyn ByteStream>, Vec<u8>),
}

/// The length of a datagram precedes it in so many bytes.
const HEADER: usize = 2;

impl Link {
    /// Creates a socket for an address. Nothing is sent yet.
    pub(super) async fn to(address: SocketAddr) -> io::Result<Self> {
        let any: SocketAddr = match address {
            SocketAddr::V4(_) => ([0; 4], 0).into(),
            SocketAddr::V6(_) => ([0_u16; 8], 0).into(),
        };
        let socket = UdpSocket::bind(any).await?;
        // This filters datagrams by their sender, and makes the system report ICMP errors.
        socket.connect(address).await?;
        Ok(Self::Socket(socket))
    }

    /// Sends a datagram.
    pub(super) async fn send(&mut self, datagram: &[u8]) -> io::Result<()> {
        match self {
            Self::Socket(socket) => socket.send(datagram).await.map(drop),
            Self::Stream(stream, _) => {
                let length = u16::try_from(datagram.len());
                let length = length.map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
                let framed = [&length.to_be_bytes(), datagram].concat();
                stream.write_all(&framed).await?;
                stream.flush().await
            }
        }
    }

    /// Receives the next datagram. The future may be dropped while it waits.
    ///
    /// # Errors
    /// Fails when nothing listens at the address.
    pub(super) async fn receive(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Socket(socket) => socket.recv(buffer).await,
            Self::Stream(stream, read) => loop {
                if let Some(datagram) = first(read) {
                    let length = datagram.len();
                    buffer[..length].copy_from_slice(datagram);
                    read.drain(..HEADER + length);
                    return match length {
                        0 => Err(io::ErrorKind::ConnectionRefused.into()),
                        length => Ok(length),
                    };
                }
                if stream.read_buf(read).await? == 0 {
                    return Err(io::ErrorKind::ConnectionReset.into());
                }
            },
        }
    }
}

/// Returns the first datagram, if it is complete.
fn first(read: &[u8]) -> Option<&[u8]> {
    let (header, rest) = read.split_first_chunk::<HEADER>()?;
    rest.get(..usize::from(u16::from_be_bytes(*header)))
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Socket(_) => "Socket",
            Self::Stream(..) => "Stream",
        })
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    #[tokio::test]
    async fn datagrams_keep_their_limits_in_a_stream() {
        let (near, mut far) = duplex(64);
        let mut link = Link::Stream(Box::new(near), Vec::new());
        link.send(b"abc").await.expect("sent");
        let mut sent = [0; 5];
        far.read_exact(&mut sent).await.expect("read");
        assert_eq!(&sent, b"\0\x03abc");
        far.write_all(b"\0\x02de\0\x01f\0\0\0")
            .await
            .expect("written");
        let mut buffer = [0; 1 << 16];
        assert_eq!(link.receive(&mut buffer).await.expect("two"), 2);
        assert_eq!(&buffer[..2], b"de");
        assert_eq!(link.receive(&mut buffer).await.expect("one"), 1);
        let error = link.receive(&mut buffer).await.expect_err("it is empty");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        drop(far);
        let error = link.receive(&mut buffer).await.expect_err("half a header");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    }
}
