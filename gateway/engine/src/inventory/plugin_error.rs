//! Why a plugin gives nothing.

/// What can go wrong between a reference and its value.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum PluginError {
    /// Nobody has such a plugin.
    #[error(
        "unknown plugin {plugin}{hint}: expected one of {}, or a module of the module path with a \
         bolt_plugin.json", .known.join(", ")
    )]
    Unknown {
        /// The name in the reference.
        plugin: String,
        /// What was perhaps meant.
        hint: String,
        /// The plugins that are built in.
        known: &'static [&'static str],
    },
    /// The module has no task for it.
    #[error(
        "the plugin {plugin} does not support resolve_reference: expected a task \
         {plugin}::resolve_reference, or another that its bolt_plugin.json names"
    )]
    UnsupportedHook {
        /// The plugin.
        plugin: String,
    },
    /// The plugin was asked and has failed.
    #[error("the plugin {plugin}: {message}")]
    Failed {
        /// The plugin.
        plugin: String,
        /// Why.
        message: String,
    },
    /// What the reference or the project says to the plugin does not fit.
    #[error("the plugin {plugin}: {message}")]
    Invalid {
        /// The plugin.
        plugin: String,
        /// What was expected.
        message: String,
    },
    /// The module's description of its plugin is wrong.
    #[error("the plugin {plugin}: bolt_plugin.json: {message}")]
    InvalidData {
        /// The plugin.
        plugin: String,
        /// What was expected.
        message: String,
    },
    /// A plugin's own configuration needs a plugin that must first be loaded.
    #[error(
        "cannot load the plugin {plugin}: `plugins` in bolt-project.yaml may use built-in plugins \
         other than task only"
    )]
    LoadingDisabled {
        /// The plugin.
        plugin: String,
    },
    /// References stand for each other without an end.
    #[error("a reference refers to itself, or references form a circle")]
    Loop,
}

impl PluginError {
    /// That a plugin has failed.
    pub(crate) fn failed(plugin: &str, message: impl Into<String>) -> Self {
        Self::Failed {
            plugin: plugin.to_owned(),
            message: message.into(),
        }
    }

    /// That a plugin cannot do anything with what it was given.
    pub(crate) fn invalid(plugin: &str, message: impl Into<String>) -> Self {
        Self::Invalid {
            plugin: plugin.to_owned(),
            message: message.into(),
        }
    }

    /// The kind under which a caller finds this error, Bolt's where Bolt has one.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "bolt/unknown-plugin",
            Self::UnsupportedHook { .. } => "bolt/unsupported-hook",
            Self::Failed { .. } => "bolt/plugin-error",
            Self::Invalid { .. } => "bolt/validation-error",
            Self::InvalidData { .. } => "bolt/invalid-plugin-data",
            Self::LoadingDisabled { .. } => "bolt/plugin-loading-disabled",
            Self::Loop => "bolt/recursive-reference-loop",
        }
    }
}
