//! Records the answers of a device, as test cases have them.

use devgate_transports::{self as transports, Context, Document};

use super::Source;
use super::answers::{Answer, Answers};
use crate::{Error, Result};

/// A request, and the text of its answer; none if the device refuses it.
pub(crate) type RecordedAnswer = (String, Option<String>);

impl Source {
    /// Asks the device as [`fetch`](Self::fetch) does, about all rows, and notes the text of each answer.
    ///
    /// # Errors
    /// Fails as `fetch` does, except for refusals.
    pub(crate) async fn record(
        &self,
        ctx: &Context<'_>,
        answers: &mut Answers,
        recorded: &mut Vec<RecordedAnswer>,
    ) -> Result<()> {
        loop {
            let pending = self.pending(answers, &|_| true)?;
            if pending.is_empty() {
                return Ok(());
            }
            for request in pending {
                if answers.get(&request).is_some() {
                    continue;
                }
                let (answer, text) = match request.ask(ctx).await {
                    Ok(document) => {
                        let text = text_of(&document);
                        (request.answer(document)?, Some(text))
                    }
                    Err(Error::Transport(
                        transports::Error::CommandFailed { .. } | transports::Error::Refused(_),
                    )) => (Answer::Nothing, None),
                    Err(error) => return Err(error),
                };
                recorded.push((request.name.clone(), text));
                answers.insert(request, answer);
            }
        }
    }
}

fn text_of(document: &Document) -> String {
    match document {
        Document::Text(text) => text.clone(),
        Document::Data(data) => format!("{:#}\n", data.to_json()),
    }
}
