//! Families: kinds of devices, each with a protocol, a dialect, facts and resource types, all declared as data.
//!
//! A family is a [`Connect`]: it wraps its protocol's session and adds facts.

mod after;
mod as_needed;
mod cases;
mod definition;
mod expected;
mod facts;
mod folder;
mod like;
mod lint;
mod live_case;
mod names;
mod protocol;
mod recorded_answers;
mod recording;
mod session;
mod show;
mod skeleton;
#[cfg(test)]
mod tests;
mod type_files;
mod type_forms;
mod type_skeleton;

pub use cases::{CaseResult, UpdateExpected};
pub use definition::{Family, UnloadedFamily, all};
pub use expected::Comparison;
pub use lint::Finding;
pub use live_case::LiveCase;
pub use recording::Recording;
pub use skeleton::Skeleton;
pub use type_skeleton::TypeTable;
