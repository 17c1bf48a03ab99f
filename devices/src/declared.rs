//! Resource types that are declared as data: one file a form.

mod cli;
#[cfg(test)]
pub(crate) mod fake;
mod read;
mod rows;
mod send;
#[cfg(test)]
mod tests;
mod what;

use std::sync::Arc;

use async_trait::async_trait;
use devgate_schemas::{InvalidResource, Name, Resource, TypeSchema, Value};
use devgate_transports::Context;
use indexmap::IndexMap;

use crate::family::Placed;
use crate::template::{Expression, Scope, Template, untypable};
use crate::{
    Change, Changes, Current, Error, InSync, Provider, ResourceType, Result, Shown, Which,
};

pub(crate) use cli::{Cli, PlacedFsm, ask, session};

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
    cli: Cli,
}

/// Reads and changes resources as a definition says.
#[derive(Debug)]
struct DeclaredProvider(Arc<Definition>);

impl DeclaredType {
    /// The commands whose output `get` reads.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &str> {
        self.0.cli.commands()
    }

    /// The resources in the outputs of the type's commands.
    ///
    /// # Errors
    /// What in the outputs does not fit.
    pub(crate) fn resources<'o>(
        &self,
        output: impl Fn(&str) -> Option<&'o str>,
    ) -> Result<Vec<Resource>> {
        let outputs = self
            .commands()
            .map(|command| output(command).unwrap_or_default().to_owned());
        self.0.resources(&outputs.collect::<Vec<_>>())
    }

    /// Compiles what is otherwise compiled when it is first needed.
    ///
    /// # Errors
    /// What is wrong with a TextFSM template.
    pub(crate) fn check(&self) -> Result<()> {
        self.0.cli.check()
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
        self.0.cli.commands().collect()
    }

    fn parse(&self, output: &str) -> Result<Vec<Resource>> {
        self.resources(|_| Some(output))
    }

    fn render(&self, name: &Name, change: &Change, secrets: Shown) -> Result<Vec<String>> {
        let lines = self.0.cli.lines(&self.0.schema, name, change)?;
        Ok(lines.iter().map(|line| line.text(secrets)).collect())
    }
}

#[async_trait]
impl Provider for DeclaredProvider {
    async fn get(&mut self, ctx: &Context<'_>, which: Which<'_>) -> Result<Vec<Resource>> {
        if matches!(which, Which::Named([])) {
            return Ok(Vec::new());
        }
        let outputs = self.0.cli.outputs(ctx).await?;
        self.0.resources(&outputs)
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
        self.0.cli.set(ctx, &self.0.schema, known).await
    }

    async fn canonicalize(&mut self, _: &Context<'_>, resources: &mut [Resource]) -> Result<()> {
        resources
            .iter_mut()
            .try_for_each(|resource| self.0.canonicalize(resource))
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

impl Definition {
    /// The resources in the outputs of the commands, in the commands' order. What several rows say
    /// of one resource is put together; the later row wins.
    fn resources(&self, outputs: &[String]) -> Result<Vec<Resource>> {
        // By title, which stands for the namevars: a table may have a hundred thousand routes.
        let mut found: IndexMap<String, Resource> = IndexMap::new();
        for mut row in self.cli.rows(&self.schema, outputs)? {
            self.canonicalize(&mut row)?;
            if let Some(title) = &self.title {
                let scope = Scope::of_resource(&self.schema, &row);
                let text = title.value.text(&scope);
                let text = text.map_err(|error| Error::Data(title.problem(&error)))?;
                row.set("title", Value::String(text));
            }
            let refused = |error: InvalidResource| Error::Row(error.to_string());
            let name = self.schema.check_row(&row).map_err(refused)?;
            let known = found.entry(name.title().to_owned()).or_default();
            for (attribute, value) in row.iter() {
                known.set(attribute, value.clone());
            }
        }
        Ok(found.into_values().collect())
    }

    fn canonicalize(&self, resource: &mut Resource) -> Result<()> {
        for (name, expression) in &self.canonical {
            // What cannot be typed stays as it is, to be refused: no filter may smooth it over.
            match resource.get(name) {
                None | Some(Value::Undef) => continue,
                Some(value) if untypable(value).is_some() => continue,
                Some(_) => {}
            }
            let scope = Scope::of_resource(&self.schema, resource);
            let value = expression.value.value(&scope).map_err(|error| {
                let mut problem = expression.problem(&error);
                problem.message = format!("`{name}`: {}", problem.message);
                Error::Data(problem)
            })?;
            resource.set(name, value);
        }
        Ok(())
    }
}
