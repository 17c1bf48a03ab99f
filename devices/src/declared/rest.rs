//! The form for REST APIs: each change is a request for a path, with a body.

use devgate_schemas::{Hash, Name, Resource, TypeSchema, Value};
use devgate_transports::DataRequest;
use devgate_transports::error::Refused;

use super::crud::{ChangeScope, Crud, ReferencedNames};
use super::data_form::DataForm;
use super::on_device::TypeOnDevice;
use crate::body::{Body, json};
use crate::file_node::{FileNode, Problems, WithLocation};
use crate::template::{Escape, Medium, Template};
use crate::{Change, Result, SecretVisibility};

/// The requests that change a resource.
#[derive(Debug)]
pub(super) struct Rest {
    crud: Crud<RequestTemplate>,
    /// The key of a body's list. Requests that differ only in this list are sent as one.
    join: Option<String>,
}

/// The template of a request.
#[derive(Debug)]
struct RequestTemplate {
    method: String,
    path: WithLocation<Template>,
    body: Option<Body>,
}

impl Rest {
    pub(super) fn read(
        top: &FileNode<'_>,
        schema: &TypeSchema,
        problems: &mut Problems,
    ) -> Option<Self> {
        let join = top
            .get("join")
            .and_then(|file_node| file_node.text(problems));
        let crud = Crud::read(top, schema, problems, RequestTemplate::read)?;
        Some(Self {
            crud,
            join: join.map(str::to_owned),
        })
    }

    /// Returns the joinable list of a request's body, and the rest of the body.
    fn parts<'r>(&self, request: &'r DataRequest) -> Option<(&'r Vec<Value>, Hash)> {
        let mut rest = request.body.as_ref()?.as_hash()?.clone();
        let join = self.join.as_ref()?;
        rest.remove(join);
        match request.body.as_ref()?.as_hash()?.get(join)? {
            Value::Array(items) => Some((items, rest)),
            _ => None,
        }
    }
}

impl RequestTemplate {
    fn read(top: &FileNode<'_>, names: &[&str], problems: &mut Problems) -> Option<Self> {
        top.only(&["method", "path", "body"], problems);
        let method = top.required_text("method", problems);
        let path = top.required("path", problems);
        let path = path.and_then(|file_node| {
            let source = file_node.text(problems)?;
            file_node.escaping_template(source, names, Escape::Path, problems)
        });
        let body = top.optional("body", |body| Body::read(body, names, problems));
        Some(Self {
            method: method?.to_owned(),
            path: path?,
            body: body?,
        })
    }
}

impl ReferencedNames for RequestTemplate {
    fn names(&self) -> Vec<String> {
        let body = self.body.iter().flat_map(Body::names);
        self.path.names().into_iter().chain(body).collect()
    }
}

impl DataForm for Rest {
    fn medium(&self) -> Medium {
        Medium::Data
    }

    fn request(
        &self,
        kind: &TypeOnDevice<'_>,
        name: &Name,
        change: &Change,
        _: usize,
    ) -> Result<DataRequest> {
        let template = self.crud.for_change(kind, change)?;
        let values = ChangeScope::of(kind, name, change, |_| Medium::Data)?;
        let path = template.path.value.render(&values.scope);
        let body = template.body.as_ref();
        let body = body.map(|body| body.value(&values.scope, &values.secrets));
        Ok(DataRequest {
            what: path.map_err(|error| template.path.error(error))?,
            method: Some(template.method.clone()),
            body: body.transpose()?.flatten(),
        })
    }

    fn is_stateless(&self, schema: &TypeSchema, should: &Resource) -> bool {
        self.crud.is_stateless(schema, should)
    }

    fn uses_facts(&self) -> bool {
        self.crud.uses_facts()
    }

    fn can_join(&self, one: &DataRequest, other: &DataRequest) -> bool {
        let is_same = one.what == other.what && one.method == other.method;
        match (self.parts(one), self.parts(other)) {
            (Some((_, one)), Some((_, other))) => is_same && one == other,
            _ => false,
        }
    }

    fn joined(&self, requests: Vec<&DataRequest>) -> DataRequest {
        let (first, rest) = (requests[0], &requests[1..]);
        if !rest.iter().all(|other| self.can_join(first, other)) {
            return DataRequest::transaction(requests);
        }
        let mut joined = requests[0].clone();
        let lists = requests
            .into_iter()
            .skip(1)
            .filter_map(|one| self.parts(one));
        let more: Vec<Value> = lists.flat_map(|(list, _)| list.clone()).collect();
        if let (Some(join), Some(Value::Hash(body))) = (&self.join, &mut joined.body)
            && let Some(Value::Array(items)) = body.get_mut(&join.as_str().into())
        {
            items.extend(more);
        }
        joined
    }

    fn is_already_absent(&self, refused: &Refused) -> bool {
        refused.is_absence()
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
        if let Some(body) = &request.body {
            let body = format!("{:#}", json(body, secrets));
            lines.extend(body.lines().map(str::to_owned));
        }
        Ok(lines)
    }
}
