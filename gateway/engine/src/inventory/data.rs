//! The data that groups and targets have in common, and how they are merged.

use std::collections::BTreeSet;

use devgate_schemas::yaml::{Mapping, Node};
use devgate_schemas::{Hash, Value};

use super::lookup::Lookup;
use super::nodes;
use super::references::is_reference;
use super::uri::Uri;

/// The data keys that groups and targets share (Bolt's `DATA_KEYS`), and an entry's URI.
///
/// A value may be a reference to a plugin. It is resolved when a target needs it.
#[derive(Clone, Default)]
pub(super) struct TargetData {
    pub(super) uri: Option<Box<Uri>>,
    pub(super) config: Hash,
    pub(super) vars: Hash,
    pub(super) facts: Hash,
    pub(super) features: BTreeSet<String>,
    /// References to further features.
    pub(super) more_features: Vec<Hash>,
    pub(super) plugin_hooks: Hash,
}

impl TargetData {
    /// Reads the data of a group or an entry. What is not of the right kind is left out: it was reported when the
    /// inventory was read.
    pub(super) fn of(mapping: &Mapping) -> Self {
        let hash = |key: &str| match mapping.given(key).map(Node::to_value) {
            Some(Value::Hash(hash)) => hash,
            _ => Hash::new(),
        };
        let mut data = Self {
            uri: None,
            config: without_undef(hash("config")),
            vars: hash("vars"),
            facts: hash("facts"),
            plugin_hooks: hash("plugin_hooks"),
            ..Self::default()
        };
        for feature in nodes::features(mapping) {
            match feature.to_value() {
                Value::String(name) => drop(data.features.insert(name)),
                Value::Hash(reference) => data.more_features.push(reference),
                _ => {}
            }
        }
        data
    }

    /// Merges other data over this: config and facts deeply, vars and hooks key by key. Features add up.
    pub(super) fn overlay(&mut self, upper: &Self, lookup: &mut Lookup<'_>) {
        if upper.uri.is_some() {
            self.uri.clone_from(&upper.uri);
        }
        overlay_hash(&mut self.config, &upper.config, lookup, deep);
        overlay_hash(&mut self.vars, &upper.vars, lookup, shallow);
        overlay_hash(&mut self.facts, &upper.facts, lookup, deep);
        self.features.extend(upper.features.iter().cloned());
        self.more_features
            .extend(upper.more_features.iter().cloned());
        shallow(&mut self.plugin_hooks, &upper.plugin_hooks, lookup);
    }
}

