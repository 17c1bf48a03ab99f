//! The basic types of the gateway: failures, cancellation, results, and events without secrets.

pub mod atomic_file;
pub mod budget;
pub mod cancel;
pub mod columns;
pub mod events;
pub mod failure;
pub mod hex;
pub mod lock;
pub mod redactor;
pub mod results;
pub mod time;
pub mod trust;
