//! Rows alone, for `--format table` and `--format csv`.

use devgate_core::columns;
use devgate_front::options::RowFormat;
use devgate_front::printer::Printer;
use devgate_schemas::visible;
use serde_json::{Map, Value as Json};

/// The rows that several targets have, collected until all are there.
#[derive(Debug, Default)]
pub(crate) struct TargetRows(Vec<TargetRow>);

#[derive(Debug)]
struct TargetRow {
    target: String,
    command: String,
    row: Map<String, Json>,
}

impl TargetRows {
    /// Takes the rows of a target's result: the `rows` of each of its `commands`.
    pub(crate) fn add(&mut self, target: &str, value: &Json) {
        for entry in value["commands"].as_array().into_iter().flatten() {
            let rows = entry["rows"].as_array().into_iter().flatten();
            self.0.extend(rows.filter_map(|row| {
                Some(TargetRow {
                    target: target.to_owned(),
                    command: entry["command"].as_str()?.to_owned(),
                    row: row.as_object()?.clone(),
                })
            }));
        }
    }

    /// Prints all rows, in the order of the targets' names. They have a column `target`, and a column `command` if they
    /// are of several commands.
    pub(crate) fn print(mut self, printer: &Printer, format: RowFormat) {
        self.0.sort_by(|one, other| one.target.cmp(&other.target));
        let first = self.0.first().map(|row| row.command.clone());
        let is_other = |row: &TargetRow| Some(&row.command) != first.as_ref();
        let mut names = vec!["target".to_owned()];
        if self.0.iter().any(is_other) {
            names.push("command".to_owned());
        }
        let objects = self.0.into_iter().map(
            |TargetRow {
                 target,
                 command,
                 row,
             }| {
                let mut object = Map::new();
                object.insert("target".to_owned(), target.into());
                if names.len() > 1 {
                    object.insert("command".to_owned(), command.into());
                }
                object.extend(row);
                object
            },
        );
        let objects: Vec<Map<String, Json>> = objects.collect();
        print(printer, format, &columns::cells(names, &objects));
    }
}

/// Prints rows of cells. The first has the names of the columns.
pub(crate) fn print(printer: &Printer, format: RowFormat, cells: &[Vec<String>]) {
    match format {
        RowFormat::Table => printer.text(&columns::table(cells)),
        RowFormat::Csv => printer.unchanged(&csv(cells)),
    }
}

/// Comma-separated values. Control characters are shown as `\u001b`.
///
/// Specification: RFC 4180.
fn csv(cells: &[Vec<String>]) -> String {
    let mut text = String::new();
    for row in cells {
        let row: Vec<String> = row.iter().map(|cell| quoted(&visible(cell))).collect();
        text.push_str(&row.join(","));
        text.push_str("\r\n");
    }
    text
}

fn quoted(cell: &str) -> String {
    match cell.contains(['"', ',', '\n']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_quoted_where_they_must_be_and_control_characters_are_shown() {
        let row = ["a", "b, c", "say \"x\"", "two\nlines", "\u{1b}[2J", ""].map(str::to_owned);
        let expected = "a,\"b, c\",\"say \"\"x\"\"\",\"two\nlines\",\\u001b[2J,\r\n";
        assert_eq!(csv(&[row.to_vec()]), expected);
    }
}
