//! A target: its name, its data, and the connection info for a transport.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use devgate_schemas::{Hash, Key, RawConnectionInfo, Value};
use serde_json::{Value as Json, json};

use super::redact::redact;
use super::target_kind::{TRANSPORTS, suggest_transport};
use super::uri::Uri;
use super::{InventoryError, InventoryProblem, TargetKind};

/// The option that names a remote target's family or protocol.
pub(super) const REMOTE_TRANSPORT: &str = "remote-transport";

/// The option that names the proxies of a remote target.
const RUN_ON: &str = "run-on";

/// A target with all its data in the inventory.
///
/// It is shown by its name alone, because config, vars and facts may contain secrets that no schema has classified yet.
#[derive(Default)]
pub struct Target {
    /// The name, without a password where it is a URI.
    pub name: String,
    /// The aliases.
    pub aliases: Vec<String>,
    /// The groups it is in, innermost first.
    pub groups: Vec<String>,
    /// Whether the inventory lists the target, or only a command line names it.
    pub listed: Listed,
    /// For an unlisted target, the listed target with the same address.
    pub namesake: Option<String>,
    /// For an unlisted target, the listed name that was probably meant.
    pub suggestion: Option<String>,
    /// The URI, if an entry has one.
    pub(crate) uri: Option<Uri>,
    /// How the target is reached.
    pub kind: TargetKind,
    /// Variables for plans and templates.
    pub vars: Hash,
    /// The facts from the inventory.
    pub facts: Hash,
    /// The features that tasks may require.
    pub features: BTreeSet<String>,
    /// The hooks of plugins, by name. They are kept and not run.
    pub plugin_hooks: Hash,
    /// Why the target cannot be used. Every operation on it fails with this.
    pub fault: Option<Arc<InventoryError>>,
    /// The warnings to report when the target is used.
    pub warnings: Vec<String>,
    /// The options of its own transport (`config.ssh` of an SSH target).
    pub(super) options: Hash,
    /// The options that depend on plugins which have not been called. If `remote-transport` is among them, all options
    /// do.
    pub(super) unresolved: Vec<String>,
}

/// Whether a target is in the inventory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listed {
    /// The target is in the inventory, or it is `localhost`, which needs no entry.
    #[default]
    Yes,
    /// Only the command line names the target: a URI, or a mistyped name.
    No,
}

impl Target {
    /// Makes the target unusable. Its known data can still be shown.
    pub(super) fn with_fault(self, error: InventoryError) -> Self {
        Self {
            fault: Some(Arc::new(error)),
            ..self
        }
    }

    /// Makes the target unusable because a plugin gave an invalid value.
    pub(super) fn with_type_fault(self, key: &str, expected: &str) -> Self {
        let message = format!(
            "the target {}: expected {key} to be {expected}, a plugin gave something else",
            self.name
        );
        self.with_fault(InventoryError::Invalid(vec![InventoryProblem::nowhere(
            message,
        )]))
    }

    /// Sets the transport and its options: `remote` if the URI or the config says so, whatever the scheme; else the
    /// scheme, else the config, else SSH. (Bolt: `Target#transport`.)
    pub(super) fn with_transport(
        self,
        configured: Option<&str>,
        options: impl FnOnce(&str) -> Option<Hash>,
    ) -> Self {
        let scheme = self.uri.as_ref().and_then(|uri| uri.scheme.as_deref());
        let default = if self.name == LOCALHOST {
            "local"
        } else {
            "ssh"
        };
        let transport = match (scheme, configured) {
            (_, Some("remote")) => "remote",
            (Some(scheme), _) => scheme,
            (None, Some(configured)) => configured,
            (None, None) => default,
        };
        let Some(transport) = TRANSPORTS.into_iter().find(|known| *known == transport) else {
            let error = InventoryError::UnknownTransport {
                target: self.name.clone(),
                transport: transport.to_owned(),
                known: &TRANSPORTS,
                hint: suggest_transport(transport),
            };
            return self.with_fault(error);
        };
        let Some(options) = options(transport) else {
            return self.with_type_fault(&format!("config.{transport}"), "a mapping");
        };
        if transport == "remote"
            && let Some((wrong, right)) = misspelt_option(&options)
        {
            // Bolt and transports ignore unknown options, so that sessions would go another way than meant.
            let message = format!(
                "the target {}: there is no `{wrong}` in config.remote; write `{right}`",
                self.name
            );
            let problem = InventoryProblem::nowhere(message);
            return self.with_fault(InventoryError::Invalid(vec![problem]));
        }
        let text = |key: &str| match options.get(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(format!("config.remote.{key}")),
        };
        let kind = match transport {
            "local" => TargetKind::Local,
            "ssh" => TargetKind::Ssh,
            "remote" => match (text(REMOTE_TRANSPORT), options.get(RUN_ON).map(selection)) {
                (Err(key), _) => return self.with_type_fault(&key, "a text"),
                (Ok(_), Some(None)) => {
                    return self
                        .with_type_fault("config.remote.run-on", "a text or a list of texts");
                }
                (Ok(_), Some(Some(run_on))) if names_nothing(&run_on) => {
                    let message = format!(
                        "the target {}: `run-on` is empty: name targets or groups, or leave it out to use this node",
                        self.name
                    );
                    let problem = InventoryProblem::nowhere(message);
                    return self.with_fault(InventoryError::Invalid(vec![problem]));
                }
                (Ok(transport), run_on) => TargetKind::Remote {
                    transport,
                    run_on: run_on.flatten().unwrap_or_else(|| LOCALHOST.to_owned()),
                },
            },
            other => TargetKind::Other(other),
        };
        Self {
            kind,
            options,
            ..self
        }
    }

