//! Properties that hold for any template and output. The fuzz targets call these functions, and so does the
//! test that replays the corpora.

use crate::textfsm::TextFsm;

/// Any template is either refused or parses any output.
///
/// The input is a template, a NUL, and an output.
pub fn textfsm(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (template, output) = text.split_once('\0').unwrap_or((&text, ""));
    let _ = TextFsm::new(template).rows(output);
}
