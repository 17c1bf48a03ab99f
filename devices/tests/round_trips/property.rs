//! What must hold of every type: what was rendered and applied is read again, and nothing else has changed.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::pin::pin;
use std::task::{Poll, Waker};

use devgate_devices::{
    Change, CurrentState, InSync, Provider, ResourceFilter, ResourceType, SecretVisibility,
};
use devgate_schemas::{Behaviour, Compare, Hash, Name, NullSink, Resource, Value};
use devgate_transports::{Context, RetryBudget};
use serde_json::{Map, Value as Json};

use crate::hints::{Hints, Sample};
use crate::random::Random;
use crate::session::{Session, Simulator};

/// One type on one kind of simulator.
pub(crate) struct RoundTrips<'t> {
    pub(crate) kind: &'t dyn ResourceType,
    pub(crate) hints: &'t Hints,
    pub(crate) seed: u64,
}

/// What went wrong in a try, with what was done before.
pub(crate) struct Failure {
    pub(crate) problem: String,
    pub(crate) story: String,
}

/// A device with the resources that were made on it.
struct Device<S> {
    session: Session<S>,
    provider: Box<dyn Provider>,
    /// What was read last, until something is changed.
    rows: Option<Vec<Resource>>,
    story: Vec<Step>,
}

/// Something that was done, for the story of a failure.
enum Step {
    Change(Option<Resource>, Option<Resource>),
    Lines(Vec<String>),
}

/// A desired resource.
struct Desired {
    name: Name,
    resource: Resource,
}

type Outcome<T> = Result<T, String>;

