//! The telnet side of a connection: the login, the size of the client's window, and line ends (RFC 854,
//! 1073).

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::mpsc;

use super::{PASSWORD, Shared};

const SE: u8 = 240;
const SB: u8 = 250;
const WILL: u8 = 251;
const DO: u8 = 253;
const IAC: u8 = 255;
const ECHO: u8 = 1;
const SUPPRESS_GO_AHEAD: u8 = 3;
const NAWS: u8 = 31;

/// Serves a connection to its end.
pub(super) async fn serve(stream: TcpStream, shared: Shared) {
    // If the client has gone, an error does not matter.
    let _ = stream.set_nodelay(true);
    let _ = serve_session(stream, shared).await;
}

async fn serve_session(stream: TcpStream, shared: Shared) -> std::io::Result<()> {
    let (read, mut write) = stream.into_split();
    let mut input = TelnetInput {
        read,
        state: State::Text,
        typed: Vec::new(),
        after_return: false,
        width: 80,
    };
    write
        .write_all(&[IAC, WILL, ECHO, IAC, WILL, SUPPRESS_GO_AHEAD, IAC, DO, NAWS])
        .await?;
    write.write_all(b"\r\nlogin: ").await?;
    let user = input.line().await?;
    write
        .write_all(format!("{user}\r\nPassword: ").as_bytes())
        .await?;
    if input.line().await? != PASSWORD {
        return write.write_all(b"\r\nLogin incorrect\r\n").await;
    }
    write.write_all(b"\r\n").await?;
    let (typing, typed) = mpsc::unbounded_channel();
    let (output_sender, mut output) = mpsc::unbounded_channel::<Vec<u8>>();
    shared.begin(&user, input.width, typed, output_sender);
    let hear = async {
        loop {
            let bytes = std::mem::take(&mut input.typed);
            if !bytes.is_empty() && typing.send(bytes).is_err() {
                return;
            }
            if input.more().await.is_err() {
                return;
            }
        }
    };
    let show = async {
        while let Some(bytes) = output.recv().await {
            let escaped: Vec<u8> = bytes
                .iter()
                .flat_map(|&byte| {
                    if byte == IAC {
                        vec![IAC, IAC]
                    } else {
                        vec![byte]
                    }
                })
                .collect();
            if write.write_all(&escaped).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = hear => {}
        () = show => {}
    }
    Ok(())
}

/// The client's input, parsed.
struct TelnetInput {
    read: OwnedReadHalf,
    state: State,
    typed: Vec<u8>,
    after_return: bool,
    width: usize,
}

enum State {
    Text,
    Command,
    Option,
    Subnegotiation(Vec<u8>),
}

impl TelnetInput {
    async fn more(&mut self) -> std::io::Result<()> {
        let mut bytes = [0; 4096];
        let length = self.read.read(&mut bytes).await?;
        if length == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        for &byte in &bytes[..length] {
            self.state = match (std::mem::replace(&mut self.state, State::Text), byte) {
                (State::Text, IAC) => State::Command,
                // CR NUL is just a carriage return.
                (State::Text, 0) if self.after_return => {
                    self.after_return = false;
                    State::Text
                }
                (State::Text, byte) => {
                    self.typed.push(byte);
                    self.after_return = byte == b'\r';
                    State::Text
                }
                (State::Command, SB) => State::Subnegotiation(Vec::new()),
                (State::Command, WILL..=254) => State::Option,
                (State::Command | State::Option, _) => State::Text,
                (State::Subnegotiation(kept), SE) => {
                    if let [NAWS, high, low, ..] = kept[..] {
                        self.width = usize::from(u16::from_be_bytes([high, low]));
                    }
                    State::Text
                }
                (State::Subnegotiation(mut kept), byte) => {
                    kept.push(byte);
                    State::Subnegotiation(kept)
                }
            };
        }
        Ok(())
    }

    /// Reads a line of the login, without its end.
    async fn line(&mut self) -> std::io::Result<String> {
        loop {
            if let Some(at) = self
                .typed
                .iter()
                .position(|byte| matches!(byte, b'\r' | b'\n'))
            {
                let line = String::from_utf8_lossy(&self.typed[..at]).into_owned();
                let is_end = |byte: &&u8| matches!(byte, b'\r' | b'\n' | 0);
                let end = at + self.typed[at..].iter().take(2).take_while(is_end).count();
                self.typed.drain(..end);
                return Ok(line);
            }
            self.more().await?;
        }
    }
}
