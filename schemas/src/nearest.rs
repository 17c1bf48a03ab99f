//! What a mistyped word was probably meant to be.

/// The known word that a mistyped one is probably meant to be.
pub fn nearest<'k>(typed: &str, known: &[&'k str]) -> Option<&'k str> {
    let limit = (typed.chars().count() / 3).clamp(1, 3);
    known
        .iter()
        .map(|key| (distance(typed, key), *key))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, key)| key)
}

/// `; did you mean `x`?` for the nearest known word, to end a message with; empty where none is near.
pub fn did_you_mean<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    nearest(typed, &known).map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}

/// The nearest known word where one is near, else every known word, to end a message with.
pub fn suggest<'k>(typed: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match did_you_mean(typed, known.iter().copied()) {
        hint if hint.is_empty() => format!("; expected one of {}", known.join(", ")),
        hint => hint,
    }
}

/// The edit distance in which two swapped neighbours count once and `-`, `_` and case not at all.
fn distance(one: &str, other: &str) -> usize {
    let fold = |text: &str| -> Vec<char> {
        text.chars()
            .map(|c| {
                if c == '_' {
                    '-'
                } else {
                    c.to_ascii_lowercase()
                }
            })
            .collect()
    };
    let (one, other) = (fold(one), fold(other));
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
}
