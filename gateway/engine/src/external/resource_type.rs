//! A resource type that a program manages.

use async_trait::async_trait;
use devgate_devices::{
    Change, Changes, CurrentState, Error, InSync, Provider, ResourceFilter, ResourceType, Result,
};
use devgate_schemas::{Feature, Hash, Name, Resource, TypeSchema, Value};
use devgate_transports::Context;

use super::action::Action;
use super::results::Problem;
use super::session::{self, Asked};

/// A resource type whose definition and providers are a program.
#[derive(Clone, Debug)]
pub(crate) struct ExternalType {
    pub(super) schema: TypeSchema,
    pub(super) asked: Asked,
}

impl ResourceType for ExternalType {
    fn schema(&self) -> &TypeSchema {
        &self.schema
    }

    fn provider(&self) -> Box<dyn Provider> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Provider for ExternalType {
    async fn get(&mut self, ctx: &Context<'_>, which: ResourceFilter<'_>) -> Result<Vec<Resource>> {
        let names = match which {
            ResourceFilter::Named([]) => return Ok(Vec::new()),
            ResourceFilter::Named(names) if self.schema.has(Feature::SimpleGetFilter) => {
                Value::Array(names.iter().map(name).collect())
            }
            ResourceFilter::Named(_) | ResourceFilter::All => Value::Undef,
        };
        let input = [("names", names)].into_iter().collect();
        let results = self.ask(ctx, Action::Get, input).await?;
        self.resources(Action::Get, results)
    }

    async fn set(&mut self, ctx: &Context<'_>, changes: Changes) -> Result<()> {
        let wants_all = self.asked.program.is_hosted();
        let changes = changes
            .iter()
            .map(|(name, change)| asked_for(name, change, wants_all));
        let input = [
            ("noop", Value::from(ctx.noop())),
            ("changes", Value::Array(changes.collect())),
        ];
        let asked = self.ask(ctx, Action::Set, input.into_iter().collect());
        asked.await.map(drop)
    }

    async fn canonicalize(&mut self, ctx: &Context<'_>, resources: &mut [Resource]) -> Result<()> {
        if !self.schema.has(Feature::Canonicalize) || resources.is_empty() {
            return Ok(());
        }
        let given = resources.iter().map(hash).collect();
        let input = [("resources", Value::Array(given))].into_iter().collect();
        let results = self.ask(ctx, Action::Canonicalize, input).await?;
        let standard = self.resources(Action::Canonicalize, results)?;
        if standard.len() != resources.len() {
            let problem = format!(
                "expected as many `resources` as it was given, {}, it gave {}",
                resources.len(),
                standard.len()
            );
            return Err(self.misfit(Action::Canonicalize, problem));
        }
        for (resource, standard) in resources.iter_mut().zip(standard) {
            *resource = standard;
        }
        Ok(())
    }

    async fn insync(
        &mut self,
        ctx: &Context<'_>,
        title: &Name,
        property: &str,
        is: &Resource,
        should: &Resource,
    ) -> Result<InSync> {
        if !self.schema.has(Feature::CustomInsync) {
            return Ok(InSync::ByValue);
        }
        let input = [
            ("title", Value::from(title.title())),
            ("name", name(title)),
            ("property", Value::from(property)),
            ("is", hash(is)),
            ("should", hash(should)),
        ];
        let asked = self.ask(ctx, Action::Insync, input.into_iter().collect());
        let results = asked.await?;
        verdict(&results).ok_or_else(|| {
            let expected = "expected `in_sync` as true, false or null, and `message` as a text";
            self.misfit(Action::Insync, expected)
        })
    }

    /// Puppet reads nothing back, and its modules need not be able to show what they did.
    fn shows_all(&self) -> bool {
        !self.asked.program.is_hosted() || self.schema.is_ensurable()
    }
}

/// Returns a program's verdict on a property, or `None` if it is invalid.
fn verdict(results: &Hash) -> Option<InSync> {
    let why = results.get("message").filter(|why| !why.is_undef());
    match (results.get("in_sync"), why) {
        (None | Some(Value::Undef), None) => Some(InSync::ByValue),
        (Some(Value::Boolean(true)), _) => Some(InSync::Yes),
        (Some(Value::Boolean(false)), None) => Some(InSync::No { why: None }),
        (Some(Value::Boolean(false)), Some(Value::String(why))) => Some(InSync::No {
            why: Some(why.clone()),
        }),
        _ => None,
    }
}

impl ExternalType {
    async fn ask(&self, ctx: &Context<'_>, action: Action, input: Hash) -> Result<Hash> {
        let session = session::of(ctx)?;
        Ok(session.ask(ctx, &self.asked, action, input).await?)
    }

