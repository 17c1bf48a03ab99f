//! Object identifiers: the names of all objects of an agent.

use std::fmt;

/// An object identifier. The order is that of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Oid(Vec<u32>);

impl Oid {
    /// Returns the size of its numbers in bytes.
    pub(super) fn length(&self) -> usize {
        size_of_val(self.0.as_slice())
    }

    pub(super) fn new(arcs: &[u32]) -> Self {
        Self(arcs.to_vec())
    }

    /// Parses `1.3.6.1.2.1.1`, with or without a leading dot.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let arcs = text.strip_prefix('.').unwrap_or(text).split('.');
        let arcs: Vec<u32> = arcs.map(|arc| arc.parse().ok()).collect::<Option<_>>()?;
        // The first two share a byte in BER.
        let fits = arcs.len() >= 2 && arcs.len() <= 128 && arcs[0] <= 2;
        (fits && (arcs[0] == 2 || arcs[1] < 40)).then_some(Self(arcs))
    }

    /// Returns the arcs after `base`, if it begins with `base`.
    pub(super) fn below(&self, base: &Self) -> Option<&[u32]> {
        self.0.strip_prefix(base.0.as_slice())
    }

    /// Returns its last arc, if it begins with `base`.
    pub(super) fn last_of(&self, base: &[u32]) -> Option<u32> {
        self.below(&Self::new(base))?.last().copied()
    }

    /// Returns it with more arcs.
    pub(super) fn child(&self, arcs: &[u32]) -> Self {
        Self([&self.0, arcs].concat())
    }

    /// Encodes its content in BER.
    pub(super) fn encode(&self) -> Vec<u8> {
        let (first, rest) = match self.0.as_slice() {
            [first, second, rest @ ..] => (first * 40 + second, rest),
            _ => (0, [].as_slice()),
        };
        let mut bytes = Vec::new();
        for arc in std::iter::once(first).chain(rest.iter().copied()) {
            let groups = (0..5)
                .rev()
                .skip_while(|group| *group > 0 && arc >> (7 * group) == 0);
            bytes.extend(groups.map(|group| {
                let low = (arc >> (7 * group) & 0x7f) as u8;
                if group == 0 { low } else { low | 0x80 }
            }));
        }
        bytes
    }

    /// Decodes its content from BER.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut arcs = Vec::new();
        let mut arc = 0_u32;
        for byte in bytes {
            if arc >> 25 != 0 {
                return None;
            }
            arc = arc << 7 | u32::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                if arcs.is_empty() {
                    let first = (arc / 40).min(2);
                    arcs.extend([first, arc - first * 40]);
                } else {
                    arcs.push(arc);
                }
                arc = 0;
            }
        }
        (bytes.last()? & 0x80 == 0).then_some(Self(arcs))
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arcs: Vec<String> = self.0.iter().map(u32::to_string).collect();
        f.write_str(&arcs.join("."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_survive_their_encoding() {
        for text in [
            "1.3.6.1.2.1.1.3.0",
            "0.0",
            "2.999.4294967295.128.127",
            "1.3",
        ] {
            let oid = Oid::parse(text).expect(text);
            assert_eq!(oid.to_string(), text);
            assert_eq!(Oid::decode(&oid.encode()), Some(oid));
        }
        let expected = [0x2b, 6, 1, 4, 1, 0xbf, 8, 3];
        assert_eq!(
            Oid::parse(".1.3.6.1.4.1.8072.3")
                .expect("it is one")
                .encode(),
            expected
        );
        for bytes in [&[][..], &[0x2b, 0x80], &[0x90, 0x80, 0x80, 0x80, 0x80, 1]] {
            assert_eq!(Oid::decode(bytes), None);
        }
    }

    #[test]
    fn what_is_no_identifier_is_refused() {
        for text in [
            "",
            "1",
            "3.1",
            "1.40",
            "1.3.x",
            "1..3",
            "1.3.4294967296",
            "sysDescr.0",
        ] {
            assert_eq!(Oid::parse(text), None, "{text}");
        }
    }

    #[test]
    fn identifiers_are_in_the_order_of_agents() {
        let oid = |text| Oid::parse(text).expect("it is one");
        assert!(oid("1.3.6.1.2") < oid("1.3.6.1.2.1") && oid("1.3.6.1.2.9") < oid("1.3.6.1.2.10"));
        let base = oid("1.3.6");
        assert_eq!(base.child(&[7, 1]).below(&base), Some(&[7, 1][..]));
        assert_eq!(oid("1.3.60").below(&base), None);
    }
}
