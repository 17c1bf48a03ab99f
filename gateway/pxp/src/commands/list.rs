//! `devgate pxp list`: the modules of a folder.

use clap::Args;
use devgate_core::cancel::CancelToken;
use devgate_core::failure::Failure;
use devgate_front::exit_status::ExitStatus;
use devgate_front::logger::Logger;
use devgate_front::printer::{self, Printer};
use devgate_front::summary::first_sentence;
use devgate_schemas::Level;
use serde_json::{Value as Json, json};

use crate::commands::folders::Folders;
use crate::host::{Module, NOT_AVAILABLE};

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate pxp list --modules-dir /opt/puppetlabs/pxp-agent/modules\n  devgate \
                  pxp list --modules-dir modules --config-dir modules.d --format json"
)]
pub struct List {
    #[command(flatten)]
    folders: Folders,
}

impl List {
    pub(super) async fn run(
        self,
        logger: &Logger,
        printer: &Printer,
        stop: &CancelToken,
    ) -> Result<ExitStatus, Failure> {
        let folder = self.folders.modules_dir.display().to_string();
        let modules = self.folders.open()?;
        let found = modules.all(stop).await?;
        for (name, module) in &found {
            for remark in module.iter().flat_map(|module| &module.remarks) {
                logger.log(Level::Info, &format!("module {name}: {remark}"));
            }
        }
        let json: Json = found.iter().map(as_json).collect();
        printer.page(&json!({ "modules": json }), || {
            if found.is_empty() {
                return format!("No modules in {folder}\n");
            }
            let rows: Vec<[String; 2]> = found.iter().map(as_row).collect();
            printer::table(&rows)
        });
        Ok(ExitStatus::Success)
    }
}

/// A module by its name, or why it is not available.
type Found = (String, Result<Module, String>);

fn as_row((name, module): &Found) -> [String; 2] {
    let what = match module {
        Ok(module) => {
            let actions = module.metadata.actions.iter();
            let actions: Vec<&str> = actions.map(|action| action.name.as_str()).collect();
            let description = module.metadata.description.as_deref().unwrap_or_default();
            let description = match first_sentence(description) {
                none if none.is_empty() => none,
                some => format!("  {some}"),
            };
            format!("{}{description}", actions.join(", "))
        }
        Err(problem) => format!("not available: {}", problem.replace('\n', "; ")),
    };
    [name.clone(), what]
}

fn as_json((name, module): &Found) -> Json {
    match module {
        Ok(module) => json!({
            "name": name,
            "file": module.file,
            "available": true,
            "description": module.metadata.description,
            "actions": module.metadata.actions.iter().map(|action| json!({
                "name": action.name,
                "description": action.description,
            })).collect::<Json>(),
            "remarks": module.remarks,
        }),
        Err(problem) => {
            let failure = Failure::new(NOT_AVAILABLE, problem);
            json!({ "name": name, "available": false, "_error": failure })
        }
    }
}
