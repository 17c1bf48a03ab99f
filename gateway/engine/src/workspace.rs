//! The workspace of runs: a project, the transports and types of its modules, and its inventory.
//!
//! It is created from explicit settings. Reading the environment, the current folder and the command line is the task
//! of a front end. When its files change, the workspace is loaded again as its next generation. A run keeps the
//! generation with which it began.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use devgate_core::failure::Failure;
use devgate_core::redactor::{Sink, log_line};
use devgate_core::trust;
use devgate_schemas::Level;
use devgate_transports::Environment;
use tokio::sync::OnceCell;

use crate::inventory::{
    Inventory, InventoryProblem, InventorySource, Listed, Overrides, Target, TransportOptions,
    read_device_conf,
};
use crate::plugins::{Plugins, SecretPrompt, unknown_configs};
use crate::project::Project;
use crate::registry::Registry;
use crate::tasks::Catalogue;

/// The settings of a workspace.
#[derive(Clone, Debug)]
pub struct WorkspaceSettings {
    /// The project.
    pub project: Project,
    /// The folders of modules, which override those of the project.
    pub modulepath: Option<Vec<PathBuf>>,
    /// The folder in which Ruby searches before the modules.
    pub libdir: Option<PathBuf>,
    /// The inventory that is named explicitly.
    pub inventory: Option<InventorySource>,
    /// The inventory in `BOLT_INVENTORY`.
    pub inventory_variable: Option<InventorySource>,
    /// The `device.conf`, if there is one.
    pub devices: Option<DeviceFile>,
    /// Whether an inventory with an invalid target is refused.
    pub strict: bool,
    /// The environment of plugins.
    pub environment: Arc<Environment>,
    /// The prompt by which plugins ask for a secret.
    pub secret_prompt: Option<Arc<dyn SecretPrompt>>,
}

/// A `device.conf`.
#[derive(Clone, Debug)]
pub struct DeviceFile {
    /// The path.
    pub path: PathBuf,
    /// Whether it is named explicitly, so that it must be valid.
    pub is_explicit: bool,
}

/// A project, its registry and its inventory.
#[derive(Debug)]
pub struct Workspace {
    settings: WorkspaceSettings,
    /// How often the workspace was loaded before.
    generation: u64,
    /// The inventory, loaded when it is first needed.
    inventory: OnceCell<Rc<Inventory>>,
    /// The transports and types, including those of modules.
    pub registry: Rc<Registry>,
    log: Arc<dyn Sink>,
}

/// Selected targets, with their inventory.
#[derive(Clone)]
pub struct SelectedTargets {
    /// The inventory of the targets.
    pub inventory: Rc<Inventory>,
    /// The targets.
    pub targets: Vec<Arc<Target>>,
}

impl fmt::Debug for SelectedTargets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.targets.iter().map(|target| &target.name))
            .finish()
    }
}

/// Checks that no other user could change the files that are run.
fn check_trust(path: &Path) -> Result<(), Failure> {
    trust::check(path).map_err(|problem| Failure::new("devgate/untrusted", problem))
}

impl Workspace {
    /// Loads the project's modules into a registry.
    ///
    /// # Errors
    /// Fails when another user could change the files that are run, or when two modules define the same family.
    pub fn load(settings: WorkspaceSettings, log: Arc<dyn Sink>) -> Result<Self, Failure> {
        Self::generation(0, settings, log)
    }

    fn generation(
        generation: u64,
        mut settings: WorkspaceSettings,
        log: Arc<dyn Sink>,
    ) -> Result<Self, Failure> {
        let project = &mut settings.project;
        if let Some(modulepath) = &settings.modulepath {
            project.modulepath.clone_from(modulepath);
        }
        for warning in &project.warnings {
            log_line(&*log, Level::Warning, warning.clone());
        }
        if !project.plugins.is_empty() {
            for warning in unknown_configs(project, &project.catalogue()) {
                log_line(&*log, Level::Warning, warning);
            }
        }
        for path in project.existing_paths() {
            check_trust(&path)?;
        }
        let registry = Registry::load(&project.modulepath, settings.libdir.as_deref(), &log)?;
        Ok(Self {
            settings,
            generation,
            inventory: OnceCell::new(),
            registry: Rc::new(registry),
            log,
        })
    }

    /// Returns the project.
    pub fn project(&self) -> &Project {
        &self.settings.project
    }

