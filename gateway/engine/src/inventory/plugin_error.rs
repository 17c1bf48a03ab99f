//! Why a plugin gives no value.

/// An error in resolving a reference.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum PluginError {
    /// There is no such plugin.
    #[error(
        "unknown plugin {plugin}{hint}: expected one of {}, or a module of the module path with a \
         bolt_plugin.json", .built_in.join(", ")
    )]
    Unknown {
        /// The name in the reference.
        plugin: String,
        /// A suggestion.
        hint: String,
        /// The built-in plugins.
        built_in: Vec<&'static str>,
    },
    /// The module has no task that resolves references.
    #[error(
        "the plugin {plugin} does not support resolve_reference: expected a task \
         {plugin}::resolve_reference, or another that its bolt_plugin.json names"
    )]
    UnsupportedHook {
        /// The plugin.
        plugin: String,
    },
    /// The plugin has failed.
    #[error("the plugin {plugin}: {message}")]
    Failed {
        /// The plugin.
        plugin: String,
        /// The cause.
        message: String,
    },
    /// The options of the plugin, in the reference or in the project, are invalid.
    #[error("the plugin {plugin}: {message}")]
    Invalid {
        /// The plugin.
        plugin: String,
        /// What was expected.
        message: String,
    },
    /// The module's description of its plugin is invalid.
    #[error("the plugin {plugin}: bolt_plugin.json: {message}")]
    InvalidData {
        /// The plugin.
        plugin: String,
        /// What was expected.
        message: String,
    },
    /// A plugin's own configuration needs a plugin that is not available yet.
    #[error(
        "cannot load the plugin {plugin}: `plugins` in bolt-project.yaml may use built-in plugins \
         other than task only"
    )]
    LoadingDisabled {
        /// The plugin.
        plugin: String,
    },
    /// References refer to each other without an end.
    #[error("a reference refers to itself, or references form a circle")]
    Loop,
}

impl PluginError {
    /// Creates the error of a plugin that has failed.
    pub(crate) fn failed(plugin: &str, message: impl Into<String>) -> Self {
        Self::Failed {
            plugin: plugin.to_owned(),
            message: message.into(),
        }
    }

    /// Creates the error of a plugin with invalid options.
    pub(crate) fn invalid(plugin: &str, message: impl Into<String>) -> Self {
        Self::Invalid {
            plugin: plugin.to_owned(),
            message: message.into(),
        }
    }

    /// Returns the kind by which a caller recognizes this error; it is Bolt's where Bolt has one.
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
