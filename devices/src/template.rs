//! The language of families: expressions that compute values, and templates that render texts.
//!
//! Both are strict Jinja: an unknown name, a missing value, and text in place of a number are errors. All
//! names, filters and tests are checked when a family is loaded.

mod filters;
mod language;
mod names;
mod network;
mod placeholder;
mod quoting;
mod scope;
#[cfg(test)]
mod tests;
mod uptime;
mod words;

use devgate_schemas::{Value, did_you_mean};
use minijinja::machinery::get_compiled_template;
use minijinja::value::ValueKind;
use minijinja::{Environment, ErrorKind};

use filters::{FAIL, NO_VALUE, REFUSAL};

pub(crate) use language::Language;
pub(crate) use names::{INTERFACE, NameForm, NameTable};
pub(crate) use scope::{Escape, Medium, Revealed, Scope, Secrets, VALUE_LINE_END};
pub(crate) use words::is_filter;

/// A compiled expression.
pub(crate) struct Expression {
    source: String,
    compiled: minijinja::Expression<'static, 'static>,
}

/// A compiled template.
pub(crate) struct Template(Environment<'static>);

/// An error in the source or in the evaluation of an expression or a template.
#[derive(Debug, PartialEq)]
pub(crate) struct Error {
    /// The line in the source, counted from 1.
    pub(crate) line: usize,
    /// The message.
    pub(crate) message: String,
    /// What kind of error it is.
    pub(crate) cause: Cause,
    /// The expression that could not be evaluated.
    pub(crate) expression: Option<String>,
}

/// The cause of an error in an expression or a template.
#[derive(Debug, PartialEq)]
pub(crate) enum Cause {
    /// The value of this name is missing, and is written.
    Missing(String),
    /// There is no such value: a fact that the device does not have.
    Undefined,
    /// The family refuses with `fail`.
    Refusal,
    /// Anything else.
    Other,
}

/// The name of the only template of an environment.
const NAME: &str = "template";

/// The names of the two states in the templates of a change.
const STATES: [&str; 2] = ["is", "should"];

/// The maximum number of characters of an expression in a message.
const MAX_QUOTED: usize = 80;

impl Expression {
    /// Compiles an expression over these names.
    ///
    /// # Errors
    /// Fails when the expression is invalid or uses an unknown name.
    pub(crate) fn new<'a>(
        language: Language,
        source: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, Error> {
        let environment = language.environment;
        let compiled = environment.compile_expression_owned(source.to_owned())?;
        words::check_expression(language, source)?;
        check_names(source, compiled.undeclared_variables(false), names)?;
        Ok(Self {
            source: source.to_owned(),
            compiled,
        })
    }

    /// Returns its text in the family's file.
    pub(crate) fn source(&self) -> &str {
        self.source.trim()
    }

    /// Returns the values that it references with their paths, such as `facts.os.name`, in alphabetical order.
    pub(crate) fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = self
            .compiled
            .undeclared_variables(true)
            .into_iter()
            .collect();
        paths.sort();
        paths
    }

    /// Returns the names that the expression references, in alphabetical order.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.compiled.undeclared_variables(false).into_iter();
        let mut names: Vec<String> = names.filter(|name| name != FAIL).collect();
        names.sort();
        names
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    /// Fails when the evaluation fails, for example because a filter expects another text.
    pub(crate) fn evaluate(&self, scope: &Scope) -> Result<Value, Error> {
        let value = self.compiled.eval(scope.0.clone());
        let value = value.map_err(|error| Error::at_run_time(error, &self.source))?;
        let json = serde_json::to_value(&value).map_err(|error| Error {
            line: 1,
            message: format!("not a value: {error}"),
            cause: Cause::Other,
            expression: None,
        })?;
        Ok(Value::from(json))
    }
}