    /// Returns all data as Bolt shows them, without secrets. Secret are values that are marked as such, options for
    /// which `is_sensitive` says so, and values whose key suggests a secret.
    pub fn detail(&self, is_sensitive: impl Fn(&str) -> bool) -> Json {
        let option = |(key, value): (Key, Value)| {
            let secret = key.as_str().is_some_and(&is_sensitive);
            let value = if secret {
                value.into_sensitive()
            } else {
                value
            };
            (key, value)
        };
        let options = self.options.clone().into_iter().map(option).collect();
        let json = |hash: Hash| Value::Hash(redact(hash)).to_json();
        let mut config = json!({});
        // The kind of an invalid target may be unknown.
        if self.fault.is_none() || self.kind != TargetKind::default() {
            let transport = self.kind.name();
            config = json!({ "transport": transport, transport: json(options) });
        }
        json!({
            "name": self.name,
            "uri": self.uri.as_ref().map(Uri::to_string),
            "alias": self.aliases,
            "config": config,
            "vars": json(self.vars.clone()),
            "features": self.features,
            "facts": json(self.facts.clone()),
            "plugin_hooks": json(self.plugin_hooks.clone()),
            "groups": self.groups,
        })
    }

    /// Returns all known secrets: values that plugins marked as such, and passwords.
    pub fn secrets(&self) -> Vec<Value> {
        let mut secrets = Vec::new();
        for hash in [&self.vars, &self.facts] {
            secrets.extend(hash.secrets().cloned());
        }
        let info = self.connection_info();
        secrets.extend(info.conventional_secrets().cloned());
        secrets
    }

    /// Returns the family or protocol by which a remote target is reached.
    pub fn remote_transport(&self) -> Option<&str> {
        match &self.kind {
            TargetKind::Remote { transport, .. } => transport.as_deref(),
            TargetKind::Local | TargetKind::Ssh | TargetKind::Other(_) => None,
        }
    }

    /// Returns the proxy that runs programs for a remote target. The default is `localhost`.
    pub fn run_on(&self) -> &str {
        match &self.kind {
            TargetKind::Remote { run_on, .. } => run_on,
            TargetKind::Local | TargetKind::Ssh | TargetKind::Other(_) => LOCALHOST,
        }
    }

    /// Whether `run-on` names this node and nothing else.
    pub fn runs_on_localhost(&self) -> bool {
        let names = self.run_on().split([',', ' ', '\n']).map(str::trim);
        names
            .filter(|name| !name.is_empty())
            .all(|name| name == LOCALHOST)
    }

    /// Returns the address for people, without credentials.
    pub fn address(&self) -> String {
        let info = self.connection_info();
        let text = |key: &str| info.get(key).and_then(Value::as_str);
        let port = info.get("port").and_then(Value::as_integer);
        let port = port.map_or_else(String::new, |port| format!(":{port}"));
        let transport = text("protocol").filter(|transport| *transport != self.kind.name());
        let transport = transport
            .or_else(|| self.remote_transport())
            .unwrap_or_default();
        let host = text("host").unwrap_or(&self.name);
        format!("{transport}://{host}{port}")
    }