impl RoundTrips<'_> {
    /// Makes one random resource, on an empty device and on a full one.
    pub(crate) fn attempt<S: Simulator>(&self, number: usize) -> Vec<Failure> {
        let mut random = Random::of(self.seed, self.kind.schema().name(), number);
        let sample = self.hints.sample(self.kind.schema(), None, &mut random);
        let former = self
            .hints
            .sample(self.kind.schema(), Some(&sample), &mut random);
        let others: Vec<Sample> = if self.hints.alone.is_some() {
            Vec::new()
        } else {
            let count = 1 + random.below(2);
            let other = |_| self.hints.sample(self.kind.schema(), None, &mut random);
            (0..count).map(other).collect()
        };
        let mut failures = Vec::new();
        for before in [Vec::new(), [others, vec![former]].concat()] {
            let mut device = Device::<S> {
                session: Session(S::default()),
                provider: self.kind.provider(),
                rows: None,
                story: Vec::new(),
            };
            if let Err(problem) = self.trip(&mut device, before, &sample) {
                let story = device.told();
                failures.push(Failure { problem, story });
            }
        }
        failures
    }

    /// Makes the resources that are there before, and then the resource itself, which is also removed.
    fn trip<S: Simulator>(
        &self,
        device: &mut Device<S>,
        before: Vec<Sample>,
        sample: &Sample,
    ) -> Outcome<()> {
        let desired = self.desired(&sample.attributes)?;
        let (mut names, last) = (HashSet::new(), before.len());
        for (number, sample) in (1..).zip(before) {
            let other = self.desired(&sample.attributes)?;
            // The last one is the resource itself, as it was.
            let is_other = other.name != desired.name || number == last;
            if is_other && names.insert(other.name.clone()) {
                self.apply(device, &other)?;
            }
        }
        self.apply(device, &desired)?;
        let title = desired.name.title();
        let stays = self
            .hints
            .stays
            .keys()
            .any(|begin| title.starts_with(begin));
        if stays || !self.kind.schema().is_ensurable() {
            return Ok(());
        }
        let rows = device.read()?;
        let is = row(&rows, &desired.name).ok_or("it is not there any more")?;
        self.send(device, &desired.name, Some(is), None)?;
        let left = device.read()?;
        if row(&left, &desired.name).is_some() {
            return Err("it was deleted, and is still there".to_owned());
        }
        self.others_stay(&rows, &left, &desired.name)
    }

    /// Brings a resource to its desired state, and reads the device again.
    fn apply<S: Simulator>(&self, device: &mut Device<S>, desired: &Desired) -> Outcome<()> {
        let rows = device.read()?;
        let is = row(&rows, &desired.name);
        let step = Step::Change(is.cloned(), Some(desired.resource.clone()));
        device.story.push(step);
        if is.is_some() && self.differences(device, is, desired).is_empty() {
            return Ok(());
        }
        self.send(
            device,
            &desired.name,
            is.cloned().as_ref(),
            Some(&desired.resource),
        )?;
        let after = device.read()?;
        let now = row(&after, &desired.name);
        if now.is_none() && self.kind.schema().is_ensurable() {
            return Err("it was created, and is not there".to_owned());
        }
        let differences = self.differences(device, now, desired);
        if !differences.is_empty() {
            return Err(differences.join("; "));
        }
        self.others_stay(&rows, &after, &desired.name)?;
        if let (Some(is), Some(now)) = (is, now) {
            self.rest_stays(is, now, &desired.resource)?;
        }
        // Rendered again, it changes nothing.
        self.send(
            device,
            &desired.name,
            now.cloned().as_ref(),
            Some(&desired.resource),
        )?;
        if device.read()? != after {
            return Err("the second change is not without effect".to_owned());
        }
        Ok(())
    }

    fn send<S: Simulator>(
        &self,
        device: &mut Device<S>,
        name: &Name,
        is: Option<&Resource>,
        should: Option<&Resource>,
    ) -> Outcome<()> {
        let change = Change {
            is: is
                .cloned()
                .map_or(CurrentState::Absent, CurrentState::Present),
            should: should.cloned(),
        };
        let lines = self
            .kind
            .render(name, &change, None, SecretVisibility::InClear);
        let lines = lines.map_err(|error| format!("it cannot be rendered: {error}"))?;
        let before = device.session.0.clone();
        let applied = device.session.0.apply(&lines);
        device.story.push(Step::Lines(lines));
        applied?;
        if device.session.0 != before {
            device.rows = None;
        }
        Ok(())
    }

    /// Checks and completes a sample, as the resources of a manifest are.
    fn desired(&self, attributes: &Map<String, Json>) -> Outcome<Desired> {
        let given: Hash = attributes
            .iter()
            .map(|(name, value)| (name.clone(), Value::from(value.clone())))
            .collect();
        let desired = self.kind.schema().desire(None, given);
        let (name, mut resource) = desired.map_err(|error| format!("{attributes:?}: {error}"))?;
        if let Some(problem) = self.kind.canonical(&mut resource).into_iter().next() {
            return Err(problem.message);
        }
        let name = Name::new(name.title(), self.kind.schema().namevars_of(&resource));
        let checked = self.kind.check(&name, &resource);
        checked.map_err(|error| format!("{attributes:?}: {error}"))?;
        Ok(Desired { name, resource })
    }

    /// Returns the attributes that are not in sync, by the type's own rules.
    fn differences<S: Simulator>(
        &self,
        device: &mut Device<S>,
        is: Option<&Resource>,
        desired: &Desired,
    ) -> Vec<String> {
        let mut differences = Vec::new();
        let none = Resource::new();
        let is = is.unwrap_or(&none);
        for (name, should) in desired.resource.iter() {
            let attribute = &self.kind.schema().attributes()[name];
            let is_compared = matches!(
                attribute.behaviour,
                Behaviour::Property | Behaviour::InitOnly
            );
            let is_unread =
                attribute.compare == Compare::Never || self.hints.unread.contains_key(name);
            if !is_compared || is_unread || name == "ensure" {
                continue;
            }
            let verdict = device.in_sync(&desired.name, name, is, &desired.resource);
            let is_equal = match verdict {
                InSync::Yes => true,
                InSync::No { .. } => false,
                InSync::ByValue => is.get(name) == Some(should),
            };
            if !is_equal {
                let was = is.get(name).map(Value::reveal_json);
                let was = was.map_or_else(|| "nothing".to_owned(), |was| was.to_string());
                differences.push(format!(
                    "`{name}` is {was} and not {}",
                    should.reveal_json()
                ));
            }
        }
        differences
    }

    /// Checks that attributes that were not mentioned are as they were.
    fn rest_stays(&self, was: &Resource, now: &Resource, should: &Resource) -> Outcome<()> {
        for name in self.kind.schema().attributes().keys() {
            let is_open = should.get(name).is_none_or(Value::is_undef);
            // Whether a line is missing may not be known before there are others like it.
            let is_known =
                was.get(name).is_some() || now.get(name).and_then(Value::as_bool).is_none();
            let may_move = !is_known || self.hints.moves.contains_key(name);
            if is_open && was.get(name) != now.get(name) && !may_move {
                return Err(format!(
                    "`{name}` is not mentioned and was changed from {} to {}",
                    was.get(name).map_or(Json::Null, Value::reveal_json),
                    now.get(name).map_or(Json::Null, Value::reveal_json)
                ));
            }
        }
        Ok(())
    }

    /// Checks that the other resources are as they were.
    fn others_stay(&self, was: &[Resource], now: &[Resource], name: &Name) -> Outcome<()> {
        let others = |rows: &[Resource]| -> Vec<Resource> {
            let others = rows.iter().filter(|row| !name.names(row));
            others.cloned().collect()
        };
        let (was, now) = (others(was), others(now));
        let gone = was.iter().find(|row| !now.contains(row));
        let new = now.iter().find(|row| !was.contains(row));
        match (gone, new) {
            (None, None) => Ok(()),
            (gone, new) => Err(format!(
                "another resource was changed: from {} to {}",
                shown(gone),
                shown(new)
            )),
        }
    }
}

