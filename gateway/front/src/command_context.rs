//! The context of a command: the workspace, an engine and a logger.

use std::ffi::OsStr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use devgate_core::budget;
use devgate_core::failure::Failure;
use devgate_core::redactor::Sink;
use devgate_engine::engine::{
    self, Engine, EngineConfig, Principal, RunHandle, RunLimits, RunRequest,
};
use devgate_engine::inventory::{Inventory, InventorySource, Overrides, default_file};
use devgate_engine::operations::{self, Operation};
use devgate_engine::project::Project;
use devgate_engine::run::Run;
use devgate_engine::store::FileStore;
use devgate_engine::workspace::{DeviceFile, SelectedTargets, Workspace, WorkspaceSettings};
use devgate_schemas::Level;
use devgate_transports::{Environment, RetryBudget};
use futures_util::FutureExt;
use nix::unistd::Uid;

use crate::logger::Logger;
use crate::options::{ColorWhen, GlobalOptions};
use crate::printer::Printer;
use crate::prompt::TerminalPrompt;
use crate::signals::{self, or_interrupted};

/// The context of one command.
#[derive(Debug)]
pub struct CommandContext {
    /// The project, its modules and its inventory.
    pub workspace: Workspace,
    /// What runs it.
    pub engine: Rc<Engine>,
    /// The environment of this process.
    pub environment: Arc<Environment>,
    /// How long to retry each target that does not answer.
    retry_budget: Duration,
    /// The logger for messages.
    pub logger: Logger,
}

impl CommandContext {
    /// Finds the project, and builds the registry from its modules.
    ///
    /// # Errors
    /// What is wrong with the project's file or with a family.
    pub fn load(global: &GlobalOptions, printer: &Printer) -> Result<Self, Failure> {
        let current = std::env::current_dir()?;
        let environment = Environment::of_process();
        let named = environment.variable("BOLT_PROJECT").map(PathBuf::from);
        let project = Project::find(global.project.clone(), named, &current)?;
        let environment = Arc::new(environment.with_folder(project.root.clone()));
        let color = match (global.color(), project.color) {
            (ColorWhen::Auto, Some(false)) => ColorWhen::Never,
            (color, _) => color,
        };
        printer.set_color(color);
        let logger = Logger::new(global, color, printer.queue());
        let modulepath = global.modulepath.as_deref().map(std::env::split_paths);
        let modulepath: Option<Vec<PathBuf>> = modulepath.map(Iterator::collect);
        if let Some(modulepath) = &modulepath {
            for folder in modulepath.iter().filter(|path| !path.is_dir()) {
                let message = format!("--modulepath: {} is not a folder", folder.display());
                logger.log(Level::Warning, &message);
            }
        }
        if let (None, Some(format)) = (global.format(), project.format) {
            printer.set_format(format);
        }
        let configured = global.inventory.clone().map(InventorySource::Configuration);
        let named = || global.inventoryfile.clone().map(InventorySource::File);
        let variable = environment
            .variable("BOLT_INVENTORY")
            .and_then(OsStr::to_str);
        let devices = global.deviceconfig.clone().map(|path| (path, true));
        let devices = devices.or_else(|| Some((default_file(&environment)?, false)));
        let settings = WorkspaceSettings {
            project,
            modulepath,
            libdir: global.libdir.clone(),
            inventory: configured.or_else(named),
            inventory_variable: variable.map(|text| InventorySource::Environment(text.to_owned())),
            devices: devices.map(|(path, is_explicit)| DeviceFile { path, is_explicit }),
            strict: global.strict,
            environment: Arc::clone(&environment),
            secret_prompt: Some(Arc::new(TerminalPrompt)),
        };
        let log: Arc<dyn Sink> = Arc::new(logger.clone());
        Ok(Self {
            workspace: Workspace::load(settings, Arc::clone(&log))?,
            engine: Engine::new(EngineConfig {
                log,
                // Nobody comes after this command.
                idle: Duration::ZERO,
                store: Arc::new(FileStore::new(Arc::clone(&environment))),
                environment: Arc::clone(&environment),
                cancel_reason: || signals::stop_signal().map(signals::reason),
            }),
            environment,
            retry_budget: global.retry_budget.unwrap_or(RetryBudget::LIMIT),
            logger,
        })
    }

