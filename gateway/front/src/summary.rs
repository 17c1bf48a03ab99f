//! Descriptions in one line, for lists.

/// The first line of a description, for lists.
pub fn first_line(desc: &str) -> String {
    desc.lines().next().unwrap_or_default().to_owned()
}

/// The first sentence of one of our descriptions, for lists. A paragraph may be one line.
pub fn first_sentence(desc: &str) -> String {
    let line = first_line(desc);
    let starts = |rest: &str| rest.starts_with(|first: char| first.is_uppercase() || first == '`');
    let mut ends = line.match_indices(". ");
    match ends.find(|(at, end)| starts(&line[at + end.len()..])) {
        Some((at, _)) => line[..=at].to_owned(),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_the_first_sentence_and_no_part_of_it() {
        let sentence = "NETCONF (RFC 6241, base 1.0 and 1.1), e.g. of routers.";
        for rest in ["", " It locks.", " `get` asks.", "\nIt locks."] {
            assert_eq!(first_sentence(&format!("{sentence}{rest}")), sentence);
        }
        assert_eq!(first_sentence("A zone"), "A zone");
    }
}
