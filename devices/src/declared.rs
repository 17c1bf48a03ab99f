//! Resource types that are declared as data: where rows come from, and one file a form of change.

mod body;
mod cli;
#[cfg(test)]
mod data_tests;
mod deeds;
mod document;
#[cfg(test)]
pub(crate) mod fake;
mod found;
mod netconf;
mod output;
mod ovsdb;
mod path;
mod read;
mod requests;
mod rest;
mod rows;
mod source;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use devgate_schemas::{Hash, InvalidResource, Name, Resource, TypeSchema, Value, Wrong};
use devgate_transports::Context;
use indexmap::IndexMap;
use indexmap::map::Entry;

use crate::family::Placed;
use crate::template::{Expression, Medium, Scope, Template};
use crate::{
    Change, Changes, Current, Error, InSync, Provider, ResourceType, Result, Shown, Which,
};
use cli::Cli;
use deeds::Seen;
use found::Found;
use requests::Requests;

pub(crate) use output::{exec, session};
pub(crate) use source::{Answers, Row, Source, Speaks};

/// A resource type that a family's file declares.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredType(Arc<Definition>);

/// What the file says.
#[derive(Debug)]
struct Definition {
    schema: TypeSchema,
    /// Makes the title of a row, where several namevars need one.
    title: Option<Placed<Template>>,
    /// The one form of an attribute's values.
    canonical: Vec<(String, Placed<Expression>)>,
    get: Vec<Get>,
    form: Form,
}

/// Where rows come from, and what a row says of a resource.
#[derive(Debug)]
struct Get {
    source: Source,
    resource: Vec<(String, Placed<Expression>)>,
}

impl Get {
    /// That what a row says of an attribute is wrong.
    fn wrong(&self, row: &Row, answers: &Answers, wrong: Wrong) -> Error {
        let said = self.resource.iter();
        let mut said = said.filter(|(name, _)| wrong.attribute.as_deref() == Some(name));
        let names = said.next().map(|(_, expression)| expression.value.names());
        let names = names.unwrap_or_default();
        let named = names.first().map_or("", String::as_str);
        row.wrong(answers, named, wrong.message)
    }
}

/// How changes are made.
#[derive(Debug)]
enum Form {
    /// Lines of configuration.
    Cli(Box<Cli>),
    /// Requests that change data.
    Data(Box<dyn Requests>),
}

/// Reads and changes resources as a definition says.
#[derive(Debug)]
struct DeclaredProvider(Arc<Definition>);

impl DeclaredType {
    /// The commands, or the questions, whose answers `get` reads.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &str> {
        self.0.get.iter().flat_map(|get| get.source.questions())
    }

    /// The resources in these answers.
    ///
    /// # Errors
    /// What in the answers does not fit.
    pub(crate) fn resources<'o>(
        &self,
        output: impl Fn(&str) -> Option<&'o str>,
    ) -> Result<Vec<Resource>> {
        let mut answers = Answers::default();
        for get in &self.0.get {
            get.source.recall(&mut answers, &output)?;
        }
        self.0.resources(&answers, Which::All)
    }

    /// Compiles what is otherwise compiled when it is first needed.
    ///
    /// # Errors
    /// What is wrong with a TextFSM template.
    pub(crate) fn check(&self) -> Result<()> {
        self.0.get.iter().try_for_each(|get| get.source.check())
    }
}

impl ResourceType for DeclaredType {
    fn schema(&self) -> &TypeSchema {
        &self.0.schema
    }

    fn provider(&self) -> Box<dyn Provider> {
        Box::new(DeclaredProvider(Arc::clone(&self.0)))
    }

    fn commands(&self) -> Vec<&str> {
        self.commands().collect()
    }

    fn parse(&self, output: &str) -> Result<Vec<Resource>> {
        self.resources(|_| Some(output))
    }

    fn canonical(&self, resource: &mut Resource) -> Vec<Wrong> {
        self.0.canonicalize(resource, |_| true)
    }

    fn judge_part(&self, mut part: Resource) -> Vec<Wrong> {
        let known: Vec<String> = part.iter().map(|(name, _)| name.to_owned()).collect();
        let is_known = |name: &String| known.contains(name);
        self.0.canonicalize(&mut part, |expression| {
            expression.names().iter().all(is_known)
        })
    }

