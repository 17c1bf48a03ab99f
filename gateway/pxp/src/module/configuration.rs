//! The configuration of the module: project, inventory and limits.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use devgate_core::failure::Failure;
use devgate_front::options::GlobalOptions;
use devgate_schemas::{Sensitive, yaml};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use crate::module::schema::read_part;

/// What devgate works with.
///
/// What it does not say is as the command line says, or as ever. Paths are from the root: whoever calls a module has
/// a working directory of his own.
#[derive(Default, Deserialize, JsonSchema)]
pub(super) struct Configuration {
    /// The project's folder, with inventory.yaml and modules/.
    #[schemars(length(min = 1), regex(pattern = "^/"))]
    project: Option<PathBuf>,
    /// The inventory: the path of its file, or the inventory itself, version 2.
    inventory: Option<Inventory>,
    /// Where modules are, separated by colons.
    #[schemars(length(min = 1), regex(pattern = "^/"))]
    modulepath: Option<String>,
    #[serde(default)]
    pub(super) limits: Limits,
}

/// The file of an inventory, or the inventory itself, which may contain secrets.
#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Inventory {
    File(#[schemars(regex(pattern = "^/"))] PathBuf),
    Itself(#[schemars(extend("type" = "object"))] Json),
}

/// How much an action may take.
///
/// Its caller has no limits.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default)]
pub(super) struct Limits {
    /// Seconds for the whole action.
    #[schemars(range(max = u32::MAX))]
    pub(super) time: NonZeroU32,
    /// How many targets are worked on at once, at most.
    #[schemars(range(max = u32::MAX))]
    pub(super) concurrency: Option<NonZeroUsize>,
    /// How large results may be in bytes: what is larger goes to files on this node.
    #[schemars(range(min = 4096, max = u32::MAX))]
    pub(super) results: usize,
}

impl Default for Limits {
    /// Much less than the 64 MiB of a pcp-broker (`max-message-size`), because a message contains more than results.
    fn default() -> Self {
        Self {
            time: NonZeroU32::new(3600).expect("it is not zero"),
            concurrency: None,
            results: 8 << 20,
        }
    }
}

impl Configuration {
    /// Reads the configuration in a request.
    ///
    /// # Errors
    /// What does not match. No value is quoted.
    pub(super) fn read(members: Option<Map<String, Json>>) -> Result<Self, Failure> {
        let members = Json::Object(members.unwrap_or_default());
        read_part("configuration", members)
    }

    /// The options of the command line, overridden by the configuration.
    pub(super) fn apply_to(&self, global: &GlobalOptions) -> GlobalOptions {
        let mut global = global.for_programs();
        if let Some(project) = &self.project {
            global.project = Some(project.clone());
        }
        if let Some(modulepath) = &self.modulepath {
            global.modulepath = Some(modulepath.clone());
        }
        match &self.inventory {
            Some(Inventory::File(file)) => global.inventoryfile = Some(file.clone()),
            Some(Inventory::Itself(inventory)) => {
                let text = yaml::from_json(inventory);
                global.inventory = Some(Sensitive::new(text));
            }
            None => {}
        }
        global
    }
}
