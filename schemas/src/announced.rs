//! Finds secrets in device output, word by word: known secrets, and words that follow a keyword such as
//! `password`.

use crate::is_secret_name;

/// The replacement for a secret.
const STARS: &str = "********";

/// Keywords after which command lines write a secret.
const KEYWORDS: [&str; 22] = [
    "auth-key",
    "auth-password",
    "authentication-key",
    "community",
    "encrypted-password",
    "key-string",
    "md5",
    "passphrase",
    "passwd",
    "password",
    "plain-text-password",
    "plain-text-password-value",
    "pre-shared-key",
    "priv-password",
    "psk",
    "secret",
    "secret-key",
    "sha",
    "sha1",
    "sha256",
    "shared-secret",
    KEY,
];

/// A keyword that may be followed by a key or by the number of a key.
const KEY: &str = "key";

/// Characters around a word that are not part of it.
const QUOTES: [char; 4] = ['"', '\'', ';', ','];

/// Words that continue a sentence about a password. They are not secrets themselves.
const PROSE: [&str; 26] = [
    "and",
    "at",
    "authentication",
    "change",
    "changed",
    "does",
    "expired",
    "failed",
    "failure",
    "for",
    "has",
    "have",
    "in",
    "incorrect",
    "invalid",
    "is",
    "length",
    "mismatch",
    "must",
    "not",
    "or",
    "required",
    "too",
    "was",
    "will",
    "wrong",
];

/// What the previous word says about the current one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Preceding {
    Nothing,
    Keyword {
        may_be_number: bool,
    },
    /// `password 7 0822455D0A16`: the number names the encryption.
    Number,
}

/// Replaces secrets in a text with stars: each word for which `is_secret` is true, however short it is, and
/// each value that follows a keyword.
pub fn starred(text: &str, is_secret: impl Fn(&str) -> bool) -> String {
    let starring = Starring {
        is_secret: &is_secret,
        with_prose: false,
    };
    starring.text(text)
}

/// Makes a device's output safe to quote in an error: its last line may be `enable password …`. Sentences
/// about passwords stay as they are.
pub fn quotable(text: &str) -> String {
    let starring = Starring {
        is_secret: &|_| false,
        with_prose: true,
    };
    starring.text(text)
}

/// The rules for replacing words.
struct Starring<'a> {
    is_secret: &'a dyn Fn(&str) -> bool,
    /// Whether the text may contain sentences, such as `password expired`, which give no password.
    with_prose: bool,
}

impl Starring<'_> {
    fn text(&self, text: &str) -> String {
        let lines = text.split_inclusive('\n');
        lines.map(|line| self.line(line)).collect()
    }

    fn line(&self, line: &str) -> String {
        let mut told = String::with_capacity(line.len());
        let mut before = Preceding::Nothing;
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
            let lower = word.trim_end_matches([':', '"', '.']).to_lowercase();
            let is_keyword = KEYWORDS.contains(&lower.as_str());
            let announced = match before {
                _ if self.with_prose && PROSE.contains(&lower.as_str()) => false,
                Preceding::Nothing => false,
                Preceding::Keyword { may_be_number } => !is_number || (is_last && may_be_number),
                // `key 1 md5 …`
                Preceding::Number => !is_keyword || is_last,
            };
            before = match before {
                Preceding::Keyword { .. } if !announced && is_number => Preceding::Number,
                // "Press any key to continue"
                _ if lower == KEY && told.trim_end().to_lowercase().ends_with("any") => {
                    Preceding::Nothing
                }
                _ if lower == KEY && rest.trim_start().starts_with("chain ") => Preceding::Nothing,
                _ if !announced && is_keyword => Preceding::Keyword {
                    may_be_number: lower != KEY,
                },
                _ => Preceding::Nothing,
            };
            if announced || (self.is_secret)(word) {
                told.push_str(&piece.replace(word, STARS));
            } else if let Some(value) = named(word) {
                told.push_str(&piece.replace(value, STARS));
            } else {
                told.push_str(piece);
            }
        }
        told
    }
}

/// Returns the value that a word assigns to a name for secrets: `password=…`, `"password":"…"`,
/// `<password>…</password>`.
fn named(word: &str) -> Option<&str> {
    let (name, value) = word.split_once(['=', ':', '>'])?;
    let name = name.rsplit(['<', '{', '&', '?']).next().unwrap_or(name);
    let value = value.split(['<', '&']).next().unwrap_or(value);
    let value = value.trim_matches(['"', '\'', '}', ',']);
    (!value.is_empty() && is_secret_name(name.trim_matches(QUOTES))).then_some(value)
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
                "ntp authentication-key 1 md5 canary 7",
                "ntp authentication-key 1 md5 ******** 7",
            ),
            ("  password: canary", "  password: ********"),
            ("a?password=canary&b=c", "a?password=********&b=c"),
            ("{\"password\":\"canary\"}", "{\"password\":\"********\"}"),
            ("\"password\": \"canary\",", "\"password\": \"********\","),
            (
                "<password>canary</password>",
                "<password>********</password>",
            ),
            (
                " neighbor 192.0.2.1 password  canary",
                " neighbor 192.0.2.1 password  ********",
            ),
        ] {
            assert_eq!(starred(line, |_| false), expected);
            assert_eq!(quotable(line), expected);
        }
    }

    #[test]
    fn sentences_about_passwords_are_quoted_as_they_are() {
        for line in [
            "Your password has expired.",
            "Password expired. Change it now.",
            "% Bad secrets",
            "Press any key to continue or q to quit",
            "Permission denied (publickey,password).",
            "invalid token at line 3",
            "Password:",
            "% Authentication failed: password incorrect",
        ] {
            assert_eq!(quotable(line), line);
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
