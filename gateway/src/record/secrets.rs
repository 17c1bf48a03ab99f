//! Secrets in what a device says, word by word: those that are known, and those that the word before
//! announces.

/// What stands where a secret stood.
const STARS: &str = "********";

/// Words behind which command lines write a secret.
const KEYWORDS: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "community",
    "key-string",
    "pre-shared-key",
    "psk",
    "authentication-key",
    "auth-password",
    "priv-password",
    KEY,
];

/// Behind it may stand a key, or the number of one.
const KEY: &str = "key";

/// Characters around a word that are no part of it.
const QUOTES: [char; 4] = ['"', '\'', ';', ','];

/// What stood before a word, as far as it says that the word is a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    Keyword {
        may_be_number: bool,
    },
    /// `password 7 0822455D0A16`: the number says how it is encrypted.
    Number,
}

/// The text with stars for each word that `is_secret`, however short it is, and for each that stands
/// behind a word for secrets.
pub(super) fn starred(text: &str, is_secret: impl Fn(&str) -> bool) -> String {
    let lines = text.split_inclusive('\n');
    lines.map(|line| starred_line(line, &is_secret)).collect()
}

fn starred_line(line: &str, is_secret: &impl Fn(&str) -> bool) -> String {
    let mut told = String::with_capacity(line.len());
    let mut before = Before::Nothing;
    let mut rest = line;
    while let Some(piece) = rest.split_inclusive(char::is_whitespace).next() {
        rest = &rest[piece.len()..];
        let word = piece.trim().trim_matches(QUOTES);
        if word.is_empty() {
            told.push_str(piece);
            continue;
        }
        let is_number = word.chars().all(|c| c.is_ascii_digit());
        let is_last = rest.trim().is_empty();
        let announced = match before {
            Before::Nothing => false,
            Before::Keyword { may_be_number } => !is_number || (is_last && may_be_number),
            Before::Number => true,
        };
        let lower = word.to_lowercase();
        before = match before {
            Before::Keyword { .. } if !announced => Before::Number,
            _ if lower == KEY && rest.trim_start().starts_with("chain ") => Before::Nothing,
            _ if !announced && KEYWORDS.contains(&lower.as_str()) => Before::Keyword {
                may_be_number: lower != KEY,
            },
            _ => Before::Nothing,
        };
        if announced || is_secret(word) {
            told.push_str(&piece.replace(word, STARS));
        } else {
            told.push_str(piece);
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_word_announces_as_a_secret_is_starred() {
        for (line, expected) in [
            ("password canary\n", "password ********\n"),
            (
                " enable secret 5 $1$canary\n",
                " enable secret 5 ********\n",
            ),
            (
                "username a password 7 08canary role b",
                "username a password 7 ******** role b",
            ),
            ("password 4711", "password ********"),
            (
                "snmp-server community \"canary\" RO",
                "snmp-server community \"********\" RO",
            ),
            (
                "tacacs-server host 192.0.2.1 key 7 canary",
                "tacacs-server host 192.0.2.1 key 7 ********",
            ),
            (
                " neighbor 192.0.2.1 password  canary",
                " neighbor 192.0.2.1 password  ********",
            ),
        ] {
            assert_eq!(starred(line, |_| false), expected);
        }
    }

    #[test]
    fn what_is_none_stays() {
        for line in [
            "service password-encryption\n",
            " key 1\n",
            "no enable password\n",
            "key chain ospf\r\n interface swp1\n",
        ] {
            assert_eq!(starred(line, |_| false), line);
        }
    }

    #[test]
    fn a_known_secret_is_starred_as_a_word_however_short_it_is() {
        let told = starred("login abc 'abc' abcd\n", |word| word == "abc");
        assert_eq!(told, "login ******** '********' abcd\n");
    }
}
