//! The form for NETCONF: each change some XML, all of a set in one `edit-config`.

use devgate_schemas::{Name, Resource, TypeSchema, Value};
use devgate_transports::Request;
use devgate_transports::error::Refused;
use devgate_transports::netconf::Element;

use super::deeds::{Deeds, Seen};
use super::requests::Requests;
use crate::file_node::{Placed, Problems, Spot};
use crate::template::{Escape, Medium, Secrets, Template};
use crate::{Change, Error, Result, Shown};

/// The XML that changes a resource.
#[derive(Debug)]
pub(super) struct Netconf {
    deeds: Deeds<Placed<Template>>,
    /// How many elements lie around each resource's own: they stand once for all resources.
    around: usize,
}

impl Netconf {
    /// Reads the form of a type whose rows lie that deep.
    pub(super) fn read(
        top: &Spot<'_>,
        schema: &TypeSchema,
        depth: usize,
        problems: &mut Problems,
    ) -> Option<Self> {
        let deeds = Deeds::read(top, schema, problems, |spot, names, problems| {
            let source = spot.text(problems)?;
            spot.escaping_template(source, names, Escape::Xml, problems)
        })?;
        Some(Self {
            deeds,
            around: depth.saturating_sub(1),
        })
    }

    /// The XML of a change, with its secrets veiled.
    fn text(
        &self,
        schema: &TypeSchema,
        name: &Name,
        change: &Change,
    ) -> Result<(&Placed<Template>, String, Secrets)> {
        let template = self.deeds.of(schema, change)?;
        let Seen { scope, secrets } = Seen::of(schema, name, change, Medium::Xml)?;
        let text = template.value.text(&scope);
        let text = text.map_err(|error| template.failure(schema, error))?;
        Ok((template, text, secrets))
    }
}

impl Requests for Netconf {
    fn medium(&self) -> Medium {
        Medium::Xml
    }

    fn request(
        &self,
        schema: &TypeSchema,
        name: &Name,
        change: &Change,
        _: usize,
    ) -> Result<Request> {
        let (template, text, secrets) = self.text(schema, name, change)?;
        let body = secrets.lifted_text(&text, Escape::Xml);
        Element::parse_all(&text_of(&body)).map_err(|error| {
            let message = format!("what it makes is no XML: {error}");
            Error::Data(template.place.problem(message))
        })?;
        Ok(Request {
            body: Some(body),
            ..Request::default()
        })
    }

    fn is_blind(&self, schema: &TypeSchema, should: &Resource) -> bool {
        self.deeds.is_blind(schema, should)
    }

    /// What the device does not take as a whole is sent one by one.
    fn belong(&self, _: &Request, _: &Request) -> bool {
        false
    }

    fn joined(&self, requests: Vec<&Request>) -> Request {
        let bodies = || requests.iter().filter_map(|request| request.body.as_ref());
        let elements = bodies().flat_map(|body| elements(&text_of(body))).collect();
        let joined = Element::joined(elements, self.around);
        let text: String = joined.iter().map(Element::to_string).collect();
        let body = Value::from(text);
        let is_secret = bodies().any(Value::has_secret);
        Request {
            body: Some(if is_secret {
                body.into_sensitive()
            } else {
                body
            }),
            ..Request::default()
        }
    }

    /// `delete` is refused then; `remove` is not, but devices of NETCONF 1.0 do not know it.
    fn was_gone(&self, refused: &Refused) -> bool {
        refused.status == "data-missing"
    }

    fn lines(
        &self,
        schema: &TypeSchema,
        name: &Name,
        change: &Change,
        secrets: Shown,
    ) -> Result<Vec<String>> {
        let request = self.request(schema, name, change, 1)?;
        let text = match (request.body, secrets) {
            (Some(body), Shown::InClear) => text_of(&body),
            (_, _) => {
                let (_, text, veiled) = self.text(schema, name, change)?;
                veiled.lift(&text, Escape::Xml).0
            }
        };
        let pretty: String = elements(&text).iter().map(Element::to_pretty).collect();
        Ok(pretty.lines().map(str::to_owned).collect())
    }
}

/// The elements in a text that was read before.
fn elements(text: &str) -> Vec<Element> {
    Element::parse_all(text).unwrap_or_default()
}

fn text_of(body: &Value) -> String {
    match body.reveal_json() {
        serde_json::Value::String(text) => text,
        other => other.to_string(),
    }
}
