//! A family of devices: how they are reached, and which resource types they have.

use std::sync::{Arc, Mutex};

use devgate_core::lock::locked;
use devgate_devices::{DeviceRollback, ResourceType, Result, has_command_line};
use devgate_schemas::TransportSchema;
use devgate_transports::{Connect, Context};
use indexmap::IndexMap;

/// A family: declared as data, programs of a module, or both.
#[derive(Debug)]
pub struct Family {
    connect: Arc<dyn Connect>,
    declared: Option<Arc<devgate_devices::Family>>,
    programs: Vec<Box<dyn ResourceType>>,
    /// What reaches the devices if no protocol does.
    reached_by: &'static str,
    /// The types that cannot be used, and why.
    left_out: IndexMap<String, String>,
    /// The warnings about types, which are reported at their first use.
    warnings: Mutex<IndexMap<String, Vec<String>>>,
}

impl Family {
    /// Creates a family from its transport, its declaration, and the types that are programs.
    pub(crate) fn new(
        connect: Arc<dyn Connect>,
        declared: Option<Arc<devgate_devices::Family>>,
        programs: Vec<Box<dyn ResourceType>>,
    ) -> Self {
        Self {
            connect,
            declared,
            programs,
            reached_by: "program",
            left_out: IndexMap::new(),
            warnings: Mutex::default(),
        }
    }

    /// Creates a family of modules in Ruby, with the types that cannot be used and why, and the warnings about the
    /// others.
    pub(crate) fn of_ruby(
        connect: Arc<dyn Connect>,
        types: Vec<Box<dyn ResourceType>>,
        left_out: IndexMap<String, String>,
        warnings: IndexMap<String, Vec<String>>,
    ) -> Self {
        Self {
            reached_by: "ruby",
            left_out,
            warnings: Mutex::new(warnings),
            ..Self::new(connect, None, types)
        }
    }

    /// Returns the family's name, which is that of its transport.
    pub fn name(&self) -> &str {
        self.schema().name()
    }

    /// Returns the schema of the connection info.
    pub fn schema(&self) -> &TransportSchema {
        self.connect.schema()
    }

    /// Returns the transport that opens sessions with the devices.
    pub fn connect(&self) -> &dyn Connect {
        &*self.connect
    }

    /// Returns the declaration, if the family is declared as data.
    pub fn declared(&self) -> Option<&devgate_devices::Family> {
        self.declared.as_deref()
    }

    /// Returns the name of the protocol, or `program` if a program reaches the devices, or `ruby` if a Puppet module
    /// does.
    pub fn protocol(&self) -> &str {
        self.declared()
            .map_or(self.reached_by, devgate_devices::Family::protocol)
    }

    /// Returns whether the devices have a command line. Programs have none.
    pub(crate) fn has_command_line(&self) -> bool {
        self.declared()
            .is_some_and(|declared| has_command_line(declared.protocol()))
    }

    /// Returns why a type cannot be used.
    pub(crate) fn reason_left_out(&self, type_name: &str) -> Option<&str> {
        self.left_out.get(type_name).map(String::as_str)
    }

    /// Returns the warnings about a type that is used, at the first call.
    pub(crate) fn warnings_of(&self, type_name: &str) -> Vec<String> {
        let warnings = locked(&self.warnings).shift_remove(type_name);
        warnings.unwrap_or_default()
    }

    /// Returns the resource types.
    pub fn types(&self) -> impl Iterator<Item = &dyn ResourceType> {
        let declared = self.declared().into_iter();
        let programs = self.programs.iter();
        declared
            .flat_map(devgate_devices::Family::types)
            .chain(programs.map(|kind| &**kind))
    }

    /// Returns the commands whose outputs are parsed for facts.
    pub fn fact_commands(&self) -> impl Iterator<Item = &str> {
        let declared = self.declared().into_iter();
        declared.flat_map(devgate_devices::Family::fact_commands)
    }

    /// Saves the running configuration, so that it survives a restart. A program does that by itself.
    ///
    /// # Errors
    /// Fails when the device did not save it.
    pub async fn save(&self, ctx: &Context<'_>) -> Result<()> {
        match self.declared() {
            Some(declared) => declared.save(ctx).await,
            None => Ok(()),
        }
    }

    /// Returns whether the devices can tell what lines would change, without changing anything.
    pub(crate) fn previews(&self) -> bool {
        self.declared()
            .is_some_and(devgate_devices::Family::previews)
    }

    /// Returns how a device can be restored after a failed run, if the family supports that.
    pub(crate) fn rollback(&self) -> Option<&dyn DeviceRollback> {
        self.declared()?.rollback()
    }
}

impl From<Arc<devgate_devices::Family>> for Family {
    fn from(declared: Arc<devgate_devices::Family>) -> Self {
        Self::new(declared.clone(), Some(declared), Vec::new())
    }
}
