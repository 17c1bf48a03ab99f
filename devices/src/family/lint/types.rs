//! Attributes that nobody reads or writes, and what a type leaves undescribed.

use super::{Lint, form, mentions, texts_in};
use crate::file_node::FileNode;

impl Lint<'_> {
    /// Finds attributes that no source reads, and those that no change writes.
    pub(super) fn read_and_written(&mut self, top: &FileNode<'_>) {
        let (Some(form), Some(attributes)) = (form(top), top.get("attributes")) else {
            return;
        };
        let sources = form.get("get");
        let sources = sources.iter().flat_map(FileNode::items);
        let (with, without): (Vec<_>, Vec<_>) =
            sources.partition(|get| get.get("resource").is_some());
        let resources: Vec<FileNode<'_>> =
            with.iter().filter_map(|get| get.get("resource")).collect();
        let read = |name: &str| {
            resources
                .iter()
                .any(|resource| resource.get(name).is_some())
        };
        let items = form.get("lines");
        let items: Vec<FileNode<'_>> = items.iter().flat_map(FileNode::items).collect();
        // Without a template, the lines are read from the same patterns.
        let read_line = |name: &str| {
            let named =
                |item: &FileNode<'_>| item.get("attribute")?.node().as_str().map(str::to_owned);
            let mut items = items.iter().filter(|item| {
                let mut keys = ["line", "flag", "each", "read"].into_iter();
                keys.any(|key| item.get(key).is_some())
            });
            items.any(|item| named(item).as_deref() == Some(name))
        };
        let written = texts_in(form.node(), &["get", "texts"]);
        let writes_all = written.contains("should.items") || written.contains("in should");
        for (name, attribute) in attributes.pairs(&mut Vec::new()) {
            let behaviour = attribute.get("behaviour");
            let behaviour = behaviour
                .and_then(|it| it.node().as_str())
                .unwrap_or("property");
            if name == "ensure" || behaviour == "namevar" {
                continue;
            }
            let is_read = read(name) || !without.is_empty() && read_line(name);
            if !is_read && behaviour != "parameter" {
                let message = format!(
                    "no `get` reads `{name}`, so every run would set it: read it, or declare `behaviour: parameter`"
                );
                self.found("not-read", &attribute, message);
            }
            if behaviour != "read_only" && !writes_all && !mentions(&written, name) {
                let message = format!(
                    "no change writes `{name}`: write it, or declare `behaviour: read_only`"
                );
                self.found("not-written", &attribute, message);
            }
        }
    }

    /// Finds what a type leaves undescribed.
    pub(super) fn described(&mut self, top: &FileNode<'_>) {
        let attributes = top.get("attributes");
        let attributes = attributes.iter().flat_map(|all| all.pairs(&mut Vec::new()));
        for (name, attribute) in attributes {
            if name != "ensure" && attribute.get("desc").is_none() {
                let message = format!("`{name}` has no `desc`: say in a sentence what it is");
                self.found("no-example", &attribute, message);
            }
        }
        if top.get("example").is_none() {
            let message = "there is no `example`: `type show` and messages about titles show it \
                           (`example: { TITLE: { attribute: value } }`)";
            self.found("no-example", top, message);
        }
    }
}
