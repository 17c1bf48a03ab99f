//! Queries for `get`: a table, and a condition for its rows.
//!
//! - `Bridge`: all rows.
//! - `Bridge/name=br0`: rows whose column has or contains this value. An empty value means an empty
//!   set.
//! - `Bridge/external_ids:owner=lab`: rows whose column has this value at a key.
//! - `Port[["tag","<",100],["name","!=","swp1"]]`: rows that meet all the conditions, in the notation
//!   of RFC 7047, 5.1.

use std::collections::BTreeMap;

use devgate_schemas::suggest;
use serde_json::{Value as Json, json};

use super::database::{ColumnType, DatabaseSchema};

/// A table, and conditions for its rows.
#[derive(Debug, PartialEq)]
pub(super) struct Query<'s> {
    pub(super) table: &'s str,
    pub(super) columns: &'s BTreeMap<String, ColumnType>,
    /// The conditions, which must all be met (RFC 7047, 5.1, `<condition>`).
    pub(super) conditions: Json,
}

impl<'s> Query<'s> {
    /// Parses a query on a database.
    ///
    /// # Errors
    /// Fails when the query is invalid, with suggestions.
    pub(super) fn read(what: &str, schema: &'s DatabaseSchema) -> Result<Self, String> {
        let what = what.trim();
        let (name, rest) = what.split_at(what.find(['/', '[']).unwrap_or(what.len()));
        let Some((table, columns)) = schema.tables.get_key_value(name.trim_end()) else {
            let hint = suggest(name, schema.tables.keys().map(String::as_str));
            return Err(format!("`{}` has no table `{name}`{hint}", schema.name));
        };
        let conditions = match rest.strip_prefix('/') {
            Some(condition) => json!([condition_of(table, columns, condition)?]),
            None if rest.is_empty() => json!([]),
            None => serde_json::from_str(rest)
                .map_err(|error| format!("the conditions behind `{table}` are no JSON: {error}"))?,
        };
        Ok(Self {
            table,
            columns,
            conditions,
        })
    }
}

/// Returns the condition in `column=value` or `column:key=value`.
fn condition_of(
    table: &str,
    columns: &BTreeMap<String, ColumnType>,
    text: &str,
) -> Result<Json, String> {
    let Some((left, value)) = text.split_once('=') else {
        return Err(format!(
            "`{table}/{text}` has no `=`: expected `{table}/column=value`"
        ));
    };
    let (name, key) = match left.split_once(':') {
        Some((name, key)) => (name, Some(key)),
        None => (left, None),
    };
    let column = match name {
        "_uuid" => &ColumnType::ROW,
        name => columns.get(name).ok_or_else(|| {
            let hint = suggest(name, columns.keys().map(String::as_str));
            format!("`{table}` has no column `{name}`{hint}")
        })?,
    };
    let misfit = || format!("{value:?} is no value of the column `{name}` of `{table}`");
    match (column.value, key) {
        (Some(of_value), Some(key)) => {
            let value = of_value.parse(value).ok_or_else(misfit)?;
            let pair = column.to_wire(&json!({ key: value })).ok_or_else(misfit)?;
            Ok(json!([name, "includes", pair]))
        }
        (Some(_), None) => Err(format!(
            "`{name}` of `{table}` is a map: name a key as well, `{table}/{name}:key=value`"
        )),
        (None, Some(_)) => Err(format!("`{name}` of `{table}` is no map and has no keys")),
        (None, None) if value.is_empty() && column.min == 0 => Ok(json!([name, "==", ["set", []]])),
        (None, None) => {
            let atom = column.key.parse(value).ok_or_else(misfit)?;
            let function = if column.is_scalar() { "==" } else { "includes" };
            Ok(json!([
                name,
                function,
                column.to_wire(&atom).ok_or_else(misfit)?
            ]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "36bef046-7da7-43a5-905a-c17899216fcb";

    fn schema() -> DatabaseSchema {
        let many = json!({ "key": "integer", "min": 0, "max": "unlimited" });
        let map = json!({ "key": "string", "value": "string", "min": 0, "max": "unlimited" });
        DatabaseSchema::read(&json!({
            "name": "Open_vSwitch", "version": "8.3.1",
            "tables": { "Port": { "columns": {
                "name": { "type": "string" },
                "tag": { "type": { "key": "integer", "min": 0, "max": 1 } },
                "trunks": { "type": many },
                "external_ids": { "type": map },
            } } },
        }))
        .expect("a schema")
    }

    fn conditions(what: &str) -> Result<Json, String> {
        Query::read(what, &schema()).map(|query| query.conditions)
    }

    #[test]
    fn a_query_is_a_table_with_or_without_conditions() {
        for (what, expected) in [
            ("Port", json!([])),
            (
                "Port/name=a/b=c",
                json!([["name", "==", ["set", ["a/b=c"]]]]),
            ),
            ("Port/tag=7", json!([["tag", "==", ["set", [7]]]])),
            ("Port/tag=", json!([["tag", "==", ["set", []]]])),
            ("Port/name=", json!([["name", "==", ["set", [""]]]])),
            (
                "Port/trunks=7",
                json!([["trunks", "includes", ["set", [7]]]]),
            ),
            (
                "Port/external_ids:a=b",
                json!([["external_ids", "includes", ["map", [["a", "b"]]]]]),
            ),
            (
                &format!("Port/_uuid={ID}"),
                json!([["_uuid", "==", ["set", [["uuid", ID]]]]]),
            ),
            (r#"Port [["tag","<",100]]"#, json!([["tag", "<", 100]])),
        ] {
            assert_eq!(conditions(what), Ok(expected), "{what}");
        }
    }

    #[test]
    fn a_query_that_is_wrong_is_told_with_what_is_known() {
        for (what, expected) in [
            ("", "no table ``; expected one of Port"),
            ("Porf", "did you mean `Port`?"),
            ("Port/nam=x", "did you mean `name`?"),
            ("Port/name", "expected `Port/column=value`"),
            ("Port/tag=x", "no value of the column `tag`"),
            ("Port/external_ids=x", "`Port/external_ids:key=value`"),
            ("Port/name:x=y", "is no map"),
            ("Port[[", "no JSON"),
        ] {
            let error = conditions(what).expect_err(what);
            assert!(error.contains(expected), "{what}: {error}");
        }
    }
}
