//! `devgate pxp run --nonblocking`: starts a nonblocking action.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use devgate_core::failure::Failure;
use devgate_front::arguments::duration;
use devgate_front::exit_status::ExitStatus;
use devgate_front::logger::Logger;
use devgate_front::printer::Printer;
use devgate_schemas::Level;
use serde_json::json;

use crate::host::Call;
use crate::host::spool::{self, Claim, Spool, Transaction, TransactionId};

#[derive(Args, Debug)]
pub(super) struct Nonblocking {
    /// Start the action and do not wait: `devgate pxp status` shows its status
    #[arg(long, help_heading = "Nonblocking actions")]
    nonblocking: bool,
    /// Transaction ID; the action runs only once for the same ID (default: a new ID)
    #[arg(
        long,
        value_name = "ID",
        requires = "nonblocking",
        allow_hyphen_values = true,
        help_heading = "Nonblocking actions"
    )]
    transaction: Option<TransactionId>,
    /// Folder of the transactions, on this node (default: $XDG_STATE_HOME/devgate/pxp/spool, in ~/.local/state)
    #[arg(
        long,
        value_name = "DIR",
        requires = "nonblocking",
        help_heading = "Nonblocking actions"
    )]
    spool_dir: Option<PathBuf>,
    /// How long to keep finished transactions, of all callers: 14d, 1h
    #[arg(
        long,
        value_name = "TIME",
        requires = "nonblocking",
        value_parser = duration,
        default_value = "14d",
        help_heading = "Nonblocking actions"
    )]
    keep: Duration,
}

/// A transaction to start, unless it exists already.
pub(super) struct TransactionRequest {
    spool: Spool,
    id: TransactionId,
    retention: Duration,
}

impl Nonblocking {
    /// The requested transaction, if there is one.
    ///
    /// # Errors
    /// The spool cannot be used.
    pub(super) fn transaction_request(self) -> Result<Option<TransactionRequest>, Failure> {
        if !self.nonblocking {
            return Ok(None);
        }
        let folder = spool::folder(self.spool_dir)?;
        Ok(Some(TransactionRequest {
            spool: Spool::make(&folder)?,
            id: self.transaction.unwrap_or_else(TransactionId::new),
            retention: self.keep,
        }))
    }
}

/// Adds the transaction ID to a failure, because the caller may not have chosen the ID.
fn with_transaction_id(mut failure: Failure, transaction: &Transaction, spool: &Spool) -> Failure {
    let (id, spool) = (&transaction.id, spool.folder().display());
    let message = format!("; `devgate pxp status {id} --spool-dir {spool}` shows its status");
    failure.msg.push_str(&message);
    failure.with("transaction_id", id.as_str())
}

impl TransactionRequest {
    /// The transaction, if it was started before. The module need not exist any more then.
    pub(super) fn existing(&self) -> Option<Transaction> {
        self.spool.find(&self.id)
    }

    /// Starts the transaction, and returns when the module was started.
    pub(super) async fn start(
        self,
        call: &Call,
        limit: Duration,
        logger: &Logger,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let removed = self.spool.remove_old(self.retention).await;
        let problems = removed.unwrap_or_else(|error| {
            let message = format!("cannot remove old transactions: {error}");
            vec![(Level::Warning, message)]
        });
        for (level, problem) in problems {
            logger.log(level, &problem);
        }
        let (module, action) = (&call.module().name, &call.action().name);
        let transaction = match self.spool.claim(self.id, call, limit)? {
            Claim::New(transaction) => transaction,
            Claim::Repeated(transaction) => {
                return repeated(&transaction, [module, action], printer).await;
            }
        };
        let started = transaction.start(call).await;
        started.map_err(|failure| with_transaction_id(failure, &transaction, &self.spool))?;
        let answer = json!({
            "transaction_id": transaction.id,
            "status": "running",
            "module": module,
            "action": action,
            "repeated": false,
        });
        printer.document(&answer, || {
            format!("{}: running ({module} {action})\n", transaction.id)
        });
        Ok(ExitStatus::Success)
    }
}

/// Prints the same answer as the first time, with the current status.
///
/// # Errors
/// The ID belongs to another action.
pub(super) async fn repeated(
    transaction: &Transaction,
    requested: [&str; 2],
    printer: &Printer,
) -> Result<ExitStatus, Failure> {
    let report = transaction.summary().await;
    let details = report.details.as_ref();
    let [module, action] = [
        details.map(|details| details.module.as_str()),
        details.map(|details| details.action.as_str()),
    ];
    if let (Some(module), Some(action)) = (module, action)
        && [module, action] != requested
    {
        let id = &transaction.id;
        let [requested_module, requested_action] = requested;
        let message = format!(
            "transaction {id} belongs to the action `{action}` of module `{module}`; `{requested_action}` of \
             `{requested_module}` was not started: a new action needs a new ID"
        );
        return Err(Failure::new("devgate/id-taken", message));
    }
    let answer = json!({
        "transaction_id": transaction.id,
        "status": report.status,
        "module": module,
        "action": action,
        "repeated": true,
    });
    printer.document(&answer, || {
        let id = &transaction.id;
        format!(
            "{id}: {}; it was started before, and does not run again\n",
            report.status
        )
    });
    Ok(ExitStatus::Success)
}
