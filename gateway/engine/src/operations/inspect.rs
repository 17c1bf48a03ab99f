//! Shows the resources of one type: as JSON for programs, as a manifest for people.

use std::sync::Arc;

use devgate_core::failure::Failure;
use devgate_core::results::{Status, TargetResult};
use devgate_devices::{ResourceFilter, ResourceType};
use devgate_schemas::{Name, Resource, TypeSchema};
use devgate_transports::{Context, Mode, Resources};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::managed::{DEVICE, facts_for, family};
use super::splay::Splay;
use crate::device_run::{Checked, Strict, Strictness};
use crate::inventory::Target;
use crate::job::TargetJob;
use crate::manifest;
use crate::run::{Run, RunSummary};
use crate::session::{self, SessionAccess, Sessions};

/// Which resources are shown, and how.
#[derive(Debug)]
pub struct Inspect {
    /// The resource type, as manifests name it, in any case.
    pub type_name: String,
    /// The title of one resource. Without it, all resources of the type are shown.
    pub title: Option<String>,
    /// Whether the text is YAML instead of Puppet's language.
    pub as_yaml: bool,
    /// What happens to rows that violate the schema of the type.
    pub strict: Strict,
    /// The splay before each target.
    pub splay: Splay,
}

/// What a device holds.
#[derive(Serialize, JsonSchema)]
pub struct DeviceResources {
    /// The resources.
    resources: Vec<Resource>,
}

impl Inspect {
    /// Shows the resources of every target.
    pub async fn run(
        &self,
        run: &Run,
        sessions: Sessions<'_, '_>,
        targets: &[Arc<Target>],
    ) -> RunSummary {
        let action = DEVICE.with_document();
        run.on_targets(targets, action, async |job| {
            self.inspect(sessions, job).await
        })
        .await
    }

    async fn inspect(
        &self,
        sessions: Sessions<'_, '_>,
        job: &TargetJob<'_>,
    ) -> Result<TargetResult, Failure> {
        let (type_name, registry) = (&self.type_name, &job.run.registry);
        let family = family(registry, job.target)?;
        let kind = registry.resource_type(family.name(), &type_name.to_lowercase());
        let kind = kind.map_err(|failure| {
            let message = format!("Could not find type {type_name}: {failure}");
            Failure::new(&failure.kind, message)
        })?;
        self.splay.wait(job).await?;
        let what = format!("retrieving resource: {type_name} from {}", job.target);
        job.context()
            .info(format!("{what} at {}", job.target.address()));
        let read = session::with_session(
            sessions,
            job,
            SessionAccess::Read,
            async |ctx, transport| {
                let facts = facts_for(ctx, transport, &[kind]).await?;
                let ctx = &ctx.with_facts(facts.as_ref());
                read_resources(ctx, kind, self.title.as_deref(), self.strict).await
            },
        );
        let ReadResources { resources, invalid } = read.await?;
        let text = match self.as_yaml {
            true => manifest::to_yaml(kind.schema(), &resources),
            false => manifest::to_pp(kind.schema(), &resources),
        };
        let mut result =
            TargetResult::success(json!(DeviceResources { resources })).with_text(text);
        if !invalid.is_empty() {
            let failure = Failure::new("devgate/invalid-resource", invalid.join("\n"));
            let failure = failure.with("problems", invalid);
            result.status = Status::Failure;
            result.value["_error"] =
                serde_json::to_value(failure).expect("failures have text keys");
        }
        Ok(result)
    }
}

/// The resources of a device, and the problems with its other rows.
struct ReadResources {
    resources: Vec<Resource>,
    invalid: Vec<String>,
}

async fn read_resources(
    ctx: &Context<'_>,
    kind: &dyn ResourceType,
    title: Option<&str>,
    strict: Strict,
) -> Result<ReadResources, Failure> {
    let schema = kind.schema();
    let wanted = title.map(|title| parse_title(schema, title)).transpose()?;
    let resources = Resources::new(schema, Mode::Noop);
    let ctx = ctx.for_resources(&resources);
    let mut provider = kind.provider();
    let which = wanted.as_ref().map_or(ResourceFilter::All, |name| {
        ResourceFilter::Named(std::slice::from_ref(name))
    });
    let rows = provider.get(&ctx, which).await?;
    let checked = Checked::read(&ctx, schema, &Strictness::new(strict), rows);
    let mut checked = checked.without_ambiguous(schema);
    if let Some(wanted) = &wanted {
        checked.valid.retain(|row| row.name == *wanted);
        checked.invalid.retain(|(name, _)| name == wanted);
    }
    let invalid = checked.invalid.into_iter().map(|(_, message)| message);
    let read = ReadResources {
        resources: checked.valid.into_iter().map(|row| row.resource).collect(),
        invalid: invalid.chain(checked.unidentified).collect(),
    };
    match wanted {
        Some(wanted) if read.resources.is_empty() && read.invalid.is_empty() => {
            let (name, target) = (schema.name(), ctx.target());
            let message = format!("there is no {name}[{wanted}] on {target}");
            Err(Failure::new("devgate/no-such-resource", message))
        }
        _ => Ok(read),
    }
}

fn parse_title(schema: &TypeSchema, title: &str) -> Result<Name, Failure> {
    let name = schema.name_of_title(title);
    name.map_err(|invalid| Failure::new("devgate/invalid-resource", invalid.to_string()))
}
