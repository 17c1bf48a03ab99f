//! A value that must not be seen: redacted in every format, wiped when dropped.

use std::fmt;

use secrecy::{ExposeSecret, SecretBox};
use serde::{Serialize, Serializer};
use zeroize::Zeroize;

/// What a [`Sensitive`] shows instead of its value, as Puppet and Bolt show it.
pub const REDACTED: &str = "Sensitive [value redacted]";

/// A secret, from the moment its schema is known until it leaves for a device or a child.
///
/// It cannot be dereferenced: [`reveal`](Self::reveal) is the only way to the value, and a test of
/// the whole project counts its callers.
pub struct Sensitive<T: Zeroize>(SecretBox<T>);

impl<T: Zeroize> Sensitive<T> {
    /// Hides a value.
    pub fn new(value: T) -> Self {
        Self(SecretBox::new(Box::new(value)))
    }

    /// The value itself. Call it where the secret leaves for a device or a child, nowhere else.
    pub fn reveal(&self) -> &T {
        self.0.expose_secret()
    }
}

impl<T: Zeroize + Clone> Clone for Sensitive<T> {
    fn clone(&self) -> Self {
        Self::new(self.0.expose_secret().clone())
    }
}

impl<T: Zeroize + PartialEq> PartialEq for Sensitive<T> {
    fn eq(&self, other: &Self) -> bool {
        self.0.expose_secret() == other.0.expose_secret()
    }
}

impl<T: Zeroize> fmt::Debug for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl<T: Zeroize> fmt::Display for Sensitive<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl<T: Zeroize> Serialize for Sensitive<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(REDACTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_redacted_in_every_format() {
        let secret = Sensitive::new("canary".to_owned());
        assert_eq!(format!("{secret}"), REDACTED);
        assert_eq!(format!("{secret:?}"), REDACTED);
        assert_eq!(format!("{secret:#?}"), REDACTED);
        assert_eq!(
            serde_json::to_string(&secret).expect("a string"),
            format!("{REDACTED:?}")
        );
        assert_eq!(secret.reveal(), "canary");
    }
}
