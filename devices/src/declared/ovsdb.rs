//! The form for OVSDB: each change consists of operations, and all changes are sent in one transaction.

use devgate_schemas::{Hash, Name, Resource, TypeSchema, Value, suggest};
use devgate_transports::DataRequest;
use devgate_transports::error::Refused;

use super::crud::{ChangeScope, Crud, ReferencedNames};
use super::data_form::DataForm;
use super::on_device::TypeOnDevice;
use crate::body::{Body, json};
use crate::error::Location;
use crate::file_node::{FileNode, Problems, WithLocation};
use crate::template::{Expression, Medium};
use crate::{Change, Error, Result, SecretVisibility};

/// The operations that change a resource.
#[derive(Debug)]
pub(super) struct Ovsdb(Crud<Vec<OperationTemplate>>);

/// The template of an operation.
#[derive(Debug)]
struct OperationTemplate {
    /// The kind of the operation: one of [`OPERATIONS`].
    operation: &'static str,
    table: String,
    /// The name by which later operations refer to the inserted row.
    name: Option<String>,
    /// The condition of the operation.
    when: Option<WithLocation<Expression>>,
    /// The columns below `where`, `row`, `add` and `remove`.
    columns: Vec<(&'static str, Body, Location)>,
}

/// The kinds of operations.
const OPERATIONS: [&str; 4] = ["insert", "update", "mutate", "delete"];

/// The keys under which an operation has columns.
const COLUMNS: [&str; 4] = ["where", "row", "add", "remove"];

impl Ovsdb {
    pub(super) fn read(
        top: &FileNode<'_>,
        schema: &TypeSchema,
        problems: &mut Problems,
    ) -> Option<Self> {
        let crud = Crud::read(top, schema, problems, |file_node, names, problems| {
            let mut names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let templates: Vec<_> = file_node
                .items()
                .iter()
                .map(|file_node| OperationTemplate::read(file_node, &mut names, problems))
                .collect();
            templates.into_iter().collect()
        });
        crud.map(Self)
    }
}

impl OperationTemplate {
    /// Parses an operation over these names. If it names its row, the name is added to them.
    fn read(top: &FileNode<'_>, names: &mut Vec<String>, problems: &mut Problems) -> Option<Self> {
        top.only(
            &[&OPERATIONS[..], &COLUMNS[..], &["as", "when"]].concat(),
            problems,
        );
        let mut found = OPERATIONS
            .into_iter()
            .filter_map(|operation| Some((operation, top.get(operation)?)));
        let Some((operation, table)) = found.next() else {
            let keys = top.pairs(problems);
            let key = keys.first().map_or("", |(key, _)| *key);
            let hint = suggest(key, OPERATIONS);
            problems.push(top.problem(format!("there is no operation here{hint}")));
            return None;
        };
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        let when = top.optional("when", |when| when.expression(&known, problems));
        let mut columns = Vec::new();
        for key in COLUMNS {
            if let Some(file_node) = top.get(key) {
                let body = Body::read(&file_node, &known, problems);
                columns.push(body.map(|body| (key, body, file_node.location())));
            }
        }
        let name = top.get("as").and_then(|file_node| {
            let name = file_node.text(problems)?;
            if names.iter().any(|known| known == name) {
                problems
                    .push(file_node.problem(format!("`{name}` stands for something else here")));
            }
            Some(name.to_owned())
        });
        names.extend(name.clone());
        Some(Self {
            operation,
            table: table.text(problems)?.to_owned(),
            name,
            when: when?,
            columns: columns.into_iter().collect::<Option<_>>()?,
        })
    }

    /// Returns the operation as plain JSON; `None` if its condition is false.
    fn operation(&self, values: &ChangeScope) -> Result<Option<Value>> {
        if let Some(when) = &self.when {
            let condition = when.value.evaluate(&values.scope);
            let condition = condition.map_err(|error| when.error(error))?;
            if condition != Value::Boolean(true) {
                return Ok(None);
            }
        }
        let mut operation = Hash::new();
        operation.insert(self.operation, Value::from(self.table.as_str()));
        if let Some(name) = &self.name {
            // The row's own name is replaced with its name in the transaction.
            let named = values.scope.text(name);
            operation.insert("as", Value::from(named));
        }
        for (key, body, location) in &self.columns {
            let Some(columns) = body.value(&values.scope, &values.secrets)? else {
                continue;
            };
            // Without a value, the operation would apply to every row.
            let found = columns.as_hash().map_or(0, Hash::len);
            if *key == "where" && found < body.len() {
                let message = "there is no value for a column that says which rows are meant";
                return Err(Error::Data(location.problem(message)));
            }
            operation.insert(*key, columns);
        }
        Ok(Some(Value::Hash(operation)))
    }
}

impl ReferencedNames for Vec<OperationTemplate> {
    fn names(&self) -> Vec<String> {
        let when = self.iter().filter_map(|template| template.when.as_ref());
        let bodies = self.iter().flat_map(|template| &template.columns);
        when.flat_map(|when| when.value.names())
            .chain(bodies.flat_map(|(_, body, _)| body.names()))
            .collect()
    }
}

impl DataForm for Ovsdb {
    fn medium(&self) -> Medium {
        Medium::Data
    }

    fn request(
        &self,
        kind: &TypeOnDevice<'_>,
        name: &Name,
        change: &Change,
        number: usize,
    ) -> Result<DataRequest> {
        let templates = self.0.for_change(kind, change)?;
        let mut values = ChangeScope::of(kind, name, change, |_| Medium::Data)?;
        for own in templates
            .iter()
            .filter_map(|template| template.name.as_ref())
        {
            let named = Value::from(format!("{own}_{number}"));
            values.scope = values.scope.with(own, &named);
        }
        let operations = templates.iter().map(|template| template.operation(&values));
        let operations: Vec<Option<Value>> = operations.collect::<Result<_>>()?;
        Ok(DataRequest {
            what: String::new(),
            method: Some("edit".to_owned()),
            body: Some(Value::Array(operations.into_iter().flatten().collect())),
        })
    }

    fn is_stateless(&self, schema: &TypeSchema, should: &Resource) -> bool {
        self.0.is_stateless(schema, should)
    }

    fn uses_facts(&self) -> bool {
        self.0.uses_facts()
    }

    fn can_join(&self, _: &DataRequest, _: &DataRequest) -> bool {
        true
    }

    fn joined(&self, requests: Vec<&DataRequest>) -> DataRequest {
        let mut joined = requests[0].clone();
        let operations = requests.iter().flat_map(|request| operations(request));
        joined.body = Some(Value::Array(operations.cloned().collect()));
        joined
    }

    /// Returns the request whose operation failed.
    fn culprit(&self, requests: &[&DataRequest], refused: &Refused) -> Option<usize> {
        let details = refused.details.as_ref()?.as_hash()?;
        let failed = usize::try_from(details.get("operation")?.as_integer()?).ok()?;
        let mut before = 0;
        requests.iter().position(|request| {
            before += operations(request).len();
            failed < before
        })
    }

    fn lines(
        &self,
        kind: &TypeOnDevice<'_>,
        name: &Name,
        change: &Change,
        secrets: SecretVisibility,
    ) -> Result<Vec<String>> {
        let request = self.request(kind, name, change, 1)?;
        let operations = operations(&request).iter();
        Ok(operations
            .map(|operation| json(operation, secrets).to_string())
            .collect())
    }
}

fn operations(request: &DataRequest) -> &[Value] {
    match &request.body {
        Some(Value::Array(operations)) => operations,
        _ => &[],
    }
}
