//! The transaction: from desired resources to a device that holds them, and a report that is true.
//!
//! By type: `get` once with all names, compare, `set` once with what differs, read back.

use std::collections::{HashMap, hash_map};

use devgate_devices::{Change, Changes, Current, Error, Provider, ResourceType, Shown, Which};
use devgate_schemas::{Feature, Name, Report, Resource, ResourceReport, TypeSchema};
use devgate_transports::{Context, Mode, Resources};

use super::difference::{Difference, Sides, compare};

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
pub(crate) async fn run(ctx: &Context<'_>, desired: &[Desired<'_>], mode: Mode) -> Report {
    let mut reports = Vec::new();
    for of_type in desired {
        let entries = Transaction::new(of_type, mode).run(ctx).await;
        reports.extend(entries);
    }
    Report::new(reports)
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
    fn new(desired: &Desired<'a>, mode: Mode) -> Self {
        let schema = desired.kind.schema();
        let entries = desired.resources.iter().map(|(name, should)| Entry {
            report: ResourceReport {
                type_name: schema.name().to_owned(),
                title: name.title().to_owned(),
                out_of_sync: false,
                changed: false,
                failed: false,
                noop: false,
                skipped: false,
                is: None,
                should: should.clone(),
                messages: Vec::new(),
                lines: Vec::new(),
            },
            name: name.clone(),
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
            let row = rows.get(&entry.name);
            entry.report.is = row.filter(|row| row.is_present()).cloned();
            let sides = entry.sides(entry.report.is.as_ref());
            match compare(self.schema, &mut *self.provider, ctx, sides).await {
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
        let mut failures: HashMap<String, Vec<String>> = HashMap::new();
        for failure in resources.failed() {
            failures
                .entry(failure.title)
                .or_default()
                .push(failure.message);
        }
        for entry in &mut self.entries {
            let failures = failures.remove(&entry.report.title).unwrap_or_default();
            failures.iter().for_each(|message| entry.fail(message));
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
        let mut seen: HashMap<Name, String> = HashMap::with_capacity(self.entries.len());
        for entry in &mut self.entries {
            match seen.entry(entry.name.clone()) {
                hash_map::Entry::Occupied(same) => {
                    entry.fail(&format!("is the same resource as [{}]", same.get()));
                }
                hash_map::Entry::Vacant(first) => {
                    first.insert(entry.name.title().to_owned());
                }
            }
        }
        Ok(())
    }

    /// The rows that the device has by name, checked against the schema, secrets wrapped.
    async fn get(&mut self, ctx: &Context<'_>) -> Result<HashMap<Name, Resource>, String> {
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
        // Of two rows of one name the first counts.
        let standard = standard.into_iter().rev();
        Ok(standard
            .map(|row| (Name::new("", self.schema.namevars_of(&row)), row))
            .collect())
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
            let row = rows.get(&entry.name);
            let sides = entry.sides(row.filter(|row| row.is_present()));
            let left = compare(self.schema, &mut *self.provider, ctx, sides).await;
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

impl Entry {
    /// Whether `set` is still to bring it to its desired state.
    fn is_pending(&self) -> bool {
        !self.wanted.is_empty() && !self.report.failed
    }

    fn sides<'a>(&'a self, is: Option<&'a Resource>) -> Sides<'a> {
        Sides {
            name: &self.name,
            is,
            should: &self.report.should,
        }
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
