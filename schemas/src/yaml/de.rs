//! A serde deserializer for nodes. Every error has the place and the key path of the node where it arose.

use serde::de::value::{BorrowedStrDeserializer, StrDeserializer};
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::Error;
use super::node::{KeyNode, Mapping, Node, NodeKind};
use crate::{Key, Value};

/// Deserializes from a node.
#[derive(Clone, Copy)]
pub(super) struct NodeDeserializer<'de>(pub(super) &'de Node);

impl<'de> NodeDeserializer<'de> {
    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.0.kind {
            NodeKind::Scalar(value) => match value {
                Value::Undef => visitor.visit_unit(),
                Value::Boolean(truth) => visitor.visit_bool(*truth),
                Value::Integer(number) => visitor.visit_i64(*number),
                Value::Float(number) => visitor.visit_f64(*number),
                Value::String(text) | Value::Symbol(text) => visitor.visit_borrowed_str(text),
                Value::Array(_) | Value::Hash(_) | Value::Sensitive(_) => {
                    unreachable!("the parser makes scalars of single values only")
                }
            },
            NodeKind::Sequence(items) => visitor.visit_seq(Items { items, next: 0 }),
            NodeKind::Mapping(mapping) => visitor.visit_map(Pairs::new(mapping)),
        }
    }
}

impl<'de> Deserializer<'de> for NodeDeserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.visit(visitor).map_err(|error| error.at(self.0))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_undef() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
        .map_err(|error: Error| error.at(self.0))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor
            .visit_newtype_struct(self)
            .map_err(|error| error.at(self.0))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.0.kind {
            // serde would accept a list for a struct, field by field, which no document here intends.
            NodeKind::Sequence(_) => Err(de::Error::invalid_type(de::Unexpected::Seq, &visitor)),
            _ => self.visit(visitor),
        }
        .map_err(|error| error.at(self.0))
    }

    /// Deserializes an enum: a unit variant is a text, any other variant is a mapping with one key.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match &self.0.kind {
            NodeKind::Scalar(Value::String(text)) => {
                visitor.visit_enum(BorrowedStrDeserializer::new(text))
            }
            NodeKind::Mapping(mapping) if mapping.len() == 1 => {
                visitor.visit_enum(Variant(Pairs::new(mapping)))
            }
            _ => Err(self.0.error(self.0.mismatch("a choice by name"))),
        }
        .map_err(|error| error.at(self.0))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

struct Items<'de> {
    items: &'de [Node],
    next: usize,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Error> {
        let Some(item) = self.items.get(self.next) else {
            return Ok(None);
        };
        let index = self.next;
        self.next += 1;
        seed.deserialize(NodeDeserializer(item))
            .map(Some)
            .map_err(|error| error.at(item).item(index))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len() - self.next)
    }
}

struct Pairs<'de> {
    pairs: std::slice::Iter<'de, (KeyNode, Node)>,
    value: Option<(&'de Key, &'de Node)>,
}

impl<'de> Pairs<'de> {
    fn new(mapping: &'de Mapping) -> Self {
        Self {
            pairs: mapping.pairs(),
            value: None,
        }
    }
}

impl<'de> MapAccess<'de> for Pairs<'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Error> {
        let Some((key, value)) = self.pairs.next() else {
            return Ok(None);
        };
        self.value = Some((&key.key, value));
        seed.deserialize(KeyDeserializer(&key.key))
            .map(Some)
            .map_err(|error: Error| error.at_key(key))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Error> {
        let (key, value) = self
            .value
            .take()
            .expect("serde asks for a value after its key");
        seed.deserialize(NodeDeserializer(value))
            .map_err(|error| error.at(value).under(key))
    }
}

/// Deserializes from a key: an integer if the type is left open, a text if a text is wanted.
struct KeyDeserializer<'de>(&'de Key);

impl<'de> KeyDeserializer<'de> {
    fn text<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Key::String(text) => visitor.visit_borrowed_str(text),
            Key::Integer(number) => visitor.visit_string(number.to_string()),
        }
    }
}

impl<'de> Deserializer<'de> for KeyDeserializer<'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Key::String(text) => visitor.visit_borrowed_str(text),
            Key::Integer(number) => visitor.visit_i64(*number),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.text(visitor)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.text(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.text(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let text = self.0.to_string();
        visitor.visit_enum(StrDeserializer::<Error>::new(&text))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf option unit
        unit_struct seq tuple tuple_struct map struct ignored_any
    }
}

/// An enum variant with content: the key is its name, the value its content.
struct Variant<'de>(Pairs<'de>);

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Self), Error> {
        let name = self
            .0
            .next_key_seed(seed)?
            .expect("the mapping has one key");
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Error;

    fn unit_variant(mut self) -> Result<(), Error> {
        self.0.next_value()
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(mut self, seed: T) -> Result<T::Value, Error> {
        self.0.next_value_seed(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Error> {
        self.content(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.content(visitor)
    }
}

impl<'de> Variant<'de> {
    fn content<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        let (key, value) = self.0.value.expect("the variant's name was read");
        NodeDeserializer(value)
            .deserialize_any(visitor)
            .map_err(|error| error.under(key))
    }
}
