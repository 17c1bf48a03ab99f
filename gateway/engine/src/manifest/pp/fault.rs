//! Faults in a manifest, and their positions.

use std::sync::Arc;

use devgate_core::failure::Failure;

use crate::device_run::{SourceLocation, invalid};

/// A fault at a byte of the text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Fault {
    pub(super) offset: usize,
    pub(super) message: String,
}

impl Fault {
    pub(super) fn new(offset: usize, message: impl Into<String>) -> Self {
        Self {
            offset,
            message: message.into(),
        }
    }
}

/// A file's name and text, which convert offsets to positions.
pub(super) struct SourceText<'t> {
    file: Arc<str>,
    text: &'t str,
    /// The offsets of the lines.
    lines: Vec<usize>,
}

impl<'t> SourceText<'t> {
    pub(super) fn new(file: &str, text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(end, _)| end + 1);
        Self {
            file: file.into(),
            text,
            lines: std::iter::once(0).chain(ends).collect(),
        }
    }

    pub(super) fn location(&self, offset: usize) -> SourceLocation {
        let line = self.lines.partition_point(|start| *start <= offset);
        let before = &self.text[self.lines[line - 1]..offset];
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        SourceLocation {
            file: Arc::clone(&self.file),
            line: count(line),
            column: count(before.chars().count() + 1),
        }
    }

    pub(super) fn failure(&self, faults: &[Fault]) -> Failure {
        let message = |fault: &Fault| format!("{}: {}", self.location(fault.offset), fault.message);
        invalid(&faults.iter().map(message).collect::<Vec<_>>())
    }
}
