//! What is managed, and by what: the resource type and its provider.

use std::fmt::Debug;

use async_trait::async_trait;
use devgate_schemas::{Name, Resource, ResourceProblem, TypeSchema};
use devgate_transports::Context;

use crate::{Error, Result};

/// A kind of resource that can be managed: the factory, which lives as long as the process.
///
/// Resource API, "Resource definition".
pub trait ResourceType: Debug + Send + Sync {
    /// What its resources consist of.
    fn schema(&self) -> &TypeSchema;

    /// A provider for one transaction.
    fn provider(&self) -> Box<dyn Provider>;

    /// The commands whose output `get` reads; none where it reads something else.
    fn commands(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The resources that `get` would find in this output of the type's commands.
    ///
    /// # Errors
    /// What in the output does not fit, or that the type is not declared as data.
    fn parse(&self, output: &str) -> Result<Vec<Resource>> {
        let _ = output;
        Err(Error::Unsupported(format!(
            "`{}` is not declared as data: what it reads cannot be shown without a device",
            self.schema().name()
        )))
    }

    /// Brings a desired resource into the form that `canonicalize` gives it, as far as no device is
    /// needed for that, and tells every value that has no such form. Providers that are code are asked
    /// later, for their own target.
    fn canonical(&self, resource: &mut Resource) -> Vec<ResourceProblem> {
        let _ = resource;
        Vec::new()
    }

    /// The same of a part of a resource, where nobody knows the rest: what depends on that is not
    /// judged.
    fn judge_part(&self, part: Resource) -> Vec<ResourceProblem> {
        let _ = part;
        Vec::new()
    }

    /// Judges whether a desired resource in its canonical form can be written at all, whatever a device
    /// holds of it.
    ///
    /// # Errors
    /// That no lines can be made of it.
    fn check(&self, name: &Name, should: &Resource) -> Result<()> {
        let _ = (name, should);
        Ok(())
    }

    /// The lines of configuration that `set` would send for a change, as an operator may see them.
    ///
    /// # Errors
    /// Why no lines can be made of it, or that the type is not declared as data.
    fn render(
        &self,
        name: &Name,
        change: &Change,
        secrets: SecretVisibility,
    ) -> Result<Vec<String>> {
        let _ = (change, secrets);
        Err(Error::Unsupported(format!(
            "`{}[{name}]` is not declared as data: what it sends cannot be shown without a device",
            self.schema().name()
        )))
    }
}

/// Reads and changes the resources of one type, for one transaction; it may cache in itself.
///
/// Resource API, "Resource implementation".
#[async_trait]
pub trait Provider: Send {
    /// The resources that the device holds; more than were asked for do no harm.
    ///
    /// # Errors
    /// Why they cannot be read; then no resource of the type can be managed in this transaction.
    async fn get(&mut self, ctx: &Context<'_>, which: ResourceFilter<'_>) -> Result<Vec<Resource>>;

    /// Brings resources to their desired state, in this order.
    ///
    /// A resource that fails is told to [`Context::failed`], and the others go on.
    ///
    /// # Errors
    /// Why nothing more can be done; what is not yet known to be done has then failed.
    async fn set(&mut self, ctx: &Context<'_>, changes: Changes) -> Result<()>;

    /// Brings values into the one form that `get` returns and `set` takes.
    ///
    /// # Errors
    /// A value that has no such form.
    async fn canonicalize(&mut self, ctx: &Context<'_>, resources: &mut [Resource]) -> Result<()> {
        let _ = (ctx, resources);
        Ok(())
    }

    /// Whether one property is as desired.
    ///
    /// # Errors
    /// Why it cannot be said.
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

    /// Whether `get` shows everything that `set` can be asked for. Providers of actions do not, such as
    /// one that runs a command: what they never show is believed.
    fn shows_all(&self) -> bool {
        true
    }
}

/// Which resources are asked for.
///
/// At the Ruby boundary, `All` is `nil` or `[]`, as the gem does; `Named(&[])` asks for nothing.
#[derive(Clone, Copy, Debug)]
pub enum ResourceFilter<'a> {
    /// All that there are.
    All,
    /// These, and as many others as is convenient.
    Named(&'a [Name]),
}

/// What a provider says of a property (Resource API, "custom_insync").
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InSync {
    /// Equal values are in sync.
    ByValue,
    /// It is as desired.
    Yes,
    /// It is not.
    No {
        /// In what way.
        why: Option<String>,
    },
}

/// What is known of a resource's present state.
#[derive(Clone, Debug, PartialEq)]
pub enum CurrentState {
    /// Nobody has asked yet.
    Unknown,
    /// It is not there.
    Absent,
    /// It is there, as this.
    Present(Resource),
}

/// One change that `set` is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The present state.
    pub is: CurrentState,
    /// The desired state; without it, or where that is `absent`, the resource is to be removed.
    pub should: Option<Resource>,
}

/// The changes that `set` is asked for, in the order in which they are to be made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes(Vec<(Name, Change)>);

/// Whether a person may see secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretVisibility {
    /// Secrets are redacted.
    Redacted,
    /// Secrets are written out, because an operator asked for it.
    InClear,
}

impl Changes {
    /// Whether there is nothing to change.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The changes in order.
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
    /// The present state, where it is known and there.
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
    async fn who_asks_for_nothing_asks_no_device() {
        let retry_budget = RetryBudget::new();
        // Without a session, whoever is asked for anything has to fail.
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
