//! Builds nodes from parser events: resolves scalars, aliases and merges, and refuses what is not
//! supported.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag, options};

use super::extent::Extent;
use super::node::{KeyNode, Mapping, Node, NodeKind};
use super::{Error, scalar};
use crate::{Key, Value};

/// The maximum nesting depth of nodes: far beyond any file people write, well within any thread's stack.
const MAX_DEPTH: usize = 128;
/// The maximum number of nodes that aliases may add for each written node. It distinguishes reuse from an
/// attack.
const MAX_GROWTH: usize = 100;
/// The maximum number of nodes that aliases may add in all.
const MAX_COPIES: usize = 2_000_000;
/// The maximum number of bytes of text that aliases may add in all: a long text can be repeated with few
/// nodes.
const MAX_COPIED_TEXT: usize = 32 << 20;

pub(super) fn document(text: &str) -> Result<Node, Error> {
    let options = options! { emit_comments: false };
    let mut builder = Builder {
        events: Parser::new_from_str_with_options(text, options),
        anchors: HashMap::new(),
        keys: HashSet::new(),
        written: 0,
        copied: Extent::default(),
    };
    loop {
        match builder.next()? {
            (Event::StreamEnd, _) => {
                return Ok(Node::new(1, 1, NodeKind::Scalar(Value::Undef)));
            }
            (Event::DocumentStart(..), _) => break,
            _ => {}
        }
    }
    let first = builder.next()?;
    let root = builder.node(first, 0)?;
    loop {
        match builder.next()? {
            (Event::StreamEnd, _) => return Ok(root),
            (Event::DocumentStart(..), span) => {
                return Err(at(&span, "expected one document, found a second one"));
            }
            _ => {}
        }
    }
}

struct Builder<'t> {
    events: Parser<'t, StrInput<'t>>,
    anchors: HashMap<usize, Anchored>,
    /// The texts of all keys: a large document repeats a few of them.
    keys: HashSet<Arc<str>>,
    written: usize,
    copied: Extent,
}

/// The pairs of a mapping that is being read.
#[derive(Default)]
struct Pairs {
    list: Vec<(KeyNode, Node)>,
    /// The index of each key; filled once there are too many keys for a linear search.
    places: HashMap<Key, usize>,
}

/// The maximum number of keys that are searched linearly.
const FEW: usize = 16;

impl Pairs {
    fn find(&self, key: &Key) -> Option<usize> {
        if self.places.is_empty() {
            self.list.iter().position(|(known, _)| known.key == *key)
        } else {
            self.places.get(key).copied()
        }
    }

    fn push(&mut self, key: KeyNode, value: Node) {
        self.list.push((key, value));
        if self.list.len() > FEW {
            let new = self.places.len()..self.list.len();
            let keys = new.map(|at| (self.list[at].0.key.clone(), at));
            self.places.extend(keys);
        }
    }

    fn into_mapping(mut self) -> Mapping {
        self.list.shrink_to_fit();
        Mapping::new(self.list)
    }
}

struct Anchored {
    node: Node,
    extent: Extent,
}

