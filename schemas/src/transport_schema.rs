//! Transport schemas: the attributes of a transport's `connection_info`, and its validation.

mod connection_info;
mod extension;
mod group;
mod invalid;
mod json_schema;
mod read;
mod schema;
#[cfg(test)]
mod tests;

pub use connection_info::ConnectionInfo;
pub use group::{Group, Rule};
pub use invalid::InvalidConnectionInfo;
pub use schema::TransportSchema;
