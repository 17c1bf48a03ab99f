//! A session with a simulator.

use std::fmt::Debug;

use async_trait::async_trait;
use devgate_schemas::Facts;
use devgate_transports::{
    CommandLine, Context, DataRequest, DataStore, Document, Error, Line, Result, Transport,
};

/// A device that is simulated.
pub(crate) trait Simulator:
    Clone + Debug + Default + PartialEq + Send + Sync + 'static
{
    /// Answers a command or a query.
    ///
    /// # Errors
    /// Fails when there is no such command.
    fn answer(&self, query: &str) -> std::result::Result<String, String>;

    /// Applies a change, as `render` shows it.
    ///
    /// # Errors
    /// Fails with the reason why the device refuses it.
    fn apply(&mut self, lines: &[String]) -> std::result::Result<(), String>;
}

/// The open session, for types that read. Nothing is changed through it.
#[derive(Debug)]
pub(crate) struct Session<S>(pub(crate) S);

#[async_trait]
impl<S: Simulator> Transport for Session<S> {
    async fn verify(&self, _: &Context<'_>) -> Result<()> {
        Ok(())
    }

    async fn facts(&self, _: &Context<'_>) -> Result<Facts> {
        Ok(Facts::new())
    }

    async fn close(self: Box<Self>, _: &Context<'_>) {}

    fn command_line(&self) -> Option<&dyn CommandLine> {
        Some(self)
    }

    fn data_store(&self) -> Option<&dyn DataStore> {
        Some(self)
    }
}

#[async_trait]
impl<S: Simulator> CommandLine for Session<S> {
    async fn exec(&self, _: &Context<'_>, command: &str) -> Result<String> {
        self.0.answer(command).map_err(Error::Unsupported)
    }

    async fn exec_once(&self, _: &Context<'_>, _: &Line) -> Result<String> {
        unreachable!("types that read change nothing")
    }

    async fn configure(&self, _: &Context<'_>, _: &[Line]) -> Result<()> {
        unreachable!("types that read change nothing")
    }

    async fn save(&self, _: &Context<'_>) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl<S: Simulator> DataStore for Session<S> {
    async fn get(&self, _: &Context<'_>, what: &str) -> Result<Document> {
        self.0
            .answer(what)
            .map(Document::Text)
            .map_err(Error::Unsupported)
    }

    async fn set(&self, _: &Context<'_>, _: &DataRequest) -> Result<Document> {
        unreachable!("types that read change nothing")
    }
}
