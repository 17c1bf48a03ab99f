//! `devgate family`: the device families, and their tests without a device.

use std::env;

use clap::Subcommand;
use devgate_devices::Refresh;
use serde_json::json;

use super::transport::first_line;
use super::{Ending, Setting};
use crate::output::{self, Output};

/// Look at device families, and test them without a device.
#[derive(Debug, Subcommand)]
pub(super) enum Family {
    /// Name every family and its resource types
    List,
    /// Run the cases of families: recorded output against what is expected of it
    ///
    /// Without a name, of every family. A family lies in MODULE/devices/FAMILY/ of the module path;
    /// its cases lie in FAMILY/cases/. UPDATE=1 in the environment writes what is found as what is
    /// expected.
    Test {
        /// The families to test
        names: Vec<String>,
    },
}

impl Family {
    pub(super) fn run(self, setting: &Setting, output: &Output) -> anyhow::Result<Ending> {
        match self {
            Self::List => {
                let rows: Vec<[String; 3]> = setting
                    .registry
                    .families()
                    .map(|family| {
                        let types: Vec<&str> =
                            family.types().map(|kind| kind.schema().name()).collect();
                        let schema = devgate_transports::Connect::schema(family);
                        [
                            family.name().to_owned(),
                            first_line(schema.desc()),
                            types.join(", "),
                        ]
                    })
                    .collect();
                output.document(&json!({ "families": rows }), || output::table(&rows));
                Ok(Ending::Well)
            }
            Self::Test { names } => {
                let families: Vec<_> = if names.is_empty() {
                    setting.registry.sound_families()?.collect()
                } else {
                    let found = names.iter().map(|name| setting.registry.family(name));
                    found.collect::<Result<_, _>>()?
                };
                test(&families, output)
            }
        }
    }
}

fn test(families: &[&devgate_devices::Family], output: &Output) -> anyhow::Result<Ending> {
    let refresh = match env::var_os("UPDATE") {
        Some(one) if one == "1" => Refresh::Yes,
        _ => Refresh::No,
    };
    let mut cases = Vec::new();
    for family in families {
        for case in family.test(refresh)? {
            let problem = case.outcome.as_ref().err().cloned();
            cases.push(json!({
                "family": family.name(), "case": case.name, "ok": problem.is_none(), "problem": problem,
            }));
        }
    }
    let failed = cases.iter().filter(|case| case["ok"] == false).count();
    let passed = cases.len() - failed;
    output.document(
        &json!({ "cases": cases, "passed": passed, "failed": failed }),
        || {
            let mut text = String::new();
            for case in &cases {
                let (family, name) = (&case["family"], &case["case"]);
                let name = format!(
                    "{}/{}",
                    family.as_str().unwrap_or(""),
                    name.as_str().unwrap_or("")
                );
                match case["problem"].as_str() {
                    None => text.push_str(&format!("ok      {name}\n")),
                    Some(problem) => text.push_str(&format!("FAILED  {name}\n{problem}\n")),
                }
            }
            text.push_str(&format!("{passed} passed, {failed} failed\n"));
            text
        },
    );
    Ok(if failed == 0 {
        Ending::Well
    } else {
        Ending::Badly
    })
}
