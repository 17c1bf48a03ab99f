//! Compares the finder with a simple search.

use super::*;

/// Returns the places that a simple search finds.
fn oracle(texts: &[&str], text: &str) -> Vec<Range<usize>> {
    let (mut places, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let found = texts
            .iter()
            .filter(|wanted| text[at..].starts_with(**wanted));
        match found.map(|found| found.len()).max() {
            Some(length) => {
                places.push(at..at + length);
                at += length;
            }
            None => at += 1,
        }
    }
    places
}

#[test]
fn it_finds_the_same_as_a_simple_search() {
    // A linear congruential generator: the same texts on every run.
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as usize % below
    };
    for _ in 0..2000 {
        let mut word = |most: usize| -> String {
            let length = 3 + random(most);
            (0..length).map(|_| ['a', 'b'][random(2)]).collect()
        };
        let texts: Vec<String> = (0..6).map(|_| word(5)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let text = word(40);
        let mut finder = Finder::default();
        for text in &texts {
            finder.add(text, Stands::Anywhere);
        }
        let places = finder.places(text.as_bytes(), Stands::Whole);
        assert_eq!(places, oracle(&texts, &text), "{texts:?} in {text}");
    }
}

#[test]
fn of_many_texts_each_is_found() {
    let mut finder = Finder::default();
    let texts: Vec<String> = (0..10_000)
        .map(|number| format!("{number:05}-canary"))
        .collect();
    for text in texts.iter().chain([&"abc".to_owned(), &"wxyz".to_owned()]) {
        finder.add(text, Stands::Anywhere);
    }
    for text in &texts {
        let line = format!("abc {text} of wxyz");
        let end = 4 + text.len();
        let expected = vec![0..3, 4..end, end + 4..end + 8];
        assert_eq!(finder.places(line.as_bytes(), Stands::Whole), expected);
        let cut = line.find("canary").map(|at| at + 3).expect("it is there");
        assert_eq!(finder.begun(&line.as_bytes()[..cut]), Some(4..cut));
    }
}

#[test]
fn what_has_left_is_found_no_more_unless_another_holds_it() {
    let (mut all, mut one, mut two) = <(Finder, Finder, Finder)>::default();
    one.add("canary1", Stands::Anywhere);
    one.add("canary2", Stands::Anywhere);
    two.add("canary2", Stands::Anywhere);
    all.merge(&one);
    all.merge(&two);
    all.remove(&one);
    assert!(all.places(b"canary1", Stands::Whole).is_empty());
    assert_eq!(all.places(b"a canary2", Stands::Whole), vec![2..9]);
    all.remove(&two);
    assert_eq!(all.len(), 0);
}

#[test]
fn texts_that_are_added_and_removed_do_not_leak_memory() {
    let mut all = Finder::default();
    all.add("stays here", Stands::Anywhere);
    for number in 0..10_000 {
        let mut one = Finder::default();
        one.add(&format!("{number} goes"), Stands::Anywhere);
        all.merge(&one);
        all.remove(&one);
    }
    assert_eq!(all.long.bits.len() * 64, MIN_BITS);
    assert_eq!(all.places(b"it stays here", Stands::Whole), vec![3..13]);
}
