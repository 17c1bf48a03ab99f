//! Database schemas: tables, columns and their types (RFC 7047, 3.2). Also converts values between
//! OVSDB's notation (5.1) and plain JSON.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

/// The schema of a database.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseSchema {
    /// Its name: `Open_vSwitch`.
    pub name: String,
    /// Its version: `8.3.1`.
    pub version: String,
    /// Its tables by name, each with the types of its columns. The columns `_uuid` and `_version`, which
    /// every table has, are omitted.
    pub tables: BTreeMap<String, BTreeMap<String, ColumnType>>,
}

/// The type of a column: a number of atoms, or of pairs of atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnType {
    /// The type of its atoms, or of the keys of its pairs.
    pub key: Atomic,
    /// The type of the values of its pairs; `None` if it has no pairs.
    pub value: Option<Atomic>,
    /// The minimum number of elements: 0 or 1.
    pub min: u64,
    /// The maximum number of elements; `None` means no limit.
    pub max: Option<u64>,
}

/// The type of an atom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Atomic {
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Real,
    /// True or false.
    Boolean,
    /// A text.
    String,
    /// A reference to a row.
    Uuid,
}

impl DatabaseSchema {
    /// Parses the answer to `get_schema`. Returns `None` if it is not a database schema.
    pub(super) fn read(schema: &Json) -> Option<Self> {
        let mut tables = BTreeMap::new();
        for (table, definition) in schema.get("tables")?.as_object()? {
            let mut columns = BTreeMap::new();
            for (column, definition) in definition.get("columns")?.as_object()? {
                columns.insert(column.clone(), ColumnType::read(definition.get("type")?)?);
            }
            tables.insert(table.clone(), columns);
        }
        Some(Self {
            name: schema.get("name")?.as_str()?.to_owned(),
            version: schema.get("version")?.as_str()?.to_owned(),
            tables,
        })
    }
}

impl ColumnType {
    /// The type of `_uuid`.
    pub(super) const ROW: Self = Self {
        key: Atomic::Uuid,
        value: None,
        min: 1,
        max: Some(1),
    };

    fn read(definition: &Json) -> Option<Self> {
        let Json::Object(definition) = definition else {
            let key = Atomic::read(definition)?;
            return Some(Self { key, ..Self::ROW });
        };
        let limit = |name| definition.get(name).map_or(Some(1), Json::as_u64);
        Some(Self {
            key: Atomic::read(definition.get("key")?)?,
            value: match definition.get("value") {
                None => None,
                Some(value) => Some(Atomic::read(value)?),
            },
            min: limit("min")?,
            // Anything but a number is `unlimited`.
            max: limit("max"),
        })
    }

    /// Returns whether it holds at most one atom, so that its plain value is not a list.
    pub fn is_scalar(&self) -> bool {
        self.value.is_none() && self.max == Some(1)
    }

    /// Converts a value from the server to plain JSON. A set becomes a list; if it holds at most one atom, it
    /// becomes that atom or null. A map becomes an object, and a reference the row's UUID as a text.
    ///
    /// Returns `None` if it is not a value of this column.
    pub fn to_plain(&self, value: &Json) -> Option<Json> {
        if let Some(value_type) = self.value {
            let mut pairs = Map::new();
            for pair in tagged(value, "map")?.as_array()? {
                let [key, value] = pair.as_array()?.as_slice() else {
                    return None;
                };
                let key = match self.key.to_plain(key)? {
                    Json::String(text) => text,
                    other => other.to_string(),
                };
                pairs.insert(key, value_type.to_plain(value)?);
            }
            return Some(pairs.into());
        }
        // A set with one element may be sent as that element.
        let atoms = match tagged(value, "set") {
            Some(atoms) => atoms.as_array()?.as_slice(),
            None => std::slice::from_ref(value),
        };
        let mut atoms: Vec<Json> = atoms
            .iter()
            .map(|atom| self.key.to_plain(atom))
            .collect::<Option<_>>()?;
        if !self.is_scalar() {
            return Some(atoms.into());
        }
        match (atoms.pop(), atoms.is_empty()) {
            (None, _) => Some(Json::Null),
            (Some(atom), true) => Some(atom),
            _ => None,
        }
    }

    /// Converts a value from plain JSON, the reverse of [`to_plain`](Self::to_plain). For a reference, a text that
    /// is not a UUID is the name of a row that the same transaction inserts (`uuid-name`).
    ///
    /// Returns `None` if it is not a value of this column.
    pub fn to_wire(&self, value: &Json) -> Option<Json> {
        if let Some(value_type) = self.value {
            let mut pairs = Vec::new();
            for (key, value) in value.as_object()? {
                let key = self.key.parse(key)?;
                pairs.push(json!([self.key.to_wire(&key)?, value_type.to_wire(value)?]));
            }
            return Some(json!(["map", pairs]));
        }
        let atoms = match value {
            Json::Array(atoms) => atoms.as_slice(),
            Json::Null => &[],
            atom => std::slice::from_ref(atom),
        };
        let atoms: Vec<Json> = atoms
            .iter()
            .map(|atom| self.key.to_wire(atom))
            .collect::<Option<_>>()?;
        let count = u64::try_from(atoms.len()).ok()?;
        let fits = count >= self.min && self.max.is_none_or(|max| count <= max);
        fits.then(|| json!(["set", atoms]))
    }
}

