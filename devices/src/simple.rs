//! A simpler provider interface: `create`, `update` and `delete` of one resource at a time.

use async_trait::async_trait;
use devgate_schemas::{Name, Resource, TypeSchema};
use devgate_transports::{Context, ResourceAction};

use crate::{Change, Changes, CurrentState, Error, InSync, Provider, ResourceFilter, Result};

/// A provider that changes one resource at a time (Resource API, "Implementing simple providers").
///
/// Every one of these is a [`Provider`] that logs, records failures, and goes on with the others. Its
/// type has `ensure`, and a single namevar is called `name`. Under noop it changes nothing.
#[async_trait]
pub trait SimpleProvider: Send {
    /// The resources on the device.
    ///
    /// # Errors
    /// Fails as [`Provider::get`] does.
    async fn get(&mut self, ctx: &Context<'_>, which: ResourceFilter<'_>) -> Result<Vec<Resource>>;

    /// Creates a resource.
    ///
    /// # Errors
    /// Fails with the reason why the resource cannot be created.
    async fn create(&mut self, ctx: &Context<'_>, name: &Name, should: &Resource) -> Result<()>;

    /// Updates an existing resource.
    ///
    /// # Errors
    /// Fails with the reason why the resource cannot be updated.
    async fn update(&mut self, ctx: &Context<'_>, name: &Name, should: &Resource) -> Result<()>;

    /// Removes a resource.
    ///
    /// # Errors
    /// Fails with the reason why the resource cannot be removed.
    async fn delete(&mut self, ctx: &Context<'_>, name: &Name) -> Result<()>;

    /// Brings values into the canonical form that `get` returns.
    ///
    /// # Errors
    /// Fails as [`Provider::canonicalize`] does.
    async fn canonicalize(&mut self, ctx: &Context<'_>, resources: &mut [Resource]) -> Result<()> {
        let _ = (ctx, resources);
        Ok(())
    }

    /// Whether one property is as desired.
    ///
    /// # Errors
    /// Fails as [`Provider::insync`] does.
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
}

#[async_trait]
impl<P: SimpleProvider> Provider for P {
    async fn get(&mut self, ctx: &Context<'_>, which: ResourceFilter<'_>) -> Result<Vec<Resource>> {
        SimpleProvider::get(self, ctx, which).await
    }

    async fn set(&mut self, ctx: &Context<'_>, changes: Changes) -> Result<()> {
        if let Some(schema) = ctx.schema() {
            check(schema)?;
        }
        if ctx.noop() {
            return Ok(());
        }
        for (name, change) in changes {
            let Some(operation) = operation_for(self, ctx, &name, change).await? else {
                continue;
            };
            let block = ctx.block(operation.action(), &[name.title()]);
            let block_ctx = block.context();
            let outcome = match &operation {
                Operation::Create(should) => self.create(&block_ctx, &name, should).await,
                Operation::Update(should) => self.update(&block_ctx, &name, should).await,
                Operation::Delete => self.delete(&block_ctx, &name).await,
            };
            block.end(outcome);
        }
        Ok(())
    }

    async fn canonicalize(&mut self, ctx: &Context<'_>, resources: &mut [Resource]) -> Result<()> {
        SimpleProvider::canonicalize(self, ctx, resources).await
    }

    async fn insync(
        &mut self,
        ctx: &Context<'_>,
        name: &Name,
        property: &str,
        is: &Resource,
        should: &Resource,
    ) -> Result<InSync> {
        SimpleProvider::insync(self, ctx, name, property, is, should).await
    }
}

/// Checks that a type can have a simple provider.
fn check(schema: &TypeSchema) -> Result<()> {
    if !schema.is_ensurable() {
        // The gem's wording.
        let message = "SimpleProvider cannot be used with a Type that is not ensurable";
        return Err(Error::Unsupported(message.to_owned()));
    }
    match schema.namevars() {
        [one] if one != "name" => Err(Error::Unsupported(format!(
            "SimpleProvider cannot be used with `{}`: its namevar is called `{one}`, not `name`",
            schema.name()
        ))),
        _ => Ok(()),
    }
}

/// The operation that a change requires.
enum Operation {
    Create(Resource),
    Update(Resource),
    Delete,
}

impl Operation {
    fn action(&self) -> ResourceAction<'static> {
        match self {
            Self::Create(_) => ResourceAction::CREATING,
            Self::Update(_) => ResourceAction::UPDATING,
            Self::Delete => ResourceAction::DELETING,
        }
    }
}

/// Determines the operation that a change requires; `None` if the resource is already gone.
async fn operation_for(
    provider: &mut impl SimpleProvider,
    ctx: &Context<'_>,
    name: &Name,
    change: Change,
) -> Result<Option<Operation>> {
    let is_present = match change.is {
        CurrentState::Present(is) => is.is_present(),
        CurrentState::Absent => false,
        CurrentState::Unknown => {
            let rows = SimpleProvider::get(
                provider,
                ctx,
                ResourceFilter::Named(std::slice::from_ref(name)),
            )
            .await?;
            rows.iter().any(|row| name.names(row) && row.is_present())
        }
    };
    Ok(
        match (is_present, change.should.filter(Resource::is_present)) {
            (false, Some(should)) => Some(Operation::Create(should)),
            (true, Some(should)) => Some(Operation::Update(should)),
            (true, None) => Some(Operation::Delete),
            (false, None) => None,
        },
    )
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use devgate_schemas::{Event, EventSink, Value, yaml};
    use devgate_transports::{Mode, Resources, RetryBudget};

    use super::*;
    use crate::Error;

    /// Holds `old`, and refuses every resource called `bad`.
    struct Shelf(Vec<String>);

    #[async_trait]
    impl SimpleProvider for Shelf {
        async fn get(&mut self, _: &Context<'_>, _: ResourceFilter<'_>) -> Result<Vec<Resource>> {
            self.0.push("get".to_owned());
            Ok(vec![named("old")])
        }

        async fn create(&mut self, _: &Context<'_>, name: &Name, _: &Resource) -> Result<()> {
            self.0.push(format!("create {name}"));
            match name.title() {
                "bad" => Err(Error::Unsupported("no room".to_owned())),
                _ => Ok(()),
            }
        }

        async fn update(&mut self, _: &Context<'_>, name: &Name, _: &Resource) -> Result<()> {
            self.0.push(format!("update {name}"));
            Ok(())
        }

        async fn delete(&mut self, _: &Context<'_>, name: &Name) -> Result<()> {
            self.0.push(format!("delete {name}"));
            Ok(())
        }
    }

    #[derive(Default)]
    struct EventLog(Mutex<Vec<(Option<String>, String)>>);

    impl EventSink for EventLog {
        fn emit(&self, event: Event) {
            let message = format!("{}: {}", event.level, event.message);
            self.0
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push((event.subject, message));
        }
    }

    fn named(name: &str) -> Resource {
        let mut resource = Resource::new();
        resource.set("name", Value::from(name));
        resource
    }

    fn change(title: &str, is: CurrentState, should: Option<Resource>) -> (Name, Change) {
        let namevars = [("name", Value::from(title))].into_iter().collect();
        (Name::new(title, namevars), Change { is, should })
    }

    fn book(attributes: &str) -> TypeSchema {
        let definition = format!("{{name: book, desc: x, attributes: {{{attributes}}}}}");
        let definition = yaml::parse(&definition).expect("it is YAML").to_value();
        TypeSchema::register(&definition).expect("it is a type")
    }

    /// Applies a change in this mode, and returns the result and the calls of the provider.
    async fn set(schema: &TypeSchema, mode: Mode) -> (Result<()>, Vec<String>) {
        let resources = Resources::new(schema, mode);
        let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
        let ctx = Context::new("shelf", &events, &retry_budget);
        let ctx = ctx.for_resources(&resources);
        let changes = [change("new", CurrentState::Absent, Some(named("new")))];
        let mut shelf = Shelf(Vec::new());
        let outcome = Provider::set(&mut shelf, &ctx, changes.into_iter().collect()).await;
        (outcome, shelf.0)
    }

    const ENSURE: &str = "ensure: {type: 'Enum[present, absent]'}";

    #[tokio::test]
    async fn a_type_without_ensure_or_with_a_namevar_of_another_name_is_refused() {
        for (attributes, expected) in [
            (
                "name: {type: String, behaviour: namevar}".to_owned(),
                "SimpleProvider cannot be used with a Type that is not ensurable",
            ),
            (
                format!("id: {{type: String, behaviour: namevar}}, {ENSURE}"),
                "SimpleProvider cannot be used with `book`: its namevar is called `id`, not `name`",
            ),
        ] {
            let (outcome, calls) = set(&book(&attributes), Mode::Enforce).await;
            let refused = outcome.expect_err("it is refused").to_string();
            assert_eq!((refused.as_str(), calls), (expected, Vec::new()));
        }
    }

    #[tokio::test]
    async fn under_noop_nothing_is_changed() {
        let schema = book(&format!(
            "name: {{type: String, behaviour: namevar}}, {ENSURE}"
        ));
        let (outcome, calls) = set(&schema, Mode::Noop).await;
        assert!(outcome.is_ok() && calls.is_empty(), "{calls:?}");
    }

    #[tokio::test]
    async fn each_change_becomes_the_call_for_it_and_a_failure_stops_no_other() {
        let schema = book(&format!(
            "name: {{type: String, behaviour: namevar}}, {ENSURE}"
        ));
        let resources = Resources::new(&schema, Mode::Enforce);
        let (events, retry_budget) = (EventLog::default(), RetryBudget::new());
        let ctx = Context::new("shelf", &events, &retry_budget);
        let ctx = ctx.for_resources(&resources);
        let mut absent = named("gone");
        absent.set("ensure", Value::from("absent"));
        let changes = [
            change("bad", CurrentState::Absent, Some(named("bad"))),
            change("new", CurrentState::Absent, Some(named("new"))),
            change("old", CurrentState::Unknown, Some(named("old"))),
            change("gone", CurrentState::Present(named("gone")), Some(absent)),
            change("never", CurrentState::Absent, None),
        ];
        let mut shelf = Shelf(Vec::new());
        Provider::set(&mut shelf, &ctx, changes.into_iter().collect())
            .await
            .expect("it goes on");
        assert_eq!(
            shelf.0,
            [
                "create bad",
                "create new",
                "get",
                "update old",
                "delete gone"
            ]
        );
        let failed: Vec<String> = resources
            .failed()
            .into_iter()
            .map(|one| one.title)
            .collect();
        assert_eq!(failed, ["bad"]);
        let events = events
            .0
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let of_new: Vec<&str> = events
            .iter()
            .filter(|(subject, _)| subject.as_deref() == Some("book[new]"))
            .map(|(_, message)| message.split(" in 0").next().unwrap_or_default())
            .collect();
        assert_eq!(
            of_new,
            ["debug: Creating: Start", "notice: Creating: Finished"]
        );
    }
}
