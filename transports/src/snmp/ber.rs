//! The encoding of SNMP messages: BER, as far as RFC 3417, 8 requires it.

/// The tags of SNMP (RFC 3416, 3).
pub(super) mod tag {
    pub(crate) const INTEGER: u8 = 0x02;
    pub(crate) const OCTET_STRING: u8 = 0x04;
    pub(crate) const NULL: u8 = 0x05;
    pub(crate) const OBJECT_IDENTIFIER: u8 = 0x06;
    pub(crate) const SEQUENCE: u8 = 0x30;
    pub(crate) const IP_ADDRESS: u8 = 0x40;
    pub(crate) const COUNTER32: u8 = 0x41;
    pub(crate) const GAUGE32: u8 = 0x42;
    pub(crate) const TIME_TICKS: u8 = 0x43;
    pub(crate) const OPAQUE: u8 = 0x44;
    pub(crate) const COUNTER64: u8 = 0x46;
    pub(crate) const NO_SUCH_OBJECT: u8 = 0x80;
    pub(crate) const NO_SUCH_INSTANCE: u8 = 0x81;
    pub(crate) const END_OF_MIB_VIEW: u8 = 0x82;
}

/// Encodes a value with its tag and length.
pub(super) fn tagged(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    let length = content.len();
    match u8::try_from(length) {
        Ok(short) if short < 0x80 => bytes.push(short),
        _ => {
            let digits = length.to_be_bytes();
            let zeros = digits.iter().take_while(|digit| **digit == 0).count();
            bytes.push(0x80 | u8::try_from(digits.len() - zeros).unwrap_or(8));
            bytes.extend_from_slice(&digits[zeros..]);
        }
    }
    bytes.extend_from_slice(content);
    bytes
}

/// Encodes a sequence of encoded values.
pub(super) fn sequence(parts: &[Vec<u8>]) -> Vec<u8> {
    tagged(tag::SEQUENCE, &parts.concat())
}

/// Encodes an integer in the minimum number of bytes.
pub(super) fn integer(number: i64) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    let fill = if number < 0 { 0xff } else { 0 };
    let spare = bytes
        .windows(2)
        .take_while(|pair| pair[0] == fill && (pair[1] ^ fill) & 0x80 == 0)
        .count();
    tagged(tag::INTEGER, &bytes[spare..])
}

/// Encodes an octet string.
pub(super) fn octets(bytes: &[u8]) -> Vec<u8> {
    tagged(tag::OCTET_STRING, bytes)
}

/// Reads encoded values one after another, and knows its position in the message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'b> {
    message: &'b [u8],
    at: usize,
    end: usize,
}

impl<'b> Reader<'b> {
    pub(super) fn new(message: &'b [u8]) -> Self {
        Self {
            message,
            at: 0,
            end: message.len(),
        }
    }

    /// Returns its position in the message.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn is_empty(&self) -> bool {
        self.at == self.end
    }

    /// Returns the remaining bytes.
    pub(super) fn bytes(&self) -> &'b [u8] {
        &self.message[self.at..self.end]
    }

    /// Returns the next value as its tag and a reader of its content. Returns `None` if no complete value follows.
    pub(super) fn next(&mut self) -> Option<(u8, Self)> {
        let (&tag, rest) = self.bytes().split_first()?;
        let (&first, rest) = rest.split_first()?;
        let (length, header) = if first < 0x80 {
            (usize::from(first), 2)
        } else {
            let digits = rest.get(..usize::from(first & 0x7f))?;
            if digits.is_empty() || digits.len() > 4 {
                return None;
            }
            let length = digits
                .iter()
                .fold(0, |length, digit| length << 8 | usize::from(*digit));
            (length, 2 + digits.len())
        };
        let begin = self.at + header;
        let end = begin.checked_add(length).filter(|end| *end <= self.end)?;
        self.at = end;
        let content = Self {
            message: self.message,
            at: begin,
            end,
        };
        Some((tag, content))
    }

    /// Returns the content of the next value, which must have this tag.
    pub(super) fn expect(&mut self, tag: u8) -> Option<Self> {
        let (found, content) = self.next()?;
        (found == tag).then_some(content)
    }

    pub(super) fn integer(&mut self) -> Option<i64> {
        signed(self.expect(tag::INTEGER)?.bytes())
    }

    pub(super) fn octets(&mut self) -> Option<&'b [u8]> {
        Some(self.expect(tag::OCTET_STRING)?.bytes())
    }
}

/// Decodes an integer's content.
pub(super) fn signed(bytes: &[u8]) -> Option<i64> {
    let first = *bytes.first()?;
    let begin = if first & 0x80 == 0 { 0 } else { -1 };
    let number = bytes
        .iter()
        .fold(begin, |number: i64, byte| number << 8 | i64::from(*byte));
    (bytes.len() <= 8).then_some(number)
}

/// Decodes the content of an unsigned number. Its highest bit is not a sign, even without a leading zero
/// byte, which some agents omit.
pub(super) fn unsigned(bytes: &[u8]) -> Option<u64> {
    let digits = match bytes {
        [] => return None,
        [0, digits @ ..] => digits,
        digits => digits,
    };
    let number = digits
        .iter()
        .fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
    (digits.len() <= 8).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_take_as_few_bytes_as_they_can() {
        for (number, bytes) in [
            (0, &[2, 1, 0][..]),
            (127, &[2, 1, 127]),
            (128, &[2, 2, 0, 128]),
            (-1, &[2, 1, 255]),
            (-128, &[2, 1, 128]),
            (-129, &[2, 2, 255, 127]),
            (65507, &[2, 3, 0, 255, 227]),
        ] {
            assert_eq!(integer(number), bytes);
            assert_eq!(Reader::new(bytes).integer(), Some(number));
        }
        for number in [i64::MIN, i64::MAX, 1 << 40] {
            assert_eq!(Reader::new(&integer(number)).integer(), Some(number));
        }
        assert_eq!(unsigned(&[255; 4]), Some(u64::from(u32::MAX)));
        assert_eq!(
            unsigned(&[0, 255, 255, 255, 255, 255, 255, 255, 255]),
            Some(u64::MAX)
        );
        assert_eq!((signed(&[]), unsigned(&[])), (None, None));
        assert_eq!((signed(&[1; 9]), unsigned(&[1; 9])), (None, None));
    }

    #[test]
    fn long_values_have_long_lengths() {
        for length in [0, 127, 128, 255, 256, 70000] {
            let content = vec![7; length];
            let bytes = octets(&content);
            let mut reader = Reader::new(&bytes);
            assert_eq!(reader.octets(), Some(content.as_slice()));
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn what_is_cut_off_anywhere_is_nothing_and_never_a_panic() {
        let whole = sequence(&[integer(5), octets(&[9; 200])]);
        for end in 0..whole.len() {
            assert!(Reader::new(&whole[..end]).next().is_none(), "{end}");
        }
        for bytes in [
            &[2, 0x80][..],
            &[2, 0x85, 0, 0, 0, 0, 1],
            &[4, 0x84, 255, 255, 255, 255],
        ] {
            assert!(Reader::new(bytes).next().is_none());
        }
    }
}
