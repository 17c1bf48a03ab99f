//! Tables for people: aligned columns.

use serde_json::{Map, Value as Json};

/// How wide a table may be for people.
const MAX_WIDTH: usize = 120;

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

/// Returns the text of rows of cells, the names first, for people: a table, or a list of values for each row if the table
/// would be too wide. Such a list leaves empty values out.
pub fn fitted(cells: &[Vec<String>]) -> String {
    let text = table(cells);
    let is_wide = text.lines().any(|line| line.chars().count() > MAX_WIDTH);
    let Some((names, rows)) = cells.split_first().filter(|_| is_wide) else {
        return text;
    };
    let lists = rows.iter().map(|row| {
        let values = names.iter().zip(row).filter(|(_, value)| !value.is_empty());
        let values = values.map(|(name, value)| [name.clone(), value.clone()]);
        table(&values.collect::<Vec<_>>())
    });
    lists.collect::<Vec<_>>().join("\n")
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

    #[test]
    fn a_table_that_is_too_wide_becomes_a_list_for_each_row() {
        let wide = "x".repeat(100);
        let rows = [["A", "OTHER", "C"], [&wide, "1", ""], ["b", "", "2"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(fitted(&rows), table(&rows));
        let wide = [["A", "OTHER", "C"], [&wide, "", &wide], ["b", "1", ""]];
        let wide = wide.map(|row| row.map(str::to_owned).to_vec());
        let text = fitted(&wide);
        assert!(
            text.starts_with("A  xxx") && text.ends_with("x\n\nA      b\nOTHER  1\n"),
            "{text}"
        );
    }
}
