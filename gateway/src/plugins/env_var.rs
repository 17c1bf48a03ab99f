//! The plugin `env_var`: the value of an environment variable.

use devgate_schemas::Value;

use super::PluginError;
use super::options::Options;

/// The variable `var`; `default` where it is not set, or nothing where it is `optional`.
pub(super) fn resolve(options: &Options<'_>) -> Result<Value, PluginError> {
    options.only(&["var", "default", "optional"])?;
    let name = options.required("var")?;
    let default = options.text("default")?;
    let optional = match options.said.get("optional") {
        None | Some(Value::Undef) => false,
        Some(Value::Boolean(optional)) => *optional,
        Some(_) => return Err(options.invalid("expected `optional` to be true or false")),
    };
    match (std::env::var(name), default) {
        (Ok(text), _) => Ok(Value::from(text)),
        (Err(std::env::VarError::NotUnicode(_)), _) => {
            let message = format!("the environment variable {name} holds no UTF-8 text");
            Err(options.invalid(message))
        }
        (Err(_), Some(default)) => Ok(Value::from(default)),
        (Err(_), None) if optional => Ok(Value::Undef),
        (Err(_), None) => {
            let message = format!(
                "the environment variable {name} is not set; set it, or give a `default` or \
                 `optional: true`"
            );
            Err(options.invalid(message))
        }
    }
}
