//! The module's configuration: which project and inventory, and how much an action may take.

use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;

use devgate_schemas::{Sensitive, yaml};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::fitting;
use super::schema::{closed, count, word};
use crate::cli::Global;
use crate::failure::Failure;

/// What the configuration says. What it does not say is as the command line says, or as ever.
#[derive(Default, Deserialize)]
pub(super) struct Configuration {
    project: Option<PathBuf>,
    inventory: Option<Inventory>,
    modulepath: Option<String>,
    #[serde(default)]
    pub(super) limits: Limits,
}

/// An inventory's file, or the inventory itself, which may hold secrets.
#[derive(Deserialize)]
#[serde(untagged)]
enum Inventory {
    File(PathBuf),
    Itself(Json),
}

/// How much an action may take: its caller has no limits.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(super) struct Limits {
    /// Seconds for the whole action.
    pub(super) time: NonZeroU32,
    /// How many targets are worked on at once.
    pub(super) concurrency: Option<NonZeroUsize>,
    /// How large results may be, in bytes of JSON.
    pub(super) results: usize,
}

impl Default for Limits {
    /// Results are far from the 64 MiB that a pcp-broker lets through (its `max-message-size`): they are
    /// not all that a message holds.
    fn default() -> Self {
        Self {
            time: NonZeroU32::new(3600).expect("it is not zero"),
            concurrency: None,
            results: 8 << 20,
        }
    }
}

impl Configuration {
    /// Its schema.
    pub(super) fn schema() -> Json {
        let limits = Limits::default();
        closed(
            "What devgate works with",
            &[],
            json!({
                "project": path("The project's folder, with inventory.yaml and modules/"),
                "inventory": {
                    "description": "The inventory: the path of its file, or the inventory itself, version 2",
                    "type": ["string", "object"],
                    "pattern": "^/",
                },
                "modulepath": path("Where modules are, separated by colons"),
                "limits": closed(
                    "How much an action may take",
                    &[],
                    json!({
                        "time": count(
                            &format!("Seconds for the whole action (default: {})", limits.time), 1,
                        ),
                        "concurrency": count("How many targets are worked on at once, at most", 1),
                        "results": count(
                            &format!(
                                "How large results may be in bytes: what is larger goes to files on \
                                 this node (default: {})",
                                limits.results,
                            ),
                            4096,
                        ),
                    }),
                ),
            }),
        )
    }

    /// Reads what a request holds of it.
    ///
    /// # Errors
    /// What does not fit; no value is quoted.
    pub(super) fn read(said: Option<Map<String, Json>>) -> Result<Self, Failure> {
        let said = Json::Object(said.unwrap_or_default());
        fitting("configuration", &Self::schema(), said)
    }

    /// The options of a command line, with what the configuration says over them.
    pub(super) fn over(&self, global: &Global) -> Global {
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

/// A path from the root: whoever calls a module has a working directory of his own.
fn path(about: &str) -> Json {
    let mut path = word(about);
    path["pattern"] = json!("^/");
    path
}