    /// Returns the tasks of the module path.
    pub fn catalogue(&self) -> Catalogue {
        self.project().catalogue()
    }

    /// Returns the path of the `device.conf`, if there is one.
    pub fn device_file(&self) -> Option<&Path> {
        Some(&self.settings.devices.as_ref()?.path)
    }

    /// Returns the name of the inventory, for programs.
    pub fn inventory_name(&self) -> String {
        match (&self.settings.inventory_variable, &self.settings.inventory) {
            (Some(_), _) => "BOLT_INVENTORY".to_owned(),
            (None, Some(InventorySource::File(path))) => path.display().to_string(),
            (None, _) => self.project().inventory_file().display().to_string(),
        }
    }

    /// Returns the generation: how often the workspace was loaded before.
    pub fn generation_number(&self) -> u64 {
        self.generation
    }

    /// Loads the next generation from the current files of the project, its modules and its inventory.
    ///
    /// # Errors
    /// Fails when a file is invalid. This generation can still be used.
    pub async fn next(&self) -> Result<Self, Failure> {
        let root = self.project().root.clone();
        let settings = WorkspaceSettings {
            project: Project::find(Some(root.clone()), None, &root)?,
            ..self.settings.clone()
        };
        let next = Self::generation(self.generation + 1, settings, Arc::clone(&self.log))?;
        // An invalid inventory must fail before the generation is used.
        next.inventory().await?;
        Ok(next)
    }

    /// Returns the inventory, which is loaded once.
    ///
    /// # Errors
    /// Fails with all problems of the inventory.
    pub async fn inventory(&self) -> Result<Rc<Inventory>, Failure> {
        let inventory = self.inventory.get_or_try_init(|| self.read()).await?;
        Ok(Rc::clone(inventory))
    }

    async fn read(&self) -> Result<Rc<Inventory>, Failure> {
        let WorkspaceSettings {
            project,
            inventory,
            inventory_variable,
            strict,
            environment,
            secret_prompt,
            ..
        } = &self.settings;
        let default = project.inventory_file();
        let source =
            InventorySource::choose(inventory.clone(), inventory_variable.clone(), default)?;
        if let InventorySource::File(path) | InventorySource::Default(path) = &source
            && path.exists()
        {
            check_trust(path)?;
        }
        let plugins = Rc::new(Plugins::new(
            project,
            Arc::clone(environment),
            secret_prompt.clone(),
        ));
        let mut inventory = Inventory::load(source, plugins, *strict).await?;
        for warning in inventory.warnings() {
            self.warn(warning.to_string());
        }
        self.add_devices(&mut inventory)?;
        Ok(Rc::new(inventory))
    }

    /// Adds the devices of the `device.conf`. A problem with a file that is not named explicitly is only reported.
    fn add_devices(&self, inventory: &mut Inventory) -> Result<(), Failure> {
        let Some(DeviceFile { path, is_explicit }) = &self.settings.devices else {
            return Ok(());
        };
        if path.exists() {
            check_trust(path)?;
        }
        let transports: Rc<dyn TransportOptions> = Rc::<Registry>::clone(&self.registry);
        let devices = match read_device_conf(path, &transports) {
            Ok(devices) => devices,
            Err(message) if *is_explicit => {
                return Err(Failure::new("devgate/invalid-device-conf", message));
            }
            Err(message) => {
                self.warn(message);
                return Ok(());
            }
        };
        for name in inventory.add_devices(devices) {
            let message = format!(
                "{name} is in the inventory and in {}: the entry of the inventory is used",
                path.display()
            );
            log_line(&*self.log, Level::Notice, message);
        }
        Ok(())
    }

    /// Selects targets of an inventory by words. The selection may be empty.
    ///
    /// # Errors
    /// Fails when a word is unknown.
    pub async fn select(
        &self,
        inventory: Rc<Inventory>,
        patterns: &[String],
        overrides: &Overrides,
    ) -> Result<SelectedTargets, Failure> {
        let targets = inventory.select(patterns, overrides).await?;
        let selected: HashSet<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        for (name, problems) in inventory.faults() {
            if !selected.contains(name) {
                self.report_left_out(problems);
            }
        }
        let explicit = self
            .settings
            .devices
            .as_ref()
            .filter(|file| file.is_explicit);
        for target in &targets {
            for warning in &target.warnings {
                self.warn(format!("{target}: {warning}"));
            }
            if let (Listed::No, Some(file)) = (target.listed, explicit) {
                let file = file.path.display();
                self.warn(format!(
                    "Target device / certificate '{target}' not found in {file}"
                ));
            }
        }
        if targets.iter().any(|target| target.listed == Listed::No) {
            self.report_missing(&inventory);
        }
        Ok(SelectedTargets { inventory, targets })
    }

