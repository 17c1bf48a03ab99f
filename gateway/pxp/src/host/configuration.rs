//! A module's configuration: the file `MODULE.conf`, which is JSON.

use std::path::Path;
use std::{fs, io};

use devgate_schemas::pxp::JsonSchema;
use devgate_transports::reading;
use serde_json::{Map, Value as Json};

/// The configuration of a module, with a remark.
#[derive(Default)]
pub(super) struct Configuration {
    /// The configuration for each request, if there is one.
    pub(super) members: Option<Map<String, Json>>,
    /// Why the file is ignored, if the module has no schema for it.
    pub(super) remark: Option<String>,
}

/// Reads a module's configuration and checks it, as pxp-agent does when it starts ("If the `metadata`
/// contains a `configuration` entry and the configuration file exists"). If the module has no schema for it, a file
/// that is not a JSON object is ignored.
///
/// # Errors
/// Why the module cannot be used with this file. Its values are not quoted, because they may be secrets.
pub(super) fn read(file: &Path, schema: Option<&JsonSchema>) -> Result<Configuration, String> {
    let read = fs::metadata(file).and_then(|found| match found.is_file() {
        true => reading::bytes(file),
        // Such a file may never end.
        false => Err(io::Error::other("it is not a file")),
    });
    let text = match read {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Configuration::default());
        }
        Err(error) => {
            return Err(format!(
                "cannot read its configuration {}: {error}",
                file.display()
            ));
        }
    };
    let path = file.display();
    let read = serde_json::from_slice::<Json>(&text);
    if let (Ok(configuration), Some(schema)) = (&read, schema) {
        schema.check(configuration).map_err(|mismatch| {
            format!("its configuration {path} does not match its schema: {mismatch}")
        })?;
    }
    let problem = match read {
        Ok(Json::Object(members)) => {
            return Ok(Configuration {
                members: Some(members).filter(|members| !members.is_empty()),
                remark: None,
            });
        }
        Ok(_) => format!("its configuration {path} is not a JSON object"),
        // Syntax errors quote no values.
        Err(error) => format!("its configuration {path} is not JSON: {error}"),
    };
    match schema {
        Some(_) => Err(problem),
        None => Ok(Configuration {
            members: None,
            remark: Some(format!("{problem}; it is ignored")),
        }),
    }
}
