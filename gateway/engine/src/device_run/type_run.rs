//! The resources of one type in a run: read once, compared, changed together, and read back.

use std::collections::{HashMap, HashSet, hash_map};
use std::sync::Arc;
use std::time::Instant;

use devgate_devices::{Changes, Provider, ResourceFilter, ResourceType};
use devgate_schemas::{Feature, Level, Name, Resource, Seconds, TypeSchema, Value};
use devgate_transports::{Claim, Context, Mode, Resources};

use super::compare::compare;
use super::difference::Difference;
use super::entry::Entry;
use super::plan::{Node, Plan, Work};
use super::rows::{Rows, Strictness};
use super::run_rollback::RunRollback;
use super::{canonical, catalog::Ref};

/// One type in a run on one device.
pub(super) struct TypeRun<'a> {
    kind: &'a dyn ResourceType,
    schema: &'a TypeSchema,
    provider: Box<dyn Provider>,
    strict: Arc<Strictness>,
    /// The canonical names of all declared resources.
    names: Vec<Name>,
    /// Whether resources that are not declared matter, too.
    purges: bool,
    /// Why the names of some declared resources are not known.
    unknown_name: Option<String>,
    /// The last reading of the device, until something else may have changed it.
    rows: Option<Rows>,
    /// How often the type was read.
    reading_number: usize,
    /// Why the provider could not read. It is not called again in this run.
    unavailable: Option<String>,
    /// Whether the type's turn has come.
    has_begun: bool,
    pub(super) seconds: Seconds,
    /// Mistakes of the provider that concern no resource of the run.
    pub(super) problems: Vec<String>,
    /// What the device says that the changes would change, in lines.
    pub(super) device_diff: Vec<String>,
}

impl<'a> TypeRun<'a> {
    pub(super) fn new(kind: &'a dyn ResourceType, strict: Arc<Strictness>, purges: bool) -> Self {
        Self {
            kind,
            schema: kind.schema(),
            provider: kind.provider(),
            strict,
            names: Vec::new(),
            purges,
            unknown_name: None,
            rows: None,
            reading_number: 0,
            unavailable: None,
            has_begun: false,
            seconds: Seconds::default(),
            problems: Vec::new(),
            device_diff: Vec::new(),
        }
    }