impl Template {
    /// Compiles a template over these names, which escapes values according to `escape`.
    ///
    /// # Errors
    /// Fails when the template is invalid or uses an unknown name.
    pub(crate) fn new<'a>(
        language: Language,
        source: &str,
        names: impl IntoIterator<Item = &'a str>,
        escape: Escape,
    ) -> Result<Self, Error> {
        let mut environment = language.environment.clone();
        // This formatter applies to every value, even with `| safe`.
        environment.set_formatter(move |output, state, value| {
            let refused =
                |message: String| Err(minijinja::Error::new(ErrorKind::UndefinedError, message));
            if value.is_none() || value.is_undefined() {
                return refused(NO_VALUE.to_owned());
            }
            match escape {
                // Booleans are not written in Python's form.
                _ if value.kind() == ValueKind::Bool => {
                    Ok(output.write_str(if value.is_true() { "true" } else { "false" })?)
                }
                Escape::None => minijinja::escape_formatter(output, state, value),
                Escape::Path if Secrets::are_in(&value.to_string()) => {
                    refused("a secret does not belong in a path".to_owned())
                }
                Escape::Name => {
                    let text = value.to_string();
                    match text.chars().find(|&found| is_more_than_name(found)) {
                        Some(found) => refused(format!(
                            "a value with {found:?} does not name something: it could do more here"
                        )),
                        None => Ok(output.write_str(&text)?),
                    }
                }
                Escape::Line | Escape::Path | Escape::Xml => {
                    Ok(output.write_str(&escape.escaped(&value.to_string()))?)
                }
            }
        });
        environment.add_template_owned(NAME, source.to_owned())?;
        let template = Self(environment);
        words::check(
            language,
            &get_compiled_template(&template.compiled()).instructions,
        )?;
        let names: Vec<&str> = names.into_iter().collect();
        let used = template.compiled().undeclared_variables(false);
        check_names(source, used, names.iter().copied())?;
        if names.contains(&STATES[0]) {
            // The attributes of the two states.
            let used = template.compiled().undeclared_variables(true).into_iter();
            let attributes = used.filter_map(|name| {
                let (state, rest) = name.split_once('.')?;
                let attribute = rest.split('.').next().unwrap_or(rest);
                STATES.contains(&state).then(|| attribute.to_owned())
            });
            check_names(source, attributes.collect::<Vec<_>>(), names)?;
        }
        Ok(template)
    }

    /// Returns the names that the template references.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.compiled().undeclared_variables(false).into_iter();
        names.filter(|name| name != FAIL).collect()
    }

    /// Renders the template.
    ///
    /// # Errors
    /// Fails when rendering fails, for example because a value is missing.
    pub(crate) fn render(&self, scope: &Scope) -> Result<String, Error> {
        let compiled = self.compiled();
        let text = compiled.render(scope.0.clone());
        text.map_err(|error| Error::at_run_time(error, compiled.source()))
    }

    fn compiled(&self) -> minijinja::Template<'_, '_> {
        self.0
            .get_template(NAME)
            .expect("it was added when this was made")
    }
}

/// Whether a character could make more of a command or an XPath than it is: another one, a file, a request for help.
fn is_more_than_name(character: char) -> bool {
    character.is_control() || "|;?&<>`$\"'\\".contains(character)
}

/// Refuses unknown names, at the line of the first one.
fn check_names<'a>(
    source: &str,
    used: impl IntoIterator<Item = String>,
    known: impl IntoIterator<Item = &'a str>,
) -> Result<(), Error> {
    let known: Vec<&str> = known.into_iter().collect();
    let used = used
        .into_iter()
        .filter(|name| name != FAIL && !known.contains(&name.as_str()));
    let at = |name: &str| {
        source
            .find(name)
            .map_or(0, |at| source[..at].matches('\n').count())
    };
    let mut unknown: Vec<(usize, String)> = used.map(|name| (at(&name) + 1, name)).collect();
    unknown.sort();
    let Some((line, _)) = unknown.first() else {
        return Ok(());
    };
    let named: Vec<String> = unknown
        .iter()
        .map(|(_, name)| {
            format!(
                "`{name}` is not known here{}",
                did_you_mean(name, known.iter().copied())
            )
        })
        .collect();
    let message = format!("{}; known are {}", named.join(", "), known.join(", "));
    Err(Error {
        line: *line,
        message,
        cause: Cause::Other,
        expression: None,
    })
}

impl Error {
    /// An error in the evaluation of this source: it names the expression.
    fn at_run_time(error: minijinja::Error, source: &str) -> Self {
        let text = error.range().and_then(|range| source.get(range));
        let text = text.unwrap_or(source).trim();
        let is_missing = error.detail() == Some(NO_VALUE);
        let is_undefined = error.kind() == ErrorKind::UndefinedError;
        let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
        let mut error = Self::from(error);
        if let Some(message) = error.message.strip_prefix(REFUSAL) {
            error.message = message.to_owned();
            error.cause = Cause::Refusal;
            return error;
        }
        if is_missing && is_name {
            error.cause = Cause::Missing(text.to_owned());
        } else if is_undefined && !is_missing {
            error.cause = Cause::Undefined;
        }
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut quoted = words.join(" ");
        if let Some((end, _)) = quoted.char_indices().nth(MAX_QUOTED) {
            quoted.truncate(end);
            quoted.push('…');
        }
        error.expression = Some(quoted);
        error
    }
}

impl From<minijinja::Error> for Error {
    fn from(error: minijinja::Error) -> Self {
        let message = match error.detail() {
            Some(detail) => detail.to_owned(),
            None => error.kind().to_string(),
        };
        Self {
            line: error.line().unwrap_or(1),
            message,
            cause: Cause::Other,
            expression: None,
        }
    }
}

impl std::fmt::Debug for Expression {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Expression")
    }
}

impl std::fmt::Debug for Template {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Template")
    }
}
