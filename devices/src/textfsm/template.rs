//! Reads TextFSM templates, and refuses those that Google's implementation refuses.

use super::error::Error;
use super::regexp::Regexp;

/// A compiled template.
#[derive(Debug)]
pub(super) struct Template {
    pub(super) values: Vec<ValueLine>,
    /// For each `List` value whose expression has groups of its own: the expression.
    pub(super) nested: Vec<Option<Regexp>>,
    /// The rules of each state. The first is `Start`.
    pub(super) states: Vec<Vec<Rule>>,
    /// Whether there is a state `EOF`, so that the end of the output records nothing.
    pub(super) has_eof: bool,
}

/// A line `Value OPTIONS NAME (REGEXP)`.
#[derive(Debug)]
pub(super) struct ValueLine {
    /// In the order in which they take effect.
    pub(super) options: Vec<ValueOption>,
    pub(super) name: String,
    regexp: String,
}

/// An option of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueOption {
    Required,
    Filldown,
    Fillup,
    Key,
    List,
}

/// A rule of a state.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) regexp: Regexp,
    /// The groups of the expression that are values: the number of the group, and of the value.
    pub(super) groups: Vec<(usize, usize)>,
    pub(super) record: RecordAction,
    pub(super) line: LineAction,
}

/// What a rule does with the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecordAction {
    NoRecord,
    Record,
    Clear,
    Clearall,
}

/// What a rule does with the line.
#[derive(Debug)]
pub(super) enum LineAction {
    Next(Destination),
    Continue,
    Error(String),
}

/// Where a rule leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Here,
    State(usize),
    /// No more lines are read, and nothing is recorded.
    End,
    /// No more lines are read.
    Eof,
}

/// The maximum length of the name of a value or state.
const MAX_NAME: usize = 48;

/// The words that name no state.
const RESERVED: [&str; 7] = [
    "Continue", "Next", "Error", "Clear", "Clearall", "Record", "NoRecord",
];

/// The numbered lines of a template without its comments and trailing blanks.
fn lines(source: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(source.lines().map(str::trim_end));
    lines.filter(|(_, line)| !line.trim_start().starts_with('#'))
}

/// The names of a template's values, without those of invalid lines.
pub(super) fn names(source: &str) -> Vec<String> {
    let values = lines(source).take_while(|(_, line)| !line.is_empty());
    let values = values.filter_map(|(_, line)| ValueLine::parse(line).ok());
    values.map(|value| value.name).collect()
}

/// The values of a template.
///
/// # Errors
/// Fails at the first line above the first empty one that is no value.
fn values(source: &str) -> Result<Vec<ValueLine>, Error> {
    let mut values: Vec<ValueLine> = Vec::new();
    for (number, line) in lines(source).take_while(|(_, line)| !line.is_empty()) {
        let value = ValueLine::parse(line).map_err(at(number))?;
        if values.iter().any(|one| one.name == value.name) {
            return Err(at(number)(format!("there are two values `{}`", value.name)));
        }
        values.push(value);
    }
    if values.is_empty() {
        return Err(at(1)(
            "expected `Value NAME (REGEXP)` in the first line".to_owned(),
        ));
    }
    Ok(values)
}

impl Template {
    /// Compiles a template.
    ///
    /// # Errors
    /// Fails with the first line that is wrong.
    pub(super) fn compile(source: &str) -> Result<Self, Error> {
        let values = values(source)?;
        let mut nested = Vec::new();
        for (value, (number, _)) in values.iter().zip(lines(source)) {
            if value.has(ValueOption::List) {
                let regexp = Regexp::new(&value.regexp).map_err(at(number))?;
                nested.push(Some(regexp).filter(|it| it.groups() > 1));
            } else {
                Regexp::check_part(&value.regexp).map_err(at(number))?;
                nested.push(None);
            }
        }
        let states = Self::states(source, &values);
        // What only the engine refuses in a value, it refuses in the rules with the value, too.
        let is_used = |number: usize| match &states {
            Ok((states, _)) => {
                let mut groups = states.iter().flatten().flat_map(|rule| &rule.groups);
                groups.any(|(_, value)| *value == number)
            }
            Err(_) => false,
        };
        for (number, (value, (line, _))) in values.iter().zip(lines(source)).enumerate() {
            if !is_used(number) {
                Regexp::new(&value.regexp).map_err(at(line))?;
            }
        }
        let (states, has_eof) = states?;
        Ok(Self {
            values,
            nested,
            states,
            has_eof,
        })
    }

