//! The report on a transaction.

use devgate_core::failure::Failure;
use devgate_schemas::task::CapturedOutput;
use serde::Serialize;
use serde_json::Value as Json;

use crate::host::spool::id::TransactionId;
use crate::host::spool::metadata::{Status, TransactionMetadata, Why};
use crate::host::spool::transaction::Transaction;
use crate::host::verdict::EXECUTION_ERROR;

/// What is told of a transaction, with the words of PXP's transaction status; what is not known is left out.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) transaction_id: TransactionId,
    pub(crate) status: Status,
    #[serde(flatten)]
    pub(crate) known: Option<Known>,
    /// Why it is no success, or why nobody knows, as pxp-agent tells it.
    #[serde(rename = "_error", skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Failure>,
}

/// The metadata, and the output of the action.
#[derive(Debug, Serialize)]
pub(crate) struct Known {
    pub(crate) module: String,
    pub(crate) action: String,
    pub(crate) start: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<String>,
    /// Why it is being ended, or was ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ending: Option<Why>,
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
    pub(crate) async fn report(&self) -> Report {
        let metadata = self.state().await;
        let shown = metadata
            .as_ref()
            .ok()
            .filter(|metadata| metadata.results_are_valid.is_some())
            .map(|metadata| self.shown(metadata));
        let mut report = self.told(metadata);
        match (&mut report.known, shown) {
            (Some(known), Some(Ok(written))) => known.has_written(&written),
            (_, Some(Err(why))) => {
                report.error.get_or_insert_with(|| execution_error(why));
            }
            _ => {}
        }
        report
    }

    /// Its current status.
    pub(crate) async fn summary(&self) -> Report {
        self.told(self.state().await)
    }

    fn told(&self, state: Result<TransactionMetadata, String>) -> Report {
        let (status, known, error) = match state {
            Ok(metadata) => {
                let error = metadata.execution_error.clone();
                (metadata.status, Some(Known::of(metadata)), error)
            }
            Err(problem) => (Status::Unknown, None, Some(problem)),
        };
        Report {
            transaction_id: self.id.clone(),
            status,
            known,
            error: error.map(execution_error),
        }
    }
}

impl Known {
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

    fn has_written(&mut self, [stdout, stderr]: &[CapturedOutput; 2]) {
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
