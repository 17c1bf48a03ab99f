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

/// The built-in plugins, by name.
const BUILT_IN: [(&str, BuiltIn); 6] = [
    ("age", BuiltIn::Age),
    ("env_var", BuiltIn::EnvVar),
    ("pkcs7", BuiltIn::Pkcs7),
    ("prompt", BuiltIn::Prompt),
    ("task", BuiltIn::Task),
    ("yaml", BuiltIn::Yaml),
];
/// How deep references may be nested.
const MAX_DEPTH: usize = 50;

/// A built-in plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BuiltIn {
    Age,
    EnvVar,
    Pkcs7,
    Prompt,
    Task,
    Yaml,
}

impl BuiltIn {
    fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.into_iter().map(|(name, _)| name)
    }

    fn find(name: &str) -> Option<Self> {
        let found = BUILT_IN.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, plugin)| plugin)
    }
}

/// Prompts a person for a secret.
#[async_trait]
pub trait SecretPrompt: fmt::Debug + Send + Sync {
    /// Shows a question, and returns the answer as a secret.
    ///
    /// # Errors
    /// Fails when there is no answer.
    async fn prompt(&self, question: &str) -> Result<Value, String>;
}

/// The plugins of a project, and the values that they have returned.
#[derive(Debug)]
pub(crate) struct Plugins {
    /// The project's folder.
    folder: PathBuf,
    /// The project's configuration of each plugin.
    configs: HashMap<String, Hash>,
    catalogue: Catalogue,
    cache: RefCell<HashMap<String, CachedValue>>,
    /// This node, on which the tasks of plugins run.
    host: cell::OnceCell<Host<'static>>,
    /// The environment of plugins.
    environment: Arc<Environment>,
    /// Permits one question at a time.
    prompt_permit: Semaphore,
    /// The prompt, if a person is there.
    secret_prompt: Option<Arc<dyn SecretPrompt>>,
}

type CachedValue = Rc<OnceCell<Result<Value, PluginError>>>;

