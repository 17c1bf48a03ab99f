//! The language of families: expressions that compute values, and templates that render texts.
//!
//! Both are strict Jinja: an unknown name, a missing value, and text in place of a number are errors. All
//! names, filters and tests are checked when a family is loaded.

mod filters;
mod network;
mod scope;
mod uptime;
mod words;

use std::sync::LazyLock;

use devgate_schemas::{Value, did_you_mean};
use minijinja::machinery::get_compiled_template;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::ValueKind;
use minijinja::{Environment, ErrorKind, UndefinedBehavior};

pub(crate) use scope::{Escape, Medium, Revealed, Scope, Secrets, VALUE_LINE_END};

/// A compiled expression.
pub(crate) struct Expression(minijinja::Expression<'static, 'static>);

/// A compiled template.
pub(crate) struct Template(Environment<'static>);

/// An error in the source or in the evaluation of an expression or a template.
#[derive(Debug, PartialEq)]
pub(crate) struct Error {
    /// The line in the source, counted from 1.
    pub(crate) line: usize,
    /// The message.
    pub(crate) message: String,
    /// The name whose value is missing, if the error is just that.
    pub(crate) missing: Option<String>,
}

/// The name of the only template of an environment.
const NAME: &str = "template";

/// The message for a template that writes a missing value.
const NO_VALUE: &str = "there is no value to write here; ask with `{% if … is not none %}` first";

static LANGUAGE: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut language = Environment::new();
    language.set_undefined_behavior(UndefinedBehavior::Strict);
    // A line that holds only a block tag produces no output line.
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .build();
    language.set_syntax(syntax.expect("Jinja's own delimiters do not clash"));
    language.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    filters::add(&mut language);
    language
});

impl Expression {
    /// Compiles an expression over these names.
    ///
    /// # Errors
    /// Fails when the expression is invalid or uses an unknown name.
    pub(crate) fn new<'a>(
        source: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, Error> {
        let expression = LANGUAGE.compile_expression_owned(source.to_owned())?;
        words::check_expression(&LANGUAGE, source)?;
        check_names(source, expression.undeclared_variables(false), names)?;
        Ok(Self(expression))
    }

    /// Returns the names that the expression references, in alphabetical order.
    pub(crate) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.0.undeclared_variables(false).into_iter().collect();
        names.sort();
        names
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    /// Fails when the evaluation fails, for example because a filter expects another text.
    pub(crate) fn evaluate(&self, scope: &Scope) -> Result<Value, Error> {
        let value = self.0.eval(scope.0.clone())?;
        let json = serde_json::to_value(&value).map_err(|error| Error {
            line: 1,
            message: format!("not a value: {error}"),
            missing: None,
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
        source: &str,
        names: impl IntoIterator<Item = &'a str>,
        escape: Escape,
    ) -> Result<Self, Error> {
        let mut environment = LANGUAGE.clone();
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
            &LANGUAGE,
            &get_compiled_template(&template.compiled()).instructions,
        )?;
        check_names(
            source,
            template.compiled().undeclared_variables(false),
            names,
        )?;
        Ok(template)
    }

    /// Returns the names that the template references.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.compiled().undeclared_variables(false);
        names.into_iter().collect()
    }

    /// Renders the template.
    ///
    /// # Errors
    /// Fails when rendering fails, for example because a value is missing.
    pub(crate) fn render(&self, scope: &Scope) -> Result<String, Error> {
        Ok(self.compiled().render(scope.0.clone())?)
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
        .filter(|name| !known.contains(&name.as_str()));
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
        missing: None,
    })
}

impl From<minijinja::Error> for Error {
    fn from(error: minijinja::Error) -> Self {
        let message = match error.detail() {
            Some(detail) => detail.to_owned(),
            None => error.kind().to_string(),
        };
        Self {
            line: error.line().unwrap_or(1),
            missing: (message == NO_VALUE)
                .then(|| missing_name(&error))
                .flatten(),
            message,
        }
    }
}

