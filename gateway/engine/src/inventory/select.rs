//! Selects targets by the words of `-t`.

use std::sync::Arc;

use devgate_schemas::nearest;
use indexmap::IndexMap;

use super::glob::{Glob, TOO_LARGE, is_glob};
use super::group::TargetEntry;
use super::target_name::target_name;
use super::target_words::split;
use super::uri::Uri;
use super::{Inventory, InventoryError, Listed, Overrides, Target};

/// For how many unknown targets a similar one is searched: each is compared with every name.
const GUESSES: usize = 10;

impl Inventory {
    /// Selects targets by words: each target once, in the order of the words.
    ///
    /// A word is the name of a group, of a target or an alias, a pattern for targets and aliases (`r*`, `{r,sw}[1-3]`),
    /// or the URI of a target that need not be in the inventory. Lists are separated by commas or white space. Names
    /// other than those of groups are compared without regard to case.
    ///
    /// The overrides are merged over the configuration of each target.
    ///
    /// # Errors
    /// Fails for patterns without a match and for invalid URIs. A problem with one target is in its
    /// [`fault`](Target::fault), unless the inventory was read strictly.
    pub async fn select(
        &self,
        words: &[String],
        overrides: &Overrides,
    ) -> Result<Vec<Arc<Target>>, InventoryError> {
        let selected = self.resolve_words(words)?;
        let mut targets = self.targets(selected, overrides).await?;
        self.warn_of_unlisted(&mut targets);
        self.find_namesakes(&mut targets);
        Ok(targets)
    }

    /// Selects targets by words, and resolves their references. Each problem with a target is in its
    /// [`fault`](Target::fault), also in strict mode.
    ///
    /// # Errors
    /// Fails for patterns without a match and for invalid URIs.
    pub async fn inspect(&self, words: &[String]) -> Result<Vec<Arc<Target>>, InventoryError> {
        let selected = self.resolve_words(words)?;
        let overrides = Overrides::default();
        Ok(self.targets_with_faults(selected, &overrides).await)
    }

    /// Returns whether the inventory was read strictly.
    pub fn is_strict(&self) -> bool {
        self.strict
    }

    /// Selects targets by words without calling plugins. Their data are incomplete where a plugin would be needed.
    ///
    /// # Errors
    /// Fails as [`select`](Self::select).
    pub fn select_without_plugins(
        &self,
        words: &[String],
    ) -> Result<Vec<Arc<Target>>, InventoryError> {
        let selected = self.resolve_words(words)?;
        Ok(self.targets_without_plugins(&selected))
    }

    /// Adds a warning to targets that are not in the inventory and are probably mistyped. They are not refused, because
    /// names and addresses need not be in an inventory.
    fn warn_of_unlisted(&self, targets: &mut [Arc<Target>]) {
        let is_word = |name: &str| {
            name.chars()
                .all(|c| c.is_alphanumeric() || "-_".contains(c))
        };
        let unlisted = targets
            .iter_mut()
            .filter(|target| target.listed == Listed::No && is_word(&target.name));
        for target in unlisted.take(GUESSES).filter_map(Arc::get_mut) {
            let groups = self.names.groups.keys();
            let names = groups.chain(self.tree.entries.keys());
            let names = names.chain(self.names.aliases.keys()).map(String::as_str);
            let names: Vec<&str> = names.chain(self.device_names()).collect();
            if let Some(nearest) = nearest(&target.name, &names) {
                target.warnings.push(format!(
                    "it is not in the inventory; did you mean `{nearest}`?"
                ));
                target.suggestion = Some(nearest.to_owned());
            }
        }
    }

    /// For unlisted targets, finds a listed target with the same address, which may be the one that was meant.
    fn find_namesakes(&self, targets: &mut [Arc<Target>]) {
        let unlisted = targets.iter_mut();
        let unlisted = unlisted.filter(|target| target.listed == Listed::No);
        for target in unlisted.take(GUESSES).filter_map(Arc::get_mut) {
            let Some(uri) = &target.uri else { continue };
            let has_same_address = |entry: &TargetEntry| {
                let uris = entry.definitions();
                let mut uris = uris.filter_map(|definition| definition.uri.as_deref());
                uris.any(|other| uri.has_address_of(other))
            };
            let mut entries = self.tree.entries.iter();
            let namesake = entries.find(|(_, entry)| has_same_address(entry));
            target.namesake = namesake.map(|(name, _)| name.clone());
        }
    }

    /// Returns the names that the words select, each once, in the order of the words, with the URI of those that are
    /// not in the inventory.
    pub(super) fn resolve_words(
        &self,
        words: &[String],
    ) -> Result<IndexMap<String, Option<Uri>>, InventoryError> {
        let mut selected: IndexMap<String, Option<Uri>> = IndexMap::new();
        let mut unmatched = Vec::new();
        let words: Vec<String> = words.iter().flat_map(|words| split(words)).collect();
        for (index, word) in words.iter().enumerate() {
            let invalid = |message| InventoryError::InvalidWord {
                number: index + 1,
                message,
            };
            if word == "-" || word.starts_with('@') {
                return Err(invalid("`-` and `@FILE` are for command lines"));
            }
            let names = self.names_of_word(word).ok_or_else(|| invalid(TOO_LARGE))?;
            if !names.is_empty() {
                names.into_iter().for_each(|name| {
                    selected.entry(name.to_owned()).or_insert(None);
                });
            } else if self.names.groups.contains_key(word) {
                // An empty group selects nothing, which is no error.
            } else if is_glob(word) {
                // A word that may be a URI may contain a password.
                let shown = word
                    .rsplit_once('@')
                    .filter(|(before, _)| before.contains(':'));
                unmatched.push(shown.map_or_else(|| word.clone(), |(_, host)| format!("…@{host}")));
            } else {
                let uri = Uri::parse(word).map_err(invalid)?;
                let name = target_name(word)
                    .map_err(|_| invalid("expected a name in ASCII without control characters"))?;
                selected.entry(name).or_insert(Some(uri));
            }
        }
        if unmatched.is_empty() {
            Ok(selected)
        } else {
            Err(InventoryError::NoMatch(unmatched))
        }
    }

    /// Returns the inventory's targets that a word names, or `None` for a pattern that is too large.
    fn names_of_word(&self, word: &str) -> Option<Vec<&str>> {
        if let Some(group) = self.names.groups.get(word) {
            return Some(self.all_members(*group));
        }
        let name = target_name(word).unwrap_or_default();
        if let Some((name, _)) = self.tree.entries.get_key_value(&name) {
            return Some(vec![name]);
        }
        if let Some((name, _)) = self.devices.get_key_value(&name) {
            return Some(vec![name]);
        }
        let entries = self.entries_in_any_case(&name);
        if !entries.is_empty() || !is_glob(word) {
            let names = entries.into_iter().map(|entry| self.tree.name(entry));
            return Some(names.collect());
        }
        let glob = Glob::new(word)?;
        let groups = self.tree.groups.iter().enumerate();
        let groups = groups.filter(|(_, group)| glob.matches(&group.name));
        let members = groups.flat_map(|(group, _)| self.all_members(group));
        let names = self
            .tree
            .members(0)
            .into_iter()
            .filter(|name| glob.matches(name));
        let aliases = self
            .names
            .aliases
            .iter()
            .filter(|(alias, _)| glob.matches(alias));
        let found = members
            .chain(names)
            .chain(aliases.map(|(_, entry)| self.tree.name(*entry)))
            .chain(self.device_names().filter(|name| glob.matches(name)));
        Some(found.collect())
    }
}
