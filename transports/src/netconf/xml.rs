//! XML as a small tree: what comes from a device or from a user is read once, here, and what is sent
//! is written from such a tree, so that nothing from outside is ever pasted into a message.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::XmlError;

/// The namespace of NETCONF's own elements (RFC 6241, 3.1).
pub(crate) const BASE: &str = "urn:ietf:params:xml:ns:netconf:base:1.0";

/// How deep elements may lie in each other.
const DEEPEST: usize = 256;

/// An XML element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Element {
    /// Its name as it is written, with its prefix.
    name: String,
    /// The namespace that it is in.
    namespace: Option<String>,
    /// Its attributes as they are written, declarations of namespaces among them.
    attributes: Vec<(String, String)>,
    children: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Element(Element),
    Text(String),
}

impl Element {
    /// An empty element in the namespace of whatever it is put into.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// An empty element in a namespace, which it declares.
    pub fn within(namespace: &str, name: &str) -> Self {
        Self {
            namespace: Some(namespace.to_owned()),
            ..Self::new(name).attribute("xmlns", namespace)
        }
    }

    /// The same element with one more attribute.
    #[must_use]
    pub fn attribute(mut self, name: &str, value: &str) -> Self {
        self.attributes.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same element with one more text in it.
    #[must_use]
    pub fn text(mut self, text: &str) -> Self {
        self.children.push(Node::Text(text.to_owned()));
        self
    }

    /// The same element with more elements in it.
    #[must_use]
    pub fn with(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children
            .extend(children.into_iter().map(Node::Element));
        self
    }

    /// Its name without a prefix.
    pub fn name(&self) -> &str {
        local(&self.name)
    }

    /// The namespace that it is in, if any.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The value of an attribute, by its name as it is written.
    pub fn attribute_value(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        let (_, value) = attributes.find(|(own, _)| own == name)?;
        Some(value)
    }

    /// The prefixes that it declares, each with its namespace.
    pub(crate) fn prefixes(&self) -> impl Iterator<Item = (&str, &str)> {
        self.attributes.iter().filter_map(|(name, value)| {
            let prefix = name.strip_prefix("xmlns:")?;
            Some((prefix, value.as_str()))
        })
    }

    /// The elements directly in it.
    pub fn children(&self) -> impl Iterator<Item = &Self> {
        self.children.iter().filter_map(|node| match node {
            Node::Element(element) => Some(element),
            Node::Text(_) => None,
        })
    }

    /// The first element directly in it with this name, whatever its namespace.
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.children().find(|child| child.name() == name)
    }

    /// The first element at the end of a path of names.
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        let mut path = path.iter();
        path.try_fold(self, |element, name| element.child(name))
    }

    /// All text in it, without blanks around it.
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

    /// The same elements, with those that stand around others put together: one of a name takes in
    /// what lies in its like beside it, so many levels deep. A container may stand only once.
    #[must_use]
    pub fn joined(elements: Vec<Self>, levels: usize) -> Vec<Self> {
        if levels == 0 {
            return elements;
        }
        let mut joined: Vec<Self> = Vec::new();
        for element in elements {
            let is_like = |other: &&mut Self| {
                other.name == element.name && other.attributes == element.attributes
            };
            match joined.iter_mut().find(is_like) {
                Some(first) => first.children.extend(element.children),
                None => joined.push(element),
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
            let inside = Self::joined(inside.collect(), levels - 1);
            element
                .children
                .extend(inside.into_iter().map(Node::Element));
        }
        joined
    }

    /// The elements directly in it, as elements of their own.
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

    /// Declares the prefixes that are declared around it, so that it can stand elsewhere.
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

    /// Whether it is NETCONF's own element of this name. Some devices leave the namespace out.
    pub(crate) fn is_base(&self, name: &str) -> bool {
        self.name() == name && self.namespace().is_none_or(|namespace| namespace == BASE)
    }
}

/// A qualified name without its prefix.
fn local(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Whether an attribute declares a namespace.
fn is_declaration(name: &str) -> bool {
    name == "xmlns" || name.starts_with("xmlns:")
}
