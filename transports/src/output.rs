//! The output of a program on another host, and how the program ends.

use bytes::Bytes;

/// A piece of a program's output, in the order in which the host sends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of its standard output.
    Stdout(Bytes),
    /// Bytes of its standard error.
    Stderr(Bytes),
    /// Its end, as soon as that is known. Further output was written before, or comes from programs that it
    /// has started and that still have its output open.
    Ended(Exit),
    /// The end of its output as well: nothing follows.
    Exit(Exit),
}

/// How a program ended (RFC 4254, 6.10).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this exit code.
    Code(u32),
    /// By this signal, named without `SIG`.
    Signal(String),
    /// Unknown, because the host does not report it.
    Unsaid,
}
