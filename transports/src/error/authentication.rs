//! Why a login was refused.

use thiserror::Error;

use super::text::saying;

/// Why a login was refused.
#[derive(Debug, Error)]
#[error("{peer} refuses the login of `{user}` ({tried}){}{}{}", offers(.offered), saying(.said), next_step(.next))]
pub struct AuthenticationProblem {
    /// Whom.
    pub peer: String,
    /// Whose login.
    pub user: String,
    /// What was tried.
    pub tried: String,
    /// The methods that the target offers.
    pub offered: Vec<&'static str>,
    /// What the target said, if anything.
    pub said: String,
    /// What to do next.
    pub next: String,
}

fn offers(methods: &[&'static str]) -> String {
    if methods.is_empty() {
        String::new()
    } else {
        format!("; it offers {}", methods.join(", "))
    }
}

fn next_step(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!(": {text}")
    }
}
