//! The transaction: from desired resources to a device that holds them, and a report that is true.
//!
//! By type: `get` once with all names, compare, `set` once with what differs, read back.

use devgate_devices::{
    Change, Changes, Current, Error, InSync, Provider, ResourceType, Shown, Which,
};
use devgate_schemas::{
    Attribute, Behaviour, Compare, Feature, Name, Report, Resource, ResourceReport, TypeSchema,
    Value,
};
use devgate_transports::{Context, Mode, Resources};

/// The desired resources of one type, checked.
#[derive(Debug)]
pub(crate) struct Desired<'a> {
    /// The type.
    pub(crate) kind: &'a dyn ResourceType,
    /// The resources, in the order of the manifest.
    pub(crate) resources: Vec<(Name, Resource)>,
}

/// Brings the device behind `ctx` to the desired state, or under noop tells what would change.
///
/// A resource that fails takes no other down, except where the provider itself cannot go on.
pub(crate) async fn run(ctx: &Context<'_>, desired: Vec<Desired<'_>>, mode: Mode) -> Report {
    let mut reports = Vec::new();
    for of_type in desired {
        let entries = Transaction::new(of_type, mode).run(ctx).await;
        reports.extend(entries);
    }
    Report::new(reports)
}

/// One thing that is not as desired.
enum Difference {
    /// The resource is not there.
    Missing,
    /// The resource is there and should not be.
    Unwanted,
    /// A property has another value, both as a message shows them.
    Property {
        name: String,
        is: String,
        should: String,
    },
    /// A property differs in the provider's own words.
    Custom { name: String, why: String },
}

struct Transaction<'a> {
    kind: &'a dyn ResourceType,
    schema: &'a TypeSchema,
    provider: Box<dyn Provider>,
    mode: Mode,
    entries: Vec<Entry>,
}

/// One resource on its way.
struct Entry {
    name: Name,
    report: ResourceReport,
    /// What is not as desired; nothing when in sync.
    wanted: Vec<Difference>,
}

impl<'a> Transaction<'a> {
    fn new(desired: Desired<'a>, mode: Mode) -> Self {
        let schema = desired.kind.schema();
        let entries = desired.resources.into_iter().map(|(name, should)| Entry {
            report: ResourceReport {
                type_name: schema.name().to_owned(),
                title: name.title().to_owned(),
                out_of_sync: false,
                changed: false,
                failed: false,
                noop: false,
                skipped: false,
                is: None,
                should,
                messages: Vec::new(),
                lines: Vec::new(),
            },
            name,
            wanted: Vec::new(),
        });
        Self {
            kind: desired.kind,
            schema,
            provider: desired.kind.provider(),
            mode,
            entries: entries.collect(),
        }
    }

    async fn run(mut self, ctx: &Context<'_>) -> Vec<ResourceReport> {
        let resources = Resources::new(self.schema, self.mode);
        let ctx = &ctx.for_resources(&resources);
        if let Err(message) = self.settle(ctx, &resources).await {
            for entry in self.entries.iter_mut().filter(|entry| !entry.report.failed) {
                entry.fail(&message);
            }
        }
        self.entries.into_iter().map(|entry| entry.report).collect()
    }

    /// Everything that may fail for the type as a whole.
    async fn settle(&mut self, ctx: &Context<'_>, resources: &Resources<'_>) -> Result<(), String> {
        self.canonicalize(ctx).await?;
        let rows = self.get(ctx).await?;
        for entry in &mut self.entries {
            let row = rows.iter().find(|row| entry.name.names(row));
            entry.report.is = row.filter(|row| row.is_present()).cloned();
            match compare(self.schema, &mut *self.provider, ctx, entry).await {
                Ok(wanted) => entry.wanted = wanted,
                Err(message) => entry.fail(&message),
            }
        }
        self.render();
        let changes = self.changes();
        if changes.is_empty() {
            return Ok(());
        }
        if self.mode == Mode::Noop {
            if self.schema.has(Feature::SupportsNoop) {
                let outcome = self.provider.set(ctx, changes).await;
                outcome.map_err(|error| error.to_string())?;
            }
            self.entries.iter_mut().for_each(Entry::would_change);
            return Ok(());
        }
        let outcome = self.provider.set(ctx, changes).await;
        for failure in resources.failed() {
            let named = |entry: &&mut Entry| entry.report.title == failure.title;
            if let Some(entry) = self.entries.iter_mut().find(named) {
                entry.fail(&failure.message);
            }
        }
        if let Err(error) = outcome {
            let message = error.to_string();
            let pending = self.entries.iter_mut().filter(|entry| entry.is_pending());
            pending.for_each(|entry| entry.fail(&message));
        }
        self.read_back(ctx).await;
        Ok(())
    }

