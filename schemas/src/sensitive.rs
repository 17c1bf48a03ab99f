//! Secret values: redacted in every format, and wiped when dropped.

use std::fmt;

use secrecy::{ExposeSecret, SecretBox};
use serde::{Serialize, Serializer};
use zeroize::Zeroize;

/// The text that a [`Sensitive`] shows instead of its value, as in Puppet and Bolt.
pub const REDACTED: &str = "Sensitive [value redacted]";

/// A secret, from the moment its schema is known until it is sent to a device or a child process.
///
/// It does not implement `Deref`: [`reveal`](Self::reveal) is the only way to the value, and a test of the
/// whole project counts its callers.
pub struct Sensitive<T: Zeroize>(SecretBox<T>);

impl<T: Zeroize> Sensitive<T> {
    /// Wraps a value.
    pub fn new(value: T) -> Self {
        Self(SecretBox::new(Box::new(value)))
    }

    /// Returns the value itself. Call it only where the secret is sent to a device or a child process.
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
