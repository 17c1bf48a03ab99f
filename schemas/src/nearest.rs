//! Guesses the intended word for a mistyped one.

/// Returns the known word that a mistyped or shortened word probably stands for.
///
/// Words are ranked: those with few typing errors first, then those that begin with the word (`frr_int`),
/// then those that contain it as a part (`static_route` in `frr_static_route`), then those that add letters
/// (`frr_iface`).
pub fn nearest<'k>(typed: &str, known: &[&'k str]) -> Option<&'k str> {
    let typed = fold(typed);
    let likeness = |word: &str| {
        let known = fold(word);
        let distance = distance(&typed, &known);
        let begins = typed.len() > 1 && known.starts_with(&typed);
        let kind = match () {
            () if distance <= (typed.len() / 3).clamp(1, 3) => 0,
            () if begins => 1,
            () if is_part(&typed, &known) => 2,
            () if is_shortened(&typed, &known) => 3,
            () => return None,
        };
        // `fr` means `frr` rather than `f5`.
        Some((kind, !begins, distance))
    };
    let found = known
        .iter()
        .filter_map(|word| Some((likeness(word)?, *word)));
    found
        .min_by_key(|(likeness, _)| *likeness)
        .map(|(_, word)| word)
}

/// Returns `` ; did you mean `x`? `` for the nearest known word, as the end of a message. Returns an empty text
/// if no word is near.
pub fn did_you_mean<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    nearest(typed, &known).map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

/// Returns the nearest known word, or every known word if none is near, as the end of a message.
pub fn suggest<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match did_you_mean(typed, known.iter().copied()) {
        hint if hint.is_empty() => format!("; expected one of {}", known.join(", ")),
        hint => hint,
    }
}

/// Normalizes a word: case, and the difference between `-` and `_`, do not matter.
fn fold(text: &str) -> Vec<char> {
    let folded = text.chars().map(|c| match c {
        '_' => '-',
        c => c.to_ascii_lowercase(),
    });
    folded.collect()
}

/// Whether a word is one or more whole parts of another: `static-route` of `frr-static-route`.
fn is_part(typed: &[char], known: &[char]) -> bool {
    let ends = |at: usize| known.get(at).is_none_or(|c| !c.is_alphanumeric());
    let mut places = known.windows(typed.len().max(1)).enumerate();
    typed.len() > 2
        && places
            .any(|(at, part)| part == typed && (at == 0 || ends(at - 1)) && ends(at + typed.len()))
}

/// Whether a word is another with at most half of its letters left out: `frr-iface` of `frr-interface`.
fn is_shortened(typed: &[char], known: &[char]) -> bool {
    let mut rest = known.iter();
    typed.len() > 2
        && typed.len() * 2 >= known.len()
        && typed.first() == known.first()
        && typed.iter().all(|c| rest.any(|other| other == c))
}

/// Returns the edit distance, where swapping two neighbours counts as one edit.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut rows = vec![(0..=other.len()).collect::<Vec<_>>()];
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let changed = rows[i][j] + usize::from(a != b);
            let mut best = changed.min(rows[i][j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && one[i - 1] == *b && other[j - 1] == *a {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_named_only_when_it_is_near() {
        let known = ["targets", "groups", "remote-transport", "run-on"];
        assert_eq!(nearest("target", &known), Some("targets"));
        assert_eq!(
            nearest("remote_transport", &known),
            Some("remote-transport")
        );
        assert_eq!(nearest("runon", &known), Some("run-on"));
        assert_eq!(nearest("gruops", &known), Some("groups"));
        assert_eq!(nearest("password", &known), None);
    }

    #[test]
    fn shortened_words_and_parts_of_words_are_found_and_the_likeliest_counts() {
        let known = ["f5", "frr", "frr_interface", "frr_static_route", "netconf"];
        for (typed, meant) in [
            ("fr", Some("frr")),
            ("frr_iface", Some("frr_interface")),
            ("frr_int", Some("frr_interface")),
            ("static_route", Some("frr_static_route")),
            ("Interface", Some("frr_interface")),
            ("ffr", Some("frr")),
            ("net", Some("netconf")),
            ("route", Some("frr_static_route")),
            ("out", None),
            ("x", None),
            ("", None),
            ("vlan", None),
            ("cisco", None),
        ] {
            assert_eq!(nearest(typed, &known), meant, "{typed}");
        }
    }
}
