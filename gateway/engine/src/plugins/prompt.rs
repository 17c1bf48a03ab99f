//! The plugin `prompt`: a secret that somebody types.

use devgate_schemas::Value;

use super::SecretPrompt;
use super::options::Options;
use crate::inventory::PluginError;

/// What somebody answers to `message`, a secret.
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
