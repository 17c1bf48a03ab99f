//! The plugin `env_var`: the value of an environment variable.

use std::ffi::OsStr;

use devgate_schemas::Value;
use serde_json::Value as Json;

use super::options::Options;
use crate::inventory::PluginError;

/// Returns the value of the variable `var`, parsed as JSON if `json` is set. If the variable is not set, returns
/// `default`, or nothing if it is `optional`.
pub(super) fn resolve(options: &Options<'_>) -> Result<Value, PluginError> {
    options.refuse_unknown(&["var", "default", "optional", "json"])?;
    let name = options.required("var")?;
    let (optional, json) = (options.flag("optional")?, options.flag("json")?);
    let default = options.values.get("default");
    let value = options.environment.variable(name).map(OsStr::to_str);
    match (value, default) {
        // The parser's error names a position and quotes nothing.
        (Some(Some(text)), _) if json => serde_json::from_str::<Json>(text)
            .map(Value::from)
            .map_err(|error| {
                let message = format!("the environment variable {name} holds no JSON: {error}");
                options.invalid(message)
            }),
        (Some(Some(text)), _) => Ok(Value::from(text)),
        (Some(None), _) => {
            let message = format!("the environment variable {name} holds no UTF-8 text");
            Err(options.invalid(message))
        }
        (None, Some(default)) if !default.is_undef() => Ok(default.clone()),
        (None, _) if optional => Ok(Value::Undef),
        (None, _) => {
            let message = format!(
                "the environment variable {name} is not set; set it, or give a `default` or \
                 `optional: true`"
            );
            Err(options.invalid(message))
        }
    }
}
