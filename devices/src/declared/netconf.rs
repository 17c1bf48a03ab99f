//! The form for NETCONF: each change is some XML, and all changes are sent in one `edit-config`.

use devgate_schemas::{Name, Resource, TypeSchema, Value};
use devgate_transports::DataRequest;
use devgate_transports::error::Refused;
use devgate_transports::netconf::Element;

use super::crud::{ChangeScope, Crud};
use super::data_form::DataForm;
use super::on_device::TypeOnDevice;
use crate::file_node::{FileNode, Problems, WithLocation};
use crate::template::{Escape, Medium, Secrets, Template};
use crate::{Change, Error, Result, SecretVisibility};

/// The XML that changes a resource.
#[derive(Debug)]
pub(super) struct Netconf {
    crud: Crud<WithLocation<Template>>,
    /// The number of elements that enclose each resource's own element. They are written once for all
    /// resources.
    enclosing: usize,
    /// The name of a resource's own element.
    own: String,
}

impl Netconf {
    /// Parses the form of a type whose rows are at this depth, in elements of this name.
    pub(super) fn read(
        top: &FileNode<'_>,
        schema: &TypeSchema,
        (depth, own): (usize, &str),
        problems: &mut Problems,
    ) -> Option<Self> {
        let crud = Crud::read(top, schema, problems, |file_node, names, problems| {
            let source = file_node.text(problems)?;
            file_node.escaping_template(source, names, Escape::Xml, problems)
        })?;
        Some(Self {
            crud,
            enclosing: depth.saturating_sub(1),
            own: own.to_owned(),
        })
    }

    /// Renders the XML of a change, with placeholders for its secrets.
    fn text(
        &self,
        kind: &TypeOnDevice<'_>,
        name: &Name,
        change: &Change,
    ) -> Result<(&WithLocation<Template>, String, Secrets)> {
        let template = self.crud.for_change(kind, change)?;
        let ChangeScope { scope, secrets } = ChangeScope::of(kind, name, change, |_| Medium::Xml)?;
        let text = template.value.render(&scope);
        let text = text.map_err(|error| template.failure(kind, error))?;
        Ok((template, text, secrets))
    }
}

impl DataForm for Netconf {
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
        let (template, text, secrets) = self.text(kind, name, change)?;
        let body = secrets.revealed_text(&text, Escape::Xml);
        Element::parse_all(&text_of(&body)).map_err(|error| {
            let message = format!("what it makes is no XML: {error}");
            Error::Data(template.location.problem(message))
        })?;
        Ok(DataRequest {
            body: Some(body),
            ..DataRequest::default()
        })
    }

    fn is_stateless(&self, schema: &TypeSchema, should: &Resource) -> bool {
        self.crud.is_stateless(schema, should)
    }

    fn uses_facts(&self) -> bool {
        self.crud.uses_facts()
    }

    fn joined(&self, requests: Vec<&DataRequest>) -> DataRequest {
        let bodies = || requests.iter().filter_map(|request| request.body.as_ref());
        let elements = bodies().flat_map(|body| elements(&text_of(body))).collect();
        let joined = Element::joined(elements, self.enclosing, &self.own);
        let text: String = joined.iter().map(Element::to_string).collect();
        let body = Value::from(text);
        let is_secret = bodies().any(Value::has_secret);
        DataRequest {
            body: Some(if is_secret {
                body.into_sensitive()
            } else {
                body
            }),
            ..DataRequest::default()
        }
    }

    /// A `delete` is then refused. A `remove` would not be, but NETCONF 1.0 devices do not support it.
    fn is_already_absent(&self, refused: &Refused) -> bool {
        refused.status == "data-missing"
    }

    fn lines(
        &self,
        kind: &TypeOnDevice<'_>,
        name: &Name,
        change: &Change,
        secrets: SecretVisibility,
    ) -> Result<Vec<String>> {
        let request = self.request(kind, name, change, 1)?;
        let text = match (request.body, secrets) {
            (Some(body), SecretVisibility::InClear) => text_of(&body),
            (_, _) => {
                let (_, text, change_secrets) = self.text(kind, name, change)?;
                change_secrets.redact(&text, Escape::Xml).0
            }
        };
        let pretty: String = elements(&text).iter().map(Element::to_pretty).collect();
        Ok(pretty.lines().map(str::to_owned).collect())
    }
}

/// Parses the elements of a text that has been parsed before.
fn elements(text: &str) -> Vec<Element> {
    Element::parse_all(text).unwrap_or_default()
}

fn text_of(body: &Value) -> String {
    match body.reveal_json() {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    }
}
