//! Results that are too large for a message: values are written to files on this node, and replaced by references.
//! Statuses and errors stay, as long as they fit.
//!
//! A file is named by the hash of its content. It is kept for 14 days, as long as pxp-agent keeps results.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use devgate_core::atomic_file;
use devgate_core::failure::{ErrorContext, Failure};
use devgate_core::hex::hexadecimal;
use devgate_engine::store;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;
use devgate_transports::Environment;
use serde_json::{Value as Json, json};
use sha2::{Digest, Sha256};

use crate::module::results::{Failed, File, Statuses};

/// How long files are kept.
const RETENTION: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// The maximum number of files. One file with all results is better than thousands of files.
const MAX_FILES: usize = 1000;

/// How many characters of an error message are kept beside a reference. The file contains the whole message.
const MAX_MESSAGE_LENGTH: usize = 1000;

/// The key of a reference.
const FILE: &str = "_file";

/// A value for a file, and the reference to it.
struct SavedValue {
    /// The index of the item; `None` for all results.
    at: Option<usize>,
    text: String,
    path: PathBuf,
    /// The reference.
    reference: Json,
}

/// Reduces the results of an action to `limit` bytes. The largest values are replaced first. If references are too
/// large or too many, all results go to one file.
///
/// Also returns why something could not be saved and is lost.
pub(super) fn fit(results: Json, limit: usize) -> (Json, Result<(), Failure>) {
    let folder = folder();
    if let Ok(folder) = &folder {
        remove_old(folder, SystemTime::now());
    }
    if results.to_string().len() <= limit {
        return (results, Ok(()));
    }
    // Without a folder, nothing can be saved, but the results must still fit.
    let parent = folder.as_deref().unwrap_or_else(|_| Path::new(""));
    let (results, saved) = replaced(results, limit, parent);
    match folder.and_then(|folder| write(&folder, &saved)) {
        Ok(()) => (results, Ok(())),
        Err(error) => {
            let message = format!("results larger than {limit} bytes are not saved: {error:#}");
            let failure = Failure::new("devgate/not-kept", message);
            (without_files(results, &saved, &failure), Err(failure))
        }
    }
}

/// The exit status of an action. It has failed if its results could not be saved.
pub(super) fn exit_status(
    exit_status: ExitStatus,
    saved: &Result<(), Failure>,
    printer: &Printer,
) -> ExitStatus {
    match saved {
        Ok(()) => exit_status,
        Err(failure) => {
            printer.error(&failure.msg);
            match exit_status {
                ExitStatus::Success => ExitStatus::Failure,
                exit_status => exit_status,
            }
        }
    }
}

/// `$XDG_STATE_HOME/devgate/pxp/results`, or its place below the home.
fn folder() -> Result<PathBuf, Failure> {
    let state_folder =
        store::xdg_folder(&Environment::of_process(), "XDG_STATE_HOME", ".local/state")?;
    Ok(state_folder.join("devgate/pxp/results"))
}

/// The results with references, and the values of these.
fn replaced(mut results: Json, limit: usize, folder: &Path) -> (Json, Vec<SavedValue>) {
    let mut excess = results.to_string().len().saturating_sub(limit);
    let items = results["items"].as_array();
    let values = items.into_iter().flatten().map(|item| &item["value"]);
    let mut savings: Vec<(usize, SavedValue)> = values
        .enumerate()
        .filter_map(|(at, value)| {
            let saved = SavedValue::value(Some(at), value, folder);
            let saving = saved
                .text
                .len()
                .checked_sub(saved.reference.to_string().len())?;
            Some((saving, saved))
        })
        .collect();
    savings.sort_by_key(|(saving, _)| Reverse(*saving));
    let mut all = Vec::new();
    for (saving, saved) in savings {
        if excess == 0 {
            break;
        }
        excess = excess.saturating_sub(saving);
        all.push(saved);
    }
    if excess > 0 || all.len() > MAX_FILES {
        let saved_results = SavedValue::value(None, &results, folder);
        return (
            summary(&results, &saved_results, limit),
            vec![saved_results],
        );
    }
    for saved in &all {
        saved.replace_in(&mut results, saved.reference.clone());
    }
    (results, all)
}

