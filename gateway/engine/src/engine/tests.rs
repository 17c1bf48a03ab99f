//! Many runs in one process: what they share, and what each has for itself.

mod counter;
mod many;
mod own;
mod shared;

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use devgate_core::cancel::Reason;
use devgate_core::events::{self, Event, Received};
use devgate_core::failure::Failure;
use devgate_core::results::{Action, TargetResult};
use devgate_transports::{Context, Line, Transport};
use futures_util::FutureExt;
use nix::sys::signal::Signal;
use serde_json::json;

use super::{Engine, EngineConfig, RunLimits};
use crate::inventory::{Inventory, Overrides, Target};
use crate::plugins::Plugins;
use crate::project::Project;
use crate::registry::Registry;
use crate::run::{Run, TargetJob};
use crate::session::{self, SessionAccess, Sessions};
use counter::{Counters, Factory};

const ACTION: Action = Action::new("test");

/// An engine, and the devices that it can reach.
struct Bench {
    engine: Rc<Engine>,
    registry: Rc<Registry>,
    inventory: Rc<Inventory>,
    counters: Arc<Counters>,
}

impl Bench {
    /// Creates a bench with this many devices: `d0` and so on.
    fn new(devices: usize, counters: Counters) -> Self {
        let mut text =
            "version: 2\nconfig: {transport: remote, remote: {remote-transport: counter}}\n\
                        targets:\n"
                .to_owned();
        for number in 0..devices {
            let _ = writeln!(
                text,
                "- {{name: d{number}, config: {{remote: {{host: h{number}}}}}}}"
            );
        }
        text.push_str("- {name: proxy, config: {transport: local, local: {concurrency: 1}}}\n");
        Self::with_inventory(&text, counters)
    }

    fn with_inventory(text: &str, counters: Counters) -> Self {
        let log = events::silence();
        let mut registry = Registry::load(&[], None, &log).expect("a registry");
        let counters = Arc::new(counters);
        registry.add_transport(Arc::new(Factory(Arc::clone(&counters))));
        Self {
            engine: Engine::new(EngineConfig::for_tests(Duration::ZERO)),
            registry: Rc::new(registry),
            inventory: inventory(text),
            counters,
        }
    }

    fn targets(&self, words: &[&str]) -> Vec<Arc<Target>> {
        let words: Vec<_> = words.iter().map(|word| (*word).to_owned()).collect();
        let overrides = Overrides::default();
        let selected = self.inventory.select(&words, &overrides).now_or_never();
        let selected = selected.expect("there is nothing to wait for");
        selected.unwrap_or_else(|error| panic!("{error}"))
    }

    fn begin(&self, limits: RunLimits) -> Run {
        self.engine.begin(&self.registry, limits)
    }

    fn begin_sequential(&self) -> Run {
        self.begin(RunLimits {
            concurrency: NonZeroUsize::MIN,
            ..RunLimits::default()
        })
    }
}

/// Reads an inventory without plugins.
fn inventory(text: &str) -> Rc<Inventory> {
    let folder = tempfile::tempdir().expect("a folder");
    let project = Project::find(Some(folder.path().to_owned()), None, folder.path());
    let plugins = Rc::new(Plugins::new(
        &project.expect("a project"),
        Arc::default(),
        None,
    ));
    let inventory = Inventory::parse("inventory.yaml", text, plugins, true).now_or_never();
    let inventory = inventory.expect("there is nothing to wait for");
    Rc::new(inventory.unwrap_or_else(|error| panic!("{error}")))
}

/// Performs `work` in a session that goes through no proxy.
async fn with_session<T>(
    run: &Run,
    job: &TargetJob<'_>,
    access: SessionAccess,
    work: impl AsyncFnOnce(&Context<'_>, &dyn Transport) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let without_proxies = inventory("version: 2\n");
    let in_session =
        async |sessions: Sessions<'_, '_>| session::with_session(sessions, job, access, work).await;
    run.with_sessions(&without_proxies, in_session).await
}

/// Sends a line to the device of a job.
async fn type_line(run: &Run, job: &TargetJob<'_>, line: &str) -> Result<TargetResult, Failure> {
    let lines = [Line::new(line)];
    with_session(run, job, SessionAccess::Write, async |ctx, _| {
        let command_line = ctx.command_line().expect("it has one");
        Ok(command_line.configure(ctx, &lines).await?)
    })
    .await?;
    Ok(TargetResult::success(json!({})))
}

/// Returns all events of a run whose follower has been there from the beginning.
fn all_events(follower: &mut events::Follower) -> Vec<Arc<Event>> {
    std::iter::from_fn(|| follower.try_next())
        .map(|received| match received {
            Received::Event(_, event) => event,
            Received::Missed(missed) => panic!("{missed} events are missing"),
        })
        .collect()
}

fn interrupted() -> Reason {
    Reason::Signal(Signal::SIGINT)
}
