//! A device in memory, with types whose providers record their calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use devgate_core::cancel::{CancelSource, CancelToken};
use devgate_core::failure::Failure;
use devgate_devices::{
    Changes, DeviceRollback, Error, Provider, ResourceFilter, ResourceType, Result,
};
use devgate_schemas::{
    Event, EventSink, Level, Name, Report, Resource, ResourceReport, TypeSchema, Value, yaml,
};
use devgate_transports::{Context, Mode, RetryBudget};
use serde_json::Value as Json;

use crate::device_run::{Audited, Catalog, Options, Strict, run};
use crate::manifest;

/// The types of the device, in the order in which tests know them.
const TYPES: &str = r"
- name: vlan
  desc: x
  features: [remote_resource, canonicalize]
  attributes:
    name: { type: String, desc: x, behaviour: namevar }
    ensure: { type: 'Enum[present, absent]', desc: x, default: present }
    speed: { type: 'Optional[Integer]', desc: x }
    key: { type: 'Optional[String]', desc: x, sensitive: true }
    size: { type: 'Optional[Integer]', desc: x, behaviour: init_only }
- name: port
  desc: x
  features: [remote_resource]
  autorequire: { vlan: $vlan }
  attributes:
    name: { type: String, desc: x, behaviour: namevar }
    ensure: { type: 'Enum[present, absent]', desc: x, default: present }
    vlan: { type: 'Optional[String]', desc: x }
- name: knob
  desc: x
  features: [remote_resource]
  attributes:
    name: { type: String, desc: x, behaviour: namevar }
    turn: { type: 'Optional[Integer]', desc: x }
- name: daemon
  desc: x
  attributes:
    name: { type: String, desc: x, behaviour: namevar }
- name: lamp
  desc: x
  features: [remote_resource, supports_noop]
  attributes:
    name: { type: String, desc: x, behaviour: namevar }
    ensure: { type: 'Enum[present, absent]', desc: x, default: present }
";

/// The state of a device, and its behaviour.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The resources, each with its type.
    pub(super) rows: Vec<(String, Resource)>,
    /// The types for which providers were created, in order.
    pub(super) providers: Vec<String>,
    /// The calls, in order.
    pub(super) log: Vec<String>,
    /// The titles that the device refuses to change.
    pub(super) refused: Vec<String>,
    /// The titles whose changes it accepts without making them.
    pub(super) ignored: Vec<String>,
    /// The titles whose changes it does not make, and its provider says that it has made them.
    pub(super) forgotten: Vec<String>,
    /// The title at which it loses its session.
    pub(super) lost_at: Option<String>,
    /// Whether it reports on a resource that was not requested.
    pub(super) gossips: bool,
    /// The types that it cannot read.
    pub(super) unreadable: Vec<String>,
    /// The recorded states of audited resources.
    pub(super) audited: Json,
    /// Cancelled to its last stage at the first change.
    pub(super) cancel_source: Option<CancelSource>,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Device(Arc<Mutex<State>>);

#[derive(Debug)]
struct Kind {
    schema: TypeSchema,
    device: Device,
}

struct Shelf {
    type_name: String,
    device: Device,
}

#[derive(Default)]
pub(super) struct EventLog(Mutex<Vec<(Level, String)>>);

impl EventSink for EventLog {
    fn emit(&self, event: Event) {
        let subject = event.subject.map(|subject| format!("{subject}: "));
        let line = format!("{}{}", subject.unwrap_or_default(), event.message);
        let mut events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        events.push((event.level, line));
    }
}

impl EventLog {
    /// Returns the messages of this level.
    pub(super) fn at(&self, level: Level) -> Vec<String> {
        let events = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = events.iter().filter(|(at, _)| *at == level);
        at.map(|(_, line)| line.clone()).collect()
    }
}

impl Device {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Creates a device with the resources of a manifest.
    pub(super) fn holding(text: &str) -> Self {
        let device = Self::default();
        device.hold(text);
        device
    }

    pub(super) fn hold(&self, text: &str) {
        let catalog = manifest::data::read(text, "device").expect("it is a manifest");
        for declared in catalog.resources {
            let mut row = Resource::from(declared.attributes);
            row.set("name", Value::from(declared.name.title));
            self.state().rows.push((declared.name.type_name, row));
        }
    }