    fn check(&self, name: &Name, should: &Resource) -> Result<()> {
        self.0.form.check(&self.0.schema, name, should)
    }

    fn render(&self, name: &Name, change: &Change, secrets: Shown) -> Result<Vec<String>> {
        self.0.form.lines(&self.0.schema, name, change, secrets)
    }
}

#[async_trait]
impl Provider for DeclaredProvider {
    async fn get(&mut self, ctx: &Context<'_>, which: Which<'_>) -> Result<Vec<Resource>> {
        if matches!(which, Which::Named([])) {
            return Ok(Vec::new());
        }
        let mut answers = Answers::default();
        for get in &self.0.get {
            let told = self.0.told_by_name(get);
            let wanted = |row: &Hash| self.0.may_be(&told, row, which);
            get.source.ask(ctx, &wanted, &mut answers).await?;
        }
        self.0.resources(&answers, which)
    }

    async fn set(&mut self, ctx: &Context<'_>, changes: Changes) -> Result<()> {
        let mut known = Vec::with_capacity(changes.iter().len());
        let mut rows = None;
        for (name, mut change) in changes {
            if change.is == Current::NotAsked {
                if rows.is_none() {
                    rows = Some(self.get(ctx, Which::All).await?);
                }
                let is = rows.iter().flatten().find(|row| name.names(row)).cloned();
                change.is = is.map_or(Current::Absent, Current::Present);
            }
            known.push((name, change));
        }
        let schema = &self.0.schema;
        match &self.0.form {
            Form::Cli(cli) => cli.set(ctx, schema, known).await,
            Form::Data(form) => requests::set(&**form, ctx, schema, known).await,
        }
    }

    async fn canonicalize(&mut self, _: &Context<'_>, resources: &mut [Resource]) -> Result<()> {
        for resource in resources {
            let wrong = self.0.canonicalize(resource, |_| true);
            if let Some(wrong) = wrong.into_iter().next() {
                return Err(Error::Row(wrong.message));
            }
        }
        Ok(())
    }

    /// An attribute that is desired empty is in sync where the device shows none.
    async fn insync(
        &mut self,
        _: &Context<'_>,
        _: &Name,
        property: &str,
        is: &Resource,
        should: &Resource,
    ) -> Result<InSync> {
        let is_empty = |value: &Value| match value {
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Hash(pairs) => pairs.is_empty(),
            Value::Sensitive(secret) => secret.reveal().as_str() == Some(""),
            _ => false,
        };
        let both_empty =
            is.get(property).is_none_or(is_empty) && should.get(property).is_some_and(is_empty);
        Ok(if both_empty {
            InSync::Yes
        } else {
            InSync::ByValue
        })
    }
}

impl Form {
    fn data(form: impl Requests + 'static) -> Self {
        Self::Data(Box::new(form))
    }

    fn medium(&self) -> Medium {
        match self {
            Self::Cli(_) => Medium::CommandLine,
            Self::Data(form) => form.medium(),
        }
    }

    /// A change as people read it.
    fn lines(
        &self,
        schema: &TypeSchema,
        name: &Name,
        change: &Change,
        secrets: Shown,
    ) -> Result<Vec<String>> {
        match self {
            Self::Cli(cli) => {
                let lines = cli.lines(schema, name, change)?;
                Ok(lines.iter().map(|line| line.text(secrets)).collect())
            }
            Self::Data(form) => form.lines(schema, name, change, secrets),
        }
    }

    /// Whether a desired resource can be written. It cannot where it can neither be created, nor updated
    /// by what says nothing of the present state.
    fn check(&self, schema: &TypeSchema, name: &Name, should: &Resource) -> Result<()> {
        if !should.is_present() {
            return Ok(());
        }
        let change = |is| Change {
            is,
            should: Some(should.clone()),
        };
        let create = change(Current::Absent);
        // A value that cannot be written is none in either case.
        Seen::of(schema, name, &create, self.medium())?;
        let Err(error) = self.lines(schema, name, &create, Shown::Redacted) else {
            return Ok(());
        };
        let is_blind = match self {
            Self::Cli(cli) => cli.is_blind(schema, should),
            Self::Data(form) => form.is_blind(schema, should),
        };
        let update = change(Current::Present(should.clone()));
        if is_blind && self.lines(schema, name, &update, Shown::Redacted).is_err() {
            return Err(error);
        }
        Ok(())
    }
}

