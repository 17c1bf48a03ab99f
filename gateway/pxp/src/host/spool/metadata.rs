//! The file `metadata` of a transaction, with the keys of pxp-agent and additional ones. It contains no input, no
//! configuration and no output.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fmt, fs, io};

use devgate_core::atomic_file;
use devgate_core::time::to_the_nanosecond;
use devgate_engine::process::ProcessIdentity;
use devgate_schemas::task::Exit;
use serde::{Deserialize, Serialize};

use crate::host::Verdict;
use crate::host::call::timed_out;
use crate::host::spool::id::TransactionId;

/// The recorded data of a transaction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TransactionMetadata {
    /// The user who requested it.
    pub(super) requester: String,
    pub(crate) module: String,
    pub(crate) action: String,
    /// Always `{}`, as pxp-agent has it: they may hold secrets.
    pub(super) request_params: String,
    pub(super) transaction_id: TransactionId,
    pub(super) request_id: String,
    /// The outcome is reported only on request.
    pub(super) notify_outcome: bool,
    pub(super) start: String,
    pub(crate) status: TransactionStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) results_are_valid: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) exitcode: Option<i32>,
    /// Why it failed, or why its status is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) execution_error: Option<String>,
    /// Why it was ended, recorded before that starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ending: Option<EndReason>,
    /// SHA-256 of its masked output at the time of its verdict; `None` until the output is masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) written: Option<String>,
    /// Whether its output needs masking.
    pub(super) has_secrets: bool,
    /// The module's program.
    pub(super) file: PathBuf,
    /// The time limit of the action, in seconds.
    pub(super) time_limit: f64,
    /// The process that has claimed the transaction.
    pub(super) claimed_by: ProcessIdentity,
    /// The supervisor process, which waits for the end of the action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) attended_by: Option<ProcessIdentity>,
}

/// The status of a transaction, in the terms of PXP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TransactionStatus {
    Running,
    Success,
    Failure,
    Unknown,
}

/// Why an action is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum EndReason {
    /// It exceeded its time limit.
    #[serde(rename = "timed out")]
    TimedOut,
    /// It was cancelled, or its supervisor was ended.
    #[serde(rename = "cancelled")]
    Cancelled,
}

const NAME: &str = "metadata";

impl TransactionMetadata {
    /// Reads the metadata of the transaction in this folder.
    ///
    /// # Errors
    /// Why they cannot be used, with pxp-agent's message. Nothing is quoted.
    pub(super) fn read(folder: &Path, id: &TransactionId) -> Result<Self, String> {
        let text = match fs::read(folder.join(NAME)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(format!(
                    "metadata file of the transaction {id} does not exist"
                ));
            }
            Err(error) => {
                return Err(format!(
                    "failed to read metadata file of the transaction {id}: {error}"
                ));
            }
        };
        match serde_json::from_slice::<Self>(&text) {
            Ok(metadata) if metadata.transaction_id == *id => Ok(metadata),
            Err(error) if error.is_syntax() || error.is_eof() => Err(format!(
                "invalid JSON in metadata file of the transaction {id}"
            )),
            _ => Err(format!("invalid action metadata of the transaction {id}")),
        }
    }

    /// Whether a folder has such a file.
    pub(super) fn exist_in(folder: &Path) -> bool {
        folder.join(NAME).exists()
    }

    /// Writes the file.
    ///
    /// # Errors
    /// The old metadata stay.
    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        atomic_file::write(&folder.join(NAME), &text)
    }

    /// The time limit of the action.
    pub(super) fn limit(&self) -> Duration {
        Duration::try_from_secs_f64(self.time_limit).unwrap_or(Duration::MAX)
    }

    /// Whether the process that records the end is alive.
    pub(super) fn is_supervised(&self) -> bool {
        self.attended_by
            .as_ref()
            .unwrap_or(&self.claimed_by)
            .is_alive()
    }

    /// Records the result of an ended action.
    pub(super) fn record_verdict(&mut self, verdict: &Verdict, at: SystemTime) {
        self.status = if verdict.is_success() {
            TransactionStatus::Success
        } else {
            TransactionStatus::Failure
        };
        self.end = Some(to_the_nanosecond(at));
        self.exitcode = verdict.exit.map(Exit::code);
        self.results_are_valid = Some(verdict.results.is_some());
        self.execution_error = verdict.error.as_ref().map(|error| error.msg.clone());
    }

    /// Records a failure, regardless of the output. Its time may be unknown.
    pub(super) fn record_failure(&mut self, why: String, at: Option<SystemTime>) {
        self.status = TransactionStatus::Failure;
        self.end = at.map(to_the_nanosecond);
        self.results_are_valid = Some(false);
        self.execution_error = Some(why);
    }

    /// Whether it was cancelled before it ended by itself.
    pub(super) fn was_cancelled(&self) -> bool {
        self.status == TransactionStatus::Failure
            && self.ending == Some(EndReason::Cancelled)
            && self.exitcode.is_none()
    }

    /// Records that its result is unknown.
    pub(super) fn record_unknown(&mut self, why: &str) {
        self.status = TransactionStatus::Unknown;
        self.execution_error = Some(why.to_owned());
    }
}

impl EndReason {
    /// The message for an action that was ended with all its processes.
    pub(super) fn message(self, limit: Duration) -> String {
        match self {
            Self::TimedOut => timed_out(limit).msg,
            Self::Cancelled => {
                "cancelled, or interrupted by a signal: all its processes were ended; changes that \
                                were made before stay"
                    .to_owned()
            }
        }
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "timed out",
            Self::Cancelled => "cancelled",
        })
    }
}

impl TransactionStatus {
    /// Whether no failure is known.
    pub(crate) fn is_good(self) -> bool {
        matches!(self, Self::Running | Self::Success)
    }

    /// Whether its result is known, or it is running.
    pub(crate) fn is_known(self) -> bool {
        self != Self::Unknown
    }
}

impl fmt::Display for TransactionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Unknown => "unknown",
        })
    }
}
