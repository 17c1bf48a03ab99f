//! What opens sessions; the factory of protocols whose sessions are described by their connection info alone.

use std::fmt::Debug;
use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, TransportSchema};

use crate::{Context, Dialect, Result, Transport};

/// Opens sessions of one kind: the factory, which lives as long as the process.
///
/// Resource API, "Transports".
#[async_trait]
pub trait Connect: Debug + Send + Sync {
    /// What its `connection_info` may hold; its name is the transport's.
    fn schema(&self) -> &TransportSchema;

    /// Opens a session that is ready for requests, retrying within the context's patience.
    ///
    /// # Errors
    /// Why the target cannot be reached or refuses the credentials.
    async fn connect(&self, ctx: &Context<'_>, info: &ConnectionInfo)
    -> Result<Box<dyn Transport>>;

    /// The same protocol for devices whose command line speaks this dialect; nothing where it has
    /// no command line to speak at.
    fn speaking(&self, _: Dialect) -> Option<Arc<dyn Connect>> {
        None
    }
}

/// A session that needs nothing but connection info to be opened.
pub trait ProtocolSession: Transport + Sized {
    /// What its connection info may hold; its name is the protocol's.
    fn schema() -> TransportSchema;

    /// Opens a session, as [`Connect::connect`] does, for those who need to know its kind.
    ///
    /// # Errors
    /// As [`Connect::connect`].
    fn open(ctx: &Context<'_>, info: &ConnectionInfo) -> impl Future<Output = Result<Self>> + Send;
}

/// Opens sessions of one protocol.
#[derive(Debug)]
pub struct Protocol<S> {
    schema: TransportSchema,
    session: PhantomData<fn() -> S>,
}

impl<S: ProtocolSession> Protocol<S> {
    /// With the schema that is part of the program.
    pub fn new() -> Self {
        Self {
            schema: S::schema(),
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