    /// Returns the options that are unknown because no plugin was called, or `None` if all options are unknown.
    pub fn unresolved(&self) -> Option<&[String]> {
        let all = self.unresolved.iter().any(|name| name == REMOTE_TRANSPORT);
        (!all).then_some(&self.unresolved)
    }

    /// Returns the protocol: the URI's scheme, unless that only names the transport, or the option.
    pub fn protocol(&self) -> Value {
        let scheme = self.uri.as_ref().and_then(|uri| uri.scheme.as_deref());
        let is_transport =
            |scheme: &&str| *scheme == self.kind.name() || Some(*scheme) == self.remote_transport();
        scheme
            .filter(|scheme| !is_transport(scheme))
            .map(Value::from)
            .or_else(|| self.options.get("protocol").cloned())
            .or_else(|| scheme.map(Value::from))
            .unwrap_or_else(|| Value::from(self.kind.name()))
    }

    /// Returns the named options of the transport.
    pub(crate) fn options_of<'n>(&self, names: impl Iterator<Item = &'n str>) -> RawConnectionInfo {
        let option = |name: &'n str| Some((name, self.options.get(name)?.clone()));
        RawConnectionInfo::new(names.filter_map(option).collect())
    }

    /// Returns the host: the URI's, or the option, or the name of an SSH target (as in Bolt).
    pub fn host(&self) -> Option<Value> {
        let host = self.uri.as_ref().and_then(|uri| uri.host.as_deref());
        let is_named_host = self.kind == TargetKind::Ssh && self.unresolved.is_empty();
        host.map(Value::from)
            .or_else(|| self.options.get("host").cloned())
            .or_else(|| is_named_host.then(|| Value::from(self.name.as_str())))
    }

    /// Returns the port: the URI's, or the option.
    pub fn port(&self) -> Option<Value> {
        let port = self.uri.as_ref().and_then(|uri| uri.port);
        port.map(|port| Value::Integer(port.into()))
            .or_else(|| self.options.get("port").cloned())
    }

    /// Returns the connection info for a transport, which is also the `_target` of a task: the transport's options,
    /// then seven keys that override them. Unknown values are left out; `run-on` is always there, as in Bolt.
    ///
    /// Differing from Bolt, a `protocol` option is used where the URI has no scheme, or one that only names the
    /// transport (`remote://`, `rest://`). The URI's path and query are not passed separately.
    pub fn connection_info(&self) -> RawConnectionInfo {
        let uri = self.uri.as_ref();
        let option = |key: &str| self.options.get(key).cloned();
        let text = |text: &Option<String>| text.as_deref().map(Value::from);
        let facts_of_uri = [
            ("name", Some(Value::from(self.name.as_str()))),
            ("uri", uri.map(Uri::to_value)),
            ("protocol", Some(self.protocol())),
            (
                "user",
                uri.and_then(|uri| text(&uri.user))
                    .or_else(|| option("user")),
            ),
            (
                "password",
                uri.and_then(Uri::password_value)
                    .or_else(|| option("password")),
            ),
            ("host", self.host()),
            ("port", self.port()),
        ];
        let mut info = self.options.clone();
        for (key, value) in facts_of_uri {
            info.insert(key, value.unwrap_or(Value::Undef));
        }
        if matches!(self.kind, TargetKind::Remote { .. }) && info.get(RUN_ON).is_none() {
            info.insert(RUN_ON, Value::from(self.run_on()));
        }
        info.retain(|value| !value.is_undef());
        RawConnectionInfo::new(info)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("name", &self.name)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// The target that always exists, and the default proxy.
pub const LOCALHOST: &str = "localhost";

/// Returns an option that is written with `_`, and how it is written.
fn misspelt_option(options: &Hash) -> Option<(&'static str, &'static str)> {
    [("run_on", RUN_ON), ("remote_transport", REMOTE_TRANSPORT)]
        .into_iter()
        .find(|(wrong, _)| options.get(wrong).is_some())
}

fn names_nothing(selection: &str) -> bool {
    selection.chars().all(|c| c == ',' || c.is_whitespace())
}

/// Returns a selection of targets: a text, or the texts of a list joined with commas.
fn selection(value: &Value) -> Option<String> {
    match value {
        Value::Array(items) => {
            let names: Option<Vec<&str>> = items.iter().map(Value::as_str).collect();
            Some(names?.join(","))
        }
        one => one.as_str().map(str::to_owned),
    }
}
