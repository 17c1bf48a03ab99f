//! What must hold of any template and output: called by the fuzz targets, and by the test that replays their
//! corpora.

use crate::textfsm::TextFsm;

/// A template is refused or reads an output, whatever both hold.
///
/// The data are a template, a NUL, and an output.
pub fn textfsm(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (template, output) = text.split_once('\0').unwrap_or((&text, ""));
    let _ = TextFsm::new(template).rows(output);
}