impl Atomic {
    fn read(definition: &Json) -> Option<Self> {
        let name = match definition {
            Json::Object(base) => base.get("type")?,
            name => name,
        };
        match name.as_str()? {
            "integer" => Some(Self::Integer),
            "real" => Some(Self::Real),
            "boolean" => Some(Self::Boolean),
            "string" => Some(Self::String),
            "uuid" => Some(Self::Uuid),
            _ => None,
        }
    }

    /// Parses an atom from a text: a key of an object, or a value in a query.
    pub(super) fn parse(self, text: &str) -> Option<Json> {
        match self {
            Self::Integer => text.parse::<i64>().ok().map(Json::from),
            Self::Real => text.parse::<f64>().ok().map(Json::from),
            Self::Boolean => text.parse::<bool>().ok().map(Json::from),
            Self::String | Self::Uuid => Some(Json::from(text)),
        }
    }

    fn to_plain(self, atom: &Json) -> Option<Json> {
        let atom = if self == Self::Uuid {
            tagged(atom, "uuid")?
        } else {
            atom
        };
        self.fits(atom).then(|| atom.clone())
    }

    fn to_wire(self, atom: &Json) -> Option<Json> {
        if !self.fits(atom) {
            return None;
        }
        Some(match atom.as_str() {
            Some(id) if self == Self::Uuid && is_uuid(id) => json!(["uuid", id]),
            Some(name) if self == Self::Uuid => json!(["named-uuid", name]),
            _ => atom.clone(),
        })
    }

    fn fits(self, atom: &Json) -> bool {
        match self {
            Self::Integer => atom.is_i64(),
            Self::Real => atom.is_number(),
            Self::Boolean => atom.is_boolean(),
            Self::String | Self::Uuid => atom.is_string(),
        }
    }
}

/// Returns the content behind a tag: `["set", …]`, `["map", …]`, `["uuid", …]`.
fn tagged<'v>(value: &'v Json, tag: &str) -> Option<&'v Json> {
    match value.as_array()?.as_slice() {
        [name, content] if name == tag => Some(content),
        _ => None,
    }
}

fn is_uuid(text: &str) -> bool {
    let is_part = |(part, length): (&str, usize)| {
        part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let parts: Vec<&str> = text.split('-').collect();
    parts.len() == 5 && parts.into_iter().zip([8, 4, 4, 4, 12]).all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "36bef046-7da7-43a5-905a-c17899216fcb";

    fn column(definition: Json) -> ColumnType {
        ColumnType::read(&definition).expect("a type")
    }

    #[test]
    fn values_go_to_plain_json_and_back() {
        let name = column(json!("string"));
        let tag = column(json!({ "key": { "type": "integer", "maxInteger": 4095 }, "min": 0 }));
        let trunks = column(json!({ "key": "integer", "min": 0, "max": "unlimited" }));
        let ports = column(json!({
            "key": { "type": "uuid", "refTable": "Port" }, "min": 0, "max": "unlimited",
        }));
        let ids =
            column(json!({ "key": "string", "value": "string", "min": 0, "max": "unlimited" }));
        let queues = column(json!({
            "key": "integer", "value": { "type": "uuid" }, "min": 0, "max": "unlimited",
        }));
        for (column, wire, plain) in [
            (&name, json!(["set", ["br0"]]), json!("br0")),
            (&tag, json!(["set", []]), Json::Null),
            (&tag, json!(["set", [7]]), json!(7)),
            (&trunks, json!(["set", []]), json!([])),
            (&trunks, json!(["set", [1, 2]]), json!([1, 2])),
            (&ports, json!(["set", [["uuid", ID]]]), json!([ID])),
            (
                &ids,
                json!(["map", [["a", "1"], ["b", ""]]]),
                json!({ "a": "1", "b": "" }),
            ),
            (
                &queues,
                json!(["map", [[3, ["uuid", ID]]]]),
                json!({ "3": ID }),
            ),
        ] {
            assert_eq!(column.to_plain(&wire), Some(plain.clone()), "{wire}");
            assert_eq!(column.to_wire(&plain), Some(wire), "{plain}");
        }
        // A server sends a set with one element as that element.
        assert_eq!(name.to_plain(&json!("br0")), Some(json!("br0")));
        assert_eq!(ports.to_plain(&json!(["uuid", ID])), Some(json!([ID])));
        // A reference to another row of the same transaction.
        assert_eq!(
            ports.to_wire(&json!("new_port")),
            Some(json!(["set", [["named-uuid", "new_port"]]]))
        );
    }

    #[test]
    fn what_does_not_fit_a_column_is_no_value_of_it() {
        let tag = column(json!({ "key": "integer", "min": 0, "max": 1 }));
        for wire in [
            json!("x"),
            json!(["set", [1, 2]]),
            json!(["map", []]),
            json!(["uuid", ID]),
        ] {
            assert_eq!(tag.to_plain(&wire), None, "{wire}");
        }
        for plain in [json!("x"), json!([1, 2]), json!({ "a": 1 }), json!(1.5)] {
            assert_eq!(tag.to_wire(&plain), None, "{plain}");
        }
        assert_eq!(column(json!("string")).to_wire(&Json::Null), None);
        assert!(ColumnType::read(&json!("colour")).is_none());
        assert!(ColumnType::read(&json!({ "min": 0 })).is_none());
    }
}
