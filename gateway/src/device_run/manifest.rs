//! Manifests: the desired resources of a device, as YAML or JSON.
//!
//! `{TYPE: {TITLE: {attribute: value}}}`, or the same with a list of titles where no attribute is
//! given.

use std::fs;
use std::path::Path;

use devgate_schemas::yaml::{self, Node};
use devgate_schemas::{Hash, Value};

use crate::failure::Failure;

/// A manifest, its resources not yet checked.
#[derive(Clone, Debug)]
pub(crate) struct Manifest {
    pub(super) declarations: Vec<Declaration>,
}

/// One resource as a manifest has it.
#[derive(Clone, Debug)]
pub(super) struct Declaration {
    /// The resource's type.
    pub(super) type_name: String,
    /// Its title.
    pub(super) title: String,
    /// Its attributes.
    pub(super) attributes: Hash,
    /// Where it stands: `site.yaml:3:5`.
    pub(super) place: String,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// That the file cannot be read, is not YAML, or has another shape, with line and column.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display().to_string();
        let text = fs::read_to_string(path)
            .map_err(|error| invalid(&[format!("cannot read manifest {shown}: {error}")]))?;
        let document =
            yaml::parse(&text).map_err(|error| invalid(&[format!("manifest {shown}: {error}")]))?;
        let declarations = declarations(&document, &shown)?;
        Ok(Self { declarations })
    }
}

/// What is wrong with a manifest, all of it.
pub(super) fn invalid(problems: &[String]) -> Failure {
    Failure::new("devgate/invalid-manifest", problems.join("\n")).with("problems", problems)
}

fn declarations(document: &Node, file: &str) -> Result<Vec<Declaration>, Failure> {
    let mut found = Vec::new();
    let mut wrong = Vec::new();
    let place = |line: u32, column: u32| format!("{file}:{line}:{column}");
    let Some(types) = document.as_mapping() else {
        return Err(invalid(&[format!(
            "{}: expected {{TYPE: {{TITLE: {{attribute: value}}}}}}, found {}",
            place(document.line, document.column),
            document.kind_name()
        )]));
    };
    for (type_key, titles) in types.iter() {
        let type_name = type_key.key.to_string();
        let Some(titles) = titles.as_mapping() else {
            wrong.push(format!(
                "{}: expected the titles of `{type_name}` resources, each with its attributes, \
                 found {}",
                place(titles.line, titles.column),
                titles.kind_name()
            ));
            continue;
        };
        for (title, attributes) in titles.iter() {
            let place = place(title.line, title.column);
            let title = title.key.to_string();
            let attributes = match attributes.to_value() {
                Value::Hash(attributes) => attributes,
                Value::Undef => Hash::new(),
                _ => {
                    wrong.push(format!(
                        "{place}: expected the attributes of {type_name}[{title}] as a mapping, \
                         found {}",
                        attributes.kind_name()
                    ));
                    continue;
                }
            };
            found.push(Declaration {
                type_name: type_name.clone(),
                title,
                attributes,
                place,
            });
        }
    }
    if wrong.is_empty() {
        Ok(found)
    } else {
        Err(invalid(&wrong))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> anyhow::Result<Vec<Declaration>> {
        Ok(declarations(&yaml::parse(text)?, "site.yaml")?)
    }

    #[test]
    fn each_resource_knows_where_it_stands() -> anyhow::Result<()> {
        let found = read_text("vlan:\n  10:\n    name: users\n  '20': {}\n  30:\n")?;
        let shown: Vec<String> = found
            .iter()
            .map(|d| {
                format!(
                    "{}[{}] {} at {}",
                    d.type_name,
                    d.title,
                    d.attributes.len(),
                    d.place
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "vlan[10] 1 at site.yaml:2:3",
                "vlan[20] 0 at site.yaml:4:3",
                "vlan[30] 0 at site.yaml:5:3",
            ]
        );
        Ok(())
    }

    #[test]
    fn another_shape_is_told_with_its_place() {
        let message = |text| read_text(text).expect_err("a wrong shape").to_string();
        assert!(message("- vlan\n").starts_with("site.yaml:1:1: expected {TYPE:"));
        assert!(message("vlan:\n  10: yes\n").contains("site.yaml:2:3: expected the attributes"));
        let both = message("a: 1\nb: 2\n");
        assert!(
            both.contains("site.yaml:1:4") && both.contains("site.yaml:2:4"),
            "{both}"
        );
    }
}
