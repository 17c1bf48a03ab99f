//! What every part of the gateway speaks of: failures, being stopped, results, events without secrets.

pub mod atomic_file;
pub mod budget;
pub mod cancel;
pub mod events;
pub mod failure;
pub mod hex;
pub mod lock;
pub mod redactor;
pub mod results;
pub mod trust;
