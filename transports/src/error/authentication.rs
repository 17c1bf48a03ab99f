//! The error for a refused login.

use thiserror::Error;

use super::text::quoted_message;

/// A refused login.
#[derive(Debug, Error)]
#[error("{peer} refuses the login of `{user}` ({tried}){}{}{}", offers(.offered), quoted_message(.message), next_step(.next))]
pub struct AuthenticationProblem {
    /// The peer.
    pub peer: String,
    /// The user name.
    pub user: String,
    /// The credentials or methods that were tried.
    pub tried: String,
    /// The methods that the target offers.
    pub offered: Vec<&'static str>,
    /// The target's message, if any.
    pub message: String,
    /// Advice.
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
