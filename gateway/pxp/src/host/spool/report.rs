//! The report on a transaction.

use devgate_core::failure::Failure;
use devgate_schemas::task::CapturedOutput;
use serde::Serialize;
use serde_json::Value as Json;

use crate::host::spool::id::TransactionId;
use crate::host::spool::metadata::{EndReason, TransactionMetadata, TransactionStatus};
use crate::host::spool::transaction::Transaction;
use crate::host::verdict::EXECUTION_ERROR;

/// The report on a transaction, with the keys of PXP's transaction status. Unknown values are omitted.
#[derive(Debug, Serialize)]
pub(crate) struct TransactionReport {
    pub(crate) transaction_id: TransactionId,
    pub(crate) status: TransactionStatus,
    #[serde(flatten)]
    pub(crate) details: Option<ReportDetails>,
    /// Why it failed, or why its status is unknown, with the message of pxp-agent.
    #[serde(rename = "_error", skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Failure>,
}

/// The metadata, and the output of the action.
#[derive(Debug, Serialize)]
pub(crate) struct ReportDetails {
    pub(crate) module: String,
    pub(crate) action: String,
    pub(crate) start: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<String>,
    /// Why it is being ended, or was ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ending: Option<EndReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exitcode: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    results_are_valid: Option<bool>,
    /// The results, if they are valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) results: Option<Json>,
    /// The output instead of results.
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stderr: Option<String>,
}

impl Transaction {
    /// Its current status and its output.
    pub(crate) async fn report(&self) -> TransactionReport {
        let metadata = self.state().await;
        let output = metadata
            .as_ref()
            .ok()
            .filter(|metadata| metadata.results_are_valid.is_some())
            .map(|metadata| self.visible_output(metadata));
        let mut report = self.report_of(metadata);
        match (&mut report.details, output) {
            (Some(details), Some(Ok(written))) => details.add_output(&written),
            (_, Some(Err(why))) => {
                report.error.get_or_insert_with(|| execution_error(why));
            }
            _ => {}
        }
        report
    }

    /// Its current status.
    pub(crate) async fn summary(&self) -> TransactionReport {
        self.report_of(self.state().await)
    }

    fn report_of(&self, state: Result<TransactionMetadata, String>) -> TransactionReport {
        let (status, details, error) = match state {
            Ok(metadata) => {
                let error = metadata.execution_error.clone();
                (metadata.status, Some(ReportDetails::of(metadata)), error)
            }
            Err(problem) => (TransactionStatus::Unknown, None, Some(problem)),
        };
        TransactionReport {
            transaction_id: self.id.clone(),
            status,
            details,
            error: error.map(execution_error),
        }
    }
}

impl ReportDetails {
    fn of(metadata: TransactionMetadata) -> Self {
        Self {
            module: metadata.module,
            action: metadata.action,
            start: metadata.start,
            end: metadata.end,
            ending: metadata.ending,
            exitcode: metadata.exitcode,
            results_are_valid: metadata.results_are_valid,
            results: None,
            stdout: None,
            stderr: None,
        }
    }

    fn add_output(&mut self, [stdout, stderr]: &[CapturedOutput; 2]) {
        self.stderr = text(&stderr.bytes);
        let valid = self.results_are_valid == Some(true);
        match serde_json::from_slice(&stdout.bytes) {
            Ok(results) if valid => self.results = Some(results),
            // No value is `null`.
            Err(_) if valid => self.results = Some(Json::Null),
            _ => self.stdout = text(&stdout.bytes),
        }
    }
}

fn execution_error(why: String) -> Failure {
    Failure::new(EXECUTION_ERROR, why)
}

fn text(bytes: &[u8]) -> Option<String> {
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
}
