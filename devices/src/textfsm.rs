//! TextFSM: parses the output of `show` commands into rows.
//!
//! A template is compiled on first use and then kept, because compiling is expensive. The names of its
//! values are known without compiling, so that expressions over them can be checked at once.

use std::sync::OnceLock;

use devgate_schemas::{Hash, Value};
use textfsm_core::{ListItem, ParseError, Template, TemplateError, ValueOption};

/// A TextFSM template.
#[derive(Debug)]
pub(crate) struct TextFsm {
    source: String,
    names: Vec<String>,
    compiled: OnceLock<Result<Template, TemplateError>>,
}

/// One record of a command's output.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    /// The values by name: a text, or an array of texts or hashes for a `List` value.
    pub(crate) values: Hash,
    /// The lines of output, counted from 1, that gave this row; all lines if the template uses `Fillup`.
    lines: (usize, usize),
}

/// A position in an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// The column in characters, counted from 1.
    pub(crate) column: usize,
}

/// The reason why an output could not be parsed.
#[derive(Debug, PartialEq)]
pub(crate) enum Error {
    /// The template is invalid, at this line if it is known.
    Template {
        line: Option<usize>,
        message: String,
    },
    /// An `Error` rule of the template refuses this line of the output.
    Output { line: usize, message: String },
}

impl TextFsm {
    /// Creates a template without compiling it.
    pub(crate) fn new(source: impl Into<String>) -> Self {
        let source = source.into();
        let names = source
            .lines()
            .take_while(|line| !line.trim().is_empty())
            .filter_map(|line| {
                line.strip_prefix("Value ")?
                    .split_once('(')?
                    .0
                    .split_whitespace()
                    .last()
            })
            .map(str::to_owned)
            .collect();
        Self {
            source,
            names,
            compiled: OnceLock::new(),
        }
    }

    /// Returns the names of the template's values.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// Compiles the template, unless it already is.
    ///
    /// # Errors
    /// Fails when the template is invalid.
    pub(crate) fn check(&self) -> Result<(), Error> {
        self.template().map(|_| ())
    }

    /// Parses an output into records.
    ///
    /// # Errors
    /// Fails when the template is invalid, or when one of its `Error` rules refuses a line.
    pub(crate) fn rows(&self, text: &str) -> Result<Vec<Row>, Error> {
        let template = self.template()?;
        let has_fillup = template
            .values()
            .iter()
            .any(|value| value.has_option(ValueOption::Fillup));
        let mut parser = template.parser();
        let mut rows = Vec::new();
        if has_fillup {
            // With `Fillup`, later lines complete earlier rows, so the parser must see all lines at once.
            let lines = (1, text.lines().count());
            let records = parser.parse_text(text).map_err(|error| refused(error, 1))?;
            rows.extend(records.into_iter().map(|record| self.row(record, lines)));
            return Ok(rows);
        }
        let mut first = 1;
        // One line at a time, so that each row knows its lines. The last, empty step is the end of the
        // output, at which a template without `EOF` records once more.
        let steps = text.lines().map(|line| (line, false)).chain([("", true)]);
        for (number, (line, at_end)) in (1..).zip(steps) {
            let records = if at_end {
                parser.parse_text_with_eof("", true)
            } else {
                parser.parse_text_with_eof(line_or_space(line), false)
            };
            for record in records.map_err(|error| refused(error, number))? {
                rows.push(self.row(record, (first, number)));
                first = number;
            }
        }
        Ok(rows)
    }

    fn template(&self) -> Result<&Template, Error> {
        let compiled = self
            .compiled
            .get_or_init(|| Template::parse_str(&self.source));
        compiled.as_ref().map_err(|error| Error::Template {
            line: line_of(error),
            message: error.to_string(),
        })
    }

    fn row(&self, record: Vec<textfsm_core::Value>, lines: (usize, usize)) -> Row {
        let values = record.into_iter().map(value);
        Row {
            values: self.names.iter().map(String::as_str).zip(values).collect(),
            lines,
        }
    }
}

impl Row {
    /// Returns the position of a row's value in the output. If the value is not found there, as with
    /// `Filldown`, it is the row's last line.
    pub(crate) fn position(&self, output: &str, name: &str) -> Position {
        let (first, last) = self.lines;
        let value_text = match self.values.get(name) {
            Some(Value::String(text)) => text.as_str(),
            _ => "",
        };
        let lines = output.lines().enumerate().take(last).skip(first - 1);
        let found = lines
            .filter(|_| !value_text.is_empty())
            .filter_map(|(index, line)| {
                Some((index, line[..line.find(value_text)?].chars().count()))
            })
            .last();
        found.map_or(
            Position {
                line: last,
                column: 1,
            },
            |(index, column)| Position {
                line: index + 1,
                column: column + 1,
            },
        )
    }
}

/// Returns a line in the form that the parser needs: `"".lines()` has no line at all.
fn line_or_space(line: &str) -> &str {
    if line.is_empty() { "\n" } else { line }
}

fn value(value: textfsm_core::Value) -> Value {
    match value {
        textfsm_core::Value::Empty => Value::from(""),
        textfsm_core::Value::Single(text) => Value::String(text),
        textfsm_core::Value::List(items) => Value::Array(items.into_iter().map(item).collect()),
    }
}

fn item(item: ListItem) -> Value {
    match item {
        ListItem::String(text) => Value::String(text),
        ListItem::Dict(pairs) => {
            let mut pairs: Vec<_> = pairs.into_iter().collect();
            pairs.sort();
            Value::Hash(
                pairs
                    .into_iter()
                    .map(|(key, text)| (key, Value::String(text)))
                    .collect(),
            )
        }
    }
}

