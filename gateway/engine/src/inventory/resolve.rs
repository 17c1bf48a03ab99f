//! Creates targets from names: their data are merged when they are selected and not before.

use std::collections::BTreeSet;
use std::sync::Arc;

use devgate_schemas::{Hash, Value};
use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt};
use indexmap::IndexMap;

use super::data::without_undef;
use super::device_conf::ConfiguredDevice;
use super::group::TargetEntry;
use super::lookup::Lookup;
use super::target::{LOCALHOST, Listed, REMOTE_TRANSPORT};
use super::uri::Uri;
use super::{
    Inventory, InventoryError, InventoryProblem, Overrides, PluginError, Target, reference_key,
};

/// The number of references that are resolved at once.
const LOOKUPS: usize = 16;

impl Inventory {
    /// Creates the targets of these names, as [`targets_with_faults`](Self::targets_with_faults). In strict mode, a
    /// target with a fault is an error.
    pub(super) async fn targets(
        &self,
        selected: IndexMap<String, Option<Uri>>,
        overrides: &Overrides,
    ) -> Result<Vec<Arc<Target>>, InventoryError> {
        let targets = self.targets_with_faults(selected, overrides).await;
        match targets.iter().find_map(|target| target.fault.as_ref()) {
            Some(fault) if self.strict => Err(InventoryError::Strict(Arc::clone(fault))),
            _ => Ok(targets),
        }
    }

    /// Creates the targets of these names. The references that they need are resolved first, each once. A reference
    /// without influence on the result is not resolved.
    pub(super) async fn targets_with_faults(
        &self,
        selected: IndexMap<String, Option<Uri>>,
        overrides: &Overrides,
    ) -> Vec<Arc<Target>> {
        let devices = selected.keys().filter_map(|name| self.devices.get(name));
        join_all(devices.map(ConfiguredDevice::prepare)).await;
        let mut resolved: Vec<Option<Arc<Target>>> = vec![None; selected.len()];
        let mut unresolved: Vec<usize> = (0..selected.len()).collect();
        while !unresolved.is_empty() {
            let mut missing: IndexMap<String, Hash> = IndexMap::new();
            unresolved.retain(|index| {
                let Some((name, uri)) = selected.get_index(*index) else {
                    return false;
                };
                let mut lookup = Lookup::new(&*self.plugins);
                let target = self.target(name, uri.as_ref(), overrides, &mut lookup);
                let missing_references = lookup.into_missing();
                if missing_references.is_empty() {
                    resolved[*index] = Some(Arc::new(target));
                    return false;
                }
                for reference in missing_references {
                    let key = reference_key(&Value::Hash(reference.clone()));
                    missing.entry(key).or_insert(reference);
                }
                true
            });
            stream::iter(missing.into_values())
                .map(async |reference| {
                    // The result is remembered by the resolver.
                    let _ = self.plugins.resolve(&reference).await;
                })
                .buffer_unordered(LOOKUPS)
                .collect::<()>()
                .await;
        }
        resolved.into_iter().flatten().collect()
    }

    /// Creates the targets of these names as far as no reference must be resolved.
    pub(super) fn targets_without_plugins(
        &self,
        selected: &IndexMap<String, Option<Uri>>,
    ) -> Vec<Arc<Target>> {
        let overrides = Overrides::default();
        let resolved = selected.iter().map(|(name, uri)| {
            let mut lookup = Lookup::new(&*self.plugins);
            let target = self.target(name, uri.as_ref(), &overrides, &mut lookup);
            // Whether a plugin exists is known without calling it.
            let missing = lookup.into_missing();
            let unknown = missing
                .iter()
                .find_map(|reference| Some((reference, self.plugins.unknown_plugin(reference)?)));
            Arc::new(match unknown {
                Some((reference, error)) => {
                    let error = self.failed(name, reference, &error);
                    target.with_fault(error)
                }
                None => target,
            })
        });
        resolved.collect()
    }

    /// Creates one target with all known data.
    fn target(
        &self,
        name: &str,
        uri: Option<&Uri>,
        overrides: &Overrides,
        lookup: &mut Lookup<'_>,
    ) -> Target {
        let entry = self.tree.entries.get(name);
        if let (None, Some(device)) = (entry, self.devices.get(name)) {
            return device.target(overrides);
        }
        let groups = self.tree.groups_of(entry);
        let target = Target {
            name: name.to_owned(),
            listed: if entry.is_some() || name == LOCALHOST {
                Listed::Yes
            } else {
                Listed::No
            },
            aliases: self.aliases_of(entry),
            groups: groups.into_iter().map(str::to_owned).collect(),
            ..Target::default()
        };
        let faults = entry.map_or(&[][..], |entry| &entry.faults);
        if !faults.is_empty() {
            return target.with_fault(InventoryError::Invalid(faults.to_vec()));
        }
        let filled = self.fill(target, entry, uri, overrides, lookup);
        match lookup.failed() {
            Some((reference, error)) => filled.with_fault(self.failed(name, reference, error)),
            None => filled,
        }
    }

