//! The plugin `prompt`: a secret that somebody types.

use devgate_schemas::Value;

use super::PluginError;
use super::options::Options;
use crate::prompt;

/// What is typed at the terminal after `message`, a secret.
pub(super) async fn resolve(options: &Options<'_>) -> Result<Value, PluginError> {
    options.only(&["message"])?;
    let message = options.required("message")?;
    let message: String = message.chars().filter(|c| !c.is_control()).collect();
    let terminal = prompt::terminal().map_err(|_| {
        options.failed(format!(
            "there is no terminal on which to ask \"{message}\""
        ))
    })?;
    let answer = prompt::ask(terminal, format!("{message}: ")).await;
    answer.map_err(|error| options.failed(format!("cannot read the answer: {error}")))
}
