//! Texts for hints: `<ipv4>`, `<word>`, `<1-99>`, `<a|b>` in a text are replaced by something random of this kind.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::random::Random;

/// Replaces everything in angle brackets.
///
/// # Panics
/// Panics when there is no such kind of text.
pub(crate) fn expanded(text: &str, random: &mut Random) -> String {
    let mut expanded = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('<') {
        let (kind, behind) = behind.split_once('>').expect("`<` has its `>`");
        expanded.push_str(before);
        expanded.push_str(&made(kind, random));
        rest = behind;
    }
    expanded + rest
}

fn made(kind: &str, random: &mut Random) -> String {
    if kind.contains('|') {
        let alternatives: Vec<&str> = kind.split('|').collect();
        return (*random.one_of(&alternatives)).to_owned();
    }
    if let Some((from, to)) = kind.split_once('-')
        && let (Ok(from), Ok(to)) = (from.parse(), to.parse())
    {
        return random.between(from, to).to_string();
    }
    match kind {
        "word" => word(random, 8),
        "Word" => word(random, 8).to_uppercase(),
        "long" => word(random, 20),
        "words" => words(random),
        "digits" => digits(random, 12, b"0123456789"),
        "hex" => {
            let bytes = 2 * random.below(8) + 8;
            (0..bytes).map(|_| *random.one_of(HEX) as char).collect()
        }
        "ipv4" => ipv4(random).to_string(),
        "ipv6" => ipv6(random).to_string(),
        "ip" if random.percent(60) => ipv4(random).to_string(),
        "ip" => ipv6(random).to_string(),
        "host4" => format!("{}/{}", ipv4(random), random.between(8, 31)),
        "host6" => format!("{}/{}", ipv6(random), random.between(16, 127)),
        "network4" => {
            let length = random.between(0, 32);
            let mask = u32::MAX.checked_shl(32 - length as u32).unwrap_or(0);
            format!(
                "{}/{length}",
                Ipv4Addr::from(u32::from(ipv4(random)) & mask)
            )
        }
        "network6" => {
            let length = random.between(0, 128);
            let mask = u128::MAX.checked_shl(128 - length as u32).unwrap_or(0);
            format!(
                "{}/{length}",
                Ipv6Addr::from(u128::from(ipv6(random)) & mask)
            )
        }
        "domain" => format!("{}.{}.net", word(random, 6), word(random, 6)),
        "base64" => {
            let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            (0..64).map(|_| *random.one_of(letters) as char).collect()
        }
        "vlans" => vlans(random),
        _ => panic!("there is no `<{kind}>`"),
    }
}

const HEX: &[u8] = b"0123456789ABCDEF";

/// A word of a configuration: it begins with a letter and ends with a letter or a digit.
fn word(random: &mut Random, longest: usize) -> String {
    let letters = b"abcdefghijklmnopqrstuvwxyz";
    let others = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    // No word of a command begins like that.
    let mut word = String::from("q");
    word.push(*random.one_of(letters) as char);
    for _ in 0..random.below(longest - 2) {
        word.push(*random.one_of(others) as char);
    }
    word.push(*random.one_of(letters) as char);
    word
}

/// A text for people.
fn words(random: &mut Random) -> String {
    let odd = [
        "to",
        "the",
        "core",
        "& more",
        "(floor 3)",
        "\"quoted\"",
        "it's",
        "#12",
        "a/b",
        "x: y",
        "no",
        "1",
        "50%",
        "<up>",
        "end.",
    ];
    let mut words = vec![word(random, 8)];
    for _ in 0..random.below(4) {
        words.push((*random.one_of(&odd)).to_owned());
    }
    words.join(" ")
}

fn digits(random: &mut Random, longest: usize, of: &[u8]) -> String {
    let length = random.below(longest) + 1;
    (0..length).map(|_| *random.one_of(of) as char).collect()
}

fn ipv4(random: &mut Random) -> Ipv4Addr {
    let part = |random: &mut Random| random.between(1, 254) as u8;
    Ipv4Addr::new(
        *random.one_of(&[10, 172, 192, 198, 203]),
        part(random),
        part(random),
        part(random),
    )
}

fn ipv6(random: &mut Random) -> Ipv6Addr {
    let mut part = || random.between(0, 0xffff) as u16;
    Ipv6Addr::new(0x2001, 0xdb8, part(), 0, 0, 0, part(), part().max(1))
}

/// A list of VLANs in the form of devices: ascending, with ranges of three and more.
fn vlans(random: &mut Random) -> String {
    let mut parts = Vec::new();
    let mut next = random.between(2, 20);
    for _ in 0..=random.below(4) {
        if random.percent(40) {
            let end = next + random.between(2, 90);
            parts.push(format!("{next}-{end}"));
            next = end;
        } else {
            parts.push(next.to_string());
        }
        next += random.between(2, 200);
    }
    parts.join(",")
}