impl Definition {
    /// The resources in the answers, in their order. What several sources say of one resource is put
    /// together, and the later one wins; the rows of one source can only complete each other.
    fn resources(&self, answers: &Answers, which: Which<'_>) -> Result<Vec<Resource>> {
        // By title, which stands for the namevars: a table may have a hundred thousand routes.
        let mut found: IndexMap<String, Found> = IndexMap::new();
        for (source, get) in self.get.iter().enumerate() {
            let told = self.told_by_name(get);
            for row in get
                .source
                .rows(answers, &|row| self.may_be(&told, row, which))?
            {
                let mut resource = rows::resource(&self.schema, &get.resource, &row, answers)?;
                if let Some(wrong) = self
                    .canonicalize(&mut resource, |_| true)
                    .into_iter()
                    .next()
                {
                    return Err(get.wrong(&row, answers, wrong));
                }
                let mut row = resource;
                if let Some(title) = &self.title {
                    let scope = Scope::of_resource(&self.schema, &row);
                    let text = title.value.text(&scope);
                    let text = text.map_err(|error| Error::Data(title.problem(&error)))?;
                    row.set("title", Value::String(text));
                }
                let refused = |error: InvalidResource| Error::Row(error.to_string());
                let name = self.schema.check_row(&row).map_err(refused)?;
                match found.entry(name.title().to_owned()) {
                    Entry::Occupied(mut found) => found.get_mut().add(&self.schema, source, row),
                    Entry::Vacant(unknown) => {
                        unknown.insert(Found::new(source, row));
                    }
                }
            }
        }
        Ok(found.into_values().flat_map(Found::all).collect())
    }

    /// The namevars among a source's attributes, with the names that each is made of.
    fn told_by_name<'g>(&self, get: &'g Get) -> Vec<(&'g str, &'g Expression, Vec<String>)> {
        let namevars = self.schema.namevars();
        let of_name = |(attribute, expression): &'g (String, Placed<Expression>)| {
            let is_namevar = namevars
                .iter()
                .any(|namevar| *namevar == attribute.as_str());
            let expression = &expression.value;
            is_namevar.then(|| (attribute.as_str(), expression, expression.names()))
        };
        get.resource.iter().filter_map(of_name).collect()
    }

    /// Whether a resource of these names may come of a row of `each`, by the namevars that its values
    /// alone tell: a zone that nobody asks about is not looked into.
    fn may_be(
        &self,
        told: &[(&str, &Expression, Vec<String>)],
        row: &Hash,
        which: Which<'_>,
    ) -> bool {
        let Which::Named(names) = which else {
            return true;
        };
        let mut known = Resource::new();
        for (namevar, expression, made_of) in told {
            if made_of.iter().all(|name| row.get(name).is_some())
                && let Ok(value) = expression.value(&Scope::of_row(row))
                && let Ok(Some(value)) = rows::typed(&self.schema.attributes()[*namevar], value)
            {
                known.set(namevar, value);
            }
        }
        if !self.canonicalize(&mut known, |_| true).is_empty() {
            return true;
        }
        names.iter().any(|name| {
            known
                .iter()
                .all(|(namevar, value)| name.namevars().get(namevar) == Some(value))
        })
    }

    /// Brings the values of a resource into their one form, by the expressions that are asked for, and
    /// tells those that have none.
    fn canonicalize(
        &self,
        resource: &mut Resource,
        is_asked: impl Fn(&Expression) -> bool,
    ) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        for (name, expression) in &self.canonical {
            if !is_asked(&expression.value) {
                continue;
            }
            // What cannot be written stays as it is, to be refused: no filter may smooth it over.
            match resource.get(name) {
                None | Some(Value::Undef) => continue,
                Some(value) if self.form.medium().misfit(value).is_some() => continue,
                Some(_) => {}
            }
            let scope = Scope::of_resource(&self.schema, resource);
            match expression.value.value(&scope) {
                Ok(value) => resource.set(name, value),
                Err(error) => {
                    let message = format!("`{name}`: {}", error.message);
                    wrong.push(Wrong::of(name, message));
                }
            }
        }
        wrong
    }
}
