//! XML as a small tree. Input from devices and users is parsed once, here, and output is written from
//! such a tree, so that no external text is ever inserted into a message unescaped.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::XmlError;

/// The namespace of NETCONF's own elements (RFC 6241, 3.1).
pub(crate) const BASE: &str = "urn:ietf:params:xml:ns:netconf:base:1.0";

/// The maximum depth of nested elements.
const MAX_DEPTH: usize = 256;

/// An XML element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its qualified name, as written.
    name: String,
    /// Its namespace, if any.
    namespace: Option<String>,
    /// Its attributes as written, including namespace declarations.
    attributes: Vec<(String, String)>,
    children: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Element(Element),
    Text(String),
}

impl Element {
    /// Creates an empty element in the namespace of its later parent.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Creates an empty element in a namespace, which it declares.
    pub fn in_namespace(namespace: &str, name: &str) -> Self {
        Self {
            namespace: Some(namespace.to_owned()),
            ..Self::new(name).attribute("xmlns", namespace)
        }
    }

    /// Adds an attribute.
    #[must_use]
    pub fn attribute(mut self, name: &str, value: &str) -> Self {
        self.attributes.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a text.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.children.push(Node::Text(text.to_owned()));
        self
    }

    /// Adds child elements.
    #[must_use]
    pub fn with(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children
            .extend(children.into_iter().map(Node::Element));
        self
    }

    /// Returns its name without the prefix.
    pub fn name(&self) -> &str {
        local(&self.name)
    }

    /// Returns its namespace, if any.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Returns the value of an attribute, by its name as written.
    pub fn attribute_value(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        let (_, value) = attributes.find(|(own, _)| own == name)?;
        Some(value)
    }

    /// Returns the prefixes that it declares, each with its namespace.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.iter().filter_map(|(name, value)| {
            let prefix = name.strip_prefix("xmlns:")?;
            Some((prefix, value.as_str()))
        })
    }

    /// Returns its child elements.
    pub fn children(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// Returns its first child element with this name, in any namespace.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children().find(|child| child.name() == name)
    }

    /// Returns the first element at the end of a path of names.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        let mut path = path.iter();
        path.try_fold(self, |element, name| element.child(name))
    }

    /// Returns all text in it, trimmed.
    pub fn content(&self) -> String {
        let mut text = String::new();
        self.collect_text(&mut text);
        text.trim().to_owned()
    }

    fn collect_text(&self, text: &mut String) {
        for node in &self.children {
            match node {
                Node::Text(part) => text.push_str(part),
                Node::Element(element) => element.collect_text(text),
            }
        }
    }

    /// Merges elements with equal names and attributes among siblings, down to this many levels: the first takes
    /// the children of the others. A container may occur only once. Entries of a list stay apart if a key
    /// differs; every leaf may be a key, except those with the name `own`, which are below all levels.
    #[must_use]
    pub fn joined(elements: Vec<Self>, levels: usize, own: &str) -> Vec<Self> {
        if levels == 0 {
            return elements;
        }
        let mut joined: Vec<Self> = Vec::new();
        for element in elements {
            match joined.iter_mut().find(|other| other.is_same(&element, own)) {
                None => joined.push(element),
                Some(first) => {
                    for node in element.children {
                        let is_leaf = matches!(&node, Node::Element(child) if child.is_leaf());
                        if !(is_leaf && first.children.contains(&node)) {
                            first.children.push(node);
                        }
                    }
                }
            }
        }
        for element in &mut joined {
            let (inside, rest) = std::mem::take(&mut element.children)
                .into_iter()
                .partition::<Vec<_>, _>(|node| matches!(node, Node::Element(_)));
            let inside = inside.into_iter().filter_map(|node| match node {
                Node::Element(element) => Some(element),
                Node::Text(_) => None,
            });
            element.children = rest;
            let inside = Self::joined(inside.collect(), levels - 1, own);
            element
                .children
                .extend(inside.into_iter().map(Node::Element));
        }
        joined
    }

    /// Whether it has a text and no elements.
    fn is_leaf(&self) -> bool {
        self.children().next().is_none() && !self.content().is_empty()
    }

    /// Whether another element is the same container, or the same entry of a list.
    fn is_same(&self, other: &Self, own: &str) -> bool {
        let values = |element: &Self, name: &str| -> Vec<String> {
            let leaves = element.children().filter(|child| child.is_leaf());
            let leaves = leaves.filter(|child| child.name() == name);
            leaves.map(Self::content).collect()
        };
        let mut leaves = self.children().filter(|child| child.is_leaf());
        let is_like = self.name == other.name && self.attributes == other.attributes;
        is_like
            && !self.is_leaf()
            && !other.is_leaf()
            && leaves.all(|leaf| {
                let theirs = values(other, leaf.name());
                leaf.name() == own || theirs.is_empty() || theirs == values(self, leaf.name())
            })
    }

    /// Returns its child elements as independent elements.
    pub fn into_children(self) -> Vec<Self> {
        let declared = self.attributes;
        let elements = self.children.into_iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        });
        let elements = elements.map(|mut element| {
            element.declare_also(&declared);
            element
        });
        elements.collect()
    }

    /// Adds the namespace declarations of a surrounding element, so that this one can be used elsewhere.
    pub(crate) fn taken_from(mut self, around: &Self) -> Self {
        self.declare_also(&around.attributes);
        self
    }

    fn declare_also(&mut self, attributes: &[(String, String)]) {
        let declarations = attributes.iter().filter(|(name, _)| is_declaration(name));
        for (name, value) in declarations {
            if self.attribute_value(name).is_none() {
                self.attributes.push((name.clone(), value.clone()));
            }
        }
    }

    /// Returns whether it is NETCONF's own element of this name. Some devices omit the namespace.
    pub(crate) fn is_base(&self, name: &str) -> bool {
        self.name() == name && self.namespace().is_none_or(|namespace| namespace == BASE)
    }
}

/// Returns a qualified name without its prefix.
fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Returns whether an attribute declares a namespace.
fn is_declaration(name: &str) -> bool {
    name == "xmlns" || name.starts_with("xmlns:")
}
