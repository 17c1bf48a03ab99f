//! The configuration as a tree of elements.

use std::fmt::Write as _;

use super::schema::{Kind, Schema, Statement};

/// An element. The name of a list's entry is its first child, `name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) below: Vec<Self>,
}

impl Node {
    pub(super) fn new(name: &str) -> Self {
        Self::leaf(name, "")
    }

    pub(super) fn leaf(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            below: Vec::new(),
        }
    }

    /// The text of a child.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let mut below = self.below.iter();
        let child = below.find(|child| child.name == name)?;
        Some(&child.text)
    }

    /// The place of the child that is this statement: of a list, the entry with this name; of several values, this value.
    pub(super) fn position(&self, statement: &Statement, value: &str) -> Option<usize> {
        self.below.iter().position(|child| {
            child.name == statement.name
                && match statement.kind {
                    Kind::List { .. } => child.value("name") == Some(value),
                    Kind::Leaves => child.text == value,
                    _ => true,
                }
        })
    }

    /// The child that is this statement, which is made if it is not there. What it excludes goes.
    pub(super) fn entered(&mut self, statement: &Statement, value: &str) -> &mut Self {
        self.below
            .retain(|child| !statement.choice.contains(&child.name));
        let at = self.position(statement, value).unwrap_or_else(|| {
            let mut child = Self::new(&statement.name);
            if matches!(statement.kind, Kind::List { .. }) {
                child.below.push(Self::leaf("name", value));
            }
            self.below.push(child);
            self.below.len() - 1
        });
        let child = &mut self.below[at];
        match &statement.kind {
            Kind::Leaf | Kind::Leaves => value.clone_into(&mut child.text),
            Kind::Wrapped(inner) => child.below = vec![Self::leaf(inner, value)],
            Kind::Empty | Kind::Container { .. } | Kind::List { .. } => {}
        }
        child
    }

    /// Removes containers in which there is nothing, and which mean nothing then.
    pub(super) fn prune(&mut self, schema: &Schema) {
        for child in &mut self.below {
            if let Some(statement) = schema.get(&child.name) {
                child.prune(&statement.below);
            }
        }
        let is_nothing = |child: &Self| {
            let statement = schema.get(&child.name);
            let kind = statement.map(|statement| &statement.kind);
            kind == Some(&Kind::Container { is_kept: false }) && child.below.is_empty()
        };
        self.below.retain(|child| !is_nothing(child));
    }

    pub(super) fn to_xml(&self) -> String {
        let mut xml = String::new();
        self.write(&mut xml);
        xml
    }

    fn write(&self, xml: &mut String) {
        let is_root = self.name == "configuration";
        let namespace = " xmlns=\"http://xml.juniper.net/xnm/1.1/xnm\"";
        let _ = write!(
            xml,
            "<{}{}",
            self.name,
            if is_root { namespace } else { "" }
        );
        if self.text.is_empty() && self.below.is_empty() {
            xml.push_str("/>");
            return;
        }
        xml.push('>');
        for character in self.text.chars() {
            match character {
                '<' => xml.push_str("&lt;"),
                '>' => xml.push_str("&gt;"),
                '&' => xml.push_str("&amp;"),
                other => xml.push(other),
            }
        }
        for child in &self.below {
            child.write(xml);
        }
        let _ = write!(xml, "</{}>", self.name);
    }
}
