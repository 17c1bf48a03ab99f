//! Reading XML: strict syntax, without the parts that NETCONF forbids (RFC 6241, 3).

use std::borrow::Cow;
use std::fmt;

use quick_xml::XmlVersion;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::attributes::Attribute;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{Namespace, PrefixDeclaration, QName, ResolveResult};
use quick_xml::reader::NsReader;

use super::{BASE, Element, MAX_DEPTH, Node};

/// The maximum number of attributes of an element.
const MOST_ATTRIBUTES: usize = 1000;

/// The XML version whose rules apply to attributes.
const VERSION: XmlVersion = XmlVersion::Explicit1_0;

/// An error in an XML text. It quotes no text and no value, because these may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XmlError {
    problem: String,
    line: usize,
}

impl fmt::Display for XmlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (line {})", self.problem, self.line)
    }
}

impl Element {
    /// Parses a document: one element, with at most an XML declaration and comments around it.
    pub(crate) fn parse(text: &str) -> Result<Self, XmlError> {
        Self::only(text, Reader::new(text))
    }

    /// Parses a device's document leniently, because its mistakes are no reason to abandon the device. A name with
    /// an undeclared prefix has no namespace, an unknown entity becomes `\u{fffd}`, and an unclosed element ends
    /// with its parent (Junos sent such text about its routing engines after a commit).
    pub(crate) fn received(text: &str) -> Result<Self, XmlError> {
        let mut reader = Reader::new(text);
        reader.is_lenient = true;
        let config = reader.xml.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        Self::only(text, reader)
    }

    fn only(text: &str, reader: Reader<'_>) -> Result<Self, XmlError> {
        let mut roots = reader.read()?.into_iter();
        match (roots.next(), roots.next()) {
            (Some(root), None) => Ok(root),
            (None, _) => Err(XmlError::new("it has no element", text, text.len())),
            (_, Some(_)) => Err(XmlError::new(
                "it has more than one outermost element",
                text,
                text.len(),
            )),
        }
    }

    /// Parses elements that a user wrote for a message: any number, side by side. The prefix `nc` is
    /// NETCONF's own, for attributes such as `nc:operation`.
    ///
    /// # Errors
    /// Fails when the text is malformed.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, XmlError> {
        let mut reader = Reader::new(text);
        let resolver = reader.xml.resolver_mut();
        resolver
            .add(PrefixDeclaration::Named("nc"), Namespace(BASE))
            .expect("the prefix is free");
        let mut elements = reader.read()?;
        for element in &mut elements {
            if element.namespace.is_none() && element.attribute_value("xmlns").is_none() {
                // It must stay without a namespace, even inside of a message with a default namespace.
                element.attributes.push(("xmlns".into(), String::new()));
            }
            element.declare_also(&[("xmlns:nc".into(), BASE.into())]);
        }
        Ok(elements)
    }
}

