//! The plugin `prompt`: a secret that a person types.

use devgate_schemas::Value;

use super::SecretPrompt;
use super::options::Options;
use crate::inventory::PluginError;

/// Asks a person for `message`. The answer is a secret.
pub(super) async fn resolve(
    options: &Options<'_>,
    person: &dyn SecretPrompt,
) -> Result<Value, PluginError> {
    options.only(&["message"])?;
    let message = options.required("message")?;
    let message: String = message.chars().filter(|c| !c.is_control()).collect();
    let answer = person.ask(&message).await;
    answer.map_err(|why| options.failed(why))
}
