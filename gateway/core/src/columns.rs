//! Tables for people: aligned columns.

use serde_json::{Map, Value as Json};

/// Returns the text of a table. Each column is as wide as its widest cell; the last is not padded.
pub fn table(rows: &[impl AsRef<[String]>]) -> String {
    let mut widths = vec![0; rows.first().map_or(0, |row| row.as_ref().len())];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row.as_ref()) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(row.as_ref()) {
            line.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Returns objects as rows of cells, after a row of names: first `names`, then those of further members, as they appear.
pub fn cells<'j>(
    names: impl IntoIterator<Item = String>,
    objects: impl IntoIterator<Item = &'j Map<String, Json>> + Clone,
) -> Vec<Vec<String>> {
    let mut columns: Map<String, Json> = names.into_iter().map(|name| (name, Json::Null)).collect();
    for name in objects.clone().into_iter().flat_map(Map::keys) {
        if !columns.contains_key(name) {
            columns.insert(name.clone(), Json::Null);
        }
    }
    let names: Vec<String> = columns.into_iter().map(|(name, _)| name).collect();
    let mut rows = Vec::new();
    for object in objects {
        let cell_of = |name: &String| object.get(name).map_or_else(String::new, cell);
        rows.push(names.iter().map(cell_of).collect());
    }
    rows.insert(0, names);
    rows
}

/// Returns a value in one cell: texts as they are, the items of a list with commas.
fn cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_with_different_members_share_a_table() {
        let objects = [
            json!({ "PORT": "a", "VLANS": ["1", "2"] }),
            json!({ "PORT": "b", "MTU": 9000, "target": null }),
        ];
        let objects = objects.iter().filter_map(Json::as_object);
        let rows = cells(["target".to_owned()], objects);
        let expected = "target  PORT  VLANS  MTU\n        a     1, 2\n        b            9000\n";
        assert_eq!(table(&rows), expected);
    }
}