/// The parser's state: the open elements, outermost first.
struct Reader<'t> {
    text: &'t str,
    is_lenient: bool,
    xml: NsReader<&'t [u8]>,
    open: Vec<Element>,
    roots: Vec<Element>,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Self {
        // A byte order mark has no meaning here: the text is UTF-8.
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let mut xml = NsReader::from_str(text);
        let config = xml.config_mut();
        config.expand_empty_elements = true;
        Self {
            text,
            is_lenient: false,
            xml,
            open: Vec::new(),
            roots: Vec::new(),
        }
    }

    fn read(mut self) -> Result<Vec<Element>, XmlError> {
        loop {
            let event = match self.xml.read_event() {
                Ok(event) => event,
                Err(error) => return Err(self.error(&plain(&error))),
            };
            match event {
                Event::Start(start) => self.start(&start)?,
                Event::End(end) => self.end(end.name().into_inner().trim_end()),
                Event::Text(text) => self.text(&text.xml10_content())?,
                Event::CData(text) => self.text(&text.xml10_content())?,
                Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                    Ok(Some(c)) if self.is_lenient && c.is_control() && !"\t\n\r".contains(c) => {
                        self.text("\u{fffd}")?;
                    }
                    Ok(Some(character)) => self.text(character.encode_utf8(&mut [0; 4]))?,
                    Ok(None) => match resolve_predefined_entity(&reference) {
                        Some(text) => self.text(text)?,
                        None if self.is_lenient => self.text("\u{fffd}")?,
                        None => return Err(self.error("it names an entity that XML does not have")),
                    },
                    Err(_) => return Err(self.error("it names a character that does not exist")),
                },
                Event::DocType(_) => {
                    return Err(self.error("it has a DOCTYPE, which NETCONF forbids"));
                }
                Event::Empty(_) | Event::Comment(_) | Event::PI(_) | Event::Decl(_) => {}
                Event::Eof if self.open.is_empty() => return Ok(self.roots),
                Event::Eof => return Err(self.error("it ends inside of an element")),
            }
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), XmlError> {
        if self.open.len() == MAX_DEPTH {
            return Err(self.error("its elements lie too deep in each other"));
        }
        let name = self.name(start.name())?;
        let namespace = match self.xml.resolver().resolve_element(start.name()).0 {
            ResolveResult::Bound(Namespace(namespace)) => {
                // The resolver returns it as written, with entities and line ends.
                let declaration = Attribute {
                    key: QName("xmlns"),
                    value: Cow::Borrowed(namespace),
                };
                let namespace = declaration.normalized_value(VERSION);
                let namespace =
                    namespace.map_err(|_| self.error("a namespace's name is malformed"))?;
                Some(namespace.into_owned()).filter(|namespace| !namespace.is_empty())
            }
            ResolveResult::Unbound => None,
            ResolveResult::Unknown(_) if self.is_lenient => None,
            ResolveResult::Unknown(prefix) => return Err(self.undeclared(&prefix)),
        };
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            // Each attribute is compared with all earlier ones.
            if attributes.len() == MOST_ATTRIBUTES {
                return Err(self.error("an element has too many attributes"));
            }
            let attribute = attribute.map_err(|_| self.error("an attribute is malformed"))?;
            if !self.is_lenient
                && attribute.key.as_namespace_binding().is_none()
                && let ResolveResult::Unknown(prefix) =
                    self.xml.resolver().resolve_attribute(attribute.key).0
            {
                return Err(self.undeclared(&prefix));
            }
            let value = attribute.normalized_value(VERSION);
            let value = value.map_err(|_| self.error("an attribute's value is malformed"))?;
            attributes.push((self.name(attribute.key)?, value.into_owned()));
        }
        self.open.push(Element {
            name,
            namespace,
            attributes,
            children: Vec::new(),
        });
        Ok(())
    }

    fn end(&mut self, name: &str) {
        // It is the innermost element if the reader checks end names.
        let Some(at) = self.open.iter().rposition(|open| open.name == name) else {
            return;
        };
        while self.open.len() > at {
            let element = self.open.pop().expect("it is open");
            match self.open.last_mut() {
                Some(parent) => parent.children.push(Node::Element(element)),
                None => self.roots.push(element),
            }
        }
    }

    fn text(&mut self, text: &str) -> Result<(), XmlError> {
        if text
            .chars()
            .any(|c| c.is_control() && !"\t\n\r".contains(c) && c < '\u{80}')
        {
            return Err(self.error("it holds a control character"));
        }
        let Some(element) = self.open.last_mut() else {
            return if text.trim().is_empty() {
                Ok(())
            } else {
                Err(self.error("there is text outside of its elements"))
            };
        };
        match element.children.last_mut() {
            _ if text.is_empty() => {}
            Some(Node::Text(before)) => before.push_str(text),
            _ => element.children.push(Node::Text(text.to_owned())),
        }
        Ok(())
    }

    /// Checks a name and returns it as written. The reader itself accepts nearly anything.
    fn name(&self, name: QName<'_>) -> Result<String, XmlError> {
        let name = name.into_inner();
        let is_part = |part: &str| {
            let mut characters = part.chars();
            let starts = |c: char| c.is_alphabetic() || c == '_';
            let follows = |c: char| c.is_alphanumeric() || "_-.\u{b7}".contains(c);
            characters.next().is_some_and(starts) && characters.all(follows)
        };
        let is_name = match name.split_once(':') {
            Some((prefix, local)) => is_part(prefix) && is_part(local),
            None => is_part(name),
        };
        if is_name {
            Ok(name.to_owned())
        } else {
            Err(self.error("a name has characters that no name can have"))
        }
    }

    fn undeclared(&self, prefix: &str) -> XmlError {
        self.error(&format!("the prefix `{prefix}` is not declared"))
    }

    fn error(&self, problem: &str) -> XmlError {
        let at = usize::try_from(self.xml.buffer_position()).unwrap_or(usize::MAX);
        XmlError::new(problem, self.text, at)
    }
}

impl XmlError {
    fn new(problem: &str, text: &str, at: usize) -> Self {
        let before = &text.as_bytes()[..at.min(text.len())];
        Self {
            problem: problem.to_owned(),
            line: 1 + before.iter().filter(|byte| **byte == b'\n').count(),
        }
    }
}

/// Returns the reader's message if it quotes nothing but names.
fn plain(error: &quick_xml::Error) -> String {
    match error {
        quick_xml::Error::Syntax(error) => error.to_string(),
        quick_xml::Error::IllFormed(error) => error.to_string(),
        quick_xml::Error::Namespace(_) => "a namespace is declared in a wrong way".to_owned(),
        _ => "it is no well-formed XML".to_owned(),
    }
}
