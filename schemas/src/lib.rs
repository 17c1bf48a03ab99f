//! What may be said: data types, schemas, metadata, secrets, events. No I/O, no async.

mod sensitive;
mod value;

pub use sensitive::{REDACTED, Sensitive};
pub use value::{Hash, Key, Value};
