//! What is told of a transaction to who asks.

use serde::Serialize;
use serde_json::Value as Json;

use super::metadata::Status;
use super::{Transaction, TransactionId};
use crate::failure::Failure;
use crate::pxp::verdict::EXECUTION_ERROR;

/// What is told of a transaction, with the words of PXP's transaction status; what is not known is left out.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) transaction_id: TransactionId,
    pub(crate) status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) module: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) action: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) end: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exitcode: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results_are_valid: Option<bool>,
    /// The results, where they are valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) results: Option<Json>,
    /// What stands there instead of results.
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr: Option<String>,
    /// Why it is no success, or why nobody knows, as pxp-agent tells it.
    #[serde(rename = "_error", skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Failure>,
}

impl Transaction {
    /// What is known of it now, and what it has written.
    pub(crate) async fn report(&self) -> Report {
        let mut report = self.summary().await;
        if let Some(valid) = report.results_are_valid {
            match self.outputs() {
                Ok([stdout, stderr]) => {
                    report.stderr = text(&stderr.bytes);
                    match serde_json::from_slice(&stdout.bytes) {
                        Ok(results) if valid => report.results = Some(results),
                        // Nothing is `null`.
                        Err(_) if valid => report.results = Some(Json::Null),
                        _ => report.stdout = text(&stdout.bytes),
                    }
                }
                Err(problem) => {
                    let error = format!("failed to retrieve the output: {problem}");
                    report.error.get_or_insert_with(|| execution_error(error));
                }
            }
        }
        report
    }

    /// What is known of it now.
    pub(crate) async fn summary(&self) -> Report {
        let unknown = Report::unknown(self.id.clone());
        match self.state().await {
            Ok(metadata) => Report {
                status: metadata.status,
                module: Some(metadata.module),
                action: Some(metadata.action),
                start: Some(metadata.start),
                end: metadata.end,
                exitcode: metadata.exitcode,
                results_are_valid: metadata.results_are_valid,
                error: metadata.execution_error.map(execution_error),
                ..unknown
            },
            Err(problem) => Report {
                error: Some(execution_error(problem)),
                ..unknown
            },
        }
    }
}

impl Report {
    /// Of a transaction of which nothing is known.
    fn unknown(id: TransactionId) -> Self {
        Self {
            transaction_id: id,
            status: Status::Unknown,
            module: None,
            action: None,
            start: None,
            end: None,
            exitcode: None,
            results_are_valid: None,
            results: None,
            stdout: None,
            stderr: None,
            error: None,
        }
    }
}

fn execution_error(why: String) -> Failure {
    Failure::new(EXECUTION_ERROR, why)
}

fn text(bytes: &[u8]) -> Option<String> {
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
}
