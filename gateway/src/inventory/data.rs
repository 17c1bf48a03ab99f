//! What groups and targets can say of a target, and how one says more than another.

use std::collections::BTreeSet;

use devgate_schemas::{Hash, Value};

use super::uri::Uri;

/// The data keys that groups and targets share (Bolt's `DATA_KEYS`), and an entry's URI.
#[derive(Clone, Default)]
pub(super) struct Data {
    pub(super) uri: Option<Uri>,
    pub(super) config: Hash,
    pub(super) vars: Hash,
    pub(super) facts: Hash,
    pub(super) features: BTreeSet<String>,
    pub(super) plugin_hooks: Hash,
}

impl Data {
    /// Lays other data over this: config and facts go deep, vars and hooks key by key, features add up.
    pub(super) fn overlay(&mut self, over: &Self) {
        if over.uri.is_some() {
            self.uri.clone_from(&over.uri);
        }
        deep(&mut self.config, &over.config);
        shallow(&mut self.vars, &over.vars);
        deep(&mut self.facts, &over.facts);
        self.features.extend(over.features.iter().cloned());
        shallow(&mut self.plugin_hooks, &over.plugin_hooks);
    }
}

/// Takes every `null` out, so that it hides nothing that an outer group says.
pub(super) fn without_undef(hash: Hash) -> Hash {
    hash.into_iter()
        .filter(|(_, value)| !value.is_undef())
        .map(|(key, value)| match value {
            Value::Hash(inner) => (key, Value::Hash(without_undef(inner))),
            other => (key, other),
        })
        .collect()
}

fn deep(base: &mut Hash, over: &Hash) {
    for (key, value) in over.iter() {
        match (base.get_mut(key), value) {
            (Some(Value::Hash(below)), Value::Hash(above)) => deep(below, above),
            (Some(below), _) => *below = value.clone(),
            (None, _) => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

fn shallow(base: &mut Hash, over: &Hash) {
    for (key, value) in over.iter() {
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
        let mut base = Data {
            config: hash("{a: {x: 1, y: [1]}, b: 1}"),
            ..Data::default()
        };
        base.overlay(&Data {
            config: hash("{c: 3, a: {y: [2], z: 3}}"),
            ..Data::default()
        });
        assert_eq!(base.config, hash("{a: {x: 1, y: [2], z: 3}, b: 1, c: 3}"));
        assert_eq!(
            Value::Hash(base.config).to_json().to_string(),
            r#"{"a":{"x":1,"y":[2],"z":3},"b":1,"c":3}"#
        );
    }

    #[test]
    fn vars_are_replaced_whole_and_features_add_up() {
        let mut base = Data {
            vars: hash("{a: {x: 1}, b: 1}"),
            ..Data::default()
        };
        base.features.insert("one".to_owned());
        let mut over = Data {
            vars: hash("{a: {y: 2}}"),
            ..Data::default()
        };
        over.features.insert("two".to_owned());
        base.overlay(&over);
        assert_eq!(base.vars, hash("{a: {y: 2}, b: 1}"));
        assert_eq!(
            base.features.into_iter().collect::<Vec<_>>(),
            ["one", "two"]
        );
    }

    #[test]
    fn a_null_in_config_says_nothing() {
        assert_eq!(
            without_undef(hash("{a: ~, b: {c: ~, d: 1}}")),
            hash("{b: {d: 1}}")
        );
    }
}
