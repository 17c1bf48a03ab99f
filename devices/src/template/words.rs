//! Checks the filters and tests that a template or an expression uses, in all its branches.
//!
//! The library reports an unknown one only when it runs.

use devgate_schemas::did_you_mean;
use minijinja::Environment;
use minijinja::machinery::{CodeGenerator, Instruction, Instructions, parse_expr};

use super::language::Language;
use super::names::INTERFACE;
use super::{Cause, Error};

/// The filters that suggestions are made of: Jinja's and ours.
#[rustfmt::skip]
const FILTERS: [&str; 60] = [
    "abs", "address", "attr", "batch", "bindings", "bool", "chain", "count", "d", "default", "dictsort", "e", "escape",
    "first", "float", "format", "groupby", "host", "indent", "int", "integer", "interface", "items", "join", "last",
    "length", "lines", "list", "lower", "mac", "map", "max", "min", "netmask", "network", "pprint", "prefix", "quoted",
    "ranges", "reject", "rejectattr", "replace", "reverse", "round", "safe", "seconds", "select", "selectattr", "slice",
    "sort", "split", "string", "sum", "title", "tojson", "trim", "unique", "unquoted", "upper", "zip",
];

/// The tests that suggestions are made of.
#[rustfmt::skip]
const TESTS: [&str; 36] = [
    "boolean", "changed", "defined", "divisibleby", "endingwith", "eq", "equalto", "escaped", "even", "false", "filter",
    "float", "ge", "greaterthan", "gt", "in", "int", "integer", "iterable", "le", "lessthan", "lower", "lt", "mapping", "matching",
    "ne", "none", "number", "odd", "safe", "sameas", "sequence", "startingwith", "string", "true", "undefined",
];

/// Refuses an unknown filter or test of an expression.
pub(super) fn check_expression(language: Language, source: &str) -> Result<(), Error> {
    let parsed = parse_expr(source)?;
    let mut generator = CodeGenerator::new("expression", source);
    generator.compile_expr(&parsed);
    check(language, &generator.finish().0)
}

/// Refuses an unknown filter or test, at its line.
pub(super) fn check(language: Language, code: &Instructions<'_>) -> Result<(), Error> {
    let environment = language.environment;
    let mut number = 0;
    while let Some(instruction) = code.get(number) {
        let message = match instruction {
            Instruction::ApplyFilter(name, ..) if !is_known(environment, "filter", name) => {
                let hint = did_you_mean(name, FILTERS);
                Some(format!("there is no filter `{name}`{hint}"))
            }
            Instruction::PerformTest(name, ..) if !is_known(environment, "test", name) => {
                let hint = did_you_mean(name, TESTS);
                Some(format!("there is no test `{name}`{hint}"))
            }
            Instruction::ApplyFilter(name, Some(1), _)
                if *name == INTERFACE && !language.names_interfaces =>
            {
                Some(
                    "the family has no table of names for `interface`: expected \
                     `names: { interface: […] }` in its file, or `interface(words)` here"
                        .to_owned(),
                )
            }
            _ => None,
        };
        if let Some(message) = message {
            return Err(Error {
                line: code.get_line(number).unwrap_or(1),
                message,
                cause: Cause::Other,
                expression: None,
            });
        }
        number += 1;
    }
    Ok(())
}

/// Whether every family has a filter of this name.
pub(crate) fn is_filter(name: &str) -> bool {
    is_known(Language::default().environment, "filter", name)
}

/// Whether there is a filter or test of this name. Jinja's own tests `filter` and `test` know.
fn is_known(language: &Environment<'_>, what: &str, name: &str) -> bool {
    let known = language.empty_state().perform_test(what, &[name.into()]);
    known.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn every_suggestion_is_there() {
        let language = Language::default().environment;
        for (what, names) in [("filter", &FILTERS[..]), ("test", &TESTS)] {
            for name in names {
                assert!(is_known(language, what, name), "{what} {name}");
            }
            assert!(names.is_sorted(), "{what}");
            assert!(!is_known(language, what, "nothing"));
        }
    }
}
