//! Plugins: resolve the `_plugin` references in an inventory.
//!
//! A few plugins are built in. Others are modules with a `bolt_plugin.json`, whose tasks run on this node. Each
//! reference is resolved once in a run, and its value is kept only in memory: it may be a secret, and no secret is
//! written to a disk. So `_cache` and `plugin-cache` are accepted and have no effect.

mod age;
mod env_var;
mod module;
mod options;
mod pkcs7;
mod prompt;
#[cfg(test)]
mod tests;
mod yaml;

use std::cell::{self, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use async_trait::async_trait;
use devgate_schemas::{Hash, Value, did_you_mean};
use devgate_transports::Environment;
use futures_util::future::LocalBoxFuture;
use tokio::sync::{OnceCell, Semaphore};

use crate::hosts::{Host, TaskHostSettings};
use crate::inventory::{PluginError, ReferenceResolver, reference_key};
use crate::project::Project;
use crate::tasks::Catalogue;
use options::Options;

/// The built-in plugins.
const BUILT_IN: [&str; 6] = ["age", "env_var", "pkcs7", "prompt", "task", "yaml"];
/// How deep references may be nested.
const MAX_DEPTH: usize = 50;

/// Asks a person for a secret.
#[async_trait]
pub trait SecretPrompt: fmt::Debug + Send + Sync {
    /// Asks a question, and returns the answer as a secret.
    ///
    /// # Errors
    /// Fails when there is no answer.
    async fn ask(&self, question: &str) -> Result<Value, String>;
}

/// The plugins of a project, and the values that they have returned.
#[derive(Debug)]
pub(crate) struct Plugins {
    /// The project's folder.
    folder: PathBuf,
    /// The project's configuration of each plugin.
    configs: HashMap<String, Hash>,
    catalogue: Catalogue,
    known: RefCell<HashMap<String, Known>>,
    /// This node, on which the tasks of plugins run.
    host: cell::OnceCell<Host<'static>>,
    /// The environment of plugins.
    environment: Arc<Environment>,
    /// Permits one question at a time.
    terminal: Semaphore,
    /// The prompt, if a person can be asked.
    person: Option<Arc<dyn SecretPrompt>>,
}

type Known = Rc<OnceCell<Result<Value, PluginError>>>;

impl Plugins {
    /// Creates the plugins that a project can use.
    pub(crate) fn new(
        project: &Project,
        environment: Arc<Environment>,
        person: Option<Arc<dyn SecretPrompt>>,
    ) -> Self {
        Self {
            folder: project.root.clone(),
            configs: project.plugins.clone(),
            catalogue: project.catalogue(),
            known: RefCell::default(),
            host: cell::OnceCell::new(),
            environment,
            terminal: Semaphore::new(1),
            person,
        }
    }

    /// Returns the host for tasks: this node.
    fn host(&self) -> &Host<'static> {
        self.host.get_or_init(|| {
            let tmpdir = Some(self.environment.temporary());
            Host::local(TaskHostSettings {
                tmpdir,
                ..TaskHostSettings::default()
            })
        })
    }

    /// Calls the plugin of a reference. During the configuration of a plugin (`loading` false), no other is loaded.
    fn ask<'a>(
        &'a self,
        reference: &'a Hash,
        loading: bool,
        left: usize,
    ) -> LocalBoxFuture<'a, Result<Value, PluginError>> {
        Box::pin(async move {
            let left = left.checked_sub(1).ok_or(PluginError::Loop)?;
            let plugin = reference.get("_plugin").and_then(Value::as_str);
            let plugin = plugin.unwrap_or_default();
            if !loading && (plugin == "task" || !BUILT_IN.contains(&plugin)) {
                let plugin = plugin.to_owned();
                return Err(PluginError::LoadingDisabled { plugin });
            }
            let mut said = Hash::new();
            for (key, value) in reference.iter() {
                if !key.as_str().is_some_and(|key| key.starts_with('_')) {
                    let value = self.resolved(value.clone(), loading, left).await?;
                    said.insert(key.clone(), value);
                }
            }
            let mut config = Hash::new();
            // The configuration is resolved when it is needed. A plugin cannot be configured by itself.
            if loading && let Some(configured) = self.configs.get(plugin) {
                let configured = Value::Hash(configured.clone());
                if let Value::Hash(hash) = self.resolved(configured, false, left).await? {
                    config = hash;
                }
            }
            let options = |said| Options {
                plugin,
                said,
                environment: &self.environment,
            };
            match plugin {
                "env_var" => env_var::resolve(&options(said)),
                "yaml" => yaml::resolve(&self.folder, &options(said)),
                "prompt" => {
                    let Some(person) = &self.person else {
                        let why = "a prompt is not possible here: use another plugin";
                        return Err(options(said).failed(why));
                    };
                    let _alone = self.terminal.acquire().await;
                    prompt::resolve(&options(said), &**person).await
                }
                "pkcs7" => pkcs7::resolve(&self.folder, options(over(config, said))),
                "age" => age::resolve(&self.folder, options(over(config, said))),
                "task" => module::task(&self.catalogue, self.host(), options(said)).await,
                _ => {
                    let Some(folder) = self.catalogue.plugin(plugin) else {
                        return Err(unknown(plugin));
                    };
                    let options = options(said);
                    let module = module::Module {
                        folder: &folder,
                        config,
                        project: &self.folder,
                    };
                    module.resolve(&self.catalogue, self.host(), options).await
                }
            }
        })
    }

    /// Resolves all references in a value.
    fn resolved<'a>(
        &'a self,
        value: Value,
        loading: bool,
        left: usize,
    ) -> LocalBoxFuture<'a, Result<Value, PluginError>> {
        Box::pin(async move {
            match value {
                Value::Hash(hash) if hash.get("_plugin").is_some() => {
                    let value = self.ask(&hash, loading, left).await?;
                    let left = left.checked_sub(1).ok_or(PluginError::Loop)?;
                    self.resolved(value, loading, left).await
                }
                Value::Hash(hash) => {
                    let mut pairs = Hash::new();
                    for (key, value) in hash {
                        pairs.insert(key, self.resolved(value, loading, left).await?);
                    }
                    Ok(Value::Hash(pairs))
                }
                Value::Array(items) => {
                    let mut all = Vec::with_capacity(items.len());
                    for item in items {
                        all.push(self.resolved(item, loading, left).await?);
                    }
                    Ok(Value::Array(all))
                }
                other => Ok(other),
            }
        })
    }
}