    async fn canonicalize(&mut self, ctx: &Context<'_>) -> Result<(), String> {
        let mut should: Vec<Resource> = self
            .entries
            .iter()
            .map(|entry| entry.report.should.clone())
            .collect();
        let outcome = self.provider.canonicalize(ctx, &mut should).await;
        outcome.map_err(|error| error.to_string())?;
        for (entry, should) in self.entries.iter_mut().zip(should) {
            entry.name = Name::new(entry.name.title(), self.schema.namevars_of(&should));
            entry.report.should = should;
        }
        for later in 1..self.entries.len() {
            let (before, rest) = self.entries.split_at_mut(later);
            if let Some(same) = before.iter().find(|entry| entry.name == rest[0].name) {
                rest[0].fail(&format!("is the same resource as [{}]", same.name));
            }
        }
        Ok(())
    }

    /// The rows that the device has, checked against the schema, secrets wrapped.
    async fn get(&mut self, ctx: &Context<'_>) -> Result<Vec<Resource>, String> {
        let names: Vec<Name> = self
            .entries
            .iter()
            .map(|entry| entry.name.clone())
            .collect();
        let rows = self.provider.get(ctx, Which::Named(&names)).await;
        let mut rows = rows.map_err(|error| error.to_string())?;
        self.schema
            .check_rows(&mut rows)
            .map_err(|error| error.to_string())?;
        let mut standard = rows.clone();
        let outcome = self.provider.canonicalize(ctx, &mut standard).await;
        outcome.map_err(|error| error.to_string())?;
        if standard != rows {
            ctx.warning("#get has not provided canonicalized values");
        }
        Ok(standard)
    }

    fn changes(&self) -> Changes {
        let pending = self.entries.iter().filter(|entry| entry.is_pending());
        pending
            .map(|entry| (entry.name.clone(), entry.change()))
            .collect()
    }

    /// Notes the lines that each change would send; one that cannot be rendered fails unsent.
    fn render(&mut self) {
        for entry in self.entries.iter_mut().filter(|entry| entry.is_pending()) {
            match self
                .kind
                .render(&entry.name, &entry.change(), Shown::Redacted)
            {
                Ok(lines) => entry.report.lines = lines,
                // A provider that is code need not be able to show what it sends.
                Err(Error::Unsupported(_)) => {}
                Err(error) => entry.fail(&error.to_string()),
            }
        }
    }

    /// Looks whether the device holds what it was told, and says where it does not.
    async fn read_back(&mut self, ctx: &Context<'_>) {
        let rows = match self.get(ctx).await {
            Ok(rows) => rows,
            Err(message) => {
                for entry in self.entries.iter_mut().filter(|entry| entry.is_pending()) {
                    entry.fail(&format!(
                        "it was set, but could not be read back: {message}"
                    ));
                }
                return;
            }
        };
        for entry in self
            .entries
            .iter_mut()
            .filter(|entry| !entry.wanted.is_empty())
        {
            let before = entry.report.is.take();
            let row = rows.iter().find(|row| entry.name.names(row));
            entry.report.is = row.filter(|row| row.is_present()).cloned();
            let left = compare(self.schema, &mut *self.provider, ctx, entry).await;
            entry.report.is = before;
            match left {
                // What failed half-way may yet have been done.
                Ok(left) if entry.report.failed => entry.report.changed = left.is_empty(),
                Ok(left) if left.is_empty() => entry.done(),
                Ok(left) => {
                    let left: Vec<String> = left.iter().map(Difference::open).collect();
                    let left = left.join("; ");
                    entry.fail(&format!(
                        "the device took it without a word, but does not hold it: {left}"
                    ));
                }
                Err(message) => entry.fail(&message),
            }
        }
    }
}

