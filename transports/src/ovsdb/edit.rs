//! Edits: transaction operations in plain JSON, converted to OVSDB's notation with the database's schema.
//!
//! Each edit is an object. `insert`, `update`, `mutate` or `delete` names the table. `where` selects rows by
//! the values of their columns; at least one row must exist. `row` contains new values. `add` and `remove`
//! contain the elements that a `mutate` adds to or removes from sets and maps. `as` names the row that an
//! `insert` creates: later edits use this name in place of a row's UUID. An empty list empties a column;
//! null leaves it unchanged.

use devgate_schemas::{Hash, Value, suggest};
use serde_json::{Map, Value as Json, json};

use super::database::{ColumnType, DatabaseSchema};
use crate::error::Refused;

/// The operations for a list of edits.
#[derive(Debug)]
pub(super) struct Edits {
    pub(super) operations: Vec<Json>,
    /// For each operation: the number of its edit, and whether it is the edit itself or only ensures
    /// that rows exist.
    owners: Vec<(usize, Part)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Wait,
    Edit,
}

/// An edit with its table.
struct Edit<'e> {
    does: &'static str,
    table: &'e str,
    columns: &'e std::collections::BTreeMap<String, ColumnType>,
    edit: &'e Map<String, Json>,
}

const DOES: [&str; 4] = ["insert", "update", "mutate", "delete"];

impl Edits {
    /// Parses a body with edits.
    ///
    /// # Errors
    /// Fails when the body is invalid. The message quotes no value.
    pub(super) fn read(body: Option<Json>, schema: &DatabaseSchema) -> Result<Self, String> {
        let body = match body {
            Some(Json::String(text)) => serde_json::from_str(&text)
                .map_err(|error| format!("the body is no JSON ({error}): expected edits"))?,
            other => other.unwrap_or_default(),
        };
        let edits = match body {
            Json::Array(edits) => edits,
            Json::Null => Vec::new(),
            edit => vec![edit],
        };
        if edits.is_empty() {
            return Err(
                "the body is missing: expected edits, such as [{\"insert\": \"Bridge\", \"row\": \
                 {\"name\": \"br0\"}}]"
                    .to_owned(),
            );
        }
        let mut made = Self {
            operations: Vec::new(),
            owners: Vec::new(),
        };
        for (number, edit) in edits.iter().enumerate() {
            let edit = Edit::of(edit, schema).map_err(|problem| place(number, &problem))?;
            let operations = edit
                .operations()
                .map_err(|problem| place(number, &problem))?;
            for (part, operation) in operations {
                made.operations.push(operation);
                made.owners.push((number, part));
            }
        }
        Ok(made)
    }

    /// Returns the results of the edits, without those of other operations.
    pub(super) fn results(&self, results: Vec<Json>) -> Vec<Json> {
        let pairs = results.into_iter().zip(&self.owners);
        let of_edits = pairs.filter(|(_, (_, part))| *part == Part::Edit);
        of_edits.map(|(result, _)| result).collect()
    }

    /// Returns a refusal that names the edit instead of the operation.
    pub(super) fn refused(&self, mut refused: Refused) -> Refused {
        let details = refused.details.as_ref().and_then(Value::as_hash);
        let failed = details.and_then(|details| details.get("operation")?.as_integer());
        let failed = failed.and_then(|failed| usize::try_from(failed).ok());
        let Some((edit, part)) = failed.and_then(|failed| self.owners.get(failed).copied()) else {
            return refused;
        };
        let table = details.and_then(|details| details.get("table")?.as_str());
        let table = table.unwrap_or_default().to_owned();
        if part == Part::Wait {
            // The edit says which row was searched for, but it may contain secrets.
            refused.status = "no such row".to_owned();
            refused.message = format!("`{table}` has no row that the edit is for");
        }
        let count = self.owners.last().map_or(0, |(last, _)| last + 1);
        refused.request = format!("edit {table} (edit {} of {count})", edit + 1);
        let mut details: Hash = details.cloned().unwrap_or_default();
        let edit = i64::try_from(edit).unwrap_or(i64::MAX);
        details.insert("operation", Value::Integer(edit));
        refused.details = Some(Value::Hash(details));
        refused
    }
}