impl<S: Simulator> Device<S> {
    fn read(&mut self) -> Outcome<Vec<Resource>> {
        if let Some(rows) = &self.rows {
            return Ok(rows.clone());
        }
        let retry_budget = RetryBudget::new();
        let ctx = Context::new("simulator", &NullSink, &retry_budget);
        let ctx = ctx.with_transport(&self.session);
        let rows = ready(self.provider.get(&ctx, ResourceFilter::All));
        let rows = rows.map_err(|error| format!("it cannot be read: {error}"))?;
        self.rows = Some(rows.clone());
        Ok(rows)
    }

    /// What was done, and what the device holds.
    fn told(&self) -> String {
        let mut story = String::new();
        for step in &self.story {
            let _ = match step {
                Step::Change(is, should) => {
                    let (is, should) = (shown(is.as_ref()), shown(should.as_ref()));
                    writeln!(story, "is     {is}\nshould {should}")
                }
                Step::Lines(lines) => writeln!(story, "  {}", lines.join("\n  ")),
            };
        }
        let _ = writeln!(story, "device: {:#?}", self.session.0);
        story
    }

    fn in_sync(&mut self, name: &Name, property: &str, is: &Resource, should: &Resource) -> InSync {
        let retry_budget = RetryBudget::new();
        let ctx = Context::new("simulator", &NullSink, &retry_budget);
        let verdict = ready(self.provider.insync(&ctx, name, property, is, should));
        verdict.expect("declared types can always tell")
    }
}

/// The resource with a name that is present.
fn row<'r>(rows: &'r [Resource], name: &Name) -> Option<&'r Resource> {
    rows.iter().find(|row| name.names(row) && row.is_present())
}

fn shown(resource: Option<&Resource>) -> String {
    let Some(resource) = resource else {
        return "nothing".to_owned();
    };
    let pairs = resource.iter();
    let pairs = pairs.map(|(name, value)| (name.to_owned(), value.reveal_json()));
    Json::Object(pairs.collect()).to_string()
}

/// The result of something that never waits.
fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(Waker::noop());
    match pin!(future).as_mut().poll(&mut context) {
        Poll::Ready(result) => result,
        Poll::Pending => unreachable!("a simulator answers at once"),
    }
}
