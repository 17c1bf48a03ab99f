//! Finds plain secrets in files that other users may read.

use std::path::Path;

use devgate_schemas::is_secret_name;
use devgate_schemas::yaml::Node;
use devgate_transports::permissions::others_may_read;

/// Finds a plain secret and its name. Returns `None` when no other user may read the file.
pub(super) fn secret_in<'n>(file: &Path, root: &'n Node) -> Option<(&'n Node, String)> {
    if others_may_read(file) {
        find(root)
    } else {
        None
    }
}

fn find(node: &Node) -> Option<(&Node, String)> {
    if let Some(items) = node.as_sequence() {
        return items.iter().find_map(find);
    }
    let mapping = node.as_mapping()?;
    mapping.iter().find_map(|(key, value)| {
        let name = key.as_str().unwrap_or_default();
        match value.as_str() {
            Some(text) if is_secret(name, text) => Some((value, name.to_owned())),
            Some(_) => None,
            None => find(value),
        }
    })
}

/// Whether a text is a secret: by its name, unless it is the path of a key, or because it is a URL with a password.
fn is_secret(name: &str, text: &str) -> bool {
    if text.is_empty() {
        return false;
    }
    let is_key = name.to_lowercase().contains("key");
    if is_secret_name(name) && (!is_key || text.contains("-----BEGIN ")) {
        return true;
    }
    let rest = text.split_once("://").map(|(_, rest)| rest);
    let user = rest.and_then(|rest| rest.split('/').next()?.rsplit_once('@'));
    name == "uri" && user.is_some_and(|(user, _)| user.contains(':'))
}

#[cfg(test)]
mod tests {
    use devgate_schemas::yaml;

    use super::*;

    #[test]
    fn a_secret_is_found_wherever_it_stands_and_neither_a_path_nor_a_reference_is_one() {
        for (text, found) in [
            (
                "targets: [{uri: a, config: {remote: {password: x}}}]",
                Some("password"),
            ),
            ("targets: [{uri: 'ssh://me:x@a'}]", Some("uri")),
            ("targets: [{uri: 'ssh://me@a:22/x'}]", None),
            ("config: {ssh: {password: {_plugin: prompt}}}", None),
            ("config: {ssh: {private-key: ~/.ssh/id_ed25519}}", None),
            (
                "config: {ssh: {private-key: {key-data: '-----BEGIN x'}}}",
                Some("key-data"),
            ),
            ("config: {remote: {user: me, port: 22}}", None),
        ] {
            let root = yaml::parse(text).expect("YAML");
            let name = find(&root).map(|(_, name)| name);
            assert_eq!(name.as_deref(), found, "{text}");
        }
    }
}
