//! `devgate pxp show`: shows the metadata of a module.

use clap::Args;
use devgate_core::cancel::CancelToken;
use devgate_core::failure::Failure;
use devgate_front::exit_status::ExitStatus;
use devgate_front::logger::Logger;
use devgate_front::printer::{self, Printer};
use devgate_schemas::Level;
use devgate_schemas::pxp::JsonSchema;
use serde_json::{Value as Json, json};

use crate::commands::folders::Folders;
use crate::host::Module;

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate pxp show reverse --modules-dir modules\n  devgate pxp show reverse \
                  --modules-dir modules --format json | jq '.metadata.actions[0].input'"
)]
pub struct Show {
    /// Name of the module: the name of its file
    module: String,
    #[command(flatten)]
    folders: Folders,
}

impl Show {
    pub(super) async fn run(
        self,
        logger: &Logger,
        printer: &Printer,
        stop: &CancelToken,
    ) -> Result<ExitStatus, Failure> {
        let modules = self.folders.open()?;
        let module = modules.load(&self.module, stop).await?;
        for remark in &module.remarks {
            logger.log(Level::Notice, &format!("module {}: {remark}", module.name));
        }
        printer.page(&as_json(&module), || as_text(&module));
        Ok(ExitStatus::Success)
    }
}

fn as_json(module: &Module) -> Json {
    let actions: Json = module
        .metadata
        .actions
        .iter()
        .map(|action| {
            json!({
                "name": action.name,
                "description": action.description,
                "input": action.input.source(),
                "results": action.results.source(),
            })
        })
        .collect();
    let configuration = module.metadata.configuration.as_ref();
    json!({
        "name": module.name,
        "file": module.file,
        "metadata": {
            "description": module.metadata.description,
            "configuration": configuration.map(JsonSchema::source),
            "actions": actions,
        },
        "remarks": module.remarks,
    })
}

fn as_text(module: &Module) -> String {
    let metadata = &module.metadata;
    let mut text = format!("{}  ({})\n", module.name, module.file.display());
    let mut add_line = |indent: usize, line: &str| {
        text.push_str(&format!("{:indent$}{}\n", "", line.trim_end()));
    };
    if let Some(description) = &metadata.description {
        add_line(2, description);
    }
    if let Some(configuration) = &metadata.configuration {
        add_line(0, "\nConfiguration");
        members(configuration, |line| add_line(2, line));
    }
    for action in &metadata.actions {
        add_line(0, &format!("\nAction {}", action.name));
        if let Some(description) = &action.description {
            add_line(2, description);
        }
        add_line(2, "input:");
        members(&action.input, |line| add_line(4, line));
        add_line(2, "results:");
        members(&action.results, |line| add_line(4, line));
    }
    text
}

/// The members of an object schema, one per line, or else the schema itself.
fn members(schema: &JsonSchema, mut add_line: impl FnMut(&str)) {
    let schema = schema.source();
    let Some(Json::Object(properties)) = schema.get("properties") else {
        return add_line(&schema.to_string());
    };
    let required = |name: &str| {
        let required = schema["required"].as_array().into_iter().flatten();
        required.filter_map(Json::as_str).any(|one| one == name)
    };
    let rows: Vec<[String; 3]> = properties
        .iter()
        .map(|(name, property)| {
            let kind = match &property["type"] {
                Json::String(kind) => kind.clone(),
                Json::Array(kinds) => {
                    let kinds: Vec<&str> = kinds.iter().filter_map(Json::as_str).collect();
                    kinds.join(" or ")
                }
                _ => "any".to_owned(),
            };
            let marks: Vec<String> = required(name)
                .then(|| "required".to_owned())
                .into_iter()
                .collect();
            let description = property["description"].as_str().unwrap_or_default();
            [
                name.clone(),
                format!("{kind}{}", printer::in_brackets(&marks)),
                description.to_owned(),
            ]
        })
        .collect();
    printer::table(&rows).lines().for_each(add_line);
}
