//! Runs a template over an output.
//!
//! Options take effect in the order in which they are written, and a value that did not match is another thing than an
//! empty text: as in Google's implementation.

use devgate_schemas::{Hash, Value};

use super::error::Error;
use super::row::{Row, lines};
use super::template::{Destination, LineAction, RecordAction, Template, ValueOption};

/// The state of a run.
struct Machine<'t> {
    template: &'t Template,
    cells: Vec<Cell>,
    rows: Vec<Record>,
    /// The present line, counted from 1, and the one that gave the last row.
    line: usize,
    first: usize,
}

/// A value of the row that is being read.
#[derive(Default)]
struct Cell {
    value: Option<Value>,
    filldown: Option<Value>,
    list: Vec<Value>,
}

/// A row, and the lines that gave it.
struct Record {
    values: Vec<Option<Value>>,
    lines: (usize, usize),
}

/// Parses an output into rows.
///
/// # Errors
/// Fails when a rule refuses a line, or when an expression takes too long.
pub(super) fn rows(template: &Template, text: &str) -> Result<Vec<Row>, Error> {
    let mut machine = Machine {
        template,
        cells: template.values.iter().map(|_| Cell::default()).collect(),
        rows: Vec::new(),
        line: 0,
        first: 1,
    };
    let mut state = 0;
    let mut end = None;
    for line in lines(text) {
        machine.line += 1;
        match machine.read(state, line)? {
            Destination::Here => {}
            Destination::State(next) => state = next,
            found => {
                end = Some(found);
                break;
            }
        }
    }
    if end != Some(Destination::End) && !template.has_eof {
        machine.record();
    }
    let names = || template.values.iter().map(|value| value.name.as_str());
    let row = |record: Record| {
        let values = record.values.into_iter();
        let values = values.map(|value| value.unwrap_or_else(|| Value::from("")));
        Row {
            values: names().zip(values).collect(),
            lines: record.lines,
        }
    };
    Ok(machine.rows.into_iter().map(row).collect())
}

impl Machine<'_> {
    /// Reads a line in a state.
    fn read(&mut self, state: usize, line: &str) -> Result<Destination, Error> {
        let refused = |number, message| Error::Output {
            line: number,
            message,
        };
        for rule in &self.template.states[state] {
            let groups = rule.regexp.captures(line);
            let groups = groups.map_err(|message| refused(self.line, message))?;
            let Some(groups) = groups else {
                continue;
            };
            for (group, value) in &rule.groups {
                let text = groups.get(*group).map(|group| group.as_str());
                self.assign(*value, text)
                    .map_err(|message| refused(self.line, message))?;
            }
            match rule.record {
                RecordAction::NoRecord => {}
                RecordAction::Record => self.record(),
                RecordAction::Clear => self.clear(),
                RecordAction::Clearall => self.cells.fill_with(Cell::default),
            }
            match &rule.line {
                LineAction::Next(destination) => return Ok(*destination),
                LineAction::Continue => {}
                LineAction::Error(message) => return Err(refused(self.line, message.clone())),
            }
        }
        Ok(Destination::Here)
    }

    fn assign(&mut self, number: usize, text: Option<&str>) -> Result<(), String> {
        let cell = &mut self.cells[number];
        cell.value = text.map(Value::from);
        for option in &self.template.values[number].options {
            match option {
                ValueOption::Filldown => cell.filldown.clone_from(&cell.value),
                ValueOption::Fillup if is_given(cell.value.as_ref()) => {
                    let above = self.rows.iter_mut().rev();
                    for row in above.take_while(|row| !is_given(row.values[number].as_ref())) {
                        row.values[number].clone_from(&cell.value);
                        row.lines.1 = self.line;
                    }
                }
                ValueOption::List => cell.list.push(item(self.template, number, text)?),
                ValueOption::Fillup | ValueOption::Required | ValueOption::Key => {}
            }
        }
        Ok(())
    }

    /// Adds the row that is being read, unless it lacks a required value or has none at all.
    fn record(&mut self) {
        for (cell, value) in self.cells.iter_mut().zip(&self.template.values) {
            for option in &value.options {
                match option {
                    ValueOption::Required if !is_given(cell.value.as_ref()) => {
                        return self.clear();
                    }
                    ValueOption::List => cell.value = Some(Value::Array(cell.list.clone())),
                    _ => {}
                }
            }
        }
        let is_empty = |cell: &Cell| match &cell.value {
            None => true,
            Some(Value::Array(items)) => items.is_empty(),
            Some(_) => false,
        };
        if self.cells.iter().all(is_empty) {
            return;
        }
        self.rows.push(Record {
            values: self.cells.iter().map(|cell| cell.value.clone()).collect(),
            lines: (self.first, self.line.max(1)),
        });
        self.first = self.line.max(1);
        self.clear();
    }

    fn clear(&mut self) {
        for (cell, value) in self.cells.iter_mut().zip(&self.template.values) {
            cell.value = cell.filldown.clone();
            if !value.has(ValueOption::Filldown) {
                cell.list.clear();
            }
        }
    }
}

/// An item of a `List` value: its text, or the groups in it.
fn item(template: &Template, number: usize, text: Option<&str>) -> Result<Value, String> {
    let Some(text) = text else {
        return Ok(Value::Undef);
    };
    let nested = template.nested[number].as_ref();
    let groups = nested.map(|nested| Ok::<_, String>((nested, nested.captures(text)?)));
    let Some((nested, Some(groups))) = groups.transpose()? else {
        return Ok(Value::from(text));
    };
    let value = |group| {
        groups
            .get(group)
            .map_or(Value::Undef, |it| Value::from(it.as_str()))
    };
    let values: Hash = nested
        .names()
        .map(|(group, name)| (name, value(group)))
        .collect();
    Ok(if values.is_empty() {
        Value::from(text)
    } else {
        Value::Hash(values)
    })
}

/// Whether a value is there and not empty.
fn is_given(value: Option<&Value>) -> bool {
    match value {
        None => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(_) => true,
    }
}