    /// Returns the resources in results, with their secrets wrapped.
    fn resources(&self, action: Action, mut results: Hash) -> Result<Vec<Resource>> {
        let misfit = || self.misfit(action, "expected `resources` as a list of objects");
        let Some(Value::Array(rows)) = results.remove("resources") else {
            return Err(misfit());
        };
        let rows = rows.into_iter().map(|row| match row {
            Value::Hash(row) => Ok(self.resource(row)),
            _ => Err(misfit()),
        });
        rows.collect()
    }

    fn resource(&self, row: Hash) -> Resource {
        let attributes = self.schema.attributes();
        let row = row.into_iter().map(|(key, value)| {
            let attribute = key.as_str().and_then(|key| attributes.get(key));
            let is_secret = attribute.is_some_and(|attribute| attribute.sensitive);
            let value = with_secrets(value);
            if is_secret && !value.is_undef() {
                (key, value.into_sensitive())
            } else {
                (key, value)
            }
        });
        Resource::from(row.collect::<Hash>())
    }

    fn misfit(&self, action: Action, problem: impl Into<String>) -> Error {
        self.asked
            .program
            .error(action, Problem::new(problem))
            .into()
    }
}

/// Wraps the secrets in a value, which are marked as in Puppet's rich data.
fn with_secrets(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(with_secrets).collect()),
        Value::Hash(mut pairs) => {
            let is_marked = pairs.get("__ptype").and_then(Value::as_str) == Some("Sensitive");
            if is_marked && let Some(secret) = pairs.remove("__pvalue") {
                return secret.into_sensitive();
            }
            let pairs = pairs.into_iter();
            Value::Hash(
                pairs
                    .map(|(key, value)| (key, with_secrets(value)))
                    .collect(),
            )
        }
        plain => plain,
    }
}

/// Returns the identity of a resource: the value of its namevar, or an object of several.
fn name(name: &Name) -> Value {
    let mut namevars = name.namevars().iter();
    match (namevars.next(), namevars.next()) {
        (Some((_, only)), None) => only.clone(),
        _ => Value::Hash(name.namevars().clone()),
    }
}

fn hash(resource: &Resource) -> Value {
    let attributes = resource.iter();
    Value::Hash(
        attributes
            .map(|(key, value)| (key, value.clone()))
            .collect(),
    )
}

/// Returns a change as programs expect it. Providers in Ruby expect the whole resource also when it is to be removed.
fn asked_for(title: &Name, change: &Change, wants_all: bool) -> Value {
    let mut asked: Hash = [("title", Value::from(title.title())), ("name", name(title))]
        .into_iter()
        .collect();
    match &change.is {
        CurrentState::Unknown => {}
        CurrentState::Absent => drop(asked.insert("is", Value::Undef)),
        CurrentState::Present(is) => drop(asked.insert("is", hash(is))),
    }
    let should = change.should.as_ref();
    let should = should.filter(|should| wants_all || should.is_present());
    asked.insert("should", should.map_or(Value::Undef, hash));
    Value::Hash(asked)
}

#[cfg(test)]
mod tests {
    use devgate_schemas::yaml;

    use super::*;

    #[test]
    fn what_is_marked_as_a_secret_is_one_however_deep() {
        let text = "{a: [{__ptype: Sensitive, __pvalue: canary}], b: {__ptype: Hash, __pvalue: 1}}";
        let plain = yaml::parse(text).expect("YAML").to_value();
        let wrapped = with_secrets(plain.clone());
        assert_eq!(wrapped.reveal_json()["a"][0], "canary");
        assert_eq!(wrapped.to_json()["a"][0], "Sensitive [value redacted]");
        // Other marked values stay as they are.
        assert_eq!(wrapped.to_json()["b"], plain.to_json()["b"]);
    }

    #[test]
    fn a_property_is_in_sync_or_not_or_left_to_be_compared_and_nothing_else() {
        let said = |text: &str| match yaml::parse(text).expect("YAML").to_value() {
            Value::Hash(results) => verdict(&results),
            _ => panic!("a hash"),
        };
        let no = |why: Option<&str>| {
            let why = why.map(str::to_owned);
            Some(InSync::No { why })
        };
        assert_eq!(said("{}"), Some(InSync::ByValue));
        assert_eq!(said("{in_sync: ~}"), Some(InSync::ByValue));
        assert_eq!(said("{in_sync: true}"), Some(InSync::Yes));
        assert_eq!(said("{in_sync: false, message: ~}"), no(None));
        assert_eq!(
            said("{in_sync: false, message: one more}"),
            no(Some("one more"))
        );
        for wrong in [
            "{in_sync: 1}",
            "{in_sync: 'false'}",
            "{in_sync: false, message: 1}",
            "{message: x}",
        ] {
            assert_eq!(said(wrong), None, "{wrong}");
        }
    }
}
