//! Records the answers of a device, as test cases have them.

use devgate_schemas::Value;
use devgate_transports::{self as transports, Context, Document};

use super::{Answer, Answers, Source, read_document};
use crate::command_line::{exec, session};
use crate::{Error, Result};

/// A query, and the text of its answer; none if the device refuses it.
pub(crate) type RecordedAnswer = (String, Option<String>);

impl Source {
    /// Queries the device as [`fetch`](Self::fetch) does, for all rows, and notes the text of each answer.
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
            for query in pending {
                let (answer, text) = match self {
                    Self::Output(_) => {
                        let output = refusable(exec(ctx, session(ctx)?, &query).await)?;
                        (Answer::Output(output.clone().unwrap_or_default()), output)
                    }
                    Self::Document(_) => {
                        let store = ctx.data_store().ok_or_else(|| {
                            Error::Unsupported("the open session has no data to ask for".to_owned())
                        })?;
                        match refusable(store.get(ctx, &query).await)? {
                            None => (Answer::Document(Value::Undef), None),
                            Some(document) => {
                                let text = text_of(&document);
                                (read_document(&query, document)?, Some(text))
                            }
                        }
                    }
                };
                recorded.push((query.clone(), text));
                answers.insert(query, answer);
            }
        }
    }
}

/// The answer, or none if the device refuses to give it.
fn refusable<T>(answer: transports::Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(transports::Error::CommandFailed { .. } | transports::Error::Refused(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn text_of(document: &Document) -> String {
    match document {
        Document::Text(text) => text.clone(),
        Document::Data(data) => format!("{:#}\n", data.to_json()),
    }
}