    /// Compiles the rules of each state, and tells whether there is a state `EOF`.
    fn states(source: &str, values: &[ValueLine]) -> Result<(Vec<Vec<Rule>>, bool), Error> {
        let blocks = blocks(source)?;
        let names: Vec<&str> = blocks.iter().map(|(_, name, _)| *name).collect();
        let mut states = Vec::new();
        for (number, name, rules) in &blocks {
            if matches!(*name, "End" | "EOF") && !rules.is_empty() {
                return Err(at(*number)(format!("the state `{name}` has rules")));
            }
            let rules = rules
                .iter()
                .map(|(number, line)| Rule::parse(line, values, &names).map_err(at(*number)));
            states.push(rules.collect::<Result<Vec<_>, _>>()?);
        }
        Ok((states, names.contains(&"EOF")))
    }
}

/// A state: its line, its name and its rules.
type Block<'s> = (usize, &'s str, Vec<(usize, &'s str)>);

/// The states of a template, `Start` first.
fn blocks(source: &str) -> Result<Vec<Block<'_>>, Error> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut is_open = false;
    let all = lines(source).skip_while(|(_, line)| !line.is_empty());
    let end = source.lines().count();
    for (number, line) in all {
        if line.is_empty() {
            is_open = false;
        } else if !is_open {
            let is_name = line.chars().all(is_word) && line.chars().count() <= MAX_NAME;
            if !is_name || RESERVED.contains(&line) {
                return Err(at(number)(format!(
                    "`{}` is no name of a state",
                    line.trim()
                )));
            }
            if blocks.iter().any(|(_, name, _)| *name == line) {
                return Err(at(number)(format!("there are two states `{line}`")));
            }
            blocks.push((number, line, Vec::new()));
            is_open = true;
        } else if ![" ^", "  ^", "\t^"]
            .iter()
            .any(|start| line.starts_with(start))
        {
            let message = "a rule is indented by one or two spaces or a tab, and begins with `^`";
            return Err(at(number)(message.to_owned()));
        } else if let Some((_, _, rules)) = blocks.last_mut() {
            rules.push((number, line.trim()));
        }
    }
    let start = blocks.iter().position(|(_, name, _)| *name == "Start");
    let start = start.ok_or_else(|| at(end)("there is no state `Start`".to_owned()))?;
    blocks.swap(0, start);
    Ok(blocks)
}

impl ValueLine {
    fn parse(line: &str) -> Result<Self, String> {
        let usage =
            || "expected `Value [OPTIONS] NAME (REGEXP)`, or an empty line below the values";
        let words = line.strip_prefix("Value ").ok_or_else(usage)?;
        let (first, rest) = words.split_once(' ').ok_or_else(usage)?;
        let (options, name, regexp) = match rest.split_once(' ') {
            Some((name, regexp)) if !rest.starts_with('(') => (Some(first), name, regexp),
            _ => (None, first, rest),
        };
        if !(regexp.starts_with('(') && regexp.ends_with(')')) || regexp.ends_with("\\)") {
            return Err(format!("expected `(REGEXP)`, found `{regexp}`"));
        }
        if name.chars().count() > MAX_NAME {
            return Err(format!("a name has at most {MAX_NAME} characters"));
        }
        let mut parsed = Vec::new();
        for option in options.into_iter().flat_map(|options| options.split(',')) {
            let one = match option {
                "Required" => ValueOption::Required,
                "Filldown" => ValueOption::Filldown,
                "Fillup" => ValueOption::Fillup,
                "Key" => ValueOption::Key,
                "List" => ValueOption::List,
                _ => {
                    let known = "Required, Filldown, Fillup, Key, List";
                    return Err(format!(
                        "there is no option `{option}`; options are {known}"
                    ));
                }
            };
            if parsed.contains(&one) {
                return Err(format!("the option `{option}` is there twice"));
            }
            parsed.push(one);
        }
        Ok(Self {
            options: parsed,
            name: name.to_owned(),
            regexp: regexp.to_owned(),
        })
    }

    /// Whether it has this option.
    pub(super) fn has(&self, option: ValueOption) -> bool {
        self.options.contains(&option)
    }
}