    /// Reads the inventory. A signal interrupts this.
    ///
    /// # Errors
    /// All errors in the inventory.
    pub async fn inventory(&self) -> Result<Rc<Inventory>, Failure> {
        or_interrupted(self.workspace.inventory()).await
    }

    /// Reads the metadata of a family's programs. A signal interrupts this.
    ///
    /// # Errors
    /// That one came.
    pub async fn read_schema(&self, family: &str) -> Result<(), Failure> {
        or_interrupted(self.workspace.registry.load_descriptions([family]).map(Ok)).await
    }

    /// Reads the metadata of every family's programs.
    ///
    /// # Errors
    /// That a signal came.
    pub async fn read_all_schemas(&self) -> Result<(), Failure> {
        or_interrupted(self.workspace.registry.load_all_descriptions().map(Ok)).await
    }

    /// Selects targets from an inventory, perhaps none. A signal interrupts this.
    ///
    /// # Errors
    /// Which word it does not know.
    pub async fn choose(
        &self,
        inventory: Rc<Inventory>,
        words: &[String],
        overrides: &Overrides,
    ) -> Result<SelectedTargets, Failure> {
        or_interrupted(self.workspace.select(inventory, words, overrides)).await
    }

    /// Logs why there is nothing to do.
    ///
    /// # Errors
    /// The command has nothing to do, and this is not allowed.
    pub fn nothing_to_do(&self, allowed: bool, why: &str) -> Result<(), Failure> {
        operations::nothing_to_do(&self.logger, allowed, why)
    }

    /// Begins a run. The concurrency is the given one, else that of the project, else the default.
    pub fn begin(&self, concurrency: Option<NonZeroUsize>) -> Run {
        let limits = self.limits(concurrency);
        self.engine.begin(&self.workspace.registry, limits)
    }

    /// Submits an operation on targets to the engine, with the same concurrency as [`begin`](Self::begin).
    ///
    /// # Errors
    /// Why the engine does not accept it.
    pub fn submit(
        &self,
        chosen: SelectedTargets,
        concurrency: Option<NonZeroUsize>,
        operation: Operation,
    ) -> Result<RunHandle, Failure> {
        self.engine.submit(RunRequest {
            principal: Principal(format!("uid {}", Uid::current())),
            key: None,
            registry: Rc::clone(&self.workspace.registry),
            selected: chosen,
            operation,
            limits: self.limits(concurrency),
        })
    }

    fn limits(&self, concurrency: Option<NonZeroUsize>) -> RunLimits {
        RunLimits {
            concurrency: self.concurrency(concurrency),
            retry_budget: self.retry_budget,
            min_level: self.logger.min_level(),
            ..RunLimits::default()
        }
    }

    /// The concurrency: the maximum number of targets at once.
    pub fn requested_concurrency(&self, requested: Option<NonZeroUsize>) -> NonZeroUsize {
        let usual = self.workspace.project().concurrency;
        requested.or(usual).unwrap_or(engine::CONCURRENCY)
    }

    /// The same. Logs a warning if the requested concurrency is not possible.
    fn concurrency(&self, requested: Option<NonZeroUsize>) -> NonZeroUsize {
        let affordable = engine::max_targets();
        if requested.is_some_and(|requested| requested.get() > affordable) {
            let files = budget::files();
            let message = format!(
                "running on only {affordable} targets at once, because the limit is {files} open files (`ulimit -n`)"
            );
            self.logger.log(Level::Warning, &message);
        }
        let affordable = NonZeroUsize::new(affordable).unwrap_or(NonZeroUsize::MIN);
        self.requested_concurrency(requested).min(affordable)
    }
}