impl<'e> Edit<'e> {
    fn of(edit: &'e Json, schema: &'e DatabaseSchema) -> Result<Self, String> {
        let edit = edit.as_object().ok_or("it is no object")?;
        let mut does = DOES.into_iter().filter(|does| edit.contains_key(*does));
        let does = does
            .next()
            .ok_or_else(|| format!("it says none of {}", DOES.join(", ")))?;
        for key in edit.keys() {
            if key != does && !["as", "where", "row", "add", "remove"].contains(&key.as_str()) {
                return Err(format!("`{key}` is no part of an `{does}`"));
            }
        }
        let table = edit[does].as_str().unwrap_or_default();
        let Some((table, columns)) = schema.tables.get_key_value(table) else {
            let hint = suggest(table, schema.tables.keys().map(String::as_str));
            return Err(format!("`{}` has no table `{table}`{hint}", schema.name));
        };
        Ok(Self {
            does,
            table,
            columns,
            edit,
        })
    }

    fn operations(&self) -> Result<Vec<(Part, Json)>, String> {
        let mut operation = json!({ "op": self.does, "table": self.table });
        let mut operations = Vec::new();
        if self.does != "insert" {
            let conditions = self.values("where")?;
            let named = self
                .edit
                .get("where")
                .map_or(0, |named| named.as_object().map_or(1, Map::len));
            if conditions.len() < named || self.edit.contains_key("where") && named == 0 {
                let problem = "`where` has no value for a column: it would be about all rows";
                return Err(problem.to_owned());
            }
            let conditions: Vec<Json> = conditions
                .into_iter()
                .map(|(column, value)| json!([column, "==", value]))
                .collect();
            if !conditions.is_empty() {
                let wait = json!({
                    "op": "wait", "table": self.table, "timeout": 0, "where": conditions,
                    "columns": ["_uuid"], "until": "!=", "rows": [],
                });
                operations.push((Part::Wait, wait));
            }
            operation["where"] = conditions.into();
        }
        match self.does {
            "insert" | "update" => {
                let row = self.values("row")?;
                if row.is_empty() && self.does == "update" {
                    return Ok(Vec::new());
                }
                operation["row"] = Json::Object(row.into_iter().collect());
                if let Some(name) = self.edit.get("as") {
                    operation["uuid-name"] = name.clone();
                }
            }
            "mutate" => {
                let mut mutations = Vec::new();
                // Removals come first, so that there is room for additions.
                for (key, mutator) in [("remove", "delete"), ("add", "insert")] {
                    let values = self.values(key)?.into_iter();
                    mutations.extend(values.map(|(column, value)| json!([column, mutator, value])));
                }
                operation["mutations"] = mutations.into();
            }
            _ => {}
        }
        operations.push((Part::Edit, operation));
        Ok(operations)
    }

    /// Returns the columns under a key, with their values in OVSDB's notation.
    fn values(&self, key: &str) -> Result<Vec<(String, Json)>, String> {
        let columns = match self.edit.get(key) {
            None | Some(Json::Null) => return Ok(Vec::new()),
            Some(columns) => columns
                .as_object()
                .ok_or_else(|| format!("`{key}` is no object"))?,
        };
        let mut values = Vec::new();
        for (name, value) in columns.iter().filter(|(_, value)| !value.is_null()) {
            let column = match name.as_str() {
                "_uuid" => &ColumnType::ROW,
                name => self.columns.get(name).ok_or_else(|| {
                    let hint = suggest(name, self.columns.keys().map(String::as_str));
                    format!("`{}` has no column `{name}`{hint}", self.table)
                })?,
            };
            let value = column.to_wire(value).ok_or_else(|| {
                let table = self.table;
                format!("what `{key}` says is no value of the column `{name}` of `{table}`")
            })?;
            values.push((name.clone(), value));
        }
        Ok(values)
    }
}

