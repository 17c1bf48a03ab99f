//! What may be said: data types, schemas, metadata, secrets, events. No I/O, no async.

mod nearest;
mod regexp;
mod sensitive;
pub mod task;
pub mod types;
mod unread;
mod value;
pub mod yaml;

pub use nearest::nearest;
pub use regexp::{Captures, Regexp, RegexpError, Runaway};
pub use sensitive::{REDACTED, Sensitive};
pub use types::{DataType, Mismatch, TypeError, Violation};
pub use unread::Unread;
pub use value::{Hash, Key, Value};
