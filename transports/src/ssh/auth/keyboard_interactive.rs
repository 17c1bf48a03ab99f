//! Keyboard-interactive authentication (RFC 4256). Only a single password can be answered.

use devgate_schemas::Sensitive;
use russh::client::{AuthResult, KeyboardInteractiveAuthResponse as Response};

use super::{Login, bounded};
use crate::error::one_line;
use crate::{Error, Result};

/// The maximum number of question rounds.
const MOST_ROUNDS: usize = 8;

/// Phrases with which hosts ask for a new password.
const NEW_PASSWORD: [&str; 3] = ["expired", "new password", "change your password"];

impl Login<'_> {
    /// Answers the single hidden question, which asks for the password.
    pub(super) async fn by_answers(&mut self, password: &Sensitive<String>) -> Result<bool> {
        self.tried.push("keyboard-interactive".to_owned());
        let user = &self.settings.user;
        let starting = self
            .handle
            .authenticate_keyboard_interactive_start(user, None::<String>);
        let mut response = bounded(self.deadline, starting).await;
        let mut answered = false;
        let mut told = Vec::new();
        for _ in 0..MOST_ROUNDS {
            let prompts = match response {
                Err(()) => return Err(self.timed_out()),
                Ok(Err(error)) => return Err(self.ended(&error.to_string())),
                Ok(Ok(Response::Success)) => return Ok(true),
                Ok(Ok(Response::Failure {
                    remaining_methods,
                    partial_success,
                })) => {
                    let failure = AuthResult::Failure {
                        remaining_methods,
                        partial_success,
                    };
                    return self.noted(Ok(Ok(failure)));
                }
                Ok(Ok(Response::InfoRequest {
                    instructions,
                    prompts,
                    ..
                })) => {
                    told.push(instructions);
                    prompts
                }
            };
            let answers = match prompts.as_slice() {
                [] => Vec::new(),
                [prompt] if !prompt.echo && !answered => {
                    answered = true;
                    vec![password.reveal().clone()]
                }
                [prompt, ..] => return Err(self.asked(&prompt.prompt, &told.join("\n"), answered)),
            };
            let answering = self
                .handle
                .authenticate_keyboard_interactive_respond(answers);
            response = bounded(self.deadline, answering).await;
        }
        Err(self.refused("it asks without end"))
    }

    /// Returns the error for a question that cannot be answered. `told` holds the host's instructions so far.
    fn asked(&self, question: &str, told: &str, answered: bool) -> Error {
        let asked = one_line(question);
        let words = format!("{told} {question}").to_lowercase();
        let wants_new = NEW_PASSWORD.iter().any(|says| words.contains(says));
        let why = if answered && wants_new {
            format!(
                "it took the password and wants a new one (`{asked}`): log in by hand and set it"
            )
        } else if answered {
            format!(
                "it asks `{asked}` behind the password, which nobody can answer here: it needs a key, \
                 or an account without a second factor"
            )
        } else {
            format!("it asks `{asked}`, and only a single password can be answered")
        };
        match one_line(told) {
            told if told.is_empty() => self.refused(&why),
            told => self.refused(&format!("it says `{told}`; {why}")),
        }
    }
}
