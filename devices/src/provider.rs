//! Resource types and their providers.

use std::fmt::Debug;

use async_trait::async_trait;
use devgate_schemas::{Facts, Hash, Name, Resource, ResourceProblem, TypeSchema};
use devgate_transports::Context;

use crate::{Error, Result};

/// A kind of resource that can be managed. It is the factory of providers and lives as long as the process.
///
/// Resource API, "Resource definition".
pub trait ResourceType: Debug + Send + Sync {
    /// The schema of its resources.
    fn schema(&self) -> &TypeSchema;

    /// Creates a provider for one transaction.
    fn provider(&self) -> Box<dyn Provider>;

    /// The commands whose output `get` reads; empty if it reads something else.
    fn commands(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Whether it depends on the facts of the device, which a run then reads for [`Context::facts`].
    fn uses_facts(&self) -> bool {
        false
    }

    /// Returns the resources that `get` would find in this output of the type's commands, on a device with these facts.
    /// Without facts, the device has all that the type knows.
    ///
    /// # Errors
    /// Fails when the output does not match, or when the type is not declared as data.
    fn parse(&self, output: &str, facts: Option<&Facts>) -> Result<Vec<Resource>> {
        let _ = (output, facts);
        Err(Error::Unsupported(format!(
            "`{}` is not declared as data: what it reads cannot be shown without a device",
            self.schema().name()
        )))
    }

    /// Canonicalizes a desired resource without a device, and returns every value that has no canonical
    /// form. Providers written in code are called later, for their own target.
    fn canonical(&self, resource: &mut Resource) -> Vec<ResourceProblem> {
        let _ = resource;
        Vec::new()
    }

    /// Checks a part of a resource when the rest is unknown. Values that depend on the rest are not
    /// checked.
    fn judge_part(&self, part: Resource) -> Vec<ResourceProblem> {
        let _ = part;
        Vec::new()
    }

    /// Checks that a canonical desired resource can be written, whatever its current state is.
    ///
    /// # Errors
    /// Fails with the reason why the resource cannot be rendered.
    fn check(&self, name: &Name, should: &Resource) -> Result<()> {
        let _ = (name, should);
        Ok(())
    }

    /// Makes the change to a desired resource as a run does: the values of both states are in canonical form,
    /// and their secrets are wrapped. `is` has the attributes of a resource that is present; it has the desired
    /// resource's name. The canonical name may be another one than `name`.
    ///
    /// # Errors
    /// Fails with the first value that has no canonical form.
    fn canonical_change(
        &self,
        name: &Name,
        is: Option<Hash>,
        mut should: Resource,
    ) -> Result<(Name, Change)> {
        let canonical = |resource: &mut Resource| {
            let problem = self.canonical(resource).into_iter().next();
            problem.map_or(Ok(()), |problem| Err(Error::Row(problem.message)))
        };
        canonical(&mut should)?;
        let name = Name::new(name.title(), self.schema().namevars_of(&should));
        let is = match is {
            None => CurrentState::Absent,
            Some(given) => {
                let mut is = Resource::from(name.namevars().clone());
                for (attribute, value) in given {
                    is.set(&attribute.to_string(), value);
                }
                let row = self.schema().read_row(is);
                let mut is = row.map_err(|error| Error::Row(error.to_string()))?.resource;
                canonical(&mut is)?;
                CurrentState::Present(is)
            }
        };
        let should = should.is_present().then_some(should);
        Ok((name, Change { is, should }))
    }

    /// Returns the configuration lines that `set` would send for a change to a device with these facts, for display.
    ///
    /// # Errors
    /// Fails when the change cannot be rendered, or when the type is not declared as data.
    fn render(
        &self,
        name: &Name,
        change: &Change,
        facts: Option<&Facts>,
        secrets: SecretVisibility,
    ) -> Result<Vec<String>> {
        let _ = (change, facts, secrets);
        Err(Error::Unsupported(format!(
            "`{}[{name}]` is not declared as data: what it sends cannot be shown without a device",
            self.schema().name()
        )))
    }
}

/// Reads and changes the resources of one type, for one transaction. It may cache what it reads.
///
/// Resource API, "Resource implementation".
#[async_trait]
pub trait Provider: Send {
    /// Returns the resources on the device. It may return more than were requested.
    ///
    /// # Errors
    /// Fails when they cannot be read. Then no resource of the type can be managed in this transaction.
    async fn get(&mut self, ctx: &Context<'_>, which: ResourceFilter<'_>) -> Result<Vec<Resource>>;

