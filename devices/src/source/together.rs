//! Commands whose answers do not depend on each other.

use devgate_transports::{Context, Document, Error as TransportError};

use super::answers::Answers;
use super::request::Request;
use crate::Result;

/// Runs the commands among requests together, and adds their outputs. A command that is refused has none.
///
/// # Errors
/// Fails when the session is lost, and when an output has another form.
pub(super) async fn run_together(
    ctx: &Context<'_>,
    requests: &[Request],
    answers: &mut Answers,
) -> Result<()> {
    let mut commands: Vec<&Request> = Vec::new();
    for request in requests {
        let is_new = commands.iter().all(|known| known.name != request.name);
        if is_new && request.is_command() && answers.get(request).is_none() {
            commands.push(request);
        }
    }
    let (Some(session), 2..) = (ctx.command_line(), commands.len()) else {
        return Ok(());
    };
    let names: Vec<&str> = commands
        .iter()
        .map(|request| request.name.as_str())
        .collect();
    for name in &names {
        ctx.debug(format!("asks for `{name}`"));
    }
    for (request, output) in commands.iter().zip(session.exec_all(ctx, &names).await) {
        match output {
            Ok(output) => {
                let answer = request.answer(Document::Text(output))?;
                answers.insert((*request).clone(), answer);
            }
            Err(TransportError::CommandFailed { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