/// What differs between the device and the desired state; nothing when in sync.
async fn compare(
    schema: &TypeSchema,
    provider: &mut dyn Provider,
    ctx: &Context<'_>,
    entry: &Entry,
) -> Result<Vec<Difference>, String> {
    let should = &entry.report.should;
    let Some(is) = &entry.report.is else {
        return Ok(should
            .is_present()
            .then_some(Difference::Missing)
            .into_iter()
            .collect());
    };
    if !should.is_present() {
        return Ok(vec![Difference::Unwanted]);
    }
    let mut wanted = Vec::new();
    for (property, value) in should.iter() {
        let Some(attribute) = schema.attributes().get(property) else {
            continue;
        };
        let held = is.get(property);
        match attribute.behaviour {
            Behaviour::Namevar | Behaviour::Parameter | Behaviour::ReadOnly => continue,
            Behaviour::InitOnly if held != Some(value) => {
                return Err(format!(
                    "Attempting to change `{property}` init_only attribute value from {} to {}",
                    shown(attribute, held),
                    shown(attribute, Some(value))
                ));
            }
            Behaviour::InitOnly => continue,
            Behaviour::Property => {}
        }
        if property == "ensure" || attribute.compare == Compare::Never {
            continue;
        }
        let verdict = if schema.has(Feature::CustomInsync) {
            provider
                .insync(ctx, &entry.name, property, is, should)
                .await
        } else {
            Ok(InSync::ByValue)
        };
        match verdict.map_err(|error| error.to_string())? {
            InSync::Yes => {}
            InSync::ByValue if held == Some(value) => {}
            InSync::No { why: Some(why) } => {
                wanted.push(Difference::Custom {
                    name: property.to_owned(),
                    why,
                });
            }
            InSync::ByValue | InSync::No { why: None } => wanted.push(Difference::Property {
                name: property.to_owned(),
                is: shown(attribute, held),
                should: shown(attribute, Some(value)),
            }),
        }
    }
    Ok(wanted)
}

/// A value as a message shows it; a secret as Puppet shows it.
fn shown(attribute: &Attribute, value: Option<&Value>) -> String {
    match value {
        _ if attribute.sensitive => "[redacted]".to_owned(),
        None => "unset".to_owned(),
        Some(value) => value.to_json().to_string(),
    }
}

impl Difference {
    /// The difference as it stands, in Puppet's manner.
    fn open(&self) -> String {
        match self {
            Self::Missing => "is absent, should be present".to_owned(),
            Self::Unwanted => "is present, should be absent".to_owned(),
            Self::Property { name, is, should } => format!("{name} is {is}, should be {should}"),
            Self::Custom { name, why } => format!("{name}: {why}"),
        }
    }

    /// What was done about it.
    fn settled(&self) -> String {
        match self {
            Self::Missing => "created".to_owned(),
            Self::Unwanted => "removed".to_owned(),
            Self::Property { name, is, should } => format!("{name} changed {is} to {should}"),
            Self::Custom { name, why } => format!("{name}: {why}"),
        }
    }
}

impl Entry {
    /// Whether `set` is still to bring it to its desired state.
    fn is_pending(&self) -> bool {
        !self.wanted.is_empty() && !self.report.failed
    }

    fn change(&self) -> Change {
        let should = &self.report.should;
        Change {
            is: self
                .report
                .is
                .clone()
                .map_or(Current::Absent, Current::Present),
            should: should.is_present().then(|| should.clone()),
        }
    }

    fn would_change(&mut self) {
        if self.is_pending() {
            self.report.out_of_sync = true;
            self.report.noop = true;
            let open = self
                .wanted
                .iter()
                .map(|wanted| format!("{} (noop)", wanted.open()));
            self.report.messages.extend(open);
        }
    }

    fn done(&mut self) {
        self.report.out_of_sync = true;
        self.report.changed = true;
        self.report
            .messages
            .extend(self.wanted.iter().map(Difference::settled));
    }

    fn fail(&mut self, message: &str) {
        self.report.out_of_sync |= !self.wanted.is_empty();
        self.report.failed = true;
        self.report.messages.push(message.to_owned());
    }
}
