//! Extracts the names from the text of an inventory. No plugin is called, and problems are ignored.

use devgate_schemas::yaml::{self, Node};

use super::target_name::target_name;

/// Returns the names of groups, targets and aliases. URIs are without their passwords.
pub fn names_in(text: &str) -> Vec<String> {
    let mut names = vec!["all".to_owned()];
    if let Ok(root) = yaml::parse(text) {
        group(&root, &mut names);
    }
    names
}

fn group(node: &Node, names: &mut Vec<String>) {
    let texts = |node: Option<&Node>| -> Vec<String> {
        let items = node.and_then(Node::as_sequence).unwrap_or_default();
        let items = items.iter().chain(node).filter_map(Node::as_str);
        items.filter_map(|text| target_name(text).ok()).collect()
    };
    names.extend(texts(node.get("name")));
    let targets = node.get("targets");
    names.extend(texts(targets));
    for target in targets.and_then(Node::as_sequence).unwrap_or_default() {
        let name = target.get("name").or_else(|| target.get("uri"));
        names.extend(texts(name));
        names.extend(texts(target.get("alias")));
    }
    let groups = node.get("groups").and_then(Node::as_sequence);
    for inner in groups.unwrap_or_default() {
        group(inner, names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_without_plugins_and_without_passwords() {
        let text = "groups:\n  - name: routers\n    targets:\n      - {name: r1, uri: 'ssh://x:canary@192.0.2.1', \
                    alias: [core]}\n      - 'ssh://me:canary@192.0.2.2'\n      - {_plugin: task, task: \
                    canary}\n    groups: [{name: inner, targets: {_plugin: yaml}}]\ntargets: [bare]\n";
        let names = names_in(text);
        assert_eq!(names[..4], ["all", "bare", "routers", "ssh://me@192.0.2.2"]);
        assert_eq!(names[4..], ["r1", "core", "inner"]);
        assert!(!names.concat().contains("canary"));
        assert_eq!(names_in("{"), ["all"]);
    }
}
