//! What devices hold, of one type: for programs as JSON, for people as a manifest.

use std::num::NonZeroUsize;
use std::sync::Arc;

use devgate_devices::{ResourceType, Which};
use devgate_schemas::{Name, Resource, TypeSchema};
use devgate_transports::{Context, Mode, Resources};
use serde_json::json;

use super::splay::Splay;
use super::{ACTION, family};
use crate::cli::{Ending, Setting};
use crate::failure::Failure;
use crate::inventory::Target;
use crate::manifest;
use crate::output::Output;
use crate::results::Answer;
use crate::run;
use crate::session::{self, Access};

/// What is to be shown, and how.
#[derive(Debug)]
pub(super) struct Question<'q> {
    pub(super) type_name: &'q str,
    /// One resource; without it all of the type.
    pub(super) title: Option<&'q str>,
    pub(super) as_yaml: bool,
    pub(super) splay: Splay,
}

/// Shows the resources of every target.
///
/// # Errors
/// That the run cannot begin.
pub(super) async fn show(
    setting: &Setting,
    targets: &[Arc<Target>],
    concurrency: Option<NonZeroUsize>,
    question: &Question<'_>,
    output: &Output,
) -> anyhow::Result<Ending> {
    let &Question {
        type_name,
        title,
        as_yaml,
        splay,
    } = question;
    // Types are named as manifests name them, in any case.
    let name = &type_name.to_lowercase();
    let action = ACTION.with_document();
    let ran = run::over(setting, targets, concurrency, output, action, async |job| {
        let family = family(setting, job.target)?;
        let kind = setting.registry.resource_type(family.name(), name);
        let kind = kind.map_err(|failure| {
            let message = format!("Could not find type {type_name}: {failure}");
            Failure::new(&failure.kind, message)
        })?;
        splay.wait(job).await?;
        let what = format!("retrieving resource: {type_name} from {}", job.target);
        job.context()
            .info(format!("{what} at {}", job.target.address()));
        let rows = session::within(setting, job, Access::Read, async |ctx, _| {
            rows(ctx, kind, title).await
        });
        let rows = rows.await?;
        let text = match as_yaml {
            true => manifest::to_yaml(kind.schema(), &rows),
            false => manifest::to_pp(kind.schema(), &rows),
        };
        Ok(Answer::success(json!({ "resources": rows })).with_text(text))
    });
    Ok(ran.await?.ending)
}

async fn rows(
    ctx: &Context<'_>,
    kind: &dyn ResourceType,
    title: Option<&str>,
) -> Result<Vec<Resource>, Failure> {
    let schema = kind.schema();
    let wanted = title.map(|title| named(schema, title)).transpose()?;
    let resources = Resources::new(schema, Mode::Noop);
    let ctx = ctx.for_resources(&resources);
    let mut provider = kind.provider();
    let which = wanted
        .as_ref()
        .map_or(Which::All, |name| Which::Named(std::slice::from_ref(name)));
    let mut rows = provider.get(&ctx, which).await?;
    schema
        .check_rows(&mut rows)
        .map_err(|invalid| Failure::new("devgate/invalid-resource", invalid.to_string()))?;
    if let Some(wanted) = wanted {
        rows.retain(|row| wanted.names(row));
        if rows.is_empty() {
            let (name, target) = (schema.name(), ctx.target());
            let message = format!("there is no {name}[{wanted}] on {target}");
            return Err(Failure::new("devgate/no-such-resource", message));
        }
    }
    Ok(rows)
}

fn named(schema: &TypeSchema, title: &str) -> Result<Name, Failure> {
    match schema.parse_title(title) {
        Ok(namevars) => Ok(Name::new(title, namevars)),
        Err(invalid) => Err(Failure::new(
            "devgate/invalid-resource",
            invalid.to_string(),
        )),
    }
}
