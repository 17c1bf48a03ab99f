//! Types and facts without test cases, and recorded outputs that no command reads.

use super::Lint;
use crate::declared::DeclaredType;
use crate::family::cases::case_folders;
use crate::family::expected::EXPECTED;
use crate::family::recording::file_of;
use crate::file_node::{FileNode, YamlFile};
use crate::{Location, ResourceType, Result};

/// A case of the family.
pub(super) struct Case {
    /// Its folder, below the family's.
    pub(super) path: String,
    pub(super) file: YamlFile,
}

impl Case {
    /// The type that it tests.
    pub(super) fn type_name(&self) -> Option<String> {
        let named = self.file.top().get("type")?;
        named.node().as_str().map(str::to_owned)
    }

    fn has(&self, key: &str) -> bool {
        self.file.top().get(key).is_some()
    }
}

impl Lint<'_> {
    /// The family's cases. One whose file is wrong is reported by the test itself.
    pub(super) fn cases(&mut self) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        for path in case_folders(&self.family.folder, "cases", 0)? {
            if let Ok(file) = self.yaml(&format!("{path}/case.yaml")) {
                cases.push(Case { path, file });
            }
        }
        Ok(cases)
    }

    /// Finds facts without a case, and recorded outputs of cases of facts that no command reads.
    pub(super) fn family_cases(&mut self, family: &YamlFile, cases: &[Case]) -> Result<()> {
        let Some(facts) = family.top().get("facts") else {
            return Ok(());
        };
        if !cases.iter().any(|case| !case.has("type")) {
            let message = "no case tests the facts: write one without `type` \
                           (`devgate family record` makes one of a device)";
            self.found("no-case", &facts, message);
        }
        let commands: Vec<&str> = self.family.fact_commands().collect();
        let of_facts = cases.iter();
        for case in of_facts.filter(|case| !case.has("type") && !case.has("session")) {
            self.outputs(case, &commands)?;
        }
        Ok(())
    }

    /// Finds a type whose reading or writing no case tests, and recorded outputs that no command of it reads.
    pub(super) fn type_cases(
        &mut self,
        top: &FileNode<'_>,
        kind: &DeclaredType,
        cases: &[Case],
    ) -> Result<()> {
        let name = kind.schema().name();
        let of_type: Vec<&Case> = cases
            .iter()
            .filter(|case| case.type_name().as_deref() == Some(name))
            .collect();
        let is_read = of_type.iter().any(|case| !case.has("changes"))
            || cases.iter().any(|case| case.has("session"));
        if !is_read {
            let message = format!(
                "no case tests what `{name}` reads: write one with `type: {name}` and the outputs of its commands"
            );
            self.found("no-case", top, message);
        }
        let form = super::form(top);
        let is_written = |form: &FileNode<'_>| {
            let mut keys = ["create", "lines", "update"].into_iter();
            keys.any(|key| form.get(key).is_some())
        };
        let has_changes = of_type.iter().any(|case| case.has("changes"));
        if form.as_ref().is_some_and(is_written) && !has_changes {
            let message = format!(
                "no case tests what `{name}` writes: write one with `type: {name}` and `changes`"
            );
            self.found("no-case", top, message);
        }
        let commands: Vec<&str> = kind.commands().collect();
        for case in of_type {
            self.outputs(case, &commands)?;
        }
        Ok(())
    }

    /// Finds recorded outputs that none of these commands reads.
    fn outputs(&mut self, case: &Case, commands: &[&str]) -> Result<()> {
        // The names of outputs that depend on others are not known here.
        if commands.iter().any(|command| command.contains("{{")) {
            return Ok(());
        }
        let read: Vec<String> = commands.iter().map(|command| file_of(command)).collect();
        for file in self.family.folder.names(&case.path)? {
            let is_known = file == "case.yaml" || EXPECTED.contains(&file.as_str());
            if is_known || read.contains(&file) {
                continue;
            }
            let path = self
                .family
                .folder
                .display_name(&format!("{}/{file}", case.path));
            let location = Location {
                file: path.into(),
                line: 1,
                column: 1,
                key: String::new(),
            };
            let expected: Vec<String> = read.iter().map(|file| format!("`{file}`")).collect();
            let message = format!(
                "nothing reads this output: expected {}",
                if expected.is_empty() {
                    "none".to_owned()
                } else {
                    expected.join(", ")
                }
            );
            self.found_at("unused-file", location, message);
        }
        Ok(())
    }
}
