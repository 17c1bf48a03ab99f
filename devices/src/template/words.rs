//! Checks the filters and tests that a template or an expression uses, in all its branches.
//!
//! The library reports an unknown one only when it runs.

use devgate_schemas::did_you_mean;
use minijinja::Environment;
use minijinja::machinery::{CodeGenerator, Instruction, Instructions, parse_expr};

use super::Error;

/// The filters that suggestions are made of: Jinja's and ours.
#[rustfmt::skip]
const FILTERS: [&str; 58] = [
    "abs", "address", "attr", "batch", "bindings", "bool", "chain", "count", "d", "default", "dictsort", "e", "escape",
    "first", "float", "format", "groupby", "host", "indent", "int", "integer", "interface", "items", "join", "last",
    "length", "lines", "list", "lower", "mac", "map", "max", "min", "netmask", "network", "pprint", "prefix", "ranges",
    "reject", "rejectattr", "replace", "reverse", "round", "safe", "seconds", "select", "selectattr", "slice", "sort",
    "split", "string", "sum", "title", "tojson", "trim", "unique", "upper", "zip",
];

/// The tests that suggestions are made of.
#[rustfmt::skip]
const TESTS: [&str; 35] = [
    "boolean", "changed", "defined", "divisibleby", "endingwith", "eq", "equalto", "escaped", "even", "false", "filter",
    "float", "ge", "greaterthan", "gt", "in", "int", "integer", "iterable", "le", "lessthan", "lower", "lt", "mapping",
    "ne", "none", "number", "odd", "safe", "sameas", "sequence", "startingwith", "string", "true", "undefined",
];

/// Refuses an unknown filter or test of an expression.
pub(super) fn check_expression(language: &Environment<'_>, source: &str) -> Result<(), Error> {
    let parsed = parse_expr(source)?;
    let mut generator = CodeGenerator::new("expression", source);
    generator.compile_expr(&parsed);
    check(language, &generator.finish().0)
}

/// Refuses an unknown filter or test, at its line.
pub(super) fn check(language: &Environment<'_>, code: &Instructions<'_>) -> Result<(), Error> {
    let mut number = 0;
    while let Some(instruction) = code.get(number) {
        let unknown = match instruction {
            Instruction::ApplyFilter(name, ..) if !is_known(language, "filter", name) => {
                Some(("filter", name, did_you_mean(name, FILTERS)))
            }
            Instruction::PerformTest(name, ..) if !is_known(language, "test", name) => {
                Some(("test", name, did_you_mean(name, TESTS)))
            }
            _ => None,
        };
        if let Some((what, name, hint)) = unknown {
            return Err(Error {
                line: code.get_line(number).unwrap_or(1),
                message: format!("there is no {what} `{name}`{hint}"),
                missing: None,
            });
        }
        number += 1;
    }
    Ok(())
}

/// Whether there is a filter or test of this name. Jinja's own tests `filter` and `test` know.
fn is_known(language: &Environment<'_>, what: &str, name: &str) -> bool {
    let known = language.empty_state().perform_test(what, &[name.into()]);
    known.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::LANGUAGE;

    #[test]
    fn every_suggestion_is_there() {
        for (what, names) in [("filter", &FILTERS[..]), ("test", &TESTS)] {
            for name in names {
                assert!(is_known(&LANGUAGE, what, name), "{what} {name}");
            }
            assert!(names.is_sorted(), "{what}");
            assert!(!is_known(&LANGUAGE, what, "nothing"));
        }
    }
}
