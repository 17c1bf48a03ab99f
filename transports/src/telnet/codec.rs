//! The telnet protocol around the bytes of a terminal: commands, options, and line ends (RFC 854, 855).
//!
//! The other end leads: this end only answers requests for options, and only if they change something, so
//! that the two ends never loop (RFC 1143). Accepted are the options that a device's terminal needs: the
//! device may echo and suppress go-ahead, and it gets the terminal's type and size. All others are
//! refused.

use crate::terminal::{COLUMNS, ROWS};

const SE: u8 = 240;
const SB: u8 = 250;
const WILL: u8 = 251;
const WONT: u8 = 252;
const DO: u8 = 253;
const DONT: u8 = 254;
const IAC: u8 = 255;

/// RFC 857: the device echoes what is typed.
const ECHO: u8 = 1;
/// RFC 858: no go-ahead commands are sent.
const SUPPRESS_GO_AHEAD: u8 = 3;
/// RFC 1091: the type of the terminal.
const TERMINAL_TYPE: u8 = 24;
/// RFC 1073: the size of the terminal ("negotiate about window size").
const NAWS: u8 = 31;

/// The options that the device may enable at its end, and those that it may enable at ours.
const THEIRS: [u8; 2] = [ECHO, SUPPRESS_GO_AHEAD];
const OURS: [u8; 3] = [SUPPRESS_GO_AHEAD, TERMINAL_TYPE, NAWS];

/// The request for the terminal's type, and the answer.
const SEND: u8 = 1;
const IS: u8 = 0;
const NAME: &[u8] = b"VT100";

/// The maximum of a subnegotiation that is stored: enough for the only one that is supported.
const LONGEST_SUBNEGOTIATION: usize = 16;

/// The state of both directions of a connection.
#[derive(Debug, Default)]
pub(super) struct Codec {
    state: State,
    /// Whether the last received byte was a carriage return, and whether the last typed byte was one.
    heard_return: bool,
    typed_return: bool,
    /// The enabled options at each end.
    theirs: Vec<u8>,
    ours: Vec<u8>,
}

/// The position of the received bytes within a command.
#[derive(Debug, Default)]
enum State {
    #[default]
    Text,
    /// After IAC.
    Command,
    /// After WILL, WONT, DO or DONT.
    Option(u8),
    /// Between SB and SE. `escaped` tells whether after an IAC there.
    Subnegotiation { kept: Vec<u8>, escaped: bool },
}

impl Codec {
    /// Splits received bytes into text for the terminal and replies to send.
    pub(super) fn decode(&mut self, received: &[u8], text: &mut Vec<u8>, answer: &mut Vec<u8>) {
        for &byte in received {
            match &mut self.state {
                State::Text if byte == IAC => self.state = State::Command,
                State::Text => self.hear(byte, text),
                State::Command => match byte {
                    IAC => {
                        self.state = State::Text;
                        self.hear(IAC, text);
                    }
                    WILL | WONT | DO | DONT => self.state = State::Option(byte),
                    SB => {
                        self.state = State::Subnegotiation {
                            kept: Vec::new(),
                            escaped: false,
                        }
                    }
                    // No operation, go-ahead, a mark, "are you there": none has a visible effect.
                    _ => self.state = State::Text,
                },
                State::Option(command) => {
                    let command = *command;
                    self.state = State::Text;
                    self.negotiate(command, byte, answer);
                }
                State::Subnegotiation { kept, escaped } => match (byte, *escaped) {
                    (IAC, false) => *escaped = true,
                    (SE, true) => {
                        let kept = std::mem::take(kept);
                        self.state = State::Text;
                        if kept == [TERMINAL_TYPE, SEND] && self.ours.contains(&TERMINAL_TYPE) {
                            subnegotiate(&[&[TERMINAL_TYPE, IS], NAME].concat(), answer);
                        }
                    }
                    (byte, _) => {
                        *escaped = false;
                        if kept.len() < LONGEST_SUBNEGOTIATION {
                            kept.push(byte);
                        }
                    }
                },
            }
        }
    }

    /// Processes a byte of text. A carriage return is followed by a line feed, or by a NUL without
    /// meaning.
    fn hear(&mut self, byte: u8, text: &mut Vec<u8>) {
        if !(byte == 0 && self.heard_return) {
            text.push(byte);
        }
        self.heard_return = byte == b'\r';
    }

    fn negotiate(&mut self, command: u8, option: u8, answer: &mut Vec<u8>) {
        let (on, allowed, (yes, no), asks) = match command {
            WILL => (&mut self.theirs, &THEIRS[..], (DO, DONT), true),
            WONT => (&mut self.theirs, &THEIRS[..], (DO, DONT), false),
            DO => (&mut self.ours, &OURS[..], (WILL, WONT), true),
            _ => (&mut self.ours, &OURS[..], (WILL, WONT), false),
        };
        let is_on = on.contains(&option);
        match (asks, is_on) {
            (true, false) if allowed.contains(&option) => {
                on.push(option);
                answer.extend([IAC, yes, option]);
                if (command, option) == (DO, NAWS) {
                    subnegotiate(&window_size(), answer);
                }
            }
            (true, false) => answer.extend([IAC, no, option]),
            (false, true) => {
                on.retain(|&known| known != option);
                answer.extend([IAC, no, option]);
            }
            // The option already has this state.
            (true, true) | (false, false) => {}
        }
    }

    /// Encodes typed bytes. Each line ends with the return key, as a terminal sends it (CR NUL, or CR LF if
    /// that was typed).
    pub(super) fn encode(&mut self, typed: &[u8], sent: &mut Vec<u8>) {
        for &byte in typed {
            match (byte, self.typed_return) {
                (b'\n', true) => sent.push(b'\n'),
                (b'\n', false) => sent.extend(b"\r\0"),
                (byte, typed_return) => {
                    if typed_return {
                        sent.push(0);
                    }
                    sent.push(byte);
                    if byte == IAC {
                        sent.push(IAC);
                    }
                }
            }
            self.typed_return = byte == b'\r';
        }
    }

