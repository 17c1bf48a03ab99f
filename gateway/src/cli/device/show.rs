//! What devices hold, of one type: for programs as JSON, for people as a manifest.

use std::io::{self, IsTerminal};
use std::num::NonZeroUsize;
use std::sync::Arc;

use devgate_devices::{ResourceType, Which};
use devgate_schemas::{Level, Name, Resource, TypeSchema};
use devgate_transports::{Context, Mode, Resources};
use serde_json::json;

use super::splay::Splay;
use super::{ACTION, family};
use crate::cli::{Ending, Setting};
use crate::device_run::{Checked, Strict, Strictness};
use crate::failure::Failure;
use crate::inventory::Target;
use crate::manifest;
use crate::output::Output;
use crate::project::Format;
use crate::results::{Answer, Status};
use crate::run;
use crate::session::{self, Access};

/// What is to be shown, and how.
#[derive(Debug)]
pub(crate) struct Question<'q> {
    pub(crate) type_name: &'q str,
    /// One resource; without it all of the type.
    pub(crate) title: Option<&'q str>,
    pub(crate) as_yaml: bool,
    /// What becomes of rows that do not keep to their type.
    pub(crate) strict: Strict,
    pub(crate) splay: Splay,
}

/// Shows the resources of every target.
///
/// # Errors
/// That the run cannot begin.
pub(crate) async fn show(
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
        strict,
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
        let shown = session::within(setting, job, Access::Read, async |ctx, _| {
            look(ctx, kind, title, strict).await
        });
        let Shown { rows, wrong } = shown.await?;
        let text = match as_yaml {
            true => manifest::to_yaml(kind.schema(), &rows),
            false => manifest::to_pp(kind.schema(), &rows),
        };
        let mut answer = Answer::success(json!({ "resources": rows })).with_text(text);
        if !wrong.is_empty() {
            let failure = Failure::new("devgate/invalid-resource", wrong.join("\n"));
            let failure = failure.with("problems", wrong);
            answer.status = Status::Failure;
            answer.value["_error"] =
                serde_json::to_value(failure).expect("failures have text keys");
        }
        Ok(answer)
    });
    let ending = ran.await?.ending;
    let is_for_a_file = output.format() == Format::Human && !io::stdout().is_terminal();
    if targets.len() > 1 && is_for_a_file {
        let message = format!(
            "these are the manifests of {} devices, one behind the other: to apply one, print it alone \
             (`devgate device -t NAME -r {type_name} > NAME.{}`)",
            targets.len(),
            if as_yaml { "yaml" } else { "pp" }
        );
        setting.voice.say(Level::Warning, &message);
    }
    Ok(ending)
}

/// What a device holds, and what is wrong with the rest of it.
struct Shown {
    rows: Vec<Resource>,
    wrong: Vec<String>,
}

async fn look(
    ctx: &Context<'_>,
    kind: &dyn ResourceType,
    title: Option<&str>,
    strict: Strict,
) -> Result<Shown, Failure> {
    let schema = kind.schema();
    let wanted = title.map(|title| named(schema, title)).transpose()?;
    let resources = Resources::new(schema, Mode::Noop);
    let ctx = ctx.for_resources(&resources);
    let mut provider = kind.provider();
    let which = wanted
        .as_ref()
        .map_or(Which::All, |name| Which::Named(std::slice::from_ref(name)));
    let rows = provider.get(&ctx, which).await?;
    let checked = Checked::read(&ctx, schema, &Strictness::new(strict), rows);
    let mut checked = checked.without_ambiguous(schema);
    if let Some(wanted) = &wanted {
        checked.sound.retain(|row| row.name == *wanted);
        checked.wrong.retain(|(name, _)| name == wanted);
    }
    let wrong = checked.wrong.into_iter().map(|(_, message)| message);
    let shown = Shown {
        rows: checked.sound.into_iter().map(|row| row.resource).collect(),
        wrong: wrong.chain(checked.nameless).collect(),
    };
    match wanted {
        Some(wanted) if shown.rows.is_empty() && shown.wrong.is_empty() => {
            let (name, target) = (schema.name(), ctx.target());
            let message = format!("there is no {name}[{wanted}] on {target}");
            Err(Failure::new("devgate/no-such-resource", message))
        }
        _ => Ok(shown),
    }
}

fn named(schema: &TypeSchema, title: &str) -> Result<Name, Failure> {
    let name = schema.name_of_title(title);
    name.map_err(|invalid| Failure::new("devgate/invalid-resource", invalid.to_string()))
}
