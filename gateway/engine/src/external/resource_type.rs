//! A resource type that a program manages.

use async_trait::async_trait;
use devgate_devices::{
    Change, Changes, CurrentState, Error, InSync, Provider, ResourceFilter, ResourceType, Result,
};
use devgate_schemas::{Feature, Hash, Name, Resource, TypeSchema, Value};
use devgate_transports::Context;

use super::action::Action;
use super::results::ProgramFailure;
use super::session::{self, ProgramHandle};

/// A resource type whose definition and providers are a program.
#[derive(Clone, Debug)]
pub(crate) struct ExternalType {
    pub(super) schema: TypeSchema,
    pub(super) handle: ProgramHandle,
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
        let results = self.request(ctx, Action::Get, input).await?;
        self.resources(Action::Get, results)
    }

    async fn set(&mut self, ctx: &Context<'_>, changes: Changes) -> Result<()> {
        let needs_complete = self.handle.program.is_hosted();
        let changes = changes
            .iter()
            .map(|(name, change)| encode_change(name, change, needs_complete));
        let input = [
            ("noop", Value::from(ctx.noop())),
            ("changes", Value::Array(changes.collect())),
        ];
        let request = self.request(ctx, Action::Set, input.into_iter().collect());
        request.await.map(drop)
    }

    async fn canonicalize(&mut self, ctx: &Context<'_>, resources: &mut [Resource]) -> Result<()> {
        if !self.schema.has(Feature::Canonicalize) || resources.is_empty() {
            return Ok(());
        }
        let given = resources.iter().map(to_hash).collect();
        let input = [("resources", Value::Array(given))].into_iter().collect();
        let results = self.request(ctx, Action::Canonicalize, input).await?;
        let canonical = self.resources(Action::Canonicalize, results)?;
        if canonical.len() != resources.len() {
            let problem = format!(
                "expected as many `resources` as it was given, {}, it gave {}",
                resources.len(),
                canonical.len()
            );
            return Err(self.contract_violation(Action::Canonicalize, problem));
        }
        for (resource, canonical) in resources.iter_mut().zip(canonical) {
            *resource = canonical;
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
            ("is", to_hash(is)),
            ("should", to_hash(should)),
        ];
        let request = self.request(ctx, Action::Insync, input.into_iter().collect());
        let results = request.await?;
        parse_insync(&results).ok_or_else(|| {
            let expected = "expected `in_sync` as true, false or null, and `message` as a text";
            self.contract_violation(Action::Insync, expected)
        })
    }

    /// Puppet reads nothing back, and its modules need not be able to show what they did.
    fn shows_all(&self) -> bool {
        !self.handle.program.is_hosted() || self.schema.is_ensurable()
    }
}

/// Returns a program's verdict on a property, or `None` if it is invalid.
fn parse_insync(results: &Hash) -> Option<InSync> {
    let reason = results.get("message").filter(|reason| !reason.is_undef());
    match (results.get("in_sync"), reason) {
        (None | Some(Value::Undef), None) => Some(InSync::ByValue),
        (Some(Value::Boolean(true)), _) => Some(InSync::Yes),
        (Some(Value::Boolean(false)), None) => Some(InSync::No { why: None }),
        (Some(Value::Boolean(false)), Some(Value::String(reason))) => Some(InSync::No {
            why: Some(reason.clone()),
        }),
        _ => None,
    }
}

impl ExternalType {
    async fn request(&self, ctx: &Context<'_>, action: Action, input: Hash) -> Result<Hash> {
        let session = session::current(ctx)?;
        Ok(session.request(ctx, &self.handle, action, input).await?)
    }

    /// Returns the resources in results, with their secrets wrapped.
    fn resources(&self, action: Action, mut results: Hash) -> Result<Vec<Resource>> {
        let violation =
            || self.contract_violation(action, "expected `resources` as a list of objects");
        let Some(Value::Array(rows)) = results.remove("resources") else {
            return Err(violation());
        };
        let rows = rows.into_iter().map(|row| match row {
            Value::Hash(row) => Ok(self.resource(row)),
            _ => Err(violation()),
        });
        rows.collect()
    }

