//! The keys of a family's files: one table, of which the JSON Schemas and docs/reference/family.md are made. A new key
//! is a row here; a test compares the rows with the keys that the readers of the files know.

mod case;
mod dialect;
mod family;
mod forms;
mod json;
mod resource_type;
mod source;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use forms::{MAX_WINDOW, MIN_WINDOW};
use table::Object;

/// A file of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FamilyDocument {
    /// `family.yaml`
    Family,
    /// `types/TYPE.yaml`
    Type,
    /// `cases/CASE/case.yaml`
    Case,
}

impl FamilyDocument {
    /// Its name, as messages have it.
    pub fn file(self) -> &'static str {
        self.object().name
    }

    fn object(self) -> &'static Object {
        match self {
            Self::Family => &family::FAMILY,
            Self::Type => &resource_type::TYPE,
            Self::Case => &case::CASE,
        }
    }
}
