//! Cases made of a device: what a family asks of it for its facts or a type, and the expected result.

use std::fs;
use std::path::PathBuf;

use devgate_schemas::Value;
use devgate_transports::Context;
use serde_json::json;

use super::cases::UpdateExpected;
use super::definition::Family;
use super::expected::Comparison;
use super::recording::file_of;
use crate::source::{Answers, RecordedAnswer};
use crate::{CaseResult, Error, ResourceType, Result};

/// What a device answers to a family, for a case of its facts or of one type.
#[derive(Debug)]
pub struct LiveCase {
    /// The name of the type; the case is about facts without it.
    type_name: Option<String>,
    answers: Vec<RecordedAnswer>,
}

impl Family {
    /// Asks the device behind `ctx` what the facts, or the type of this name, are made of.
    ///
    /// # Errors
    /// Fails when there is no such type, when the session is lost, and when answers do not match.
    pub async fn record_case(
        &self,
        ctx: &Context<'_>,
        type_name: Option<&str>,
    ) -> Result<LiveCase> {
        let (mut known, mut answers) = (Answers::default(), Vec::new());
        match type_name {
            None => self.facts.record(ctx, &mut known, &mut answers).await?,
            Some(name) => {
                let kind = self.types.iter().find(|kind| kind.schema().name() == name);
                let kind = kind.ok_or_else(|| {
                    let known = self.types().map(|kind| kind.schema().name());
                    let hint = devgate_schemas::suggest(name, known);
                    Error::Unsupported(format!("`{}` has no type `{name}`{hint}", self.name()))
                })?;
                kind.record(ctx, &mut known, &mut answers).await?;
            }
        }
        Ok(LiveCase {
            type_name: type_name.map(str::to_owned),
            answers,
        })
    }
}

impl LiveCase {
    /// The queries that were answered, and those that the device refused.
    pub fn queries(&self) -> (Vec<&str>, Vec<&str>) {
        let answers = self.answers.iter();
        let (answered, refused): (Vec<_>, Vec<_>) = answers.partition(|(_, text)| text.is_some());
        fn names(all: Vec<&RecordedAnswer>) -> Vec<&str> {
            all.into_iter().map(|(query, _)| query.as_str()).collect()
        }
        (names(answered), names(refused))
    }

    /// The secrets in the answers that the family declares.
    pub fn secrets(&self, family: &Family) -> Vec<Value> {
        family.secrets_in(|query| {
            let (_, text) = self.answers.iter().find(|(known, _)| known == query)?;
            text.as_deref()
        })
    }

    /// The case with `mask` applied to each answer.
    pub fn masked(mut self, mask: impl Fn(&str) -> String) -> Self {
        for (_, text) in &mut self.answers {
            *text = text.take().map(|text| mask(&text));
        }
        self
    }

    /// Writes the case into the family's folder, with the expected result. Returns its folder.
    ///
    /// # Errors
    /// Fails when the family is built in, when there is such a case, and when a file cannot be written.
    pub fn write(
        &self,
        family: &Family,
        name: &str,
        desc: &str,
    ) -> Result<(PathBuf, Vec<CaseResult>)> {
        let folder = family.case_folder(name)?;
        let failed = |cause| Error::File {
            what: "write",
            file: folder.clone(),
            cause,
        };
        fs::create_dir_all(&folder).map_err(failed)?;
        let mut case = format!("desc: {}\n", json!(desc));
        if let Some(name) = &self.type_name {
            case.push_str(&format!("type: {name}\n"));
        }
        fs::write(folder.join("case.yaml"), case).map_err(failed)?;
        for (query, text) in &self.answers {
            if let Some(text) = text {
                fs::write(folder.join(file_of(query)), text).map_err(failed)?;
            }
        }
        let cases = family.test_folder(&folder, UpdateExpected::Yes, Comparison::Whole)?;
        Ok((folder, cases))
    }
}

impl Family {
    /// The folder of a new case of this name.
    ///
    /// # Errors
    /// Fails when the family is built in, when the name leads elsewhere, and when there is such a case.
    pub fn case_folder(&self, name: &str) -> Result<PathBuf> {
        let family = self.name();
        let Some(folder) = self.folder() else {
            return Err(Error::Unsupported(format!(
                "family `{family}` is built in, so no case can be added to it: copy it to \
                 modules/{family}/devices/{family}, or use `devgate record`"
            )));
        };
        let is_part = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !name.split('/').all(is_part) {
            return Err(Error::Unsupported(format!(
                "`{name}` cannot be the name of a case: expected that of a new folder below `cases`"
            )));
        }
        let folder = folder.join("cases").join(name);
        if folder.exists() {
            return Err(Error::Unsupported(format!(
                "{} exists already, and is left as it is: choose another name, or remove it",
                folder.display()
            )));
        }
        Ok(folder)
    }
}