/// Returns the name that the template was writing when the error occurred.
fn missing_name(error: &minijinja::Error) -> Option<String> {
    let text = error.template_source()?.get(error.range()?)?.trim();
    let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    (is_name && !text.is_empty()).then(|| text.to_owned())
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

#[cfg(test)]
mod tests {
    use devgate_schemas::Hash;
    use serde_json::json;

    use super::*;

    fn scope(json: serde_json::Value) -> Scope {
        let Value::Hash(values) = Value::from(json) else {
            panic!("a scope is a hash")
        };
        Scope::of_row(&values)
    }

    fn value(source: &str, row: serde_json::Value) -> Result<serde_json::Value, Error> {
        let scope = scope(row);
        let names = ["A", "B"];
        Expression::new(source, names)?
            .evaluate(&scope)
            .map(|value| value.to_json())
    }

    #[test]
    fn an_expression_makes_a_typed_value() {
        let row = || json!({"A": "8.4.4", "B": ["x", "y"]});
        assert_eq!(value("A", row()), Ok(json!("8.4.4")));
        assert_eq!(value("'FRRouting'", row()), Ok(json!("FRRouting")));
        assert_eq!(value("(A | split('.'))[0] | integer", row()), Ok(json!(8)));
        assert_eq!(value("A != ''", row()), Ok(json!(true)));
        assert_eq!(value("B", row()), Ok(json!(["x", "y"])));
        assert_eq!(
            value("A or none", json!({"A": "", "B": []})),
            Ok(json!(null))
        );
    }

    #[test]
    fn an_unknown_name_is_refused_when_it_is_compiled() {
        let error = Expression::new("NEXTHOP", ["PREFIX", "NEXT_HOP"]).expect_err("unknown");
        assert_eq!(
            error.message,
            "`NEXTHOP` is not known here; did you mean `NEXT_HOP`?; known are PREFIX, NEXT_HOP"
        );
    }

    #[test]
    fn an_unknown_word_of_the_language_is_refused_where_nothing_runs_it() {
        let expression = |source| Expression::new(source, ["A"]).expect_err("unknown");
        assert_eq!(
            expression("'' if A == '' else\n A | intger"),
            Error {
                line: 2,
                message: "there is no filter `intger`; did you mean `integer`?".to_owned(),
                missing: None,
            }
        );
        assert_eq!(
            expression("[A is chnaged(1)]").message,
            "there is no test `chnaged`; did you mean `changed`?"
        );
        assert_eq!(
            expression("{'a': {'b': A | zzzz}}").message,
            "there is no filter `zzzz`"
        );
        assert!(
            expression("A or nothing(A)")
                .message
                .starts_with("`nothing` is not known here")
        );
        let template =
            "a\n{% if A %}\n{% for x in A %}\n{{ x | uper }}\n{% endfor %}\n{% endif %}\n";
        let error = Template::new(template, ["A"], Escape::None).expect_err("unknown");
        assert_eq!(
            (error.line, error.message.as_str()),
            (4, "there is no filter `uper`; did you mean `upper`?")
        );
        let filter_block = "{% filter indnet(2) %}x{% endfilter %}";
        Template::new(filter_block, ["A"], Escape::None).expect_err("unknown");
    }

    #[test]
    fn a_value_is_written_as_json() {
        let value = value(
            "{'a': A, 'b': B} | tojson",
            json!({"A": "x\"y", "B": [1, null]}),
        );
        assert_eq!(value, Ok(json!("{\"a\": \"x\\\"y\", \"b\": [1, null]}")));
    }

    #[test]
    fn a_template_refuses_what_is_not_there() {
        let template =
            Template::new("one\n\n  two {{ A }}\n", ["A"], Escape::None).expect("compiles");
        let mut row = Hash::new();
        row.insert("A", Value::Undef);
        let error = template.render(&Scope::of_row(&row)).expect_err("no value");
        assert_eq!(error.line, 3);
        assert!(error.message.contains("no value"), "{}", error.message);
    }

    #[test]
    fn a_value_is_written_as_the_other_language_has_it() {
        let text = |escape| {
            let template = Template::new("{{ A | safe }} {{ B }}", ["A", "B"], escape);
            let row = scope(json!({ "A": "a/b<é>", "B": false }));
            template.expect("compiles").render(&row).expect("a text")
        };
        assert_eq!(text(Escape::None), "a/b<é> false");
        assert_eq!(text(Escape::Path), "a%2Fb%3C%C3%A9%3E false");
        assert_eq!(text(Escape::Xml), "a/b&lt;é&gt; false");
    }

    #[test]
    fn a_value_makes_no_more_of_a_command() {
        let template = Template::new("show {{ A }}", ["A"], Escape::Name).expect("compiles");
        let text = |value: &str| template.render(&scope(json!({ "A": value })));
        assert_eq!(
            text("Gi0/1.5 vrf {x}"),
            Ok("show Gi0/1.5 vrf {x}".to_owned())
        );
        for value in [
            "a | redirect b",
            "a;reload",
            "a\nreload",
            "a?",
            "$(a)",
            "a > b",
            "`a`",
            "\"a",
        ] {
            let error = text(value).expect_err(value).message;
            assert!(error.contains("does not name something"), "{error}");
        }
    }

    #[test]
    fn lines_with_nothing_but_a_block_leave_no_line() {
        let source = "a\n  {% if A %}\n  b {{ A }}\n  {% endif %}\nc";
        let template = Template::new(source, ["A"], Escape::None).expect("compiles");
        assert_eq!(
            template.render(&scope(json!({"A": 1}))),
            Ok("a\n  b 1\nc".to_owned())
        );
        assert_eq!(
            template.render(&scope(json!({"A": ""}))),
            Ok("a\nc".to_owned())
        );
    }
}
