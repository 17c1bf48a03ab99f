//! `devgate inventory`: which targets there are, and how each is reached.

use clap::Subcommand;
use devgate_schemas::{Hash, Value};
use serde_json::{Map, Value as Json, json};

use super::{Ending, Setting};
use crate::inventory::{Overrides, Target};
use crate::output::{self, Output};
use crate::results::counted;

/// Look at the inventory.
#[derive(Debug, Subcommand)]
pub(super) enum Inventory {
    /// Show targets, how each is reached, and their groups
    ///
    /// Of connection info, vars and facts only the keys are shown: any value may be a secret.
    Show {
        /// Names, groups, globs or URIs, separated by commas (default: all)
        #[arg(short, long, value_name = "TARGETS", default_value = "all")]
        targets: Vec<String>,
    },
}

impl Inventory {
    pub(super) async fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        let Self::Show { targets } = self;
        let inventory = setting.inventory().await?;
        setting.tell_missing(&inventory);
        let targets = inventory.select(&targets, &Overrides::default()).await?;
        let json: Vec<Json> = targets.iter().map(|target| as_json(target)).collect();
        let groups: Map<String, Json> = inventory
            .groups()
            .iter()
            .map(|group| (group.name.clone(), json!(inventory.members(&group.name))))
            .collect();
        let document = json!({ "targets": json, "groups": groups, "count": targets.len() });
        output.document(&document, || {
            let mut rows = vec![["TARGET", "TRANSPORT", "ADDRESS", "GROUPS"].map(str::to_owned)];
            rows.extend(targets.iter().map(|target| as_row(target)));
            format!("{}{}\n", output::table(&rows), counted(targets.len()))
        });
        Ok(Ending::Well)
    }
}

fn as_json(target: &Target) -> Json {
    let info = target.connection_info();
    let info_keys: Vec<String> = info.keys().map(ToString::to_string).collect();
    json!({
        "name": target.name,
        "aliases": target.aliases,
        "groups": target.groups,
        "transport": target.kind.name(),
        "remote_transport": target.remote_transport(),
        "host": info.get("host").map(Value::to_json),
        "port": info.get("port").map(Value::to_json),
        "run_on": target.run_on(),
        "features": target.features,
        "vars": keys(&target.vars),
        "facts": keys(&target.facts),
        "plugin_hooks": keys(&target.plugin_hooks),
        "connection_info": info_keys,
    })
}

fn keys(hash: &Hash) -> Vec<String> {
    hash.iter().map(|(key, _)| key.to_string()).collect()
}

fn as_row(target: &Target) -> [String; 4] {
    let info = target.connection_info();
    let text = |key| {
        info.get(key).map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_json().to_string(),
        })
    };
    let address = match (text("host"), text("port")) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default(),
    };
    let transport = match target.remote_transport() {
        Some(name) => format!("{} ({name})", target.kind.name()),
        None => target.kind.name().to_owned(),
    };
    [
        target.name.clone(),
        transport,
        address,
        target.groups.join(", "),
    ]
}
