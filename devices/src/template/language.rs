//! The filters, tests and functions of a family: Jinja's, ours, and a filter for each of its tables of names.

use std::sync::{LazyLock, Mutex, PoisonError};

use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior};

use super::filters;
use super::names::{INTERFACE, NameTable};

/// What expressions and templates may use.
#[derive(Clone, Copy)]
pub(crate) struct Language {
    pub(super) environment: &'static Environment<'static>,
    /// Whether the family has a table of names of interfaces.
    pub(super) names_interfaces: bool,
}

static COMMON: LazyLock<Environment<'static>> = LazyLock::new(|| {
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

/// The languages of families with tables. Compiled expressions refer to their language for as long as the process
/// lives, so equal tables share one.
static WITH_NAMES: Mutex<Vec<(Vec<NameTable>, Language)>> = Mutex::new(Vec::new());

impl Language {
    /// The language with a filter for each table.
    pub(crate) fn with_names(tables: Vec<NameTable>) -> Self {
        let mut known = WITH_NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, language)) = known.iter().find(|(one, _)| *one == tables) {
            return *language;
        }
        let mut environment = COMMON.clone();
        for table in tables.clone() {
            filters::add_table(&mut environment, table);
        }
        let language = Self {
            environment: Box::leak(Box::new(environment)),
            names_interfaces: tables.iter().any(|table| table.name == INTERFACE),
        };
        known.push((tables, language));
        language
    }
}

impl Default for Language {
    fn default() -> Self {
        Self {
            environment: &COMMON,
            names_interfaces: false,
        }
    }
}
