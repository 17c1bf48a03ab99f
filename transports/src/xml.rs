//! Parsing XML answers into a tree. The inspected documents are small, and their elements come in any order.

use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

/// The maximum number of attributes of an element.
const MAX_ATTRIBUTES: usize = 1000;

/// The maximum depth of nested elements: dropping a tree is recursive.
const MAX_DEPTH: usize = 256;

/// An element without namespaces, because peers choose prefixes freely.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Element {
    /// Its name without the prefix.
    pub(crate) name: String,
    /// Its attributes except namespace declarations, with names without prefixes.
    pub(crate) attributes: Vec<(String, String)>,
    /// The text directly in it.
    pub(crate) text: String,
    /// The elements directly in it.
    pub(crate) children: Vec<Self>,
}

impl Element {
    /// Parses a document. Returns `None` if it is malformed, and no details, because it may contain secrets.
    pub(crate) fn read(document: &str) -> Option<Self> {
        let mut reader = Reader::from_str(document);
        // The outermost element is the child of one that represents the document.
        let mut open = vec![Self::default()];
        loop {
            match reader.read_event().ok()? {
                Event::Start(start) => {
                    open.push(Self::opened_by(&start)?);
                    if open.len() > MAX_DEPTH {
                        return None;
                    }
                }
                Event::Empty(start) => open.last_mut()?.children.push(Self::opened_by(&start)?),
                Event::End(_) => {
                    let closed = open.pop()?;
                    open.last_mut()?.children.push(closed);
                }
                Event::Text(text) => open.last_mut()?.text.push_str(&text.xml10_content()),
                Event::CData(text) => open.last_mut()?.text.push_str(&text.xml10_content()),
                Event::GeneralRef(entity) => {
                    let text = &mut open.last_mut()?.text;
                    match entity.resolve_char_ref().ok()? {
                        Some(character) => text.push(character),
                        None => text.push_str(resolve_predefined_entity(&entity.xml10_content())?),
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        let mut document = open.pop().filter(|_| open.is_empty())?;
        (document.children.len() == 1).then(|| document.children.remove(0))
    }

    fn opened_by(start: &BytesStart<'_>) -> Option<Self> {
        let declares = |attribute: &Attribute<'_>| attribute.key.as_namespace_binding().is_some();
        // Each attribute is compared with all earlier ones.
        let mut counted = start.attributes();
        if counted.with_checks(false).nth(MAX_ATTRIBUTES).is_some() {
            return None;
        }
        let attributes = start
            .attributes()
            .filter(|attribute| !attribute.as_ref().is_ok_and(declares));
        let attributes = attributes.map(|attribute| {
            let attribute = attribute.ok()?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0).ok()?;
            let name = attribute.key.local_name().into_inner().to_owned();
            Some((name, value.into_owned()))
        });
        Some(Self {
            name: start.local_name().into_inner().to_owned(),
            attributes: attributes.collect::<Option<_>>()?,
            ..Self::default()
        })
    }

    /// Returns the first element at a path of names below this one: `result/job`.
    pub(crate) fn at(&self, path: &str) -> Option<&Self> {
        path.split('/').try_fold(self, |element, name| {
            element.children.iter().find(|child| child.name == name)
        })
    }

    /// Returns the child elements with a name.
    pub(crate) fn all<'e>(&'e self, name: &'e str) -> impl Iterator<Item = &'e Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// Returns the first element with a name: this one or a descendant.
    pub(crate) fn find(&self, name: &str) -> Option<&Self> {
        if self.name == name {
            return Some(self);
        }
        self.children.iter().find_map(|child| child.find(name))
    }

    /// Returns the trimmed text at a path below this element; `None` if there is none.
    pub(crate) fn text_at_path(&self, path: &str) -> Option<&str> {
        let text = self.at(path)?.text.trim();
        (!text.is_empty()).then_some(text)
    }

    /// Returns the value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let named = self.attributes.iter().find(|(key, _)| key == name);
        named.map(|(_, value)| value.as_str())
    }

    /// Returns all texts in it and its descendants, one on each line.
    pub(crate) fn texts(&self) -> String {
        let mut texts = Vec::new();
        self.collect(&mut texts);
        texts.join("\n")
    }

    fn collect<'e>(&'e self, texts: &mut Vec<&'e str>) {
        texts.extend(Some(self.text.trim()).filter(|text| !text.is_empty()));
        self.children.iter().for_each(|child| child.collect(texts));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_read_without_its_prefixes() {
        let read = Element::read(
            "<?xml version='1.0'?><!-- c --><x:a xmlns:x='urn:x'><b n='1 &amp; 2'/>\
             <x:c> one &lt; <![CDATA[<two>]]>&#33;</x:c></x:a>\n",
        )
        .expect("it is XML");
        assert_eq!(read.name, "a");
        assert_eq!(read.at("b").and_then(|b| b.attribute("n")), Some("1 & 2"));
        assert_eq!(read.text_at_path("c"), Some("one < <two>!"));
        assert_eq!(read.find("c"), read.at("c"));
        assert_eq!(read.texts(), "one < <two>!");
    }

    #[test]
    fn what_is_no_document_is_none() {
        for text in [
            "",
            "text",
            "<a>",
            "<a></b>",
            "<a/><b/>",
            "<a>&x;</a>",
            "{\"a\": 1}",
        ] {
            assert_eq!(Element::read(text), None, "{text}");
        }
        let many: String = (0..=MAX_ATTRIBUTES).map(|n| format!(" a{n}=''")).collect();
        assert_eq!(Element::read(&format!("<a{many}/>")), None);
        let deep = "<a>".repeat(100_000) + &"</a>".repeat(100_000);
        assert_eq!(Element::read(&deep), None);
    }
}
