//! Reads the sources of a type's rows: `get` in its file.

use devgate_schemas::{TypeSchema, Value};

use super::definition::GetSection;
use super::line_patterns::{BLOCK, LinePatterns};
use super::line_templates::negation;
use super::on_device::FACTS;
use super::on_device::{Condition, WHEN};
use super::rows;
use crate::file_node::{FileNode, Problems, WithLocation};
use crate::source::{FamilyProtocol, ProtocolKind, Source};
use crate::template::Expression;

/// The key of names for values of a row.
const LET: &str = "let";

/// The short form of a type.
pub(super) struct TypeLines<'t, 'f> {
    pub(super) form: &'t FileNode<'f>,
    pub(super) schema: &'t TypeSchema,
    pub(super) is_singleton: bool,
}

impl GetSection {
    /// Reads a source whose rows are those of the short form.
    pub(super) fn of_lines(
        top: &FileNode<'_>,
        lines: &TypeLines<'_, '_>,
        protocol: &FamilyProtocol,
        problems: &mut Problems,
    ) -> Option<Self> {
        let TypeLines {
            form,
            schema,
            is_singleton,
        } = *lines;
        let negate = negation(protocol.dialect.as_deref());
        let patterns = LinePatterns::read(form, top, schema, is_singleton, negate, problems);
        let when = Condition::read(top, problems);
        let LinePatterns { textfsm, resource } = patterns?;
        Some(Self {
            source: Source::of_lines(top, protocol, textfsm, &[BLOCK, WHEN], problems)?,
            when: when?,
            values: Vec::new(),
            resource,
        })
    }

    pub(super) fn read(
        top: &FileNode<'_>,
        protocol_kind: ProtocolKind,
        schema: &TypeSchema,
        read: &dyn Fn(&str) -> crate::Result<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let also = ["resource", LET, WHEN];
        let source = Source::read(top, protocol_kind, &also, read, problems);
        let resource = top.required("resource", problems);
        let when = Condition::read(top, problems);
        let source = source?;
        let mut names = source.names();
        names.push(FACTS);
        let mut values: Vec<(String, WithLocation<Expression>)> = Vec::new();
        for (name, file_node) in pairs(top.get(LET), problems) {
            if names.contains(&name) {
                problems
                    .push(file_node.problem(format!("`{name}` stands for something else here")));
            }
            let expression = file_node.expression(&names, problems);
            values.extend(expression.map(|expression| (name.to_owned(), expression)));
            names.push(name);
        }
        let mut expressions: Vec<(String, WithLocation<Expression>)> = Vec::new();
        for (name, file_node) in pairs(resource, problems) {
            if file_node.is_attribute(schema, name, problems) {
                let expression = file_node.expression(&names, problems);
                expressions.extend(expression.map(|expression| (name.to_owned(), expression)));
            }
        }
        Some(Self {
            source,
            when: when?,
            values,
            resource: expressions,
        })
    }
}

/// The attributes whose lists several rows make.
pub(super) fn collect(
    top: &FileNode<'_>,
    schema: &TypeSchema,
    problems: &mut Problems,
) -> Vec<String> {
    let mut collect = Vec::new();
    for file_node in top.get("collect").iter().flat_map(FileNode::items) {
        let Some(name) = file_node.text(problems) else {
            continue;
        };
        if !file_node.is_attribute(schema, name, problems) {
            continue;
        }
        let none = Value::Array(Vec::new());
        if schema.attributes()[name].check(&none).is_err() {
            let message =
                format!("`{name}` is no list: expected a type such as `Optional[Array[String]]`");
            problems.push(file_node.problem(message));
        }
        collect.push(name.to_owned());
    }
    collect
}

/// The attributes of a resource for which there is no row.
pub(super) fn otherwise(
    top: &FileNode<'_>,
    schema: &TypeSchema,
    problems: &mut Problems,
) -> Option<Vec<(String, Value)>> {
    let file_node = top.get("otherwise")?;
    if schema.is_ensurable() || top.get("singleton").is_some() {
        let message = "without a row, a singleton has no attributes, and a resource with `ensure` is absent: leave \
                       `otherwise` out";
        problems.push(file_node.problem(message));
    }
    let mut values = Vec::new();
    for (name, file_node) in file_node.pairs(problems) {
        if !file_node.is_attribute(schema, name, problems) {
            continue;
        }
        if schema.namevars().iter().any(|namevar| namevar == name) {
            problems.push(file_node.problem("the name is that of the resource: leave it out"));
        }
        match rows::typed(&schema.attributes()[name], file_node.node().to_value()) {
            Ok(value) => values.extend(value.map(|value| (name.to_owned(), value))),
            Err(message) => problems.push(file_node.problem(message)),
        }
    }
    Some(values)
}

/// Reports the namevars that rows do not give, or must not give because there is one resource.
pub(super) fn check_namevars(
    top: &FileNode<'_>,
    schema: &TypeSchema,
    is_singleton: bool,
    problems: &mut Problems,
) {
    let Some(resource) = top.get("resource") else {
        return;
    };
    for namevar in schema.namevars() {
        match resource.get(namevar) {
            None if !is_singleton => {
                problems.push(resource.problem(format!("missing key `{namevar}`: it is a namevar")))
            }
            Some(given) if is_singleton => {
                problems.push(given.problem("`singleton` names the only resource: leave it out"));
            }
            None | Some(_) => {}
        }
    }
}

/// The pairs of a mapping; none if there is no node.
pub(super) fn pairs<'a>(
    file_node: Option<FileNode<'a>>,
    problems: &mut Problems,
) -> Vec<(&'a str, FileNode<'a>)> {
    file_node.map_or_else(Vec::new, |file_node| file_node.pairs(problems))
}