impl<'t> Builder<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), Error> {
        match self.events.next() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let mark = error.marker();
                Err(
                    Error::new(super::error::plain_syntax(&error.kind().to_string()))
                        .at_mark(mark.line().max(1), mark.col() + 1),
                )
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// Counts a node, and refuses one that is nested too deeply.
    fn begin_node(&mut self, depth: usize, span: &Span) -> Result<(), Error> {
        if depth > MAX_DEPTH {
            return Err(at(
                span,
                format!("expected at most {MAX_DEPTH} levels of nesting"),
            ));
        }
        self.written += 1;
        Ok(())
    }

    fn node(&mut self, (event, span): (Event<'t>, Span), depth: usize) -> Result<Node, Error> {
        self.begin_node(depth, &span)?;
        let (anchor, kind) = match event {
            Event::Alias(anchor) => return self.alias(anchor, &span, depth),
            Event::Scalar(text, style, anchor, tag) => (
                anchor,
                NodeKind::Scalar(
                    scalar_value(&text, style, tag.as_deref(), &span)?
                        .unwrap_or_else(|| Value::String(text.into_owned())),
                ),
            ),
            Event::SequenceStart(_, anchor, tag) => {
                collection_tag(tag.as_deref(), "seq", &span)?;
                (anchor, NodeKind::Sequence(self.sequence(depth)?))
            }
            Event::MappingStart(_, anchor, tag) => {
                collection_tag(tag.as_deref(), "map", &span)?;
                (anchor, NodeKind::Mapping(self.mapping(depth)?))
            }
            _ => return Err(at(&span, "expected a value")),
        };
        let node = Node::new(span.start.line(), span.start.col() + 1, kind);
        if anchor != 0 {
            let extent = Extent::of(&node);
            self.copy(extent, &span)?;
            self.anchors.insert(
                anchor,
                Anchored {
                    node: node.clone(),
                    extent,
                },
            );
        }
        Ok(node)
    }

    fn sequence(&mut self, depth: usize) -> Result<Vec<Node>, Error> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => {
                    items.shrink_to_fit();
                    return Ok(items);
                }
                event => {
                    let item = self.node(event, depth + 1);
                    items.push(item.map_err(|error| error.item(items.len()))?);
                }
            }
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Mapping, Error> {
        let mut pairs = Pairs::default();
        let mut merge: Option<KeyNode> = None;
        // Keys that come only from a merge: the mapping's own keys replace them.
        let mut merged = HashSet::new();
        loop {
            let key = match self.next()? {
                (Event::MappingEnd, _) => return Ok(pairs.into_mapping()),
                event => self.key(event, depth + 1)?,
            };
            let event = self.next()?;
            let value = self
                .node(event, depth + 1)
                .map_err(|error| error.under(&key.key))?;
            if key.as_str() == Some("<<") && !matches!(value.kind, NodeKind::Scalar(_)) {
                for source in merge_sources(&value).map_err(|error| error.under(&key.key))? {
                    self.copy(Extent::default().with_pairs(source), &Span::default())
                        .map_err(|error| error.at_key(&key))?;
                    for (key, value) in source.pairs() {
                        if pairs.find(&key.key).is_none() {
                            merged.insert(key.key.clone());
                            pairs.push(key.clone(), value.clone());
                        }
                    }
                }
                if let Some(first) = merge.replace(key.clone()) {
                    return Err(duplicate(&first, &key));
                }
                continue;
            }
            match pairs.find(&key.key) {
                None => pairs.push(key, value),
                Some(at) if merged.remove(&key.key) => pairs.list[at] = (key, value),
                Some(at) => return Err(duplicate(&pairs.list[at].0, &key)),
            }
        }
    }

    /// Reads a key: a text or an integer. Keys such as `on` and `1.5` are the texts as they are written.
    fn key(&mut self, (event, span): (Event<'t>, Span), depth: usize) -> Result<KeyNode, Error> {
        let (line, column) = (span.start.line(), span.start.col() + 1);
        let (value, written) = match event {
            Event::Scalar(text, style, 0, tag) => {
                self.begin_node(depth, &span)?;
                (scalar_value(&text, style, tag.as_deref(), &span)?, text)
            }
            // An anchor or an alias, or no scalar.
            event => {
                let written = match &event {
                    Event::Scalar(text, ..) => text.clone(),
                    _ => Cow::default(),
                };
                let node = self.node((event, span), depth)?;
                match node.kind {
                    NodeKind::Scalar(Value::String(text)) => (None, text.into()),
                    NodeKind::Scalar(value) => (Some(value), written),
                    NodeKind::Sequence(_) | NodeKind::Mapping(_) => {
                        return Err(at(&span, node.mismatch("a key that is a text")));
                    }
                }
            }
        };
        let key = match value {
            Some(Value::Integer(number)) => Key::Integer(number),
            // A missing key, as in `: value`.
            Some(Value::Undef) => return Err(at(&span, "expected a key, found nothing")),
            _ => Key::String(self.shared(&written)),
        };
        Ok(KeyNode::new(line, column, key))
    }

    /// Returns the text of a key. Equal texts are shared.
    fn shared(&mut self, text: &str) -> Arc<str> {
        if let Some(key) = self.keys.get(text) {
            return Arc::clone(key);
        }
        let key: Arc<str> = text.into();
        self.keys.insert(Arc::clone(&key));
        key
    }

    fn alias(&mut self, anchor: usize, span: &Span, depth: usize) -> Result<Node, Error> {
        let Some(anchored) = self.anchors.get(&anchor) else {
            return Err(at(
                span,
                "expected an alias of something complete, found one of its own parent",
            ));
        };
        let extent = anchored.extent;
        if depth + extent.height > MAX_DEPTH {
            return Err(at(
                span,
                format!("expected at most {MAX_DEPTH} levels of nesting"),
            ));
        }
        self.copy(extent, span)?;
        Ok(self.anchors[&anchor].node.clone())
    }

    /// Accounts for nodes that an alias copies, before they are copied.
    fn copy(&mut self, extent: Extent, span: &Span) -> Result<(), Error> {
        self.copied.nodes += extent.nodes;
        self.copied.text += extent.text;
        let most = MAX_COPIES.min(10_000 + MAX_GROWTH * self.written);
        if self.copied.nodes > most || self.copied.text > MAX_COPIED_TEXT {
            return Err(at(span, "the document grows too much by its aliases"));
        }
        Ok(())
    }
}