    /// Reports targets that are left out, and why.
    pub(crate) fn report_left_out(&self, problems: &[InventoryProblem]) {
        for problem in problems {
            self.warn(format!("left out: {problem}"));
        }
    }

    /// Reports that there is no inventory, if one was probably expected.
    pub fn report_missing(&self, inventory: &Inventory) {
        if let Some(message) = missing(inventory) {
            self.warn(message);
        }
    }

    fn warn(&self, message: String) {
        log_line(&*self.log, Level::Warning, message);
    }
}

/// Returns why these words select no target.
pub fn no_target(inventory: &Inventory, patterns: &[String]) -> String {
    if inventory.missing().is_none() && inventory.members("all").is_none_or(|all| all.is_empty()) {
        return "the inventory has no targets".to_owned();
    }
    match (missing(inventory), patterns) {
        (Some(missing), _) => missing,
        (None, []) => "no target is named".to_owned(),
        (None, patterns) => format!("`{}` selects no target", patterns.join(",")),
    }
}

/// Returns the message that there is no inventory and how to name one, if the project's file does not exist.
pub fn missing(inventory: &Inventory) -> Option<String> {
    let path = inventory.missing()?.display();
    Some(format!(
        "there is no inventory: {path} does not exist (name one with -i FILE, or its folder with --project DIR)"
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use devgate_core::events::silence;
    use futures_util::FutureExt;

    use super::*;

    fn explicit(names: &[&str]) -> String {
        let names: Vec<String> = names.iter().map(|name| format!("- {name}\n")).collect();
        format!("version: 2\ntargets:\n{}", names.concat())
    }

    async fn all(workspace: &Workspace) -> Vec<String> {
        let inventory = workspace.inventory().await.expect("it is sound");
        let patterns = ["all".to_owned()];
        let selected = workspace
            .select(inventory, &patterns, &Overrides::default())
            .await;
        let targets = selected.expect("a group").targets;
        targets.iter().map(|target| target.name.clone()).collect()
    }

    #[test]
    fn what_was_begun_with_stays_while_a_workspace_is_loaded_again() -> Result<(), Failure> {
        let folder = tempfile::tempdir()?;
        let inventory = folder.path().join("inventory.yaml");
        fs::write(&inventory, explicit(&["r1"]))?;
        let settings = WorkspaceSettings {
            project: Project::find(Some(folder.path().to_owned()), None, folder.path())?,
            modulepath: None,
            libdir: None,
            inventory: None,
            inventory_variable: None,
            devices: None,
            strict: false,
            environment: Arc::default(),
            secret_prompt: None,
        };
        let first = Workspace::load(settings, silence())?;
        let names = |workspace: &Workspace| {
            let names = all(workspace).now_or_never();
            names.expect("there is nothing to wait for")
        };
        assert_eq!(
            (first.generation_number(), names(&first)),
            (0, vec!["r1".to_owned()])
        );
        fs::write(&inventory, explicit(&["r1", "r2"]))?;
        // Also a module of the next generation.
        let task = folder.path().join("modules/m/tasks/t.sh");
        fs::create_dir_all(task.parent().expect("a folder"))?;
        fs::write(&task, "#!/bin/sh\n")?;
        let next = first
            .next()
            .now_or_never()
            .expect("there is nothing to wait for")?;
        assert_eq!(next.generation_number(), 1);
        assert_eq!(names(&next), ["r1", "r2"]);
        assert_eq!(names(&first), ["r1"]);
        assert_eq!(next.catalogue().names(), ["m::t"]);
        // An invalid generation does not replace the current one.
        fs::write(&inventory, "version: 3\n")?;
        let wrong = next
            .next()
            .now_or_never()
            .expect("there is nothing to wait for");
        assert!(wrong.is_err_and(|error| error.to_string().contains("version")));
        assert_eq!(names(&next), ["r1", "r2"]);
        Ok(())
    }
}