    /// Applies the changes in order.
    ///
    /// A resource that fails is reported to [`Context::failed`]; the others continue.
    ///
    /// # Errors
    /// Fails when no further change is possible. Every change that was not reported as done has then
    /// failed.
    async fn set(&mut self, ctx: &Context<'_>, changes: Changes) -> Result<()>;

    /// Converts values to the canonical form that `get` returns and `set` expects.
    ///
    /// # Errors
    /// Fails when a value has no canonical form.
    async fn canonicalize(&mut self, ctx: &Context<'_>, resources: &mut [Resource]) -> Result<()> {
        let _ = (ctx, resources);
        Ok(())
    }

    /// Whether one property is in sync.
    ///
    /// # Errors
    /// Fails when it cannot be determined.
    async fn insync(
        &mut self,
        ctx: &Context<'_>,
        name: &Name,
        property: &str,
        is: &Resource,
        should: &Resource,
    ) -> Result<InSync> {
        let _ = (ctx, name, property, is, should);
        Ok(InSync::ByValue)
    }

    /// Whether `get` returns every property that `set` can change. Providers of actions, such as running
    /// a command, do not: properties that they never return are assumed to be set.
    fn shows_all(&self) -> bool {
        true
    }

    /// Whether `set` under noop reports what the device says that the changes would change
    /// ([`Context::preview`]).
    fn previews(&self) -> bool {
        false
    }
}

/// Which resources are requested.
///
/// At the Ruby boundary `All` is `nil` or `[]`, as in the gem. `Named(&[])` requests nothing.
#[derive(Clone, Copy, Debug)]
pub enum ResourceFilter<'a> {
    /// All resources.
    All,
    /// These; the provider may return others as well.
    Named(&'a [Name]),
}

/// A provider's verdict on a property (Resource API, "custom_insync").
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InSync {
    /// Compare the values: equal values are in sync.
    ByValue,
    /// It is in sync.
    Yes,
    /// It is out of sync.
    No {
        /// The reason, for messages.
        why: Option<String>,
    },
}

/// The current state of a resource, as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub enum CurrentState {
    /// The device has not been read yet.
    Unknown,
    /// The resource is absent.
    Absent,
    /// The resource is present.
    Present(Resource),
}

/// One change for `set`.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The current state.
    pub is: CurrentState,
    /// The desired state. `None`, or a resource with `ensure: absent`, removes the resource.
    pub should: Option<Resource>,
}

/// The changes for `set`, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes(Vec<(Name, Change)>);

/// Whether output shows secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretVisibility {
    /// Secrets are redacted.
    Redacted,
    /// Secrets are shown, at the operator's request.
    InClear,
}

impl Changes {
    /// Whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Iterates over the changes in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (Name, Change)> {
        self.0.iter()
    }
}

impl FromIterator<(Name, Change)> for Changes {
    fn from_iter<I: IntoIterator<Item = (Name, Change)>>(changes: I) -> Self {
        Self(changes.into_iter().collect())
    }
}

impl IntoIterator for Changes {
    type Item = (Name, Change);
    type IntoIter = std::vec::IntoIter<(Name, Change)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Changes {
    type Item = &'a (Name, Change);
    type IntoIter = std::slice::Iter<'a, (Name, Change)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl CurrentState {
    /// Returns the current resource, if it is known and present.
    pub fn resource(&self) -> Option<&Resource> {
        match self {
            Self::Present(resource) => Some(resource),
            Self::Unknown | Self::Absent => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use devgate_schemas::NullSink;
    use devgate_transports::RetryBudget;

    use super::*;

    #[tokio::test]
    async fn a_request_for_nothing_reads_no_device() {
        let retry_budget = RetryBudget::new();
        // Without a session, every read must fail.
        let ctx = Context::new("sw1", &NullSink, &retry_budget);
        for family in crate::all() {
            for kind in family.read().types() {
                let mut provider = kind.provider();
                let none = provider.get(&ctx, ResourceFilter::Named(&[])).await;
                assert_eq!(none.expect("nothing is asked"), []);
                assert!(provider.get(&ctx, ResourceFilter::All).await.is_err());
            }
        }
    }
}
