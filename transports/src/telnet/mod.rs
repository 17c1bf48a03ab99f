//! Telnet: a terminal on a bare TCP connection (RFC 854). It provides neither encryption nor
//! authentication of the device, and is meant for devices that have nothing else.

mod codec;
mod settings;

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context as Task, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use crate::ssh::Ssh;
use crate::{ByteStream, Context, Destination, Result, dial};
use codec::Codec;
pub(crate) use settings::Settings;

/// The size of a read, and the maximum of data that may wait to be sent.
const CHUNK: usize = 8 * 1024;

/// The maximum of telnet commands without any text in between, in bytes. Keepalives on a quiet connection are only
/// a few bytes a minute.
const MOST_WITHOUT_TEXT: usize = 64 * 1024;

/// That limit, as messages name it.
pub(crate) const NEGOTIATION: &str =
    "64 KiB of telnet's commands and options with no text between (it negotiates without end)";

/// A stream of terminal bytes over a telnet stream.
pub(crate) struct Telnet<S> {
    stream: S,
    codec: Codec,
    chunk: Vec<u8>,
    /// The text that has arrived, and how much of it was read.
    text: Vec<u8>,
    taken: usize,
    /// The bytes to send: replies, and typed text.
    unsent: Vec<u8>,
    /// The number of bytes since the last text.
    without_text: usize,
}

/// Connects, through jump hosts if there are any. Then the connection to the last one is returned, too. The login
/// is left to the command line.
///
/// # Errors
/// Fails when no connection can be opened before `deadline`.
pub(crate) async fn connect(
    ctx: &Context<'_>,
    settings: &Settings,
    deadline: Instant,
) -> Result<(Telnet<Box<dyn ByteStream>>, Option<Ssh>)> {
    let Settings {
        host,
        port,
        timeout,
        via,
        ..
    } = settings;
    let (stream, via): (Box<dyn ByteStream>, _) = match via {
        None => {
            let stream =
                dial::connect(ctx, Destination::tcp(host, *port), *timeout, deadline).await?;
            (stream, None)
        }
        Some(via) => {
            let via = Ssh::connect(ctx, via, deadline).await?;
            let deadline = deadline.min(Instant::now() + *timeout);
            match via.forward(host, *port, *timeout, deadline).await {
                Ok(stream) => (Box::new(stream), Some(via)),
                Err(error) => {
                    via.close().await;
                    return Err(error);
                }
            }
        }
    };
    let behind = via
        .as_ref()
        .map_or_else(String::new, |via| format!(" behind {}", via.peer().name()));
    ctx.warning(format!(
        "telnet to {} is not encrypted{behind}: anyone in between can read and change everything, the password \
         included",
        settings.peer()
    ));
    Ok((Telnet::over(stream), via))
}

impl<S: AsyncRead + AsyncWrite + Unpin> Telnet<S> {
    /// Creates a telnet stream over an open stream.
    fn over(stream: S) -> Self {
        Self {
            stream,
            codec: Codec::default(),
            chunk: vec![0; CHUNK],
            text: Vec::new(),
            taken: 0,
            unsent: Vec::new(),
            without_text: 0,
        }
    }