    /// Ends the typed text for now: no line feed follows a carriage return.
    pub(super) fn end(&mut self, sent: &mut Vec<u8>) {
        if std::mem::take(&mut self.typed_return) {
            sent.push(0);
        }
    }
}

/// Adds the frame of a subnegotiation and doubles each IAC in it.
fn subnegotiate(content: &[u8], answer: &mut Vec<u8>) {
    answer.extend([IAC, SB]);
    for &byte in content {
        answer.push(byte);
        if byte == IAC {
            answer.push(IAC);
        }
    }
    answer.extend([IAC, SE]);
}

fn window_size() -> Vec<u8> {
    let size = |size: usize| u16::try_from(size).unwrap_or(u16::MAX).to_be_bytes();
    [&[NAWS][..], &size(COLUMNS), &size(ROWS)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(chunks: &[&[u8]]) -> (Vec<u8>, Vec<u8>) {
        let (mut codec, mut text, mut answer) = (Codec::default(), Vec::new(), Vec::new());
        for chunk in chunks {
            codec.decode(chunk, &mut text, &mut answer);
        }
        (text, answer)
    }

    /// Returns the decoded text and replies, which must not depend on how the bytes are split.
    fn decoded_however_cut(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let whole = decoded(&[bytes]);
        assert_eq!(decoded(&bytes.chunks(1).collect::<Vec<_>>()), whole);
        whole
    }

    #[test]
    fn commands_are_no_text_and_an_escaped_byte_is_one() {
        let (text, answer) = decoded_however_cut(b"a\xff\xf1b\xff\xff\xff\xf9c\r\0d\r\ne\0");
        assert_eq!(text, b"ab\xffc\rd\r\ne\0");
        assert_eq!(answer, b"");
    }

    #[test]
    fn what_a_terminal_needs_is_taken_and_the_rest_refused() {
        let offered = [
            IAC, WILL, ECHO, IAC, WILL, 3, IAC, DO, 3, IAC, WILL, 34, IAC, DO, 39,
        ];
        let (text, answer) = decoded_however_cut(&offered);
        assert_eq!(text, b"");
        let expected = [
            IAC, DO, ECHO, IAC, DO, 3, IAC, WILL, 3, IAC, DONT, 34, IAC, WONT, 39,
        ];
        assert_eq!(answer, expected);
    }

    #[test]
    fn what_is_so_already_is_not_answered() {
        let repeated = [
            IAC, WILL, ECHO, IAC, WILL, ECHO, IAC, WONT, 34, IAC, DONT, 39,
        ];
        assert_eq!(decoded_however_cut(&repeated).1, [IAC, DO, ECHO]);
        let taken_back = [IAC, WILL, ECHO, IAC, WONT, ECHO, IAC, WILL, ECHO];
        let expected = [IAC, DO, ECHO, IAC, DONT, ECHO, IAC, DO, ECHO];
        assert_eq!(decoded_however_cut(&taken_back).1, expected);
    }

    #[test]
    fn the_terminal_is_as_large_as_over_ssh_with_its_iac_doubled() {
        let (_, answer) = decoded_however_cut(&[IAC, DO, NAWS]);
        let expected = [
            IAC, WILL, NAWS, IAC, SB, NAWS, 1, IAC, IAC, 0x27, 0x10, IAC, SE,
        ];
        assert_eq!(answer, expected);
    }

    #[test]
    fn the_terminal_says_its_name_when_it_is_asked_for() {
        let asked = [IAC, SB, TERMINAL_TYPE, SEND, IAC, SE];
        assert_eq!(decoded_however_cut(&asked).1, b"", "it was not agreed upon");
        let (_, answer) = decoded_however_cut(&[&[IAC, DO, TERMINAL_TYPE], &asked[..]].concat());
        assert_eq!(answer, b"\xff\xfb\x18\xff\xfa\x18\0VT100\xff\xf0");
    }

    #[test]
    fn a_subnegotiation_without_an_end_takes_no_memory() {
        let mut codec = Codec::default();
        let (mut text, mut answer) = (Vec::new(), Vec::new());
        codec.decode(&[IAC, SB, 99], &mut text, &mut answer);
        codec.decode(&[7; 100_000], &mut text, &mut answer);
        let State::Subnegotiation { kept, .. } = &codec.state else {
            panic!("it has no end")
        };
        assert_eq!(kept.len(), LONGEST_SUBNEGOTIATION);
        codec.decode(&[IAC, SE, b'x'], &mut text, &mut answer);
        assert_eq!((text.as_slice(), answer.as_slice()), (&b"x"[..], &b""[..]));
    }

    #[test]
    fn lines_end_with_the_return_key() {
        for (typed, expected) in [
            ("show x\n", &b"show x\r\0"[..]),
            ("show x\r", b"show x\r\0"),
            ("show x\r\n", b"show x\r\n"),
            ("a\rb\n\n", b"a\r\0b\r\0\r\0"),
        ] {
            for pieces in [typed.len(), 1] {
                let (mut codec, mut sent) = (Codec::default(), Vec::new());
                for piece in typed.as_bytes().chunks(pieces) {
                    codec.encode(piece, &mut sent);
                }
                codec.end(&mut sent);
                assert_eq!(sent, expected, "{typed:?}");
            }
        }
        let mut sent = Vec::new();
        Codec::default().encode(b"a\xffb", &mut sent);
        assert_eq!(sent, b"a\xff\xffb");
    }
}
