//! Answers of the XML API (Palo Alto Networks, "PAN-OS and Panorama XML API"). Each is a `response`
//! element with a status.

use crate::xml::Element;

/// A device's answer.
#[derive(Debug, PartialEq)]
pub(super) enum PanosAnswer {
    /// The request succeeded. Contains the whole `response`.
    Success(Element),
    /// The request failed.
    Error {
        /// The error code of the API; empty if there is none.
        code: String,
        /// The device's message.
        message: String,
    },
}

/// The state of a job.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum JobState {
    /// It is queued or running. Contains the progress in percent.
    Runs(Option<u8>),
    /// It has succeeded, with this message.
    Succeeded(String),
    /// It has failed, with this message.
    Failed(String),
}

/// Reads an answer. Returns `None` if it is not an answer of the XML API.
pub(super) fn read(text: &str) -> Option<PanosAnswer> {
    let response = Element::read(text).filter(|root| root.name == "response")?;
    if response.attribute("status")? == "success" {
        return Some(PanosAnswer::Success(response));
    }
    Some(PanosAnswer::Error {
        code: response.attribute("code").unwrap_or_default().to_owned(),
        message: message_of(&response),
    })
}

/// Returns the message in a response.
pub(super) fn message_of(response: &Element) -> String {
    response.find("msg").map(Element::texts).unwrap_or_default()
}

/// Returns the state of the job that a response describes; `None` if it describes none.
pub(super) fn job(response: &Element) -> Option<JobState> {
    let job = response.at("result/job")?;
    if job.text_at_path("status")? != "FIN" {
        let progress = job
            .text_at_path("progress")
            .and_then(|text| text.parse().ok());
        return Some(JobState::Runs(progress));
    }
    let message: Vec<String> = ["details", "warnings"]
        .iter()
        .filter_map(|part| Some(job.at(part)?.texts()))
        .filter(|texts| !texts.is_empty())
        .collect();
    let message = message.join("\n");
    Some(if job.text_at_path("result")? == "OK" {
        JobState::Succeeded(message)
    } else {
        JobState::Failed(message)
    })
}

/// Returns whether a message means that the device is busy: it does one commit at a time.
pub(super) fn is_busy(message: &str) -> bool {
    let message = message.to_lowercase();
    message.contains("commit") && (message.contains("in progress") || message.contains("pending"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn success(text: &str) -> Element {
        match read(text) {
            Some(PanosAnswer::Success(response)) => response,
            other => panic!("expected a success, not {other:?}"),
        }
    }

    #[test]
    fn an_error_has_a_code_and_a_message() {
        let message = "one\ntwo".to_owned();
        let code = "12".to_owned();
        let text = "<response status='error' code=\"12\"><msg><line>one</line><line>two</line></msg></response>";
        assert_eq!(read(text), Some(PanosAnswer::Error { code, message }));
        for other in ["", "<html/>", "{}", "<response/>"] {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn a_job_runs_ends_well_or_fails() {
        let of = |inner: &str| {
            job(&success(&format!(
                "<response status='success'><result><job>{inner}</job></result></response>"
            )))
        };
        assert_eq!(
            of("<status>ACT</status><result>PEND</result><progress>55</progress>"),
            Some(JobState::Runs(Some(55)))
        );
        assert_eq!(of("<status>PEND</status>"), Some(JobState::Runs(None)));
        let details = "<details><line>saved</line></details><warnings/>";
        assert_eq!(
            of(&format!("<status>FIN</status><result>OK</result>{details}")),
            Some(JobState::Succeeded("saved".to_owned()))
        );
        assert_eq!(
            of(&format!(
                "<status>FIN</status><result>FAIL</result>{details}"
            )),
            Some(JobState::Failed("saved".to_owned()))
        );
        assert_eq!(of(""), None);
    }

    #[test]
    fn another_commit_makes_it_busy() {
        assert!(is_busy(
            "Another commit/validate is in progress. Please try again later"
        ));
        assert!(is_busy("A commit is pending. Please try again later."));
        assert!(!is_busy("zone trust is unknown"));
    }
}
