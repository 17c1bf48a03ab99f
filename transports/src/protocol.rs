//! The session factories, and the generic factory for protocols that need connection info only.

use std::fmt::Debug;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock};

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::{Context, Dialect, Result, Transport};

/// A factory that opens sessions of one kind. It lives as long as the process.
///
/// Resource API, "Transports".
#[async_trait]
pub trait Connect: Debug + Send + Sync {
    /// Returns the schema of its `connection_info`. The schema's name is the transport's name.
    fn schema(&self) -> &TransportSchema;

    /// Returns the transport's name. A built-in protocol knows it without its schema, which takes a while to read.
    fn name(&self) -> &str {
        self.schema().name()
    }

    /// Opens a session that is ready for requests, and retries within the context's retry budget.
    ///
    /// # Errors
    /// Fails when the target cannot be reached or refuses the credentials.
    async fn connect(&self, ctx: &Context<'_>, info: &ConnectionInfo)
    -> Result<Box<dyn Transport>>;

    /// Returns the same protocol for devices whose command line has this dialect, or `None` if the
    /// protocol has no command line.
    fn speaking(&self, _: Dialect) -> Option<Arc<dyn Connect>> {
        None
    }
}

/// A session that can be opened from connection info alone.
pub trait ProtocolSession: Transport + Sized {
    /// The protocol's name, which is that of its schema, too.
    const NAME: &'static str;

    /// Reads the schema of the connection info.
    fn schema() -> TransportSchema;

    /// Opens a session as [`Connect::connect`] does, but returns its concrete type.
    ///
    /// # Errors
    /// Fails as [`Connect::connect`] does.
    fn open(ctx: &Context<'_>, info: &ConnectionInfo) -> impl Future<Output = Result<Self>> + Send;
}

/// The factory for sessions of one protocol.
#[derive(Debug)]
pub struct Protocol<S> {
    schema: LazyLock<TransportSchema>,
    session: PhantomData<fn() -> S>,
}

impl<S: ProtocolSession> Protocol<S> {
    /// Creates the factory with the protocol's built-in schema, which is read when it is needed.
    pub fn new() -> Self {
        Self {
            schema: LazyLock::new(S::schema),
            session: PhantomData,
        }
    }
}

impl<S: ProtocolSession> Default for Protocol<S> {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl<S: ProtocolSession> Connect for Protocol<S> {
    fn schema(&self) -> &TransportSchema {
        &self.schema
    }

    fn name(&self) -> &str {
        S::NAME
    }

    async fn connect(
        &self,
        ctx: &Context<'_>,
        info: &ConnectionInfo,
    ) -> Result<Box<dyn Transport>> {
        Ok(Box::new(S::open(ctx, info).await?))
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_protocol_has_the_name_of_its_schema() {
        for protocol in crate::all() {
            assert_eq!(protocol.name(), protocol.schema().name());
        }
    }

    #[test]
    fn passwords_are_secrets_in_every_schema() {
        let mut found = 0;
        for protocol in crate::all() {
            let schema = protocol.schema();
            for (name, attribute) in schema.connection_info() {
                let words = ["password", "passphrase", "apikey", "token", "community"];
                let holds_a_secret = words.iter().any(|word| name.ends_with(word));
                assert!(
                    attribute.sensitive || !holds_a_secret,
                    "{}.{name}",
                    schema.name()
                );
                found += usize::from(holds_a_secret);
            }
        }
        assert!(found > 10, "{found}");
    }
}