impl Plugins {
    /// Creates the plugins that a project can use.
    pub(crate) fn new(
        project: &Project,
        environment: Arc<Environment>,
        secret_prompt: Option<Arc<dyn SecretPrompt>>,
    ) -> Self {
        Self {
            folder: project.root.clone(),
            configs: project.plugins.clone(),
            catalogue: project.catalogue(),
            cache: RefCell::default(),
            host: cell::OnceCell::new(),
            environment,
            prompt_permit: Semaphore::new(1),
            secret_prompt,
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
    fn call<'a>(
        &'a self,
        reference: &'a Hash,
        loading: bool,
        depth_left: usize,
    ) -> LocalBoxFuture<'a, Result<Value, PluginError>> {
        Box::pin(async move {
            let depth_left = depth_left.checked_sub(1).ok_or(PluginError::Loop)?;
            let plugin = reference.get("_plugin").and_then(Value::as_str);
            let plugin = plugin.unwrap_or_default();
            let built_in = BuiltIn::find(plugin);
            if !loading && matches!(built_in, None | Some(BuiltIn::Task)) {
                let plugin = plugin.to_owned();
                return Err(PluginError::LoadingDisabled { plugin });
            }
            let mut values = Hash::new();
            for (key, value) in reference.iter() {
                if !key.as_str().is_some_and(|key| key.starts_with('_')) {
                    let value = self.resolve_all(value.clone(), loading, depth_left).await?;
                    values.insert(key.clone(), value);
                }
            }
            let mut config = Hash::new();
            // The configuration is resolved when it is needed. A plugin cannot be configured by itself.
            if loading && let Some(configured) = self.configs.get(plugin) {
                let configured = Value::Hash(configured.clone());
                if let Value::Hash(hash) = self.resolve_all(configured, false, depth_left).await? {
                    config = hash;
                }
            }
            // A module takes only the options of the project that its task has as parameters.
            let (values, config) = match built_in {
                Some(_) => (merge_over(config, values), Hash::new()),
                None => (values, config),
            };
            let options = Options {
                plugin,
                values,
                environment: &self.environment,
            };
            match built_in {
                Some(BuiltIn::EnvVar) => env_var::resolve(&options),
                Some(BuiltIn::Yaml) => yaml::resolve(&self.folder, &options),
                Some(BuiltIn::Prompt) => {
                    let Some(secret_prompt) = &self.secret_prompt else {
                        let message = "a prompt is not possible here: use another plugin";
                        return Err(options.failed(message));
                    };
                    let _alone = self.prompt_permit.acquire().await;
                    prompt::resolve(&options, &**secret_prompt).await
                }
                Some(BuiltIn::Pkcs7) => pkcs7::resolve(&self.folder, options),
                Some(BuiltIn::Age) => age::resolve(&self.folder, options),
                Some(BuiltIn::Task) => module::task(&self.catalogue, self.host(), options).await,
                None => {
                    let Some(folder) = self.catalogue.plugin(plugin) else {
                        return Err(unknown_plugin(plugin));
                    };
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
    fn resolve_all<'a>(
        &'a self,
        value: Value,
        loading: bool,
        depth_left: usize,
    ) -> LocalBoxFuture<'a, Result<Value, PluginError>> {
        Box::pin(async move {
            match value {
                Value::Hash(hash) if hash.get("_plugin").is_some() => {
                    let value = self.call(&hash, loading, depth_left).await?;
                    let depth_left = depth_left.checked_sub(1).ok_or(PluginError::Loop)?;
                    self.resolve_all(value, loading, depth_left).await
                }
                Value::Hash(hash) => {
                    let mut pairs = Hash::new();
                    for (key, value) in hash {
                        pairs.insert(key, self.resolve_all(value, loading, depth_left).await?);
                    }
                    Ok(Value::Hash(pairs))
                }
                Value::Array(items) => {
                    let mut all = Vec::with_capacity(items.len());
                    for item in items {
                        all.push(self.resolve_all(item, loading, depth_left).await?);
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
    fn cached_value(&self, reference: &Hash) -> Option<Result<Value, PluginError>> {
        let key = reference_key(&Value::Hash(reference.clone()));
        self.cache.borrow().get(&key)?.get().cloned()
    }

    async fn resolve(&self, reference: &Hash) -> Result<Value, PluginError> {
        let key = reference_key(&Value::Hash(reference.clone()));
        let cell = Rc::clone(self.cache.borrow_mut().entry(key).or_default());
        let value = cell.get_or_init(|| self.call(reference, true, MAX_DEPTH));
        value.await.clone()
    }

    fn unknown_plugin(&self, reference: &Hash) -> Option<PluginError> {
        let plugin = reference.get("_plugin").and_then(Value::as_str);
        let plugin = plugin.unwrap_or_default();
        if let Some(unknown) = unknown(plugin, &self.catalogue) {
            return Some(unknown);
        }
        let options = reference.iter().filter_map(|(_, value)| value.as_hash());
        let mut inner = options.filter(|hash| hash.get("_plugin").is_some());
        inner.find_map(|inner| self.unknown_plugin(inner))
    }
}

/// Returns warnings about the options of plugins that do not exist, in the project's file.
pub(crate) fn unknown_configs(project: &Project, catalogue: &Catalogue) -> Vec<String> {
    let mut names: Vec<&String> = project.plugins.keys().collect();
    names.sort();
    let unknown = names
        .into_iter()
        .filter_map(|name| unknown(name, catalogue));
    let warnings =
        unknown.map(|error| format!("plugins in bolt-project.yaml, without effect: {error}"));
    warnings.collect()
}

/// Returns the error for a plugin if it is neither built in nor a module.
fn unknown(plugin: &str, catalogue: &Catalogue) -> Option<PluginError> {
    let is_known = BuiltIn::find(plugin).is_some() || catalogue.plugin(plugin).is_some();
    (!is_known).then(|| unknown_plugin(plugin))
}

/// Returns the error for a plugin that does not exist.
fn unknown_plugin(plugin: &str) -> PluginError {
    PluginError::Unknown {
        hint: did_you_mean(plugin, BuiltIn::names()),
        plugin: plugin.to_owned(),
        built_in: BuiltIn::names().collect(),
    }
}

/// Merges the options of a reference over the project's configuration.
fn merge_over(mut config: Hash, options: Hash) -> Hash {
    for (key, value) in options {
        config.insert(key, value);
    }
    config
}