    /// Takes the calls since the last time.
    pub(super) fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.state().log)
    }

    /// Applies a manifest, or returns its problems.
    pub(super) fn try_apply(
        &self,
        text: &str,
        options: &Options,
    ) -> std::result::Result<Report, Failure> {
        self.apply_with_sink(text, options, &EventLog::default())
    }

    /// Applies a manifest, and returns each resource's outcome as a line.
    pub(super) fn apply(&self, text: &str) -> Vec<String> {
        let report = self.try_apply(text, &enforce()).expect("it is right");
        report.resources.iter().map(end).collect()
    }

    /// Applies a manifest with `events` as its sink.
    pub(super) fn apply_with_sink(
        &self,
        text: &str,
        options: &Options,
        events: &EventLog,
    ) -> std::result::Result<Report, Failure> {
        self.run(text, options, events, None)
    }

    /// Applies a manifest, and rolls back with `rollback` after a failure.
    pub(super) fn run(
        &self,
        text: &str,
        options: &Options,
        events: &EventLog,
        rollback: Option<&dyn DeviceRollback>,
    ) -> std::result::Result<Report, Failure> {
        let catalog = manifest::data::read(text, "site.yaml")?;
        self.apply_catalog(&catalog, options, events, rollback)
    }

    /// Applies a catalog.
    pub(super) fn apply_catalog(
        &self,
        catalog: &Catalog,
        options: &Options,
        events: &EventLog,
        rollback: Option<&dyn DeviceRollback>,
    ) -> std::result::Result<Report, Failure> {
        let definitions = yaml::parse(TYPES).expect("it is YAML");
        let definitions = definitions.as_sequence().expect("it is a list");
        let kinds: Vec<Kind> = definitions
            .iter()
            .map(|definition| Kind {
                schema: TypeSchema::register(&definition.to_value()).expect("it is a type"),
                device: self.clone(),
            })
            .collect();
        let plan = catalog.plan(|name| {
            let mut kinds = kinds.iter();
            let kind = kinds.find(|kind| kind.schema.name() == name);
            let kind = kind.map(|kind| kind as &dyn ResourceType);
            kind.ok_or_else(|| Failure::new("devgate/unknown-type", format!("no type `{name}`")))
        })?;
        let retry_budget = RetryBudget::new();
        let stop: CancelToken = match &self.state().cancel_source {
            Some(cancel_source) => cancel_source.token(),
            None => CancelSource::default().token(),
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime can be made");
        let ctx = Context::new("device", events, &retry_budget);
        let mut audited = Audited::from_json(self.state().audited.clone());
        let report = runtime.block_on(run(&ctx, &plan, options, rollback, &mut audited, &stop));
        self.state().audited = audited.into_json();
        Ok(report)
    }
}

/// Returns the options of a run that may change the device.
pub(super) fn enforce() -> Options {
    Options {
        mode: Mode::Enforce,
        tags: Vec::new(),
        strict: Strict::Error,
    }
}

/// Formats the outcome of a resource: its name, its status and its messages.
pub(super) fn end(report: &ResourceReport) -> String {
    let word = match report {
        _ if report.failed => "failed",
        _ if report.changed => "changed",
        _ if report.noop => "noop",
        _ if report.skipped => "skipped",
        _ => "ok",
    };
    let line = format!("{} {word} {}", report.reference, report.messages.join("; "));
    line.trim_end().to_owned()
}

impl ResourceType for Kind {
    fn schema(&self) -> &TypeSchema {
        &self.schema
    }

    fn provider(&self) -> Box<dyn Provider> {
        let type_name = self.schema.name().to_owned();
        self.device.state().providers.push(type_name);
        Box::new(Shelf {
            type_name: self.schema.name().to_owned(),
            device: self.device.clone(),
        })
    }
}

fn title(resource: &Resource) -> String {
    let name = resource.get("name").and_then(Value::as_str);
    name.unwrap_or_default().to_owned()
}

#[async_trait]
impl Provider for Shelf {
    async fn get(&mut self, _: &Context<'_>, which: ResourceFilter<'_>) -> Result<Vec<Resource>> {
        let mut state = self.device.state();
        let asked = match which {
            ResourceFilter::All => "all".to_owned(),
            ResourceFilter::Named(names) => {
                let names: Vec<&str> = names.iter().map(Name::title).collect();
                names.join(",")
            }
        };
        state.log.push(format!("get {} {asked}", self.type_name));
        if state.unreadable.contains(&self.type_name) {
            return Err(Error::Unsupported("it is not shown".to_owned()));
        }
        let rows = state.rows.iter();
        let rows = rows.filter(|(of, _)| *of == self.type_name);
        Ok(rows.map(|(_, row)| row.clone()).collect())
    }

    async fn set(&mut self, ctx: &Context<'_>, changes: Changes) -> Result<()> {
        let mut state = self.device.state();
        let titles = changes.iter().map(|(name, _)| name.title().to_lowercase());
        let titles: Vec<String> = titles.collect();
        state
            .log
            .push(format!("set {} {}", self.type_name, titles.join(",")));
        if ctx.noop() {
            return Ok(());
        }
        if let Some(cancel_source) = &state.cancel_source {
            cancel_source.raise(devgate_core::cancel::Stage::Finish, None);
        }
        for ((name, change), title) in changes.into_iter().zip(titles) {
            if state.lost_at.as_ref() == Some(&title) {
                return Err(Error::Unsupported("the session is lost".to_owned()));
            }
            if state.gossips {
                ctx.updated("another");
            }
            if state.refused.contains(&title) {
                ctx.failed(name.title(), "refused");
                continue;
            }
            if state.ignored.contains(&title) {
                continue;
            }
            if state.forgotten.contains(&title) {
                ctx.updated(name.title());
                continue;
            }
            let is_it = |(of, row): &(String, Resource)| *of == self.type_name && name.names(row);
            let at = state.rows.iter().position(is_it);
            match (at, change.should.filter(Resource::is_present)) {
                (Some(at), None) => drop(state.rows.remove(at)),
                (Some(at), Some(should)) => {
                    for (name, value) in should.iter() {
                        state.rows[at].1.set(name, value.clone());
                    }
                }
                (None, Some(should)) => state.rows.push((self.type_name.clone(), should)),
                (None, None) => {}
            }
            ctx.updated(name.title());
        }
        Ok(())
    }

    /// The canonical form of a name is in lower case. A name of digits has none.
    async fn canonicalize(&mut self, _: &Context<'_>, resources: &mut [Resource]) -> Result<()> {
        for resource in resources {
            let name = title(resource);
            if name.starts_with(|first: char| first.is_ascii_digit()) {
                return Err(Error::Unsupported(format!("`{name}` begins with a digit")));
            }
            resource.set("name", Value::from(name.to_lowercase()));
        }
        Ok(())
    }
}
