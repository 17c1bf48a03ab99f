//! Sessions with devices. One pool lends them to the engine's own work, and to programs while they run.

mod after_error;
mod borrowed;
mod broker;
mod clients;
mod connection_spec;
mod device;
mod device_lock;
mod elsewhere;
mod handle;
mod pool;
mod pooled_session;
mod proxy_error;
mod sessions;
mod socket;
#[cfg(test)]
mod tests;
mod wire;
mod work;

pub use borrowed::BorrowedSession;
pub(crate) use broker::{RetryScope, SessionBroker};
pub(crate) use connection_spec::no_transport;
pub use connection_spec::{ConnectionSpec, connection_problem};
pub use device::SessionAccess;
pub use device_lock::BusyPolicy;
pub(crate) use device_lock::DeviceLocks;
pub use handle::{SessionHandle, with_handle};
pub use pool::SessionPool;
pub use sessions::Sessions;
pub use work::{lend_session, with_session};

pub use crate::proxies::ProxyCheck;
