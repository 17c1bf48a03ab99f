//! Commits: jobs of the device that are polled until they end.

use std::time::Duration;

use devgate_schemas::Value;
use serde_json::json;

use super::answer::{self, JobState};
use super::session::PanosSession;
use crate::error::{Interrupted, Interruption, PartialOutput, Refused};
use crate::http::Repeat;
use crate::pauses::poll;
use crate::{Context, Document, Error, Result};

/// Commits with a command (`<commit></commit>`), and waits for the end, at most for `limit`.
///
/// # Errors
/// Fails with [`Error::Refused`] when the commit fails; then the candidate configuration is unchanged.
/// Fails with [`Error::Interrupted`] when the commit does not end in time; then it continues on the device.
pub(super) async fn commit(
    session: &PanosSession,
    ctx: &Context<'_>,
    command: &str,
    limit: Duration,
) -> Result<Document> {
    let fields = [("type", "commit"), ("cmd", command)];
    let response = session.call(ctx, &fields, Repeat::Never).await?.1;
    let Some(job) = response.text_at_path("result/job") else {
        let done = json!({ "committed": false, "said": answer::message_of(&response) });
        return Ok(Document::Data(Value::from(done)));
    };
    ctx.debug(format!("commit: job {job} was begun"));
    let show = format!("<show><jobs><id>{job}</id></jobs></show>");
    let fields = [("type", "op"), ("cmd", show.as_str())];
    let ended = poll(limit, async || {
        let response = session.call(ctx, &fields, Repeat::Allowed).await?.1;
        match answer::job(&response) {
            None => Err(session.protocol_error("the state of a job")),
            Some(JobState::Runs(progress)) => {
                let progress = progress.map_or_else(String::new, |part| format!(", {part} %"));
                ctx.info(format!("commit: job {job} runs{progress}"));
                Ok(None)
            }
            Some(ended) => Ok(Some(ended)),
        }
    });
    let ended = ended.await.inspect_err(|_| {
        ctx.warning(format!(
            "commit: job {job} was begun, and its end was not seen; ask for `{show}`"
        ));
    })?;
    match ended {
        Some(JobState::Failed(message)) => Err(Error::Refused(Box::new(Refused {
            peer: session.peer().to_owned(),
            request: "commit".to_owned(),
            status: format!("job {job} FAIL"),
            message,
            hint: "the candidate configuration stays as it is, the running one too".to_owned(),
            details: None,
            busy: false,
        }))),
        Some(JobState::Succeeded(message)) => {
            let done = json!({ "committed": true, "job": job, "said": message });
            Ok(Document::Data(Value::from(done)))
        }
        Some(JobState::Runs(_)) | None => Err(Error::Interrupted(Box::new(Interrupted {
            peer: session.peer().to_owned(),
            operation: format!("commit, job {job}"),
            changing: true,
            why: Interruption::TooLong(limit),
            partial: PartialOutput::default(),
        }))),
    }
}
