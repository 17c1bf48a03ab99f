//! The framing of NETCONF messages on a byte stream (RFC 6242, section 4).
//!
//! Both hellos end with `]]>]]>`. After that, two peers that both support base:1.1 split their messages
//! into chunks. This module does no input or output: it takes bytes and returns complete messages.

use bytes::{Buf, BytesMut};

/// The terminator of a message in end-of-message framing.
const END_OF_MESSAGE: &[u8] = b"]]>]]>";

/// The maximum length of a chunk header: a line feed, `#`, ten digits, a line feed.
const LONGEST_HEADER: usize = 13;

/// The framing of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    /// `]]>]]>` after each message: for all hellos, and for everything in base:1.0.
    EndOfMessage,
    /// Each message in chunks with their lengths: base:1.1.
    Chunked,
}

/// An error in a stream of messages. The messages that follow cannot be separated any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FramingError {
    /// There is no chunk header where one is expected.
    NoChunk,
    /// A chunk's size is not a number from 1 to 4294967295 without leading zeros.
    Size,
    /// A message ends without any chunk.
    Empty,
    /// A message exceeds the maximum length.
    TooLong,
}

impl FramingError {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::NoChunk => "where a chunk should begin stands something else",
            Self::Size => "a chunk does not say its size as a number from 1 to 4294967295",
            Self::Empty => "a message has no chunk",
            Self::TooLong => "a message is too long",
        }
    }
}

/// Splits a byte stream into messages.
#[derive(Debug)]
pub(crate) struct Decoder {
    framing: Framing,
    /// The received bytes that are not processed yet.
    unread: BytesMut,
    /// The part of `unread` that cannot contain the beginning of a terminator.
    searched: usize,
    /// The chunks of the current message so far.
    message: Vec<u8>,
    /// The number of missing bytes of the current chunk; `None` between chunks.
    chunk: Option<usize>,
    /// The maximum length of a message.
    longest: usize,
}

impl Decoder {
    /// Creates a decoder for a stream that begins with a hello. Messages have at most `longest` bytes.
    pub(crate) fn new(longest: usize) -> Self {
        Self {
            framing: Framing::EndOfMessage,
            unread: BytesMut::new(),
            searched: 0,
            message: Vec::new(),
            chunk: None,
            longest,
        }
    }

    /// Changes the framing of what follows. Call this only between messages.
    pub(crate) fn switch(&mut self, framing: Framing) {
        self.framing = framing;
        self.searched = 0;
    }

    /// Adds received bytes, which may be split anywhere.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
    }

    /// Returns the next message, once it is complete.
    ///
    /// # Errors
    /// Fails when the stream is malformed. It cannot be used any more then.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, FramingError> {
        match self.framing {
            Framing::EndOfMessage => self.next_ended(),
            Framing::Chunked => self.next_chunked(),
        }
    }

    /// Returns the received part of an incomplete message.
    pub(crate) fn partial(&self) -> &[u8] {
        if self.message.is_empty() {
            &self.unread
        } else {
            &self.message
        }
    }

    fn next_ended(&mut self) -> Result<Option<Vec<u8>>, FramingError> {
        let mut ends = self.unread[self.searched..].windows(END_OF_MESSAGE.len());
        let Some(at) = ends.position(|window| window == END_OF_MESSAGE) else {
            self.searched = self.unread.len().saturating_sub(END_OF_MESSAGE.len() - 1);
            return if self.searched > self.longest {
                Err(FramingError::TooLong)
            } else {
                Ok(None)
            };
        };
        let end = self.searched + at;
        if end > self.longest {
            return Err(FramingError::TooLong);
        }
        let message = self.unread.split_to(end).to_vec();
        self.unread.advance(END_OF_MESSAGE.len());
        self.searched = 0;
        Ok(Some(message))
    }

    fn next_chunked(&mut self) -> Result<Option<Vec<u8>>, FramingError> {
        loop {
            if let Some(missing) = self.chunk {
                let here = missing.min(self.unread.len());
                self.message.extend_from_slice(&self.unread[..here]);
                self.unread.advance(here);
                if here < missing {
                    self.chunk = Some(missing - here);
                    return Ok(None);
                }
                self.chunk = None;
            }
            if self.message.is_empty() {
                self.pass_over_blanks();
            }
            match header(&self.unread)? {
                None => return Ok(None),
                Some((Header::Chunk(size), length)) => {
                    if size > self.longest - self.message.len() {
                        return Err(FramingError::TooLong);
                    }
                    self.unread.advance(length);
                    self.chunk = Some(size);
                }
                Some((Header::End, length)) => {
                    self.unread.advance(length);
                    if self.message.is_empty() {
                        return Err(FramingError::Empty);
                    }
                    return Ok(Some(std::mem::take(&mut self.message)));
                }
            }
        }
    }

    /// Skips the line end or NUL that some peers send after a message, above all after their hello.
    fn pass_over_blanks(&mut self) {
        let is_blank = |at: usize| {
            let byte = self.unread.get(at);
            byte.is_some_and(|byte| byte.is_ascii_whitespace() || *byte == 0)
        };
        let is_over =
            |at: &usize| !is_blank(*at) || (self.unread[*at] == b'\n' && !is_blank(at + 1));
        let start = (0..).find(is_over).unwrap_or(0);
        self.unread.advance(start);
    }
}

