//! Separating JSON objects in a stream: OVSDB sends them one after another, without framing
//! (RFC 7047, 4).

use std::fmt;

/// Splits received bytes into JSON objects, independent of how the bytes were chunked.
///
/// It only counts brackets outside of strings. Whether an object is valid JSON is left to a parser.
#[derive(Debug)]
pub(crate) struct Scanner {
    arrived: Vec<u8>,
    /// The number of received bytes that were examined.
    seen: usize,
    /// The number of open brackets.
    depth: usize,
    string: Inside,
    limit: usize,
    broken: Option<Unreadable>,
}

/// The context of the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Inside {
    Nothing,
    String,
    /// After a backslash in a string.
    Escape,
}

/// Why the received bytes cannot be a sequence of JSON objects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// There is no `{` where an object should begin.
    NoObject(String),
    /// An object is longer than this many bytes.
    TooLong(usize),
    /// An object is nested deeper than [`MAX_DEPTH`].
    TooDeep,
}

/// The maximum nesting depth, which is also that of the JSON parser.
const MAX_DEPTH: usize = 127;

impl Scanner {
    /// Creates a scanner that fails at an object of more than `limit` bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            arrived: Vec::new(),
            seen: 0,
            depth: 0,
            string: Inside::Nothing,
            limit,
            broken: None,
        }
    }

    /// Adds received bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.arrived.extend_from_slice(bytes);
    }

    /// Returns the next complete object.
    ///
    /// # Errors
    /// Fails when no further object can be found. The error is permanent, and the connection is useless then.
    pub(crate) fn next(&mut self) -> Result<Option<Vec<u8>>, Unreadable> {
        if let Some(problem) = &self.broken {
            return Err(problem.clone());
        }
        let next = self.scan();
        self.broken = next.as_ref().err().cloned();
        next
    }

    fn scan(&mut self) -> Result<Option<Vec<u8>>, Unreadable> {
        if self.depth == 0 {
            let blank = self.arrived.iter().take_while(|b| b.is_ascii_whitespace());
            let blank = blank.count();
            self.arrived.drain(..blank);
            match self.arrived.first() {
                None => return Ok(None),
                Some(b'{') => {}
                Some(_) => return Err(Unreadable::NoObject(self.beginning())),
            }
        }
        while let Some(&byte) = self.arrived.get(self.seen) {
            self.seen += 1;
            self.take(byte)?;
            if self.depth == 0 {
                let rest = self.arrived.split_off(self.seen);
                self.seen = 0;
                return Ok(Some(std::mem::replace(&mut self.arrived, rest)));
            }
            if self.seen > self.limit {
                return Err(Unreadable::TooLong(self.limit));
            }
        }
        Ok(None)
    }

    fn take(&mut self, byte: u8) -> Result<(), Unreadable> {
        self.string = match (self.string, byte) {
            (Inside::String, b'\\') => Inside::Escape,
            (Inside::String, b'"') => Inside::Nothing,
            (Inside::String | Inside::Escape, _) => Inside::String,
            (Inside::Nothing, b'"') => Inside::String,
            (Inside::Nothing, _) => Inside::Nothing,
        };
        if self.string != Inside::Nothing {
            return Ok(());
        }
        match byte {
            b'{' | b'[' if self.depth == MAX_DEPTH => return Err(Unreadable::TooDeep),
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth -= 1,
            _ => {}
        }
        Ok(())
    }

    /// Returns the text where an object should begin, for a message.
    fn beginning(&self) -> String {
        let some = &self.arrived[..self.arrived.len().min(40)];
        String::from_utf8_lossy(some).trim_end().to_owned()
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject(found) => {
                write!(f, "a JSON object should begin where it sent {found:?}")
            }
            Self::TooLong(limit) => write!(f, "it sent a JSON object of more than {limit} bytes"),
            Self::TooDeep => write!(f, "it sent JSON nested deeper than {MAX_DEPTH}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 1 << 16;

    /// Returns the objects in these pieces, and the error at the end, if any.
    fn scan(pieces: &[&[u8]]) -> (Vec<String>, Option<Unreadable>) {
        let mut scanner = Scanner::new(LIMIT);
        let mut objects = Vec::new();
        for piece in pieces {
            scanner.push(piece);
            loop {
                match scanner.next() {
                    Ok(Some(object)) => objects.push(String::from_utf8(object).expect("UTF-8")),
                    Ok(None) => break,
                    Err(problem) => return (objects, Some(problem)),
                }
            }
        }
        (objects, None)
    }

    const OBJECTS: [&str; 6] = [
        r#"{}"#,
        r#"{"id":1,"result":[{"rows":[{"name":"br\"0"}]}],"error":null}"#,
        r#"{"a":"}]{[\\","b":"\\\"}"}"#,
        r#"{"é":"ü\u0022}","x":[[],{}]}"#,
        "{\n \"method\" : \"echo\", \"params\": [ ], \"id\": \"echo\"\n}",
        r#"{"\\":{"\\\\":"\""}}"#,
    ];

    #[test]
    fn objects_come_out_whole_wherever_they_are_split() {
        let text = OBJECTS.join(" \r\n\t");
        let bytes = text.as_bytes();
        for first in 0..=bytes.len() {
            for second in (first..=bytes.len()).step_by(3) {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                let (objects, problem) = scan(&pieces);
                assert_eq!(objects, OBJECTS, "split at {first} and {second}");
                assert_eq!(problem, None);
            }
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(scan(&single), (OBJECTS.map(str::to_owned).to_vec(), None));
        let joined = OBJECTS.concat();
        assert_eq!(scan(&[joined.as_bytes()]).0, OBJECTS);
    }

    #[test]
    fn random_values_come_out_as_they_went_in() {
        // A linear congruential generator: the values are the same in every run.
        let mut state = 0x2545_f491_u64;
        let mut random = move |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            usize::try_from(state >> 33).expect("31 bits") % below
        };
        fn value(random: &mut impl FnMut(usize) -> usize, depth: usize) -> serde_json::Value {
            const TEXTS: [&str; 7] = ["", "{", "]}", "\\", "\"", "\\\"{", "ä\u{0}\n"];
            match random(if depth == 0 { 3 } else { 5 }) {
                0 => serde_json::Value::from(random(1000)),
                1 => serde_json::Value::from(TEXTS[random(TEXTS.len())]),
                2 => serde_json::Value::Null,
                3 => (0..random(4)).map(|_| value(random, depth - 1)).collect(),
                _ => (0..random(4))
                    .map(|n| {
                        (
                            format!("{n}{}", TEXTS[random(TEXTS.len())]),
                            value(random, depth - 1),
                        )
                    })
                    .collect::<serde_json::Map<_, _>>()
                    .into(),
            }
        }
        for _ in 0..500 {
            let sent: Vec<String> = (0..1 + random(4))
                .map(|_| serde_json::json!({ "result": value(&mut random, 5) }).to_string())
                .collect();
            let stream = sent.concat().into_bytes();
            let (mut pieces, mut rest) = (Vec::new(), stream.as_slice());
            while !rest.is_empty() {
                let (piece, left) = rest.split_at((1 + random(40)).min(rest.len()));
                pieces.push(piece);
                rest = left;
            }
            assert_eq!(scan(&pieces), (sent, None));
        }
    }

    #[test]
    fn what_is_no_object_is_told() {
        for text in [
            "SSH-2.0-OpenSSH_9.2\r\n",
            "[1]",
            "}",
            "null",
            "\u{16}\u{3}\u{1}",
        ] {
            let (objects, problem) = scan(&[b"{} ", text.as_bytes()]);
            assert_eq!(objects, ["{}"]);
            let shown = text.trim_end().to_owned();
            assert_eq!(problem, Some(Unreadable::NoObject(shown)));
        }
    }

    #[test]
    fn an_object_without_end_is_given_up_at_the_limit() {
        let mut scanner = Scanner::new(100);
        scanner.push(b"{\"a\":\"");
        assert_eq!(scanner.next(), Ok(None));
        scanner.push(&[b'x'; 200]);
        assert_eq!(scanner.next(), Err(Unreadable::TooLong(100)));
        scanner.push(b"\"}");
        assert_eq!(scanner.next(), Err(Unreadable::TooLong(100)));

        let deep = "{\"a\":".repeat(MAX_DEPTH + 1);
        assert_eq!(scan(&[deep.as_bytes()]).1, Some(Unreadable::TooDeep));
    }

    #[test]
    fn brackets_that_do_not_match_are_left_to_the_parser() {
        assert_eq!(scan(&[b"{]{}"]).0, ["{]", "{}"]);
    }

    #[test]
    fn any_bytes_end_in_objects_or_a_reason() {
        let mut state = 7_u32;
        for _ in 0..2000 {
            let mut scanner = Scanner::new(64);
            for _ in 0..20 {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let byte = b"{}[]\"\\ a\n\xff"[(state >> 16) as usize % 10];
                scanner.push(&[byte]);
                match scanner.next() {
                    Ok(Some(object)) => assert!(object.starts_with(b"{")),
                    Ok(None) => {}
                    Err(_) => break,
                }
            }
        }
    }
}
