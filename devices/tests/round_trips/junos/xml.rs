//! NETCONF: subtree filters (RFC 6241, section 6), and `edit-config` with Juniper's attribute `operation`.

use devgate_transports::netconf::Element;

use super::schema::{Kind, Schema};
use super::tree::Node;

/// The part of the configuration that a filter selects.
///
/// # Errors
/// Fails when the filter is no XML.
pub(super) fn filtered(root: &Node, filter: &str) -> Result<String, String> {
    let filter = parsed(filter)?;
    let selected = filter.iter().filter(|one| one.name() == root.name);
    let selected = selected.filter_map(|one| select(root, one));
    Ok(selected.map(|node| node.to_xml()).collect())
}

fn select(node: &Node, filter: &Element) -> Option<Node> {
    let (matched, wanted): (Vec<&Element>, Vec<&Element>) = filter
        .children()
        .partition(|child| child.children().next().is_none() && !child.content().is_empty());
    let is_match = |one: &&Element| node.value(one.name()) == Some(&one.content());
    if !matched.iter().all(is_match) {
        return None;
    }
    if wanted.is_empty() {
        return Some(node.clone());
    }
    let mut selected = Node::new(&node.name);
    for child in &node.below {
        if matched.iter().any(|one| one.name() == child.name) {
            selected.below.push(child.clone());
        }
        let wanted = wanted.iter().filter(|one| one.name() == child.name);
        // Junos tells the name of an entry, too.
        let found = wanted.filter_map(|one| select(child, one));
        selected.below.extend(found);
    }
    (!selected.below.is_empty()).then_some(selected)
}

/// Merges a change into the configuration.
///
/// # Errors
/// Fails when an element is unknown, or is not there to be deleted.
pub(super) fn edit(root: &mut Node, schema: &Schema, change: &str) -> Result<(), String> {
    for element in parsed(change)? {
        if element.name() != root.name {
            return Err(format!("`{}` is no configuration", element.name()));
        }
        merge(root, schema, &element)?;
    }
    Ok(())
}

fn merge(node: &mut Node, schema: &Schema, change: &Element) -> Result<(), String> {
    for element in change.children() {
        let name = element.name();
        if name == "name" {
            continue;
        }
        let statement = schema
            .get(name)
            .ok_or_else(|| format!("unknown element <{name}> below <{}>", change.name()))?;
        let value = match &statement.kind {
            Kind::List { .. } => element
                .child("name")
                .map(Element::content)
                .ok_or_else(|| format!("<{name}> has no <name>"))?,
            Kind::Wrapped(inner) => element
                .child(inner)
                .map(Element::content)
                .unwrap_or_default(),
            Kind::Leaf | Kind::Leaves | Kind::Empty | Kind::Container { .. } => element.content(),
        };
        match element.attribute_value("operation") {
            None => {}
            Some("delete") => {
                let at = node.position(statement, &value);
                let at = at.ok_or_else(|| format!("statement not found: <{name}> {value}"))?;
                node.below.remove(at);
                continue;
            }
            Some(other) => return Err(format!("there is no operation `{other}`")),
        }
        let has_value = matches!(statement.kind, Kind::Leaf | Kind::Leaves | Kind::Wrapped(_));
        if has_value && value.is_empty() && statement.choice.is_empty() {
            return Err(format!("<{name}> has no value"));
        }
        let child = node.entered(statement, &value);
        if matches!(statement.kind, Kind::List { .. } | Kind::Container { .. }) {
            merge(child, &statement.below, element)?;
        }
    }
    Ok(())
}

fn parsed(text: &str) -> Result<Vec<Element>, String> {
    Element::parse_all(text).map_err(|error| error.to_string())
}