/// A chunk header, or the end of a message.
#[derive(Debug, PartialEq, Eq)]
enum Header {
    Chunk(usize),
    End,
}

/// Reads the header at the start of `bytes`, and its length. Returns `None` while it is incomplete.
fn header(bytes: &[u8]) -> Result<Option<(Header, usize)>, FramingError> {
    let start = [b'\n', b'#'];
    if !bytes.iter().zip(start).all(|(byte, due)| *byte == due) {
        return Err(FramingError::NoChunk);
    }
    let Some(rest) = bytes.get(start.len()..).filter(|rest| !rest.is_empty()) else {
        return Ok(None);
    };
    if rest[0] == b'#' {
        return match rest.get(1) {
            None => Ok(None),
            Some(b'\n') => Ok(Some((Header::End, 4))),
            Some(_) => Err(FramingError::NoChunk),
        };
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let size = std::str::from_utf8(&rest[..digits]).unwrap_or_default();
    let follows = rest.get(digits);
    let is_wrong = size.starts_with('0') || start.len() + digits + 1 > LONGEST_HEADER;
    match follows {
        _ if is_wrong => Err(FramingError::Size),
        None => Ok(None),
        Some(b'\n') => {
            let size: u32 = size.parse().map_err(|_| FramingError::Size)?;
            let size = usize::try_from(size).map_err(|_| FramingError::TooLong)?;
            Ok(Some((Header::Chunk(size), start.len() + digits + 1)))
        }
        Some(_) => Err(FramingError::Size),
    }
}

/// Returns a message with its framing. The message is XML written by this program and cannot contain `]]>`.
pub(crate) fn frame(framing: Framing, message: &str) -> Vec<u8> {
    match framing {
        Framing::EndOfMessage => [message.as_bytes(), END_OF_MESSAGE].concat(),
        Framing::Chunked => format!("\n#{}\n{message}\n##\n", message.len()).into_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGEST: usize = 1_000;

    /// Returns the messages in a stream that arrives in these pieces.
    fn decode<'p>(
        framing: Framing,
        pieces: impl IntoIterator<Item = &'p [u8]>,
    ) -> Result<Vec<String>, FramingError> {
        let mut decoder = Decoder::new(LONGEST);
        decoder.switch(framing);
        let mut messages = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            while let Some(message) = decoder.next()? {
                messages.push(String::from_utf8(message).expect("text went in"));
            }
        }
        Ok(messages)
    }

    fn assert_however_cut(
        framing: Framing,
        stream: &[u8],
        expected: &Result<Vec<String>, FramingError>,
    ) {
        assert_eq!(&decode(framing, stream.chunks(1)), expected, "byte by byte");
        for at in 0..=stream.len() {
            let (left, right) = stream.split_at(at);
            assert_eq!(&decode(framing, [left, right]), expected, "cut at {at}");
        }
    }

    fn texts(messages: &[&str]) -> Result<Vec<String>, FramingError> {
        Ok(messages.iter().map(|text| (*text).to_owned()).collect())
    }

    #[test]
    fn messages_end_where_the_mark_stands_however_the_stream_is_cut() {
        let stream = b"<hello/>]]>]]>]]><a>]]></a>]]>]]>\n<b/>";
        let expected = texts(&["<hello/>", "]]><a>]]></a>"]);
        assert_however_cut(Framing::EndOfMessage, stream, &expected);
    }

    #[test]
    fn chunks_are_joined_however_the_stream_is_cut() {
        let stream = b"\n#4\n<rpc\n#1\n \n#9\nid=\"\n##\n\"\n#2\n/>\n##\n\n#3\n<b>\n##\n\n#7\n<par";
        let expected = texts(&["<rpc id=\"\n##\n\"/>", "<b>"]);
        assert_however_cut(Framing::Chunked, stream, &expected);
    }

    #[test]
    fn line_ends_between_messages_are_no_part_of_them() {
        let stream = b"\n\n#1\na\n##\n\r\n\n#1\nb\n##\n\n";
        assert_however_cut(Framing::Chunked, stream, &texts(&["a", "b"]));
    }

    #[test]
    fn what_is_sent_can_be_read() {
        for framing in [Framing::EndOfMessage, Framing::Chunked] {
            let stream = [frame(framing, "<ä/>"), frame(framing, "<b/>")].concat();
            assert_however_cut(framing, &stream, &texts(&["<ä/>", "<b/>"]));
        }
    }

    #[test]
    fn broken_chunks_are_refused_as_soon_as_they_are_seen() {
        for (stream, expected) in [
            ("<rpc-reply/>]]>]]>", FramingError::NoChunk),
            ("\n \n#1\nx\n\n##\n", FramingError::NoChunk),
            ("\n#\n", FramingError::Size),
            ("\n#0\n", FramingError::Size),
            ("\n#01\nx", FramingError::Size),
            ("\n#-1\n", FramingError::Size),
            ("\n#5 \n", FramingError::Size),
            ("\n#4294967296\n", FramingError::Size),
            ("\n#12345678901", FramingError::Size),
            ("\n#4294967295\n", FramingError::TooLong),
            ("\n#1001\n", FramingError::TooLong),
            ("\n##\n", FramingError::Empty),
            ("\n##x", FramingError::NoChunk),
            ("\n#2\nabc", FramingError::NoChunk),
        ] {
            assert_however_cut(Framing::Chunked, stream.as_bytes(), &Err(expected));
        }
    }

    #[test]
    fn a_message_may_have_its_full_length_and_no_more() {
        let full = "x".repeat(LONGEST);
        for framing in [Framing::EndOfMessage, Framing::Chunked] {
            let stream = frame(framing, &full);
            assert_eq!(
                decode(framing, stream.chunks(7)),
                Ok(vec![full.clone()]),
                "{framing:?}"
            );
            let stream = frame(framing, &format!("{full}x"));
            let refused = Err(FramingError::TooLong);
            assert_eq!(decode(framing, stream.chunks(7)), refused, "{framing:?}");
        }
        let halves = format!("\n#600\n{0}\n#600\n{0}", "x".repeat(600));
        let refused = Err(FramingError::TooLong);
        assert_eq!(decode(Framing::Chunked, [halves.as_bytes()]), refused);
        let endless = vec![b'x'; 2 * LONGEST];
        assert_eq!(decode(Framing::EndOfMessage, [endless.as_slice()]), refused);
    }
}
