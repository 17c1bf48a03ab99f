//! Tags: words by which a run is restricted to some of a catalog's resources.

use std::collections::BTreeSet;

use super::metaparameters::is_tag;

/// Adds a word to tags, and the segments of a word with `::`. Invalid tags are left out.
pub(super) fn add(tags: &mut BTreeSet<String>, word: &str) {
    let word = word.to_lowercase();
    for tag in [word.as_str()].into_iter().chain(word.split("::")) {
        if is_tag(tag) {
            tags.insert(tag.to_owned());
        }
    }
}

/// Whether a resource with these tags is wanted: it needs one of the wanted tags. Without wanted tags, every resource
/// is wanted.
pub(super) fn are_wanted(tags: &BTreeSet<String>, wanted: &[String]) -> bool {
    let has = |word: &String| tags.contains(&word.to_lowercase());
    wanted.is_empty() || wanted.iter().any(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_several_segments_is_found_by_each_of_them() {
        let mut tags = BTreeSet::new();
        add(&mut tags, "Routing::Edge");
        add(&mut tags, "10.0.0.0/8 via x");
        assert!(
            tags.iter().eq(["edge", "routing", "routing::edge"]),
            "{tags:?}"
        );
        let wanted = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            are_wanted(&tags, &words)
        };
        assert!(wanted(&[]) && wanted(&["core", "EDGE"]) && wanted(&["routing::edge"]));
        assert!(!wanted(&["core"]) && !wanted(&["routing::core"]));
    }
}