fn refused(error: ParseError, line: usize) -> Error {
    let message = match error {
        ParseError::RuleError { message, .. } => message.trim_matches('"').to_owned(),
        ParseError::DeserializeError(message) => message,
    };
    Error::Output { line, message }
}

fn line_of(error: &TemplateError) -> Option<usize> {
    match error {
        TemplateError::InvalidValue { line, .. }
        | TemplateError::InvalidRule { line, .. }
        | TemplateError::InvalidSubstitution { line, .. }
        | TemplateError::ContinueWithTransition(line)
        | TemplateError::ExpectedBlankLine(line) => Some(*line),
        TemplateError::NoValues
        | TemplateError::DuplicateValue(_)
        | TemplateError::InvalidRegex { .. }
        | TemplateError::MissingStartState
        | TemplateError::DuplicateState(_)
        | TemplateError::InvalidStateName { .. }
        | TemplateError::UndefinedState(_)
        | TemplateError::NonEmptyEndState
        | TemplateError::NonEmptyEofState
        | TemplateError::UnknownOption(_)
        | TemplateError::DuplicateOption(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUTES: &str = "Value Required PREFIX (\\S+/\\d+)\nValue NEXT_HOP (\\S+)\nValue DISTANCE (\\w+)\n\n\
        Start\n  ^ip route ${PREFIX} ${NEXT_HOP}( ${DISTANCE})?$$ -> Record\n  ^bad -> Error \"no route\"\n";

    fn json(rows: &[Row]) -> serde_json::Value {
        rows.iter()
            .map(|row| Value::Hash(row.values.clone()).to_json())
            .collect()
    }

    #[test]
    fn each_record_is_a_row_of_named_texts() {
        let fsm = TextFsm::new(ROUTES);
        assert_eq!(fsm.names(), ["PREFIX", "NEXT_HOP", "DISTANCE"]);
        let rows = fsm.rows("!\n\nip route 10.0.0.0/8 192.0.2.1 5\nip route 10.1.0.0/16 Null0\n");
        assert_eq!(
            json(&rows.expect("parses")),
            serde_json::json!([
                {"PREFIX": "10.0.0.0/8", "NEXT_HOP": "192.0.2.1", "DISTANCE": "5"},
                {"PREFIX": "10.1.0.0/16", "NEXT_HOP": "Null0", "DISTANCE": ""},
            ])
        );
    }

    #[test]
    fn a_row_knows_the_positions_of_its_values() {
        let output = "ip route 10.0.0.0/8 192.0.2.1\n!\nip route 10.1.0.0/16 192.0.2.1 x9\n";
        let rows = TextFsm::new(ROUTES).rows(output).expect("parses");
        assert_eq!(
            rows[1].position(output, "DISTANCE"),
            Position {
                line: 3,
                column: 32
            }
        );
        assert_eq!(
            rows[1].position(output, "PREFIX"),
            Position {
                line: 3,
                column: 10
            }
        );
        assert_eq!(
            rows[0].position(output, "DISTANCE"),
            Position { line: 1, column: 1 }
        );
    }

    #[test]
    fn lists_filled_down_values_and_the_record_at_the_end_are_as_in_python() {
        let fsm = TextFsm::new(
            "Value Required,Filldown NAME (\\S+)\nValue List ADDRESS ((?P<ip>\\S+)/(?P<length>\\d+))\n\n\
             Start\n  ^interface -> Continue.Record\n  ^interface ${NAME}\n  ^ ip address ${ADDRESS}\n",
        );
        let rows = fsm
            .rows("interface lo\n ip address 10.0.0.1/32\n ip address 10.0.0.2/32\ninterface e1\n");
        assert_eq!(
            json(&rows.expect("parses")),
            serde_json::json!([
                {"NAME": "lo", "ADDRESS": [
                    {"ip": "10.0.0.1", "length": "32"}, {"ip": "10.0.0.2", "length": "32"},
                ]},
                {"NAME": "e1", "ADDRESS": []},
            ])
        );
    }

    #[test]
    fn a_value_that_is_filled_up_reaches_earlier_rows() {
        let fsm = TextFsm::new(
            "Value NAME (\\w+)\nValue Fillup VRF (\\w+)\n\nStart\n  ^n ${NAME} -> Record\n  ^v ${VRF}\n\nEOF\n",
        );
        let rows = fsm.rows("n a\nn b\nv red\n").expect("parses");
        assert_eq!(
            json(&rows),
            serde_json::json!([{"NAME": "a", "VRF": "red"}, {"NAME": "b", "VRF": "red"}])
        );
    }

    #[test]
    fn an_empty_line_is_a_line() {
        let fsm = TextFsm::new(
            "Value A (\\w+)\n\nStart\n  ^$$ -> Body\n\nBody\n  ^${A} -> Record\n\nEOF\n",
        );
        assert_eq!(
            json(&fsm.rows("one\n\ntwo\n").expect("parses")),
            serde_json::json!([{"A": "two"}])
        );
    }

    #[test]
    fn what_is_wrong_names_the_line_of_template_or_output() {
        assert_eq!(
            TextFsm::new(ROUTES).rows("!\nbad\n"),
            Err(Error::Output {
                line: 2,
                message: "no route".to_owned()
            })
        );
        let wrong = TextFsm::new("Value A (\\w+)\n\nStart\n  ^${B} -> Record\n");
        let Err(Error::Template { line, message }) = wrong.check() else {
            panic!("an unknown value must be refused");
        };
        assert_eq!(line, Some(4));
        assert!(message.contains('B'), "{message}");
    }
}