/// The summary for results in one file: how many targets succeeded and failed, and the failures, as far as there is
/// room.
fn summary(results: &Json, saved_results: &SavedValue, limit: usize) -> Json {
    let mut summary = saved_results.reference.clone();
    for key in ["target_count", "elapsed_time", "statuses"] {
        if let Some(value) = results.get(key) {
            summary[key] = value.clone();
        }
    }
    let failed: Vec<Json> = match (results["items"].as_array(), results["failed"].as_array()) {
        (Some(items), _) => {
            let of = |status| items.iter().filter(move |item| item["status"] == status);
            summary["statuses"] = json!(Statuses {
                success: of("success").count(),
                failure: of("failure").count()
            });
            of("failure").map(failure_of).collect()
        }
        // They are a summary already, with more room.
        (None, Some(failed)) => failed.clone(),
        (None, None) => return summary,
    };
    summary["failed"] = json!([]);
    let mut available = limit.saturating_sub(summary.to_string().len());
    let failed = failed.into_iter().take_while(|failed| {
        // With its comma.
        let size = failed.to_string().len() + 1;
        let fits = size <= available;
        available = available.saturating_sub(size);
        fits
    });
    summary["failed"] = failed.collect();
    summary
}

/// A failed target, and its error.
fn failure_of(item: &Json) -> Json {
    json!(Failed {
        target: item["target"].as_str().unwrap_or_default().to_owned(),
        error: item["value"].get("_error").map(shortened),
    })
}

/// An error without details, and with a shortened message.
fn shortened(error: &Json) -> Json {
    let msg = error["msg"].as_str().unwrap_or_default();
    let short: String = msg.chars().take(MAX_MESSAGE_LENGTH).collect();
    let dots = if short.len() < msg.len() { " …" } else { "" };
    json!({ "kind": error["kind"], "msg": format!("{short}{dots}") })
}

impl SavedValue {
    /// Writes a value to a file in this folder. Its error is kept in short form beside the reference.
    fn value(at: Option<usize>, value: &Json, folder: &Path) -> Self {
        let text = value.to_string();
        let sha256 = hexadecimal(Sha256::digest(&text));
        let path = folder.join(format!("{sha256}.json"));
        let file = File {
            path: path.clone(),
            size: text.len(),
            sha256,
        };
        let mut reference = json!({ FILE: file });
        if let Some(error) = value.get("_error") {
            reference["_error"] = shortened(error);
        }
        Self {
            at,
            text,
            path,
            reference,
        }
    }

    /// Replaces the value in the results.
    fn replace_in(&self, results: &mut Json, value: Json) {
        if let Some(at) = self.at {
            results["items"][at]["value"] = value;
        }
    }
}

fn write(folder: &Path, all: &[SavedValue]) -> Result<(), Failure> {
    let made = store::private_folder(folder);
    made.with_context(|| format!("cannot create {}", folder.display()))?;
    for saved in all {
        let written = atomic_file::write(&saved.path, saved.text.as_bytes());
        written.with_context(|| format!("cannot write {}", saved.path.display()))?;
    }
    Ok(())
}

/// The results if nothing could be saved: errors replace the references.
fn without_files(mut results: Json, all: &[SavedValue], failure: &Failure) -> Json {
    for saved in all {
        let error = saved.reference.get("_error");
        let error = error.cloned().unwrap_or_else(|| json!(failure));
        saved.replace_in(&mut results, json!({ "_error": error }));
    }
    if let Some(results) = results.as_object_mut() {
        results.shift_remove(FILE);
        results.entry("_error").or_insert_with(|| json!(failure));
    }
    results
}

/// Removes old files.
fn remove_old(folder: &Path, now: SystemTime) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        let age = modified
            .ok()
            .and_then(|modified| now.duration_since(modified).ok());
        if age.is_some_and(|age| age > RETENTION) {
            // Another process may have removed the file already.
            let _ = fs::remove_file(entry.path());
        }
    }
}