    pub(super) fn kind(&self) -> &'a dyn ResourceType {
        self.kind
    }

    /// Brings all declared resources of the type into their canonical form, and fails duplicates of another resource.
    pub(super) async fn canonicalize(&mut self, ctx: &Context<'_>, entries: &mut [&mut Entry]) {
        let resources = Resources::new(self.schema, Mode::Noop);
        let ctx = &ctx.for_resources(&resources);
        let desired = entries.iter().map(|entry| entry.report.should.clone());
        let desired =
            canonical::canonicalize_each(ctx, &mut *self.provider, desired.collect()).await;
        for (entry, should) in entries.iter_mut().zip(desired) {
            match should {
                Ok(should) => entry.report.should = should,
                Err(message) => {
                    entry.refuse(&message);
                    self.unknown_name = Some(format!("{}: {message}", entry.report.reference));
                }
            }
        }
        let mut seen: HashMap<Name, String> = HashMap::with_capacity(entries.len());
        for entry in entries.iter_mut() {
            let namevars = self.schema.namevars_of(&entry.report.should);
            entry.name = Name::new(entry.name.title(), namevars);
            match seen.entry(entry.name.clone()) {
                hash_map::Entry::Occupied(same) => {
                    entry.refuse(&format!("is the same resource as [{}]", same.get()));
                }
                hash_map::Entry::Vacant(first) => {
                    first.insert(entry.name.title().to_owned());
                    self.names.push(entry.name.clone());
                }
            }
        }
    }

    /// Returns the resource that the device holds, as far as it is known.
    pub(super) fn current(&self, name: &Name) -> Option<&Resource> {
        self.rows.as_ref()?.get(name).ok()?
    }

    /// Discards the reading, because another change may have affected it.
    pub(super) fn discard_reading(&mut self) {
        self.rows = None;
        if !self.has_begun {
            self.unavailable = None;
        }
    }

    /// Whether the type could not be read.
    pub(super) fn is_unavailable(&self) -> bool {
        self.unavailable.is_some()
    }

    /// Compares entries with the device and renders their changes before their turn. Of an entry that purges, the
    /// removals are checked, too.
    pub(super) async fn precheck(
        &mut self,
        ctx: &Context<'_>,
        entries: Vec<&mut Entry>,
        plan: &Plan<'_>,
    ) {
        let resources = Resources::new(self.schema, Mode::Enforce);
        let ctx = &ctx.for_resources(&resources);
        if self.read(ctx).await.is_err() {
            // The problem is reported when the type's turn comes.
            return;
        }
        for entry in entries {
            let (node, node_data) = (entry.node, &plan.nodes[entry.node]);
            if !matches!(node_data.work, Work::Purge { .. }) {
                self.compare(ctx, std::slice::from_mut(entry)).await;
                continue;
            }
            let mut batch = vec![entry.clone()];
            self.purge(&mut batch, Mode::Enforce, node, node_data);
            self.compare(ctx, &mut batch[1..]).await;
            if let Some(is_invalid) = batch.iter().find(|entry| entry.is_invalid) {
                let (shown, why) = (
                    &is_invalid.report.reference,
                    is_invalid.report.messages.join("; "),
                );
                entry.refuse(&format!("nothing is purged: {shown}: {why}"));
            }
        }
    }

    /// Brings a batch to its desired state, or reports what would change. If the batch purges, the undeclared resources
    /// are added to it. Returns whether the device may have been changed.
    pub(super) async fn apply(
        &mut self,
        ctx: &Context<'_>,
        batch: &mut Vec<Entry>,
        mode: Mode,
        purge: Option<(usize, &Node)>,
        run_rollback: &mut RunRollback<'_>,
    ) -> bool {
        self.has_begun = true;
        let resources = Resources::new(self.schema, mode);
        let ctx = &ctx.for_resources(&resources);
        if let Err(message) = self.read(ctx).await {
            batch.iter_mut().for_each(|entry| entry.fail(&message));
            return false;
        }
        if let Some((node, node_data)) = purge {
            self.purge(batch, mode, node, node_data);
        }
        self.compare(ctx, batch).await;
        let pending = batch.iter().filter(|entry| entry.is_pending());
        let changes: Changes = pending
            .map(|entry| (entry.name.clone(), entry.change()))
            .collect();
        if changes.is_empty() {
            return false;
        }
        if mode == Mode::Enforce
            && let Err(message) = run_rollback.create_restore_point(ctx).await
        {
            let pending = batch.iter_mut().filter(|entry| entry.is_pending());
            pending.for_each(|entry| entry.fail(&message));
            return false;
        }
        let sets_nothing = self.schema.has(Feature::SupportsNoop) || self.provider.previews();
        let claims = match mode == Mode::Enforce || sets_nothing {
            true => self.set(ctx, batch, mode, changes).await,
            false => Vec::new(),
        };
        match mode {
            Mode::Noop => batch.iter_mut().for_each(Entry::would_change),
            Mode::Enforce => {
                self.read_back(ctx, batch).await;
                confirm(ctx, &claims, batch);
            }
        }
        mode == Mode::Enforce
    }

    /// Requests changes. Resources that the provider reports as failed have failed. If the provider could not go on, so
    /// have all whose outcome it has not reported. Returns what it says that it has changed.
    async fn set(
        &mut self,
        ctx: &Context<'_>,
        batch: &mut [Entry],
        mode: Mode,
        changes: Changes,
    ) -> Vec<Claim> {
        let names: Vec<Name> = changes.iter().map(|(name, _)| name.clone()).collect();
        let resources = Resources::new(self.schema, mode);
        let mut resources = resources.restricted_to(names.iter().map(Name::title));
        if mode == Mode::Enforce {
            resources = resources.keeping_claims();
        }
        let ctx = &ctx.for_resources(&resources);
        let began = Instant::now();
        let outcome = self.provider.set(ctx, changes).await;
        self.seconds.set += began.elapsed().as_secs_f64();
        let previews = resources.previews().into_iter();
        self.device_diff
            .extend(previews.flat_map(|diff| diff.lines().map(str::to_owned).collect::<Vec<_>>()));
        for failure in resources.failed() {
            let mut entries = batch.iter_mut();
            match entries.find(|entry| entry.name.title() == failure.title) {
                Some(entry) => entry.fail(&failure.message),
                None => self
                    .problems
                    .push(format!("{}: {}", self.schema.name(), failure.message)),
            }
        }
        if let Err(error) = outcome {
            let message = error.to_string();
            let pending = batch.iter_mut().filter(|entry| entry.is_pending());
            let unsettled = pending.filter(|entry| !resources.is_settled(entry.name.title()));
            unsettled.for_each(|entry| entry.fail(&message));
        }
        resources.claims()
    }

    /// Reads the resources of the type, unless they are known.
    async fn read(&mut self, ctx: &Context<'_>) -> Result<(), String> {
        if self.rows.is_none() {
            let names = self.names.clone();
            let which = if self.purges {
                ResourceFilter::All
            } else {
                ResourceFilter::Named(&names)
            };
            self.rows = Some(self.get(ctx, which).await?);
            self.reading_number += 1;
        }
        Ok(())
    }

    async fn get(&mut self, ctx: &Context<'_>, which: ResourceFilter<'_>) -> Result<Rows, String> {
        if let Some(message) = &self.unavailable {
            return Err(message.clone());
        }
        let began = Instant::now();
        let rows = self.provider.get(ctx, which).await;
        self.seconds.get += began.elapsed().as_secs_f64();
        let rows = rows.map_err(|error| {
            let message = error.to_string();
            self.unavailable = Some(message.clone());
            message
        })?;
        Ok(Rows::read(ctx, self.schema, &mut *self.provider, &self.strict, rows).await)
    }

    /// Adds the undeclared resources on the device to a batch, to be removed. If they are not known for certain, none
    /// is added.
    fn purge(&self, batch: &mut Vec<Entry>, mode: Mode, node: usize, node_data: &Node) {
        let is_purge_entry = |entry: &Entry| entry.node == node && !entry.report.failed;
        let Some(index) = batch.iter().position(is_purge_entry) else {
            return;
        };
        let rows = self.rows.as_ref().expect("it was read");
        let held = match (&self.unknown_name, rows.all()) {
            (None, Ok(held)) => held,
            (Some(message), _) => {
                return batch[index].fail(&format!("nothing is purged: {message}"));
            }
            (None, Err(message)) => {
                return batch[index].fail(&format!("nothing is purged: {message}"));
            }
        };
        let declared: HashSet<&Name> = self.names.iter().collect();
        let unmanaged = held.filter(|(name, _)| !declared.contains(name));
        let unmanaged: Vec<Entry> = unmanaged
            .map(|(name, row)| {
                let title = self.schema.check_row(row);
                let title = title.map_or_else(|_| name.to_string(), |name| name.to_string());
                let mut should = Resource::from(name.namevars().clone());
                should.set("ensure", Value::from("absent"));
                let name = Name::new(title.clone(), name.namevars().clone());
                let mut entry = Entry::new(node, node_data, mode, name, should);
                let shown = Ref::new(self.schema.name(), title);
                entry.report.reference = shown.to_string();
                entry.report.path.push(shown.to_string());
                entry.report.type_name = shown.type_name;
                entry.report.title = shown.title;
                entry
            })
            .collect();
        batch.splice(index + 1..index + 1, unmanaged);
    }

    /// Compares entries with the reading, unless that was done since, and records what each change would send. A change
    /// that cannot be rendered fails and is not sent.
    async fn compare(&mut self, ctx: &Context<'_>, batch: &mut [Entry]) {
        let rows = self.rows.as_ref().expect("it was read");
        for entry in batch.iter_mut() {
            // An entry that purges is not of this type, and a failed one stays as it is.
            if entry.report.failed || entry.report.type_name != self.schema.name() {
                continue;
            }
            if entry.compared_reading.replace(self.reading_number) == Some(self.reading_number) {
                continue;
            }
            match rows.get(&entry.name) {
                Ok(row) => entry.report.is = row.cloned(),
                Err(message) => {
                    entry.fail(&message);
                    continue;
                }
            }
            let sides = entry.sides(entry.report.is.as_ref());
            match compare(self.schema, &mut *self.provider, ctx, &self.strict, sides).await {
                Ok(differences) => entry.differences = differences,
                Err(message) => entry.refuse(&message),
            }
            entry.render(ctx, self.kind);
        }
    }

    /// Reads back the changed resources, and records where the device does not hold the desired state.
    async fn read_back(&mut self, ctx: &Context<'_>, batch: &mut [Entry]) {
        let changed = batch.iter().filter(|entry| !entry.differences.is_empty());
        let names: Vec<Name> = changed.map(|entry| entry.name.clone()).collect();
        let new_rows = match self.get(ctx, ResourceFilter::Named(&names)).await {
            Ok(new_rows) => new_rows,
            Err(message) => {
                self.rows = None;
                let message = format!("it was set, but could not be read back: {message}");
                let pending = batch.iter_mut().filter(|entry| entry.is_pending());
                return pending.for_each(|entry| entry.fail(&message));
            }
        };
        let rows = self.rows.get_or_insert_default();
        rows.replace(&names, new_rows);
        let changed = batch.iter_mut();
        for entry in changed.filter(|entry| !entry.differences.is_empty()) {
            let remaining = match rows.get(&entry.name) {
                Ok(None) if entry.is_unverifiable(&*self.provider) => {
                    let why = "is assumed to be set, because its provider does not return it";
                    ctx.log(Level::Info, format!("{} {why}", entry.report.reference));
                    Ok(Vec::new())
                }
                Ok(row) => {
                    let sides = entry.sides(row);
                    compare(self.schema, &mut *self.provider, ctx, &self.strict, sides).await
                }
                Err(message) => Err(message),
            };
            match remaining.map(Difference::remaining) {
                // A change that failed half-way may yet have taken effect.
                Ok(remaining) if entry.report.failed => entry.report.changed = remaining.is_empty(),
                Ok(remaining) if remaining.is_empty() => entry.mark_changed(),
                Ok(remaining) => {
                    let all: Vec<String> = remaining.iter().map(Difference::describe).collect();
                    let why = "the device accepted it without an error, but does not have it";
                    entry.fail(&format!("{why}: {}", all.join("; ")));
                }
                Err(message) => entry.fail(&message),
            }
        }
    }
}

/// Logs what a provider says that it has changed, if the device has it.
fn confirm(ctx: &Context<'_>, claims: &[Claim], batch: &[Entry]) {
    let changed = batch.iter().filter(|entry| entry.report.changed);
    let changed: HashSet<&str> = changed.map(|entry| entry.name.title()).collect();
    ctx.confirm(claims, |title| changed.contains(title));
}
