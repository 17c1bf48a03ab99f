//! The plugin `prompt`: a secret that a person types.

use devgate_schemas::Value;

use super::SecretPrompt;
use super::options::Options;
use crate::inventory::PluginError;

/// Prompts a person for `message`. The answer is a secret.
pub(super) async fn resolve(
    options: &Options<'_>,
    prompt: &dyn SecretPrompt,
) -> Result<Value, PluginError> {
    options.refuse_unknown(&["message"])?;
    let message = options.required("message")?;
    let message: String = message.chars().filter(|c| !c.is_control()).collect();
    let answer = prompt.prompt(&message).await;
    answer.map_err(|problem| options.failed(problem))
}
