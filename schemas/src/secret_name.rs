//! Names that indicate secrets: where no schema declares secrets, the name of a member decides.

/// Parts of names that mark a value as secret.
const PARTS: [&str; 10] = [
    "api-key",
    "apikey",
    "community",
    "credential",
    "key-data",
    "passphrase",
    "passw",
    "private-key",
    "secret",
    "token",
];

/// Words that mark a value as secret. They must be whole words, or too many names would match.
const WORDS: [&str; 5] = ["auth", "pass", "pin", "psk", "pwd"];

/// Whether a name indicates that its value is secret: `enable_password`, `privateKey`, `snmp.community`.
pub fn is_secret_name(name: &str) -> bool {
    let mut plain = String::with_capacity(name.len());
    let mut small = false;
    for c in name.chars() {
        if c.is_uppercase() && small {
            plain.push('-');
        }
        small = c.is_lowercase() || c.is_ascii_digit();
        match c {
            '_' | '.' | ' ' => plain.push('-'),
            c => plain.extend(c.to_lowercase()),
        }
    }
    PARTS.iter().any(|part| plain.contains(part))
        || plain.split('-').any(|word| WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_speak_of_secrets_by_parts_and_by_words_in_any_spelling() {
        for name in [
            "password",
            "enable-Password",
            "ENABLE_SECRET",
            "privateKey",
            "private_key",
            "apiKey",
            "api_key",
            "snmp.community",
            "bgp_psk",
            "enable_pass",
            "pin",
            "auth",
            "accessToken",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "user",
            "author",
            "pinned",
            "passive",
            "key",
            "hostkey_checking",
            "bypass",
            "spine",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }
}
