//! Manifests as YAML or JSON.
//!
//! The form is `{TYPE: {TITLE: {attribute: value}}}`, or a list of titles without attributes. Metaparameters are given
//! among the attributes, references as texts: `require: Frr_interface[swp1]`.

use std::sync::Arc;

use devgate_core::failure::Failure;
use devgate_schemas::yaml::{self, Node};
use devgate_schemas::{Hash, Value};

use crate::device_run::{AttributeLocations, Catalog, Ref, SourceLocation, invalid};

/// Reads a manifest in YAML or JSON.
///
/// # Errors
/// Fails when the text is neither, or with all problems of its structure, with line and column.
pub(crate) fn read(text: &str, file: &str) -> Result<Catalog, Failure> {
    let document =
        yaml::parse(text).map_err(|error| invalid(&[format!("manifest {file}: {error}")]))?;
    let (catalog, main) = Catalog::of_manifest();
    let mut reader = DataReader {
        file: file.into(),
        catalog,
        main,
        problems: Vec::new(),
    };
    reader.types(&document);
    if reader.problems.is_empty() {
        Ok(reader.catalog)
    } else {
        Err(invalid(&reader.problems))
    }
}

struct DataReader {
    file: Arc<str>,
    catalog: Catalog,
    /// The container of a manifest's resources.
    main: usize,
    problems: Vec<String>,
}

impl DataReader {
    fn mismatch(&mut self, node: &Node, expected: &str) {
        let location = self.location(node.line, node.column);
        self.refuse(&location, &node.mismatch(expected));
    }

    fn types(&mut self, document: &Node) {
        let Some(types) = document.as_mapping() else {
            return self.mismatch(document, "{TYPE: {TITLE: {attribute: value}}}");
        };
        for (type_name, titles) in types.iter() {
            let before = self.catalog.resources.len();
            let name = type_name.key.to_string();
            self.titles(&name, titles);
            if self.catalog.resources.len() == before {
                let location = self.location(type_name.line, type_name.column);
                let name = Ref::new(&name, "").type_name;
                self.catalog.named.push((name, location));
            }
        }
    }

    fn titles(&mut self, type_name: &str, titles: &Node) {
        if let Some(titles) = titles.as_mapping() {
            for (title, attributes) in titles.iter() {
                let location = self.location(title.line, title.column);
                self.resource(
                    Ref::new(type_name, title.key.to_string()),
                    attributes,
                    location,
                );
            }
        } else if let Some(titles) = titles.as_sequence() {
            for title in titles {
                let location = self.location(title.line, title.column);
                match title.as_scalar() {
                    Some(Value::String(text)) => {
                        self.bare(Ref::new(type_name, text), location);
                    }
                    Some(Value::Integer(number)) => {
                        let name = Ref::new(type_name, number.to_string());
                        self.bare(name, location);
                    }
                    _ => self.mismatch(title, &format!("a title of `{type_name}`")),
                }
            }
        } else {
            let expected =
                format!("the titles of `{type_name}` resources, each with its attributes");
            self.mismatch(titles, &expected);
        }
    }

    fn resource(&mut self, name: Ref, attributes: &Node, location: SourceLocation) {
        match attributes.to_value() {
            Value::Hash(values) => {
                let keys = attributes.as_mapping().into_iter();
                let keys = keys.flat_map(|mapping| mapping.iter().map(|(key, _)| key));
                let attribute_locations = keys
                    .map(|key| (key.key.to_string(), self.location(key.line, key.column)))
                    .collect();
                self.declare(name, values, location, attribute_locations);
            }
            Value::Undef => self.bare(name, location),
            _ => {
                let expected = format!("the attributes of {name} as a mapping");
                self.refuse(&location, &attributes.mismatch(&expected));
            }
        }
    }

    fn bare(&mut self, name: Ref, location: SourceLocation) {
        self.declare(name, Hash::new(), location, AttributeLocations::new());
    }

    fn declare(
        &mut self,
        name: Ref,
        attributes: Hash,
        location: SourceLocation,
        attribute_locations: AttributeLocations,
    ) {
        let container = Some(self.main);
        let mut declared = self.catalog.declared(name, attributes, location, container);
        declared.attribute_locations = attribute_locations;
        self.catalog.resources.push(declared);
    }

    fn location(&self, line: u32, column: u32) -> SourceLocation {
        SourceLocation {
            file: Arc::clone(&self.file),
            line,
            column,
        }
    }

    fn refuse(&mut self, location: &SourceLocation, message: &str) {
        self.problems.push(format!("{location}: {message}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_resource_knows_where_it_stands() -> Result<(), Failure> {
        let text = "Vlan:\n  10:\n    name: users\n  '20': {}\n  30:\nport: [a, 7]\n";
        let shown: Vec<String> = read(text, "site.yaml")?
            .resources
            .iter()
            .map(|one| format!("{} {} at {}", one.name, one.attributes.len(), one.location))
            .collect();
        assert_eq!(
            shown,
            [
                "Vlan[10] 1 at site.yaml:2:3",
                "Vlan[20] 0 at site.yaml:4:3",
                "Vlan[30] 0 at site.yaml:5:3",
                "Port[a] 0 at site.yaml:6:8",
                "Port[7] 0 at site.yaml:6:11",
            ]
        );
        Ok(())
    }

    #[test]
    fn metaparameters_stand_among_the_attributes() -> Result<(), Failure> {
        let text = "port:\n  a: {require: 'Vlan[10]', noop: true, speed: 5}\n";
        let catalog = read(text, "site.yaml")?;
        let [port] = catalog.resources.as_slice() else {
            panic!("{catalog:?}")
        };
        assert_eq!((port.meta.noop, port.attributes.len()), (Some(true), 1));
        let [relation] = catalog.relations.as_slice() else {
            panic!("{catalog:?}")
        };
        let relation_text = format!(
            "{} -> {} at {}",
            relation.from, relation.to, relation.location
        );
        assert_eq!(relation_text, "Vlan[10] -> Port[a] at site.yaml:2:3");
        Ok(())
    }

    #[test]
    fn another_structure_is_reported_with_its_position() {
        let message = |text| {
            read(text, "site.yaml")
                .expect_err("a wrong shape")
                .to_string()
        };
        assert!(message("- vlan\n").starts_with("site.yaml:1:1: expected {TYPE:"));
        assert!(message("vlan:\n  10: yes\n").contains("site.yaml:2:3: expected the attributes"));
        let all = message("a: 1\nb: 2\nc: [[]]\n");
        for location in [":1:4: ", ":2:4: ", ":3:5: expected a title"] {
            assert!(all.contains(location), "{location}: {all}");
        }
    }
}
