//! Errors of connection info that does not match its transport's schema.

use std::fmt;

/// Everything in connection info that does not match its transport's schema. No secret is quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidConnectionInfo {
    pub(super) transport: String,
    pub(super) mismatches: Vec<String>,
    pub(super) missing: Vec<String>,
    pub(super) broken: Vec<String>,
}

impl InvalidConnectionInfo {
    /// Whether a mandatory attribute of this name is missing.
    pub fn lacks(&self, name: &str) -> bool {
        self.missing.iter().any(|missing| missing == name)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.mismatches.is_empty() && self.missing.is_empty() && self.broken.is_empty()
    }
}

/// Mismatches have Puppet's wording, and missing attributes the Resource API gem's. The gem's heading is
/// left out, because it describes the Ruby objects behind the schema.
impl fmt::Display for InvalidConnectionInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            transport,
            mismatches,
            missing,
            broken,
        } = self;
        let mut sections = Vec::new();
        if !mismatches.is_empty() {
            sections.push(format!(
                "The connection info of `{transport}` does not fit:\n    * {}",
                mismatches.join("\n    * ")
            ));
        }
        if !missing.is_empty() {
            sections.push(format!(
                "The following mandatory attributes were not provided:\n    *  {}",
                missing.join(", \n    *  ")
            ));
        }
        if !broken.is_empty() {
            sections.push(format!(
                "The connection info does not fit together:\n    * {}",
                broken.join("\n    * ")
            ));
        }
        f.write_str(&sections.join("\n"))
    }
}

impl std::error::Error for InvalidConnectionInfo {}
