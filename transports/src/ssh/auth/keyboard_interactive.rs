//! Keyboard-interactive authentication (RFC 4256). Only a single password can be answered.

use devgate_schemas::Sensitive;
use russh::client::{AuthResult, KeyboardInteractiveAuthResponse as Response};

use super::{Login, with_deadline};
use crate::error::one_line;
use crate::{Error, Result};

/// The maximum number of question rounds.
const MAX_ROUNDS: usize = 8;

/// Phrases with which hosts ask for a new password.
const NEW_PASSWORD: [&str; 3] = ["expired", "new password", "change your password"];

impl Login<'_> {
    /// Answers the single hidden question, which asks for the password.
    pub(super) async fn try_keyboard_interactive(
        &mut self,
        password: &Sensitive<String>,
    ) -> Result<bool> {
        self.tried.push("keyboard-interactive".to_owned());
        let user = &self.settings.user;
        let starting = self
            .handle
            .authenticate_keyboard_interactive_start(user, None::<String>);
        let mut response = with_deadline(self.deadline, starting).await;
        let mut answered = false;
        let mut instructions_so_far = Vec::new();
        for _ in 0..MAX_ROUNDS {
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
                    return self.record_result(Ok(Ok(failure)));
                }
                Ok(Ok(Response::InfoRequest {
                    instructions,
                    prompts,
                    ..
                })) => {
                    instructions_so_far.push(instructions);
                    prompts
                }
            };
            let answers = match prompts.as_slice() {
                [] => Vec::new(),
                [prompt] if !prompt.echo && !answered => {
                    answered = true;
                    vec![password.reveal().clone()]
                }
                [prompt, ..] => {
                    return Err(self.question_error(
                        &prompt.prompt,
                        &instructions_so_far.join("\n"),
                        answered,
                    ));
                }
            };
            let answering = self
                .handle
                .authenticate_keyboard_interactive_respond(answers);
            response = with_deadline(self.deadline, answering).await;
        }
        Err(self.refused("it asks without end"))
    }

    /// Returns the error for a question that cannot be answered. `told` holds the host's instructions so far.
    fn question_error(&self, question: &str, instructions_so_far: &str, answered: bool) -> Error {
        let question_error = one_line(question);
        let setting_names = format!("{instructions_so_far} {question}").to_lowercase();
        let wants_new = NEW_PASSWORD.iter().any(|says| setting_names.contains(says));
        let why = if answered && wants_new {
            format!(
                "it took the password and wants a new one (`{question_error}`): log in by hand and set it"
            )
        } else if answered {
            format!(
                "it asks `{question_error}` behind the password, which nobody can answer here: it needs a key, \
                 or an account without a second factor"
            )
        } else {
            format!("it asks `{question_error}`, and only a single password can be answered")
        };
        match one_line(instructions_so_far) {
            instructions_so_far if instructions_so_far.is_empty() => self.refused(&why),
            instructions_so_far => self.refused(&format!("it says `{instructions_so_far}`; {why}")),
        }
    }
}