    fn resource(&self, row: Hash) -> Resource {
        let attributes = self.schema.attributes();
        let row = row.into_iter().map(|(key, value)| {
            let attribute = key.as_str().and_then(|key| attributes.get(key));
            let is_secret = attribute.is_some_and(|attribute| attribute.sensitive);
            let value = wrap_secrets(value);
            if is_secret && !value.is_undef() {
                (key, value.into_sensitive())
            } else {
                (key, value)
            }
        });
        Resource::from(row.collect::<Hash>())
    }

    fn contract_violation(&self, action: Action, problem: impl Into<String>) -> Error {
        self.handle
            .program
            .error(action, ProgramFailure::new(problem))
            .into()
    }
}

/// Wraps the secrets in a value, which are marked as in Puppet's rich data.
fn wrap_secrets(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(wrap_secrets).collect()),
        Value::Hash(mut pairs) => {
            let is_marked = pairs.get("__ptype").and_then(Value::as_str) == Some("Sensitive");
            if is_marked && let Some(secret) = pairs.remove("__pvalue") {
                return secret.into_sensitive();
            }
            let pairs = pairs.into_iter();
            Value::Hash(
                pairs
                    .map(|(key, value)| (key, wrap_secrets(value)))
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

fn to_hash(resource: &Resource) -> Value {
    let attributes = resource.iter();
    Value::Hash(
        attributes
            .map(|(key, value)| (key, value.clone()))
            .collect(),
    )
}

/// Returns a change as programs expect it. Providers in Ruby expect the whole resource also when it is to be removed.
fn encode_change(title: &Name, change: &Change, needs_complete: bool) -> Value {
    let mut fields: Hash = [("title", Value::from(title.title())), ("name", name(title))]
        .into_iter()
        .collect();
    match &change.is {
        CurrentState::Unknown => {}
        CurrentState::Absent => drop(fields.insert("is", Value::Undef)),
        CurrentState::Present(is) => drop(fields.insert("is", to_hash(is))),
    }
    let should = change.should.as_ref();
    let should = should.filter(|should| needs_complete || should.is_present());
    fields.insert("should", should.map_or(Value::Undef, to_hash));
    Value::Hash(fields)
}

#[cfg(test)]
mod tests {
    use devgate_schemas::yaml;

    use super::*;

    #[test]
    fn marked_secrets_are_wrapped_at_any_depth() {
        let text = "{a: [{__ptype: Sensitive, __pvalue: canary}], b: {__ptype: Hash, __pvalue: 1}}";
        let plain = yaml::parse(text).expect("YAML").to_value();
        let wrapped = wrap_secrets(plain.clone());
        assert_eq!(wrapped.reveal_json()["a"][0], "canary");
        assert_eq!(wrapped.to_json()["a"][0], "Sensitive [value redacted]");
        // Other marked values stay as they are.
        assert_eq!(wrapped.to_json()["b"], plain.to_json()["b"]);
    }

    #[test]
    fn a_property_is_in_sync_or_not_or_left_to_be_compared_and_nothing_else() {
        let parse = |text: &str| match yaml::parse(text).expect("YAML").to_value() {
            Value::Hash(results) => parse_insync(&results),
            _ => panic!("a hash"),
        };
        let no = |reason: Option<&str>| {
            let reason = reason.map(str::to_owned);
            Some(InSync::No { why: reason })
        };
        assert_eq!(parse("{}"), Some(InSync::ByValue));
        assert_eq!(parse("{in_sync: ~}"), Some(InSync::ByValue));
        assert_eq!(parse("{in_sync: true}"), Some(InSync::Yes));
        assert_eq!(parse("{in_sync: false, message: ~}"), no(None));
        assert_eq!(
            parse("{in_sync: false, message: one more}"),
            no(Some("one more"))
        );
        for wrong in [
            "{in_sync: 1}",
            "{in_sync: 'false'}",
            "{in_sync: false, message: 1}",
            "{message: x}",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
