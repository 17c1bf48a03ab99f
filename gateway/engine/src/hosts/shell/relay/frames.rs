//! The frames between devgate and a relay, on the standard streams of the relay.
//!
//! A frame has a kind (one byte), the number of a connection and a size (four bytes each, in network order).
//!
//! | kind | sent by | what it means                                                         |
//! |------|---------|-----------------------------------------------------------------------|
//! | `o`  | relay   | a client has connected; the relay never uses its number again         |
//! | `d`  | both    | the bytes behind the frame, as many as the size says                  |
//! | `a`  | both    | so many bytes were passed on: the other side may send as many more    |
//! | `e`  | both    | the connection has ended; nothing more is sent on it                  |
//!
//! At most [`WINDOW`] bytes of a connection are under way in each direction, so that a slow client fills neither the
//! memory of the host nor ours, and delays no other client.

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// The most bytes in a frame.
pub(super) const CHUNK: usize = 32 * 1024;

/// The most bytes of a connection, in one direction, that were not passed on yet.
pub(super) const WINDOW: usize = 64 * 1024;

/// The most clients that a relay lets in at once. Further ones wait until one leaves.
pub(super) const MAX_CLIENTS: usize = 64;

/// The number of bytes before those of the connection.
const HEAD: usize = 9;

/// What is said about a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    Opened,
    Data(Bytes),
    PassedOn(usize),
    Ended,
}

/// Bytes that are no frames.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoFrame;

/// Reads frames.
#[derive(Debug)]
pub(super) struct FrameReader(BytesMut);

impl Frame {
    /// Encodes the frame for the connection of this number.
    pub(super) fn encode(&self, client: u32) -> Bytes {
        let (kind, size, data) = match self {
            Self::Opened => (b'o', 0, None),
            Self::Data(data) => (b'd', data.len(), Some(data)),
            Self::PassedOn(count) => (b'a', *count, None),
            Self::Ended => (b'e', 0, None),
        };
        let mut frame = BytesMut::with_capacity(HEAD + data.map_or(0, Bytes::len));
        frame.put_u8(kind);
        frame.put_u32(client);
        frame.put_u32(u32::try_from(size).expect("it is at most a window"));
        frame.extend_from_slice(data.map_or(&[], |data| data));
        frame.freeze()
    }
}

impl FrameReader {
    /// Begins with these bytes.
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self(BytesMut::from(bytes))
    }

    /// Adds bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Returns the next frame and the number of its connection, once it is complete.
    ///
    /// # Errors
    /// Fails when the other side does not send frames.
    pub(super) fn next(&mut self) -> Result<Option<(u32, Frame)>, NoFrame> {
        let Some(mut head) = self.0.get(..HEAD) else {
            return Ok(None);
        };
        let (kind, client, size) = (head.get_u8(), head.get_u32(), head.get_u32() as usize);
        let frame = match kind {
            b'o' => Frame::Opened,
            b'd' if size <= CHUNK => {
                if self.0.len() < HEAD + size {
                    return Ok(None);
                }
                self.0.advance(HEAD);
                return Ok(Some((client, Frame::Data(self.0.split_to(size).freeze()))));
            }
            b'a' if size <= WINDOW => Frame::PassedOn(size),
            b'e' => Frame::Ended,
            _ => return Err(NoFrame),
        };
        self.0.advance(HEAD);
        Ok(Some((client, frame)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_read_as_they_are_written_however_they_arrive() {
        let frames = [
            (1, Frame::Opened),
            (1, Frame::Data(Bytes::from_static(b"{}\n"))),
            (u32::MAX, Frame::PassedOn(WINDOW)),
            (1, Frame::Ended),
        ];
        let bytes: Vec<u8> = frames
            .iter()
            .flat_map(|(client, frame)| frame.encode(*client))
            .collect();
        for size in [1, 5, bytes.len()] {
            let mut reader = FrameReader::new(b"");
            let mut read = Vec::new();
            for piece in bytes.chunks(size) {
                reader.push(piece);
                while let Some(frame) = reader.next().expect("a frame") {
                    read.push(frame);
                }
            }
            assert_eq!(read, frames);
        }
    }

    #[test]
    fn what_is_no_frame_or_too_large_is_refused_before_it_is_kept() {
        for bytes in [
            &b"x\0\0\0\x01\0\0\0\0"[..],
            b"d\0\0\0\x01\0\0\x80\x01",
            b"d\0\0\0\x01\xff\xff\xff\xff",
            b"a\0\0\0\x01\0\x01\0\x01",
        ] {
            assert_eq!(FrameReader::new(bytes).next(), Err(NoFrame), "{bytes:?}");
        }
    }
}
