//! The output of an action in its folder, and how it is judged.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::SystemTime;

use devgate_core::atomic_file;
use devgate_core::hex::hexadecimal;
use devgate_engine::process::ProcessLimits;
use devgate_schemas::Mask;
use devgate_schemas::pxp::{FILES_NOT_WRITTEN, JsonSchema, OutputFiles};
use devgate_schemas::task::{CapturedOutput, Exit, Outcome};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::host::Verdict;
use crate::host::spool::metadata::TransactionMetadata;
use crate::host::spool::transaction::Transaction;

/// The schema of the action's results.
const SCHEMA: &str = "results_schema";

/// Saves the schema of the results, so that they can be judged without the module.
///
/// # Errors
/// It cannot be written.
pub(super) fn save_schema(folder: &Path, schema: &JsonSchema) -> io::Result<()> {
    let text = serde_json::to_vec(schema.source())?;
    atomic_file::write(&folder.join(SCHEMA), &text)
}

impl Transaction {
    /// Records the end of the action in the metadata.
    ///
    /// # Errors
    /// Why the result is not known.
    pub(super) fn judge(
        &self,
        metadata: &mut TransactionMetadata,
        exit: Exit,
        at: SystemTime,
    ) -> Result<(), String> {
        if exit == Exit::Code(FILES_NOT_WRITTEN.into()) {
            metadata.exitcode = Some(exit.code());
            metadata.record_failure("failed to write output on file".to_owned(), Some(at));
            return Ok(());
        }
        let schema = self.schema()?;
        let [stdout, stderr] = self.outputs()?;
        let outcome = Outcome {
            exit,
            stdout,
            stderr,
        };
        let mut verdict = Verdict::of(&schema, outcome);
        if let Some(error) = &mut verdict.error
            && !self.output_files().stdout.exists()
        {
            let hint =
                "; it has not written the file of `output_files.stdout`, and streams are not read";
            error.msg.push_str(hint);
        }
        metadata.record_verdict(&verdict, at);
        Ok(())
    }

    /// The output of the action, up to the limit.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(super) fn outputs(&self) -> Result<[CapturedOutput; 2], String> {
        let limits = ProcessLimits::default();
        let OutputFiles { stdout, stderr, .. } = self.output_files();
        Ok([
            captured(&stdout, limits.stdout)?,
            captured(&stderr, limits.stderr)?,
        ])
    }

    /// The exit code of the action and its time, or `None` if there is none yet.
    ///
    /// # Errors
    /// The file contains no exit code, perhaps not yet.
    pub(super) fn exitcode(&self) -> Result<Option<(i32, SystemTime)>, String> {
        let file = self.output_files().exitcode;
        let text = captured(&file, MAX_CODE_LENGTH)?;
        let modified = file.metadata().and_then(|metadata| metadata.modified());
        let Ok(at) = modified else {
            return Ok(None);
        };
        match String::from_utf8_lossy(&text.bytes).trim().parse() {
            Ok(code) => Ok(Some((code, at))),
            Err(_) => Err(format!("invalid value stored in file {}", file.display())),
        }
    }

    /// The output of the action at the time of its verdict. Without a recorded verdict, its current output, if that cannot
    /// contain secrets.
    ///
    /// # Errors
    /// Why the output is not shown.
    pub(super) fn visible_output(
        &self,
        metadata: &TransactionMetadata,
    ) -> Result<[CapturedOutput; 2], String> {
        let folder = self.folder.display();
        let outputs = || {
            let outputs = self.outputs();
            outputs.map_err(|problem| format!("failed to retrieve the output: {problem}"))
        };
        match &metadata.written {
            Some(judged) => {
                let outputs = outputs()?;
                if digest(&outputs) != *judged {
                    return Err(format!(
                        "its output was changed after it ended, and is not shown: see {folder}"
                    ));
                }
                Ok(outputs)
            }
            None if metadata.has_secrets => Err(format!(
                "its output is not shown: it may contain secrets of the request, because its supervisor was killed \
                 before it masked them; see {folder}"
            )),
            None => outputs(),
        }
    }

    /// Masks secrets in the output of the action: the module may have printed its request.
    ///
    /// # Errors
    /// Secrets could not be masked. The files are removed then.
    pub(super) fn mask_output(&self, mask: &Mask) -> io::Result<()> {
        let OutputFiles { stdout, stderr, .. } = self.output_files();
        let limit = ProcessLimits::default().stdout;
        let mut hidden = Ok(());
        for file in [stdout, stderr] {
            let text = captured(&file, limit).unwrap_or_default();
            if let Some(masked) = masked(mask, &text.bytes)
                && let Err(error) = atomic_file::write(&file, masked.as_bytes())
            {
                // This works on a full disk, too.
                fs::remove_file(&file)?;
                hidden = Err(error);
            }
        }
        hidden
    }

    fn schema(&self) -> Result<JsonSchema, String> {
        let file = self.folder.join(SCHEMA);
        let text = fs::read(&file).map_err(|error| unreadable(&file, &error))?;
        serde_json::from_slice(&text)
            .ok()
            .and_then(|schema| JsonSchema::new(&schema).ok())
            .ok_or_else(|| format!("{} is damaged", file.display()))
    }
}

/// A text with masked secrets, if it contains any. JSON may escape them in other ways.
fn masked(mask: &Mask, text: &[u8]) -> Option<String> {
    if let Ok(json) = serde_json::from_slice::<Json>(text) {
        let masked = mask.json(json.clone());
        return (masked != json).then(|| masked.to_string());
    }
    let text = String::from_utf8_lossy(text);
    let masked = mask.text(&text);
    (masked != text).then(|| masked.into_owned())
}

/// The hash that proves that the output was not changed.
pub(super) fn digest(written: &[CapturedOutput; 2]) -> String {
    let mut hash = Sha256::new();
    for output in written {
        hash.update(output.bytes.len().to_le_bytes());
        hash.update(&output.bytes);
    }
    hexadecimal(hash.finalize())
}

/// The maximum length of the text of an exit code.
const MAX_CODE_LENGTH: usize = 32;

/// The first bytes of a file, or nothing if it does not exist.
fn captured(file: &Path, limit: usize) -> Result<CapturedOutput, String> {
    let read = || {
        // Reading from something other than a file may never end.
        if !fs::metadata(file)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let mut bytes = Vec::new();
        let max = limit as u64 + 1;
        File::open(file)?.take(max).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let mut captured = CapturedOutput::default();
    match read() {
        Ok(bytes) => captured.keep(&bytes, limit),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(unreadable(file, &error)),
    }
    Ok(captured)
}

fn unreadable(file: &Path, error: &io::Error) -> String {
    format!("failed to read {}: {error}", file.display())
}
