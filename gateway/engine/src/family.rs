//! A kind of device: how it is reached, and what can be managed on it, wherever that comes from.

use std::sync::{Arc, Mutex};

use devgate_devices::{DeviceRollback, ResourceType, Result};
use devgate_schemas::TransportSchema;
use devgate_transports::{Connect, Context};
use indexmap::IndexMap;

use devgate_core::lock::locked;

/// A family: declared as data, programs of a module, or both.
#[derive(Debug)]
pub struct Family {
    connect: Arc<dyn Connect>,
    declared: Option<Arc<devgate_devices::Family>>,
    programs: Vec<Box<dyn ResourceType>>,
    /// Where no protocol reaches it: what does.
    by: &'static str,
    /// Types that are there and cannot be used, and why.
    left_out: IndexMap<String, String>,
    /// What is to be told of types when they are used: once.
    warnings: Mutex<IndexMap<String, Vec<String>>>,
}

impl Family {
    /// A family that is reached so, with what is declared of it and the types that are programs.
    pub(crate) fn new(
        connect: Arc<dyn Connect>,
        declared: Option<Arc<devgate_devices::Family>>,
        programs: Vec<Box<dyn ResourceType>>,
    ) -> Self {
        Self {
            connect,
            declared,
            programs,
            by: "program",
            left_out: IndexMap::new(),
            warnings: Mutex::default(),
        }
    }

    /// A family of modules in Ruby, with why some of their types cannot be used, and what is to be told
    /// of those that can.
    pub(crate) fn of_ruby(
        connect: Arc<dyn Connect>,
        types: Vec<Box<dyn ResourceType>>,
        left_out: IndexMap<String, String>,
        warnings: IndexMap<String, Vec<String>>,
    ) -> Self {
        Self {
            by: "ruby",
            left_out,
            warnings: Mutex::new(warnings),
            ..Self::new(connect, None, types)
        }
    }

    /// The family's name, which is that of its transport.
    pub fn name(&self) -> &str {
        self.schema().name()
    }

    /// What its connection info may hold.
    pub fn schema(&self) -> &TransportSchema {
        self.connect.schema()
    }

    /// What opens sessions with its devices.
    pub fn connect(&self) -> &dyn Connect {
        &*self.connect
    }

    /// What is declared of it as data.
    pub fn declared(&self) -> Option<&devgate_devices::Family> {
        self.declared.as_deref()
    }

    /// The name of the protocol by which it is reached; where a program does that, `program`, and `ruby`
    /// where a module for Puppet does.
    pub fn protocol(&self) -> &str {
        self.declared()
            .map_or(self.by, devgate_devices::Family::protocol)
    }

    /// Why a type that is there cannot be used.
    pub(crate) fn why_left_out(&self, type_name: &str) -> Option<&str> {
        self.left_out.get(type_name).map(String::as_str)
    }

    /// What is to be told of a type that is used; nothing, when it has been told.
    pub(crate) fn warnings_of(&self, type_name: &str) -> Vec<String> {
        let warnings = locked(&self.warnings).shift_remove(type_name);
        warnings.unwrap_or_default()
    }

    /// The resource types.
    pub fn types(&self) -> impl Iterator<Item = &dyn ResourceType> {
        let declared = self.declared().into_iter();
        let programs = self.programs.iter();
        declared
            .flat_map(devgate_devices::Family::types)
            .chain(programs.map(|kind| &**kind))
    }

    /// The commands whose outputs are read for facts.
    pub fn fact_commands(&self) -> impl Iterator<Item = &str> {
        let declared = self.declared().into_iter();
        declared.flat_map(devgate_devices::Family::fact_commands)
    }

    /// Saves what runs, so that it survives a restart; a program does that by itself.
    ///
    /// # Errors
    /// Why the device did not save it.
    pub async fn save(&self, ctx: &Context<'_>) -> Result<()> {
        match self.declared() {
            Some(declared) => declared.save(ctx).await,
            None => Ok(()),
        }
    }

    /// How a run that failed can leave a device as it found it, where the family says how.
    pub(crate) fn rollback(&self) -> Option<&dyn DeviceRollback> {
        self.declared()?.rollback()
    }
}

impl From<Arc<devgate_devices::Family>> for Family {
    fn from(declared: Arc<devgate_devices::Family>) -> Self {
        Self::new(declared.clone(), Some(declared), Vec::new())
    }
}
