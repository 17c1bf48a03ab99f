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
pub(super) struct Wish {
    spool: Spool,
    id: TransactionId,
    keep: Duration,
}

impl Nonblocking {
    /// The requested transaction, if there is one.
    ///
    /// # Errors
    /// The spool cannot be used.
    pub(super) fn wish(self) -> Result<Option<Wish>, Failure> {
        if !self.nonblocking {
            return Ok(None);
        }
        let folder = spool::folder(self.spool_dir)?;
        Ok(Some(Wish {
            spool: Spool::make(&folder)?,
            id: self.transaction.unwrap_or_else(TransactionId::new),
            keep: self.keep,
        }))
    }
}

/// Adds the transaction ID to a failure, because the caller may not have chosen the ID.
fn with_the_way_back(mut failure: Failure, transaction: &Transaction, spool: &Spool) -> Failure {
    let (id, spool) = (&transaction.id, spool.folder().display());
    let told = format!("; `devgate pxp status {id} --spool-dir {spool}` shows its status");
    failure.msg.push_str(&told);
    failure.with("transaction_id", id.as_str())
}

impl Wish {
    /// The transaction, if it was started before. The module need not exist any more then.
    pub(super) fn begun(&self) -> Option<Transaction> {
        self.spool.find(&self.id)
    }

    /// Starts the transaction, and returns when the module was started.
    pub(super) async fn begin(
        self,
        call: &Call,
        limit: Duration,
        logger: &Logger,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let removed = self.spool.remove_old(self.keep).await;
        let problems = removed.unwrap_or_else(|error| {
            let told = format!("cannot remove old transactions: {error}");
            vec![(Level::Warning, told)]
        });
        for (level, problem) in problems {
            logger.say(level, &problem);
        }
        let (module, action) = (&call.module().name, &call.action().name);
        let transaction = match self.spool.claim(self.id, call, limit)? {
            Claim::New(transaction) => transaction,
            Claim::Repeated(transaction) => {
                return repeated(&transaction, [module, action], printer).await;
            }
        };
        let started = transaction.start(call).await;
        started.map_err(|failure| with_the_way_back(failure, &transaction, &self.spool))?;
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
    asked: [&str; 2],
    printer: &Printer,
) -> Result<ExitStatus, Failure> {
    let report = transaction.summary().await;
    let known = report.known.as_ref();
    let [module, action] = [
        known.map(|known| known.module.as_str()),
        known.map(|known| known.action.as_str()),
    ];
    if let (Some(module), Some(action)) = (module, action)
        && [module, action] != asked
    {
        let id = &transaction.id;
        let [asked_module, asked_action] = asked;
        let message = format!(
            "transaction {id} belongs to the action `{action}` of module `{module}`; `{asked_action}` of \
             `{asked_module}` was not started: a new action needs a new ID"
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
