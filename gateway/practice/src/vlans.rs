//! Lists of VLANs as IOS writes them: `1,10,20-29`.

use std::collections::BTreeSet;
use std::fmt;

/// The lowest and highest VLAN id there is (IEEE 802.1Q, 9.6).
pub(super) const IDS: std::ops::RangeInclusive<u16> = 1..=4094;

/// A set of VLAN ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct VlanList(pub(super) BTreeSet<u16>);

impl VlanList {
    /// Whether a word can only be a list of VLANs.
    pub(super) fn looks_like(word: &str) -> bool {
        word.starts_with(|c: char| c.is_ascii_digit())
            && word
                .chars()
                .all(|c| c.is_ascii_digit() || c == ',' || c == '-')
    }

    /// Reads a list.
    ///
    /// # Errors
    /// The message of IOS, which counts the character after the number that is out of range.
    pub(super) fn parse(list: &str) -> Result<Self, String> {
        let mut ids = BTreeSet::new();
        let mut end = 0;
        for part in list.split(',') {
            end += part.len();
            let delimiter = if end == list.len() { "(EOL)" } else { "(',')" };
            let error = || {
                format!(
                    "Command rejected: Bad VLAN list - character #{} {delimiter} delimits a VLAN\n\
                     number which is out of the range 1..4094.\n",
                    end + 1
                )
            };
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first = first
                .parse()
                .ok()
                .filter(|id| IDS.contains(id))
                .ok_or_else(error)?;
            let last = last
                .parse()
                .ok()
                .filter(|id| IDS.contains(id))
                .ok_or_else(error)?;
            ids.extend(first..=last);
            end += 1;
        }
        Ok(Self(ids))
    }
}

impl fmt::Display for VlanList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("none");
        }
        let ids: Vec<u16> = self.0.iter().copied().collect();
        let mut runs = ids.chunk_by(|a, b| a + 1 == *b).peekable();
        while let Some(run) = runs.next() {
            match run {
                [first, .., last] if run.len() > 2 => write!(f, "{first}-{last}")?,
                [first, last] => write!(f, "{first},{last}")?,
                others => write!(f, "{}", others[0])?,
            }
            if runs.peek().is_some() {
                f.write_str(",")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_written_in_their_shortest_form() {
        let written = |list| VlanList::parse(list).map(|list| list.to_string());
        assert_eq!(written("30,10,12,11"), Ok("10-12,30".to_owned()));
        assert_eq!(written("1-2,4094"), Ok("1,2,4094".to_owned()));
        assert_eq!(VlanList::default().to_string(), "none");
    }

    #[test]
    fn a_number_out_of_range_is_counted_out() {
        let refused = |list| VlanList::parse(list).expect_err("a refusal");
        assert!(refused("5000").contains("character #5 (EOL)"));
        assert!(refused("10,4095,20").contains("character #8 (',')"));
        assert!(refused("0").contains("character #2 (EOL)"));
    }
}
