//! The recorded answers of a case, and which of them it lacks.

use std::cell::RefCell;

use super::cases::FILE;
use super::expected::EXPECTED;
use super::folder::Folder;
use super::recording::file_of;
use crate::Result;

/// The recorded answers of a case.
#[derive(Debug)]
pub(super) struct RecordedAnswers {
    /// The name and the text of each file.
    files: Vec<(String, String)>,
    /// The requests that have no file, in the order in which they were needed.
    missing: RefCell<Vec<String>>,
}

impl RecordedAnswers {
    /// Reads the answers of a case.
    ///
    /// # Errors
    /// Fails when a file cannot be read.
    pub(super) fn read(folder: &Folder, case: &str) -> Result<Self> {
        let mut files = Vec::new();
        for file in folder.names(case)? {
            if !EXPECTED.contains(&file.as_str()) && file != FILE {
                let text = folder.read(&format!("{case}/{file}"))?;
                files.push((file, text));
            }
        }
        Ok(Self {
            files,
            missing: RefCell::default(),
        })
    }

    /// Returns the answer to a request, and notes if there is none.
    pub(super) fn answer(&self, request: &str) -> Option<&str> {
        let file = file_of(request);
        let found = self.files.iter().find(|(name, _)| *name == file);
        if found.is_none() {
            let mut missing = self.missing.borrow_mut();
            if !missing.iter().any(|known| known == request) {
                missing.push(request.to_owned());
            }
        }
        found.map(|(_, text)| text.as_str())
    }

    /// Returns the requests that have had no answer since.
    pub(super) fn take_missing(&self) -> Vec<String> {
        self.missing.take()
    }
}
