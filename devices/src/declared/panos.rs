//! The form for PAN-OS: each change is an element at an XPath of the candidate configuration, and all changes are one
//! commit.

use devgate_schemas::{Name, Resource, TypeSchema, Value};
use devgate_transports::DataRequest;
use devgate_transports::error::Refused;
use devgate_transports::netconf::Element;

use super::crud::{ChangeScope, Crud, ReferencedNames};
use super::data_form::DataForm;
use super::on_device::TypeOnDevice;
use crate::file_node::{FileNode, Problems, WithLocation};
use crate::template::{Escape, Medium, Secrets, Template};
use crate::{Change, Error, Result, SecretVisibility};

/// The changes of the candidate configuration that change a resource.
#[derive(Debug)]
pub(super) struct Panos(Crud<ChangeTemplate>);

/// The template of a change.
#[derive(Debug)]
struct ChangeTemplate {
    method: String,
    xpath: WithLocation<Template>,
    element: Option<WithLocation<Template>>,
}

impl Panos {
    pub(super) fn read(
        top: &FileNode<'_>,
        schema: &TypeSchema,
        problems: &mut Problems,
    ) -> Option<Self> {
        Crud::read(top, schema, problems, ChangeTemplate::read).map(Self)
    }
}

impl ChangeTemplate {
    fn read(top: &FileNode<'_>, names: &[&str], problems: &mut Problems) -> Option<Self> {
        top.only(&["method", "xpath", "element"], problems);
        let method = top.required("method", problems).and_then(|file_node| {
            let method = file_node.text(problems)?;
            if ["set", "edit", "delete"].contains(&method) {
                return Some(method);
            }
            problems.push(file_node.problem("expected `set`, `edit` or `delete`"));
            None
        });
        let mut template = |key: &str, escape| {
            let file_node = top.get(key)?;
            let source = file_node.text(problems)?;
            file_node.escaping_template(source, names, escape, problems)
        };
        let (xpath, element) = (
            template("xpath", Escape::Name),
            template("element", Escape::Xml),
        );
        top.required("xpath", problems)?;
        let method = method?;
        if (method == "delete") != top.get("element").is_none() {
            let message = "an `element` belongs to `set` and `edit`, and none to `delete`";
            problems.push(top.problem(message));
        }
        Some(Self {
            method: method.to_owned(),
            xpath: xpath?,
            element,
        })
    }

    /// The XPath and the element of a change, with placeholders for secrets.
    fn texts(&self, kind: &TypeSchema, values: &ChangeScope) -> Result<(String, Option<String>)> {
        let rendered = |template: &WithLocation<Template>| {
            let text = template.value.render(&values.scope);
            text.map_err(|error| template.failure(kind, error))
        };
        let element = self.element.as_ref().map(rendered).transpose()?;
        Ok((rendered(&self.xpath)?.trim().to_owned(), element))
    }
}

impl ReferencedNames for ChangeTemplate {
    fn names(&self) -> Vec<String> {
        let element = self.element.iter().flat_map(ReferencedNames::names);
        self.xpath.names().into_iter().chain(element).collect()
    }
}

impl DataForm for Panos {
    fn medium(&self) -> Medium {
        Medium::Xml
    }

    fn request(
        &self,
        kind: &TypeOnDevice<'_>,
        name: &Name,
        change: &Change,
        _: usize,
    ) -> Result<DataRequest> {
        let template = self.0.for_change(kind, change)?;
        let values = ChangeScope::of(kind, name, change, |_| Medium::Xml)?;
        let (xpath, element) = template.texts(kind, &values)?;
        if let (Some(text), Some(element)) = (&element, &template.element) {
            // Without its secrets, which are escaped, it has the same elements.
            Element::parse_all(&shown(&values.secrets, text)).map_err(|error| {
                let message = format!("what it makes is no XML: {error}");
                Error::Data(element.location.problem(message))
            })?;
        }
        let body = element.map(|text| values.secrets.revealed_text(text.trim(), Escape::Xml));
        Ok(DataRequest {
            what: xpath,
            method: Some(template.method.clone()),
            body,
        })
    }

    fn is_stateless(&self, schema: &TypeSchema, should: &Resource) -> bool {
        self.0.is_stateless(schema, should)
    }

    fn uses_facts(&self) -> bool {
        self.0.uses_facts()
    }

    fn joined(&self, requests: Vec<&DataRequest>) -> DataRequest {
        DataRequest::transaction(requests)
    }

    fn is_already_absent(&self, refused: &Refused) -> bool {
        refused.status == "code 7"
    }

    fn lines(
        &self,
        kind: &TypeOnDevice<'_>,
        name: &Name,
        change: &Change,
        secrets: SecretVisibility,
    ) -> Result<Vec<String>> {
        let request = self.request(kind, name, change, 1)?;
        let method = request.method.as_deref().unwrap_or_default();
        let mut lines = vec![format!("{method} {}", request.what)];
        let template = self.0.for_change(kind, change)?;
        let values = ChangeScope::of(kind, name, change, |_| Medium::Xml)?;
        let (_, element) = template.texts(kind, &values)?;
        let text = match (request.body.as_ref().map(Value::reveal_json), secrets) {
            (Some(serde_json::Value::String(text)), SecretVisibility::InClear) => text,
            _ => shown(&values.secrets, &element.unwrap_or_default()),
        };
        let text = text.lines().filter(|line| !line.trim().is_empty());
        lines.extend(text.map(str::to_owned));
        Ok(lines)
    }
}

/// A text with its secrets redacted.
fn shown(secrets: &Secrets, text: &str) -> String {
    secrets.redact(text, Escape::Xml).0
}