    /// Sends the waiting bytes.
    fn poll_send(&mut self, task: &mut Task<'_>) -> Poll<io::Result<()>> {
        while !self.unsent.is_empty() {
            match ready!(Pin::new(&mut self.stream).poll_write(task, &self.unsent))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                sent => drop(self.unsent.drain(..sent)),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Copies text that has arrived to the buffer. Returns whether there was any.
    fn give(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let text = &self.text[self.taken..];
        let given = text.len().min(buffer.remaining());
        buffer.put_slice(&text[..given]);
        self.taken += given;
        if self.taken == self.text.len() {
            self.text.clear();
            self.taken = 0;
        }
        given > 0
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Telnet<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Task<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            let sending = this.poll_send(task)?;
            if this.give(buffer) {
                return Poll::Ready(Ok(()));
            }
            // A peer that keeps negotiating without reading the replies is no longer read from.
            if this.unsent.len() > CHUNK {
                ready!(sending.map(Ok::<_, io::Error>))?;
            }
            if this.without_text > MOST_WITHOUT_TEXT {
                return Poll::Ready(Err(io::ErrorKind::QuotaExceeded.into()));
            }
            let mut read = ReadBuf::new(&mut this.chunk);
            ready!(Pin::new(&mut this.stream).poll_read(task, &mut read))?;
            let received = read.filled();
            if received.is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.without_text += received.len();
            this.codec
                .decode(received, &mut this.text, &mut this.unsent);
            if !this.text.is_empty() {
                this.without_text = 0;
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Telnet<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        task: &mut Task<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.unsent.len() > CHUNK {
            ready!(this.poll_send(task))?;
        }
        let taken = &bytes[..bytes.len().min(CHUNK)];
        this.codec.encode(taken, &mut this.unsent);
        let _ = this.poll_send(task)?;
        Poll::Ready(Ok(taken.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.codec.end(&mut this.unsent);
        ready!(this.poll_send(task))?;
        Pin::new(&mut this.stream).poll_flush(task)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(task))?;
        Pin::new(&mut self.stream).poll_shutdown(task)
    }
}

impl<S> fmt::Debug for Telnet<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Telnet").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn text_passes_both_ways_and_options_are_answered_in_between() {
        let (near, mut far) = duplex(64);
        let mut telnet = Telnet::over(near);
        far.write_all(b"\xff\xfb\x01login: ")
            .await
            .expect("written");
        let mut text = [0; 16];
        let length = telnet.read(&mut text).await.expect("read");
        assert_eq!(&text[..length], b"login: ");
        telnet
            .write_all("Zürich\n".as_bytes())
            .await
            .expect("written");
        telnet.flush().await.expect("flushed");
        let expected = [&[0xff, 0xfd, 1], "Zürich\r\0".as_bytes()].concat();
        let mut sent = vec![0; expected.len()];
        far.read_exact(&mut sent).await.expect("read");
        assert_eq!(sent, expected);
        drop(far);
        assert_eq!(telnet.read(&mut text).await.expect("the end"), 0);
    }

    #[tokio::test]
    async fn who_negotiates_without_end_is_given_up_though_it_reads_the_answers() {
        let (near, far) = duplex(1024);
        let mut telnet = Telnet::over(near);
        let (mut heard, mut asked) = tokio::io::split(far);
        let asking = async { while asked.write_all(&[0xff, 0xfb, 99]).await.is_ok() {} };
        let hearing = async { tokio::io::copy(&mut heard, &mut tokio::io::sink()).await };
        let mut text = [0; 16];
        tokio::select! {
            () = asking => panic!("it is listened to for ever"),
            _ = hearing => panic!("it is hung up on"),
            read = telnet.read(&mut text) => {
                let error = read.expect_err("there is no text");
                assert_eq!(error.kind(), io::ErrorKind::QuotaExceeded);
            }
        }
    }

    #[tokio::test]
    async fn who_asks_without_end_and_reads_no_answer_is_not_listened_to() {
        let (near, mut far) = duplex(1024);
        let mut telnet = Telnet::over(near);
        let asking = async {
            // A refused option is answered each time.
            while far.write_all(&[0xff, 0xfb, 99].repeat(100)).await.is_ok() {}
        };
        let mut text = [0; 16];
        tokio::select! {
            biased;
            () = asking => panic!("everything was listened to"),
            _ = telnet.read(&mut text) => panic!("there is no text"),
            () = async { for _ in 0..1_000 { tokio::task::yield_now().await } } => {}
        }
        assert!(telnet.unsent.len() <= 2 * CHUNK, "{}", telnet.unsent.len());
    }
}