type Merge = fn(&mut Hash, &Hash, &mut Lookup<'_>);

/// Merges two hashes. Each may as a whole be a reference. An unknown reference is kept as it is, because the result of
/// the merge is unknown, too.
fn overlay_hash(base: &mut Hash, upper: &Hash, lookup: &mut Lookup<'_>, merge: Merge) {
    if upper.is_empty() {
        return;
    }
    if base.is_empty() {
        base.clone_from(upper);
        return;
    }
    if is_reference(base) {
        match lookup.if_known(|lookup| lookup.hash(base)) {
            Some(known) => *base = known,
            None => return,
        }
    }
    if is_reference(upper) {
        match lookup.if_known(|lookup| lookup.hash(upper)) {
            Some(known) => merge(base, &known, lookup),
            None => base.clone_from(upper),
        }
    } else {
        merge(base, upper, lookup);
    }
}

/// Removes every `null`, so that it hides no value of an outer group.
pub(super) fn without_undef(mut hash: Hash) -> Hash {
    remove_undef(&mut hash);
    hash
}

fn remove_undef(hash: &mut Hash) {
    if is_reference(hash) {
        return;
    }
    hash.retain(|value| match value {
        Value::Hash(inner) => {
            remove_undef(inner);
            !inner.is_empty()
        }
        other => !other.is_undef(),
    });
}

/// The values of `upper` win, but hashes are merged. A reference may stand for a hash, or for nothing, which hides
/// nothing. So it is resolved if there is a value below it. An unknown reference stays, so that the other value is not
/// used in its place.
fn deep(base: &mut Hash, upper: &Hash, lookup: &mut Lookup<'_>) {
    for (key, above) in upper.iter() {
        let Some(below) = base.get_mut(key) else {
            base.insert(key.clone(), above.clone());
            continue;
        };
        let Some(above) = lookup.if_known(|lookup| lookup.value(above)) else {
            below.clone_from(above);
            continue;
        };
        match above.as_ref() {
            Value::Undef => {}
            Value::Hash(upper) => {
                if let Value::Hash(base) = below
                    && is_reference(base)
                {
                    match lookup.if_known(|lookup| lookup.value(below).into_owned()) {
                        Some(known) => *below = known,
                        None => continue,
                    }
                }
                match below {
                    Value::Hash(base) => deep(base, upper, lookup),
                    _ => *below = above.into_owned(),
                }
            }
            _ => *below = above.into_owned(),
        }
    }
}

fn shallow(base: &mut Hash, upper: &Hash, _: &mut Lookup<'_>) {
    for (key, value) in upper.iter() {
        base.insert(key.clone(), value.clone());
    }
}

#[cfg(test)]
mod tests {
    use devgate_schemas::yaml;

    use super::*;

    fn hash(text: &str) -> Hash {
        yaml::from_str(text).expect("a hash")
    }

    #[test]
    fn config_and_facts_merge_deep_and_keep_the_order_of_the_outer() {
        let mut base = TargetData {
            config: hash("{a: {x: 1, y: [1]}, b: 1}"),
            ..TargetData::default()
        };
        let upper = TargetData {
            config: hash("{c: 3, a: {y: [2], z: 3}}"),
            ..TargetData::default()
        };
        base.overlay(&upper, &mut Lookup::without_values());
        assert_eq!(base.config, hash("{a: {x: 1, y: [2], z: 3}, b: 1, c: 3}"));
        assert_eq!(
            Value::Hash(base.config).to_json().to_string(),
            r#"{"a":{"x":1,"y":[2],"z":3},"b":1,"c":3}"#
        );
    }

    #[test]
    fn vars_are_replaced_completely_and_features_add_up() {
        let mut base = TargetData {
            vars: hash("{a: {x: 1}, b: 1}"),
            ..TargetData::default()
        };
        base.features.insert("one".to_owned());
        let mut upper = TargetData {
            vars: hash("{a: {y: 2}}"),
            ..TargetData::default()
        };
        upper.features.insert("two".to_owned());
        base.overlay(&upper, &mut Lookup::without_values());
        assert_eq!(base.vars, hash("{a: {y: 2}, b: 1}"));
        assert_eq!(
            base.features.into_iter().collect::<Vec<_>>(),
            ["one", "two"]
        );
    }

    #[test]
    fn a_null_in_config_is_ignored() {
        assert_eq!(
            without_undef(hash("{a: ~, b: {c: ~, d: 1}, e: {f: {g: ~}}}")),
            hash("{b: {d: 1}}")
        );
    }

    #[test]
    fn only_a_reference_that_may_matter_is_resolved() {
        let missing_count = |base: &str, upper: &str| {
            let mut base = hash(base);
            let mut lookup = Lookup::without_values();
            deep(&mut base, &hash(upper), &mut lookup);
            lookup.into_missing().len()
        };
        assert_eq!(
            missing_count("{a: {_plugin: x}}", "{a: 1}"),
            0,
            "it is hidden"
        );
        assert_eq!(
            missing_count("{b: 1}", "{a: {_plugin: x}}"),
            0,
            "it hides nothing"
        );
        assert_eq!(
            missing_count("{a: 1}", "{a: {_plugin: x}}"),
            1,
            "it may be nothing"
        );
        assert_eq!(
            missing_count("{a: {_plugin: x}}", "{a: {b: 1}}"),
            1,
            "it may be a hash"
        );
    }
}