#[async_trait(?Send)]
impl ReferenceResolver for Plugins {
    fn known(&self, reference: &Hash) -> Option<Result<Value, PluginError>> {
        let key = reference_key(&Value::Hash(reference.clone()));
        self.known.borrow().get(&key)?.get().cloned()
    }

    async fn look_up(&self, reference: &Hash) -> Result<Value, PluginError> {
        let key = reference_key(&Value::Hash(reference.clone()));
        let cell = Rc::clone(self.known.borrow_mut().entry(key).or_default());
        let asked = cell.get_or_init(|| self.ask(reference, true, MAX_DEPTH));
        asked.await.clone()
    }

    fn unknown(&self, reference: &Hash) -> Option<PluginError> {
        let plugin = reference.get("_plugin").and_then(Value::as_str);
        let plugin = plugin.unwrap_or_default();
        if !BUILT_IN.contains(&plugin) && self.catalogue.plugin(plugin).is_none() {
            return Some(unknown(plugin));
        }
        let options = reference.iter().filter_map(|(_, value)| value.as_hash());
        let mut inner = options.filter(|hash| hash.get("_plugin").is_some());
        inner.find_map(|inner| self.unknown(inner))
    }
}

/// Returns the error for a plugin that does not exist.
fn unknown(plugin: &str) -> PluginError {
    PluginError::Unknown {
        hint: did_you_mean(plugin, BUILT_IN),
        plugin: plugin.to_owned(),
        known: &BUILT_IN,
    }
}

/// Merges the options of a reference over the project's configuration.
fn over(mut config: Hash, said: Hash) -> Hash {
    for (key, value) in said {
        config.insert(key, value);
    }
    config
}