impl Rule {
    /// Parses a rule; `states` are the names of all states, in their order.
    fn parse(line: &str, values: &[ValueLine], states: &[&str]) -> Result<Self, String> {
        let arrow = line
            .rmatch_indices("->")
            .map(|(at, _)| at)
            .find(|at| line[..*at].ends_with(char::is_whitespace));
        let (pattern, action) = match arrow {
            Some(at) => {
                let pattern = &line[..at];
                let blank = pattern.chars().next_back().map_or(0, char::len_utf8);
                (&pattern[..at - blank], &line[at + 2..])
            }
            None => (line, ""),
        };
        let regexp = Regexp::new(&substituted(pattern, values)?)?;
        let number = |name: &str| values.iter().position(|value| value.name == name);
        let groups = regexp
            .names()
            .filter_map(|(group, name)| Some((group, number(name)?)));
        let (record, line) = action_of(action, states)?;
        Ok(Self {
            groups: groups.collect(),
            regexp,
            record,
            line,
        })
    }
}

/// Puts the expressions of values in the place of `${NAME}` and `$NAME`, and `$` in the place of `$$`.
fn substituted(pattern: &str, values: &[ValueLine]) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('$') {
        text.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            text.push('$');
            rest = after;
            continue;
        }
        let braced = after.strip_prefix('{');
        let inner = braced.unwrap_or(after);
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, after) = inner.split_at(inner.find(|c| !is_name(c)).unwrap_or(inner.len()));
        let after = match braced {
            Some(_) => after.strip_prefix('}'),
            None => Some(after),
        };
        let is_valid = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
        let Some(after) = after.filter(|_| is_valid) else {
            let message = "after `$` stands the name of a value; the end of a line is `$$`";
            return Err(message.to_owned());
        };
        let Some(value) = values.iter().find(|value| value.name == name) else {
            let names = values.iter().map(|value| value.name.as_str());
            let hint = devgate_schemas::did_you_mean(name, names);
            return Err(format!("there is no value `{name}`{hint}"));
        };
        text.push_str(&format!("(?P<{name}>{}", &value.regexp[1..]));
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

/// The actions of a rule: what follows its arrow.
fn action_of(action: &str, states: &[&str]) -> Result<(RecordAction, LineAction), String> {
    let refused = || format!("expected an action after `->`, found `{}`", action.trim());
    let words = action.trim_start();
    if action == words && !words.is_empty() {
        return Err(refused());
    }
    let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let rest = rest.trim_start();
    let (line, record) = match first.split_once('.') {
        Some((line, record)) => (Some(line), Some(record)),
        None if matches!(first, "Continue" | "Next" | "Error") => (Some(first), None),
        None => (None, Some(first)),
    };
    let record = record.map(|record| match record {
        "NoRecord" => Some(RecordAction::NoRecord),
        "Record" => Some(RecordAction::Record),
        "Clear" => Some(RecordAction::Clear),
        "Clearall" => Some(RecordAction::Clearall),
        _ => None,
    });
    let (line, record, state) = match (line, record) {
        (line, Some(Some(record))) => (line, record, rest),
        (Some(line), None) => (Some(line), RecordAction::NoRecord, rest),
        (None, Some(None)) => (None, RecordAction::NoRecord, words),
        _ => return Err(refused()),
    };
    let quoted = state
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let is_word = !state.is_empty() && state.chars().all(is_word);
    let line = match line {
        Some("Error") if state.is_empty() => {
            LineAction::Error("the template refuses it".to_owned())
        }
        Some("Error") if quoted.is_some() || is_word => {
            LineAction::Error(quoted.unwrap_or(state).to_owned())
        }
        Some("Continue") if state.is_empty() => LineAction::Continue,
        Some("Continue") => return Err("`Continue` leads to no other state".to_owned()),
        None | Some("Next") if state.is_empty() || is_word => {
            LineAction::Next(destination(state, states)?)
        }
        _ => return Err(refused()),
    };
    Ok((record, line))
}

fn destination(state: &str, states: &[&str]) -> Result<Destination, String> {
    Ok(match state {
        "" => Destination::Here,
        "End" => Destination::End,
        "EOF" => Destination::Eof,
        _ => match states.iter().position(|name| *name == state) {
            Some(number) => Destination::State(number),
            None => {
                let hint = devgate_schemas::did_you_mean(state, states.iter().copied());
                return Err(format!("there is no state `{state}`{hint}"));
            }
        },
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn at(line: usize) -> impl Fn(String) -> Error {
    move |message| Error::Template { line, message }
}
