//! Expands the groups and targets that plugins list. This is done while an inventory is read, until every group and
//! target has its name.

use std::iter::repeat;

use devgate_schemas::Value;
use devgate_schemas::yaml::{Node, NodeKind};

use super::nodes::is_reference;
use super::references::ReferenceResolver;
use super::{InventoryError, InventoryProblem, PluginError};

/// How deep lists may be nested, and how many may come from each other.
const MAX_DEPTH: usize = 50;

/// Expands an inventory's lists with plugins.
pub(super) struct ListExpander<'a> {
    pub(super) file: &'a str,
    pub(super) plugins: &'a dyn ReferenceResolver,
}

impl ListExpander<'_> {
    /// Expands the lists of a group and of the groups in it. Of a target, the name, the URI and the aliases are
    /// resolved. All other data stay as they are.
    pub(super) async fn group(&self, node: Node, path: &[String]) -> Result<Node, InventoryError> {
        if path.len() > MAX_DEPTH {
            return Err(self.failed(&PluginError::Loop, (node.line, node.column), path));
        }
        let mut node = self.value(node, path).await?;
        let NodeKind::Mapping(mapping) = &mut node.kind else {
            return Ok(node);
        };
        if let Some(name) = mapping.get_mut("name") {
            self.resolve_node(name, path).await?;
        }
        let name = mapping.get("name").and_then(Node::as_str);
        let name = if path.is_empty() {
            "all"
        } else {
            name.unwrap_or_default()
        };
        let path = [path, &[name.to_owned()]].concat();
        if let Some(targets) = mapping.get_mut("targets") {
            self.list(targets, &path).await?;
            for target in items(targets) {
                let NodeKind::Mapping(target) = &mut target.kind else {
                    continue;
                };
                for key in ["name", "uri", "alias"] {
                    if let Some(node) = target.get_mut(key) {
                        self.resolve_node(node, &path).await?;
                    }
                }
            }
        }
        if let Some(groups) = mapping.get_mut("groups") {
            self.list(groups, &path).await?;
            for group in items(groups) {
                let inner = std::mem::replace(group, Node::of(Value::Undef, 0, 0));
                *group = Box::pin(self.group(inner, &path)).await?;
            }
        }
        Ok(node)
    }

    /// Makes one flat list of a list whose items may be references and lists.
    async fn list(&self, node: &mut Node, path: &[String]) -> Result<(), InventoryError> {
        if is_reference(node) {
            self.resolve_node(node, path).await?;
        }
        let NodeKind::Sequence(items) = &mut node.kind else {
            return Ok(());
        };
        let nested = |item: &Node| is_reference(item) || matches!(item.kind, NodeKind::Sequence(_));
        if !items.iter().any(nested) {
            return Ok(());
        }
        let mut flat = Vec::new();
        // The next item is at the end, each with the number of lists and references around it.
        let items_at_depth = |items: Vec<Node>, depth| items.into_iter().rev().zip(repeat(depth));
        let mut pending: Vec<_> = items_at_depth(std::mem::take(items), 0).collect();
        while let Some((item, depth)) = pending.pop() {
            let (line, column) = (item.line, item.column);
            if depth > MAX_DEPTH {
                return Err(self.failed(&PluginError::Loop, (line, column), path));
            }
            let item = self.value(item, path).await?;
            match item.kind {
                NodeKind::Sequence(items) => {
                    pending.extend(items_at_depth(items, depth + 1));
                }
                _ => flat.push(item),
            }
        }
        *items = flat;
        Ok(())
    }

    async fn resolve_node(&self, node: &mut Node, path: &[String]) -> Result<(), InventoryError> {
        if is_reference(node) {
            *node = self.value(node.clone(), path).await?;
        }
        Ok(())
    }

    /// Returns the node itself, or the final value of its reference.
    async fn value(&self, mut node: Node, path: &[String]) -> Result<Node, InventoryError> {
        let (line, column) = (node.line, node.column);
        for _ in 0..MAX_DEPTH {
            if !is_reference(&node) {
                return Ok(node);
            }
            let Value::Hash(reference) = node.to_value() else {
                return Ok(node);
            };
            let value = self.plugins.resolve(&reference).await;
            let value = value.map_err(|error| self.failed(&error, (line, column), path))?;
            node = Node::of(value, line, column);
        }
        Err(self.failed(&PluginError::Loop, (line, column), path))
    }

    fn failed(
        &self,
        error: &PluginError,
        (line, column): (u32, u32),
        path: &[String],
    ) -> InventoryError {
        InventoryError::Plugin {
            kind: error.kind(),
            problem: InventoryProblem {
                file: self.file.to_owned(),
                line,
                column,
                path: path.to_owned(),
                message: error.to_string(),
            },
        }
    }
}

fn items(node: &mut Node) -> &mut [Node] {
    match &mut node.kind {
        NodeKind::Sequence(items) => items,
        NodeKind::Scalar(_) | NodeKind::Mapping(_) => &mut [],
    }
}