fn merge_sources(value: &Node) -> Result<Vec<&Mapping>, Error> {
    let mapping = |node: &Node| node.error(node.mismatch("a mapping to merge"));
    match &value.kind {
        NodeKind::Sequence(items) => items
            .iter()
            .enumerate()
            .map(|(index, item)| item.as_mapping().ok_or_else(|| mapping(item).item(index)))
            .collect(),
        _ => Ok(vec![value.as_mapping().ok_or_else(|| mapping(value))?]),
    }
}

fn duplicate(first: &KeyNode, second: &KeyNode) -> Error {
    let (line, column) = (first.line, first.column);
    let message = format!("duplicate key, first given at line {line}, column {column}");
    second.error(message).under(&second.key)
}

/// Returns the value of a scalar, or `None` if it is the text itself.
fn scalar_value(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    span: &Span,
) -> Result<Option<Value>, Error> {
    let meant = || scalar::plain(text);
    let Some(tag) = tag else {
        return Ok((style == ScalarStyle::Plain).then(meant).flatten());
    };
    let value = match (tag.core_suffix(), meant()) {
        (Some("str"), _) => return Ok(None),
        (Some("int"), Some(value @ Value::Integer(_))) => value,
        (Some("bool"), Some(value @ Value::Boolean(_))) => value,
        (Some("null"), Some(value @ Value::Undef)) => value,
        (Some("float"), Some(value @ Value::Float(_))) => value,
        (Some("float"), Some(Value::Integer(number))) => Value::Float(number as f64),
        (Some(name @ ("int" | "bool" | "null" | "float")), _) => {
            return Err(at(
                span,
                format!("expected what the tag !!{name} says, found another kind"),
            ));
        }
        _ => return Err(unknown_tag(span)),
    };
    Ok(Some(value))
}

fn collection_tag(tag: Option<&Tag>, expected: &str, span: &Span) -> Result<(), Error> {
    match tag {
        Some(tag) if tag.core_suffix() != Some(expected) => Err(unknown_tag(span)),
        _ => Ok(()),
    }
}

/// Returns the error for an unknown tag. It does not quote the tag, which may be a secret: a password that
/// begins with `!` and is not quoted.
fn unknown_tag(span: &Span) -> Error {
    let message = "unknown tag, expected none or !!str, !!int, !!float, !!bool, !!null, !!seq, \
                   !!map; a text that begins with `!` needs quotes";
    let mark = span.tag_start().unwrap_or(span.start);
    Error::new(message).at_mark(mark.line(), mark.col() + 1)
}

fn at(span: &Span, message: impl Into<String>) -> Error {
    Error::new(message).at_mark(span.start.line(), span.start.col() + 1)
}
