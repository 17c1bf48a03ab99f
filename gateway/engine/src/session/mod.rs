//! Sessions with devices: lent by one pool, to a piece of work of ours, or to a program for as long
//! as that runs.

mod ask;
mod borrow;
mod claim;
mod device;
mod kept;
mod lend;
mod pool;
mod reach;
mod socket;
#[cfg(test)]
mod tests;
mod wire;
mod work;

pub use ask::{Asked, own};
pub use borrow::Borrowed;
pub use claim::Busy;
pub(crate) use claim::Claims;
pub use device::Access;
pub use lend::{Bound, Lender};
pub use pool::Pool;
pub(crate) use reach::no_transport;
pub use reach::{Reach, judged};
pub use work::within;