fn place(number: usize, problem: &str) -> String {
    format!("edit {}: {problem}", number + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "36bef046-7da7-43a5-905a-c17899216fcb";

    fn schema() -> DatabaseSchema {
        let rows = json!({ "key": { "type": "uuid" }, "min": 0, "max": "unlimited" });
        DatabaseSchema::read(&json!({
            "name": "Open_vSwitch", "version": "8.3.1",
            "tables": {
                "Port": { "columns": {
                    "name": { "type": "string" },
                    "tag": { "type": { "key": "integer", "min": 0, "max": 1 } },
                } },
                "Bridge": { "columns": { "name": { "type": "string" }, "ports": { "type": rows } } },
            },
        }))
        .expect("a schema")
    }

    fn read(body: Json) -> Result<Edits, String> {
        Edits::read(Some(body), &schema())
    }

    #[test]
    fn edits_become_operations_and_what_they_change_must_be_there() {
        let edits = read(json!([
            { "insert": "Port", "as": "new_1", "row": { "name": "a", "tag": null } },
            { "mutate": "Bridge", "where": { "name": "br0" }, "add": { "ports": ["new_1"] } },
            { "update": "Port", "where": { "_uuid": ID }, "row": { "tag": [] } },
        ]))
        .expect("edits");
        let by_name = json!([["name", "==", ["set", ["br0"]]]]);
        let by_id = json!([["_uuid", "==", ["set", [["uuid", ID]]]]]);
        let wait = |table: &str, conditions: &Json| {
            json!({ "op": "wait", "table": table, "timeout": 0, "where": conditions,
                    "columns": ["_uuid"], "until": "!=", "rows": [] })
        };
        assert_eq!(
            edits.operations,
            [
                json!({ "op": "insert", "table": "Port", "uuid-name": "new_1",
                        "row": { "name": ["set", ["a"]] } }),
                wait("Bridge", &by_name),
                json!({ "op": "mutate", "table": "Bridge", "where": by_name,
                        "mutations": [["ports", "insert", ["set", [["named-uuid", "new_1"]]]]] }),
                wait("Port", &by_id),
                json!({ "op": "update", "table": "Port", "where": by_id,
                        "row": { "tag": ["set", []] } }),
            ]
        );
        let results = (0..5).map(Json::from).collect();
        assert_eq!(edits.results(results), [0, 2, 4].map(Json::from));
    }

    #[test]
    fn a_refusal_names_the_edit_and_what_was_not_there() {
        let edits = read(json!([
            { "insert": "Port", "row": { "name": "a" } },
            { "delete": "Port", "where": { "name": "canary" } },
        ]));
        let refused = edits.expect("edits").refused(Refused {
            peer: "peer".to_owned(),
            request: "wait Port (operation 2 of 3)".to_owned(),
            status: "timed out".to_owned(),
            message: String::new(),
            hint: String::new(),
            details: Some(json!({ "operation": 1, "table": "Port" }).into()),
            busy: false,
        });
        assert_eq!(
            refused.to_string(),
            "peer refuses `edit Port (edit 2 of 2)` (no such row): `Port` has no row that the edit \
             is for"
        );
        let details = refused.details.expect("details").to_json();
        assert_eq!(details["operation"], 1);
    }

    #[test]
    fn what_is_no_edit_is_told_without_its_values() {
        for (body, expected) in [
            (json!(null), "such as [{\"insert\""),
            (json!("{"), "no JSON"),
            (json!([1]), "edit 1: it is no object"),
            (json!([{ "inset": "Port" }]), "none of insert, update"),
            (json!([{ "insert": "Porf" }]), "did you mean `Port`?"),
            (
                json!([{ "insert": "Port", "wher": {} }]),
                "`wher` is no part",
            ),
            (
                json!([{ "insert": "Port", "row": { "nam": 1 } }]),
                "did you mean `name`?",
            ),
            (
                json!([{ "insert": "Port", "row": { "tag": "canary" } }]),
                "no value of the column `tag`",
            ),
        ] {
            let error = read(body).expect_err(expected);
            assert!(error.contains(expected), "{error}");
            assert!(!error.contains("canary"), "{error}");
        }
    }
}
