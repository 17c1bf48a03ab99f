//! Declared resource types and their provider.

use std::sync::Arc;

use async_trait::async_trait;
use devgate_schemas::{Facts, Hash, Name, Resource, ResourceProblem, TypeSchema, Value};
use devgate_transports::Context;

use super::data_form;
use super::definition::Definition;
use super::form::Form;
use crate::source::{Answers, RecordedAnswer, Source, Unanswered};
use crate::{
    Change, Changes, CurrentState, Error, InSync, Provider, ResourceFilter, ResourceType, Result,
    SecretVisibility,
};

/// A resource type that a family's file declares.
#[derive(Clone, Debug)]
pub(crate) struct DeclaredType(pub(super) Arc<Definition>);

/// Reads and changes resources as declared.
#[derive(Debug)]
struct DeclaredProvider(Arc<Definition>);

impl DeclaredType {
    /// The commands or queries whose answers `get` reads.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &str> {
        self.0.get.iter().flat_map(|get| get.source.queries())
    }

    /// The sources of the rows that `get` reads.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &Source> {
        self.0.get.iter().map(|get| &get.source)
    }

    /// Returns the resources in these answers.
    ///
    /// # Errors
    /// Fails when answers do not match.
    pub(crate) fn resources<'o>(
        &self,
        output: impl Fn(&str) -> Option<&'o str>,
        facts: Option<&Facts>,
    ) -> Result<Vec<Resource>> {
        let mut answers = Answers::default();
        for get in &self.0.get {
            if get.exists(facts)? {
                get.source.replay(&mut answers, &output)?;
            }
        }
        self.0.resources(&answers, ResourceFilter::All, facts)
    }

    /// The commands or queries that a recording still lacks.
    pub(crate) fn unanswered<'o>(
        &self,
        known: impl Fn(&str) -> Option<&'o str> + Copy,
    ) -> impl Iterator<Item = Unanswered> {
        let sources = self.0.get.iter();
        sources.flat_map(move |get| get.source.unanswered(known))
    }

    /// Queries the device for everything that `get` reads.
    ///
    /// # Errors
    /// Fails when the session is lost, and when answers do not match.
    pub(crate) async fn record(
        &self,
        ctx: &Context<'_>,
        answers: &mut Answers,
        recorded: &mut Vec<RecordedAnswer>,
    ) -> Result<()> {
        for get in &self.0.get {
            get.source.record(ctx, answers, recorded).await?;
        }
        Ok(())
    }

    /// Compiles the TextFSM templates, which are otherwise compiled on first use.
    ///
    /// # Errors
    /// Fails when a TextFSM template is invalid.
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

    fn uses_facts(&self) -> bool {
        self.0.uses_facts()
    }

    fn parse(&self, output: &str, facts: Option<&Facts>) -> Result<Vec<Resource>> {
        self.resources(|_| Some(output), facts)
    }

    fn canonical(&self, resource: &mut Resource) -> Vec<ResourceProblem> {
        self.0.canonicalize(resource, |_| true)
    }

    fn judge_part(&self, mut part: Resource) -> Vec<ResourceProblem> {
        let known: Vec<String> = part.iter().map(|(name, _)| name.to_owned()).collect();
        let is_known = |name: &String| known.contains(name);
        self.0.canonicalize(&mut part, |expression| {
            expression.names().iter().all(is_known)
        })
    }

    fn check(&self, name: &Name, should: &Resource) -> Result<()> {
        self.0.form.check(&self.0.on_device(None), name, should)
    }

    fn render(
        &self,
        name: &Name,
        change: &Change,
        facts: Option<&Facts>,
        secrets: SecretVisibility,
    ) -> Result<Vec<String>> {
        let kind = self.0.on_device(facts);
        self.0.form.lines(&kind, name, change, secrets)
    }
}

#[async_trait]
impl Provider for DeclaredProvider {
    async fn get(&mut self, ctx: &Context<'_>, which: ResourceFilter<'_>) -> Result<Vec<Resource>> {
        if matches!(which, ResourceFilter::Named([])) {
            return Ok(Vec::new());
        }
        let kind = self.0.on_device(ctx.facts());
        if !kind.exists()? {
            ctx.info("this device does not have the type");
            return Ok(Vec::new());
        }
        let mut answers = Answers::default();
        let mut sources = Vec::new();
        for get in &self.0.get {
            if get.exists(kind.facts)? {
                sources.push(get);
            }
        }
        let all = sources.iter().map(|get| &get.source);
        Source::prefetch(ctx, all, &mut answers).await?;
        for get in sources {
            let namevars = self.0.namevar_expressions(get);
            let filter = |row: &Hash| self.0.may_match(&namevars, row, which);
            get.source.fetch(ctx, &filter, &mut answers).await?;
        }
        self.0.resources(&answers, which, kind.facts)
    }

    async fn set(&mut self, ctx: &Context<'_>, changes: Changes) -> Result<()> {
        let mut known = Vec::with_capacity(changes.iter().len());
        let mut rows = None;
        for (name, mut change) in changes {
            if change.is == CurrentState::Unknown {
                if rows.is_none() {
                    rows = Some(self.get(ctx, ResourceFilter::All).await?);
                }
                let is = rows.iter().flatten().find(|row| name.names(row)).cloned();
                let is = match is {
                    None => self.0.without_row(&name)?,
                    found => found,
                };
                change.is = is.map_or(CurrentState::Absent, CurrentState::Present);
            }
            known.push((name, change));
        }
        let kind = &self.0.on_device(ctx.facts());
        match &self.0.form {
            Form::Cli(cli) => cli.set(ctx, kind, known).await,
            Form::Data(form) => data_form::set(&**form, ctx, kind, known).await,
        }
    }

    fn previews(&self) -> bool {
        match &self.0.form {
            Form::Cli(cli) => cli.previews(),
            Form::Data(_) => false,
        }
    }

    async fn canonicalize(&mut self, _: &Context<'_>, resources: &mut [Resource]) -> Result<()> {
        for resource in resources {
            let problems = self.0.canonicalize(resource, |_| true);
            if let Some(problem) = problems.into_iter().next() {
                return Err(Error::Row(problem.message));
            }
        }
        Ok(())
    }

    /// An attribute that is desired empty, or with the word for no value, is in sync where the device shows none.
    async fn insync(
        &mut self,
        _: &Context<'_>,
        _: &Name,
        property: &str,
        is: &Resource,
        should: &Resource,
    ) -> Result<InSync> {
        let is_empty = |value: &Value| match value {
            value if self.0.rules.is_unset(property, value) => true,
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