    fn aliases_of(&self, entry: Option<&TargetEntry>) -> Vec<String> {
        let aliases = entry.into_iter().flat_map(|entry| &entry.aliases);
        let aliases = aliases.filter_map(|number| self.names.aliases.get_index(*number));
        aliases.map(|(alias, _)| alias.clone()).collect()
    }

    fn fill(
        &self,
        mut target: Target,
        entry: Option<&TargetEntry>,
        uri: Option<&Uri>,
        overrides: &Overrides,
        lookup: &mut Lookup<'_>,
    ) -> Target {
        let groups = self.tree.merged_group_data(entry, lookup);
        let mut data = (*groups).clone();
        if let Some(entry) = entry {
            let own = self.tree.merged_entry_data(entry, lookup);
            data.overlay(&own, lookup);
        }
        target.uri = data.uri.map(|uri| *uri).or_else(|| uri.cloned());
        let known = lookup.if_known(|lookup| lookup.resolved(Value::Hash(data.config)));
        let mut unresolved: Vec<String> = Vec::new();
        let mut config = match known {
            Some(Value::Hash(config)) => config,
            Some(Value::Undef) => Hash::new(),
            Some(_) => return target.with_type_fault("config", "a mapping"),
            None => {
                unresolved.push(REMOTE_TRANSPORT.to_owned());
                Hash::new()
            }
        };
        if entry.is_none() && target.name == LOCALHOST {
            // The proxy must stay reachable when `all` says that every target is remote.
            config.remove("transport");
        }
        let transport = match &overrides.transport {
            Some(transport) => Value::from(transport.as_str()),
            None => match config.get("transport") {
                Some(transport) => lookup.all(transport.clone()),
                None => Value::Undef,
            },
        };
        let configured = match &transport {
            Value::Undef => None,
            Value::String(transport) => Some(transport.as_str()),
            _ => return target.with_type_fault("config.transport", "a text"),
        };
        let mut target = target.with_transport(configured, |transport| {
            let options = config.remove(transport).unwrap_or(Value::Undef);
            let known = lookup.if_known(|lookup| lookup.resolved(options));
            let options = match known {
                Some(Value::Hash(options)) => options,
                Some(Value::Undef) => Hash::new(),
                Some(_) => return None,
                None => {
                    unresolved.push(REMOTE_TRANSPORT.to_owned());
                    Hash::new()
                }
            };
            // An option of the command line is not resolved by a plugin.
            let options = overrides.apply_to(transport, options).into_iter();
            let options = options.filter_map(|(key, value)| {
                let known = lookup.if_known(|lookup| lookup.all(value));
                if known.is_none() {
                    unresolved.push(key.to_string());
                }
                Some((key, known?))
            });
            Some(without_undef(options.collect()))
        });
        target.unresolved = unresolved;
        if target.fault.is_some() {
            return target;
        }
        let mut known = |key: &str, hash: Hash| match lookup.all(Value::Hash(hash)) {
            Value::Hash(hash) => Ok(hash),
            Value::Undef => Ok(Hash::new()),
            _ => Err(key.to_owned()),
        };
        let (vars, facts) = (known("vars", data.vars), known("facts", data.facts));
        let more = data.more_features.into_iter().map(Value::Hash);
        let more: Vec<Value> = more.map(|feature| lookup.all(feature)).collect();
        match (vars, facts, features(data.features, more)) {
            (Ok(vars), Ok(facts), Ok(features)) => Target {
                vars,
                facts,
                features,
                plugin_hooks: data.plugin_hooks,
                ..target
            },
            (Err(key), ..) | (_, Err(key), _) => target.with_type_fault(&key, "a mapping"),
            (.., Err(())) => target.with_type_fault("features", "a list of texts"),
        }
    }

    /// Returns the error of a target whose plugin failed, with the position of the reference.
    fn failed(&self, name: &str, reference: &Hash, error: &PluginError) -> InventoryError {
        let key = reference_key(&Value::Hash(reference.clone()));
        let message = format!("the target {name}: {error}");
        let problem = match self.references.get(&key) {
            Some(location) => InventoryProblem {
                message,
                ..location.clone()
            },
            // The reference came from another plugin.
            None => InventoryProblem::nowhere(message),
        };
        let kind = error.kind();
        InventoryError::Plugin { kind, problem }
    }
}

/// Adds the features that plugins gave, each a text or a list of texts.
fn features(mut all: BTreeSet<String>, more: Vec<Value>) -> Result<BTreeSet<String>, ()> {
    for feature in more {
        match feature {
            Value::String(feature) => {
                all.insert(feature);
            }
            Value::Array(items) => all = features(all, items)?,
            Value::Undef => {}
            _ => return Err(()),
        }
    }
    Ok(all)
}
