//! Digests as text.

/// A digest in hexadecimal digits, as names of files have it.
pub fn hexadecimal(digest: impl AsRef<[u8]>) -> String {
    let bytes = digest.as_ref().iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}
