//! Tests of the engine's guarantees on devices that behave as badly as real ones.

mod ahead;
mod between;
mod committing;
mod configuring;
mod confirming;
mod echoes;
mod ending;
mod limits;
mod modeless;
mod opening;
mod questions;
mod windows;

use super::fake::Fake;
use crate::error::{ConfigurationProblem, Interruption};
use crate::{Error, Result};

fn r1() -> Fake {
    Fake::new("r1#")
}

fn interruption<T: std::fmt::Debug>(result: Result<T>) -> (Interruption, String, String) {
    match result.expect_err("interrupted") {
        Error::Interrupted(it) => {
            let text = it.to_string();
            (it.why, it.partial.text().to_owned(), text)
        }
        other => panic!("another error: {other}"),
    }
}

/// Returns a problem with configuration lines, and its message.
fn problem(result: Result<()>) -> (ConfigurationProblem, String) {
    match result.expect_err("a problem") {
        Error::Configuration(problem) => {
            let text = problem.to_string();
            (*problem, text)
        }
        other => panic!("another error: {other}"),
    }
}
