//! What may be said: data types, schemas, metadata, secrets, events. No I/O, no async.

mod nearest;
mod sensitive;
mod value;
pub mod yaml;

pub use nearest::nearest;
pub use sensitive::{REDACTED, Sensitive};
pub use value::{Hash, Key, Value};
