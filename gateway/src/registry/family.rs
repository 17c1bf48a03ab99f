//! A kind of device: how it is reached, and what can be managed on it, wherever that comes from.

use std::sync::Arc;

use devgate_devices::{ResourceType, Result, Safety};
use devgate_schemas::TransportSchema;
use devgate_transports::{Connect, Context};

use crate::external::ExternalType;

/// A family: declared as data, programs of a module, or both.
#[derive(Debug)]
pub(crate) struct Family {
    connect: Arc<dyn Connect>,
    declared: Option<Arc<devgate_devices::Family>>,
    programs: Vec<ExternalType>,
}

impl Family {
    /// A family that is reached so, with what is declared of it and the types that are programs.
    pub(crate) fn new(
        connect: Arc<dyn Connect>,
        declared: Option<Arc<devgate_devices::Family>>,
        programs: Vec<ExternalType>,
    ) -> Self {
        Self {
            connect,
            declared,
            programs,
        }
    }

    /// The family's name, which is that of its transport.
    pub(crate) fn name(&self) -> &str {
        self.schema().name()
    }

    /// What its connection info may hold.
    pub(crate) fn schema(&self) -> &TransportSchema {
        self.connect.schema()
    }

    /// What opens sessions with its devices.
    pub(crate) fn connect(&self) -> &dyn Connect {
        &*self.connect
    }

    /// What is declared of it as data.
    pub(crate) fn declared(&self) -> Option<&devgate_devices::Family> {
        self.declared.as_deref()
    }

    /// The name of the protocol by which it is reached; where a program does that, `program`.
    pub(crate) fn protocol(&self) -> &str {
        self.declared()
            .map_or("program", devgate_devices::Family::protocol)
    }

    /// The resource types.
    pub(crate) fn types(&self) -> impl Iterator<Item = &dyn ResourceType> {
        let declared = self.declared().into_iter();
        let programs = self.programs.iter();
        declared
            .flat_map(devgate_devices::Family::types)
            .chain(programs.map(|kind| kind as &dyn ResourceType))
    }

    /// The commands whose outputs are read for facts.
    pub(crate) fn fact_commands(&self) -> impl Iterator<Item = &str> {
        let declared = self.declared().into_iter();
        declared.flat_map(devgate_devices::Family::fact_commands)
    }

    /// Saves what runs, so that it survives a restart; a program does that by itself.
    ///
    /// # Errors
    /// Why the device did not save it.
    pub(crate) async fn save(&self, ctx: &Context<'_>) -> Result<()> {
        match self.declared() {
            Some(declared) => declared.save(ctx).await,
            None => Ok(()),
        }
    }

    /// How a run that failed can leave a device as it found it, where the family says how.
    pub(crate) fn safety(&self) -> Option<&dyn Safety> {
        self.declared()?.safety()
    }
}

impl From<Arc<devgate_devices::Family>> for Family {
    fn from(declared: Arc<devgate_devices::Family>) -> Self {
        Self::new(declared.clone(), Some(declared), Vec::new())
    }
}
