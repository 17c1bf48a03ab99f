//! What a command works with: the project, its inventory, the registry, and a voice.

use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use devgate_schemas::{Level, Sensitive};
use devgate_transports::Patience;

use super::{Global, Targets, When};
use crate::budget;
use crate::failure::Failure;
use crate::inventory::{
    Inventory, Listed, Overrides, Problem, Source, Target, default_file, read_device_conf,
};
use crate::output::Output;
use crate::plugins::Plugins;
use crate::project::Project;
use crate::registry::Registry;
use crate::results::counted;
use crate::session::{Claims, Pool};
use crate::tasks::Catalogue;
use crate::trust;
use crate::voice::Voice;

/// How many targets are worked on at once when nobody says, as in Bolt.
const CONCURRENCY: NonZeroUsize = NonZeroUsize::new(100).expect("it is not zero");

/// How many files a target may need at once: the pipes of a task, while it is started; the socket of
/// the session that it is lent, one client of it, and the session.
const FILES: usize = 10;

/// How many files are open whatever is worked on.
const OWN_FILES: usize = 20;

/// Whether nobody else could change what is run.
fn trusted(path: &Path) -> Result<(), Failure> {
    trust::check(path).map_err(|problem| Failure::new("devgate/untrusted", problem))
}

/// The surroundings of one command.
#[derive(Debug)]
pub(crate) struct Setting {
    inventoryfile: Option<PathBuf>,
    configured: Option<Sensitive<String>>,
    strict: bool,
    deviceconfig: Option<PathBuf>,
    pub(crate) project: Project,
    pub(crate) registry: Rc<Registry>,
    pub(crate) sessions: Pool,
    pub(crate) claims: Claims,
    /// How long each target is waited for that does not answer.
    pub(crate) patience: Duration,
    pub(crate) voice: Voice,
}

impl Setting {
    /// Finds the project, and composes the registry with its modules.
    ///
    /// # Errors
    /// What is wrong with the project's file or with a family.
    pub(crate) fn load(global: &Global, output: &Output) -> anyhow::Result<Self> {
        let current = std::env::current_dir()?;
        let environment = std::env::var_os("BOLT_PROJECT").map(PathBuf::from);
        let mut project = Project::find(global.project.clone(), environment, &current)?;
        let color = match (global.color(), project.color) {
            (When::Auto, Some(color)) => color,
            (color, _) => color,
        };
        output.colour(color);
        let voice = Voice::new(global, color);
        if let Some(modulepath) = &global.modulepath {
            project.modulepath = std::env::split_paths(modulepath).collect();
            for folder in project.modulepath.iter().filter(|path| !path.is_dir()) {
                let message = format!("--modulepath: {} is no folder", folder.display());
                voice.say(Level::Warning, &message);
            }
        }
        if let (None, Some(format)) = (global.format, project.format) {
            output.print_as(format);
        }
        for warning in &project.warnings {
            voice.say(Level::Warning, warning);
        }
        for place in project.places() {
            trusted(&place)?;
        }
        let registry = Registry::load(&project.modulepath, global.libdir.as_deref(), &voice)?;
        Ok(Self {
            inventoryfile: global.inventoryfile.clone(),
            configured: global.inventory.clone(),
            strict: global.strict,
            deviceconfig: global.deviceconfig.clone(),
            project,
            registry: Rc::new(registry),
            sessions: Pool::default(),
            claims: Claims::default(),
            patience: global.patience.unwrap_or(Patience::LIMIT),
            voice,
        })
    }

    /// Reads the inventory.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub(crate) async fn inventory(&self) -> anyhow::Result<Inventory> {
        let environment = std::env::var("BOLT_INVENTORY").ok();
        let default = self.project.inventory_file();
        let configured = self.configured.clone().map(Source::Configuration);
        let named = configured.or_else(|| self.inventoryfile.clone().map(Source::File));
        let source = Source::choose(named, environment, default)?;
        if let Source::File(path) | Source::Default(path) = &source
            && path.exists()
        {
            trusted(path)?;
        }
        let plugins = Rc::new(Plugins::new(&self.project));
        let mut inventory = Inventory::load(source, plugins, self.strict).await?;
        for warning in inventory.warnings() {
            self.voice.say(Level::Warning, &warning.to_string());
        }
        self.add_devices(&mut inventory)?;
        Ok(inventory)
    }

    /// Adds the devices of the `device.conf`. One that nobody has named stops nobody.
    fn add_devices(&self, inventory: &mut Inventory) -> anyhow::Result<()> {
        let Some(file) = self.device_file() else {
            return Ok(());
        };
        if file.exists() {
            trusted(&file)?;
        }
        let devices = match read_device_conf(&file, &self.registry) {
            Ok(devices) => devices,
            Err(message) if self.deviceconfig.is_some() => {
                bail!(Failure::new("devgate/invalid-device-conf", message))
            }
            Err(message) => {
                self.voice.say(Level::Warning, &message);
                return Ok(());
            }
        };
        for name in inventory.add_devices(devices) {
            let message = format!(
                "{name} is in the inventory and in {}: the inventory's counts",
                file.display()
            );
            self.voice.say(Level::Notice, &message);
        }
        Ok(())
    }

    /// The `device.conf`, where there is one.
    pub(crate) fn device_file(&self) -> Option<PathBuf> {
        self.deviceconfig.clone().or_else(default_file)
    }

    /// The targets that a command is for; where nobody names one, all devices of the `device.conf`.
    /// Nothing, where there is none either.
    ///
    /// # Errors
    /// What is wrong with the inventory or that file, or which name they do not know.
    pub(crate) async fn select_or_devices(
        &self,
        targets: &Targets,
    ) -> anyhow::Result<Option<Vec<Arc<Target>>>> {
        if !targets.targets.is_empty() {
            return self.select(targets).await.map(Some);
        }
        let Some(file) = self.device_file() else {
            return Ok(None);
        };
        let overrides = targets.overrides(None).await?;
        let inventory = self.inventory().await?;
        let names: Vec<String> = inventory.device_names().map(str::to_owned).collect();
        if names.is_empty() {
            let message = format!("No device found in {}", file.display());
            bail!(Failure::new("devgate/no-devices", message));
        }
        let devices = counted(names.len()).replace("target", "device");
        let message = format!("no --target: {devices} of {}", file.display());
        self.voice.say(Level::Notice, &message);
        self.choose_from(&inventory, &names, &overrides)
            .await
            .map(Some)
    }

    /// The name of the inventory, for programs.
    pub(crate) fn inventory_name(&self) -> String {
        if std::env::var_os("BOLT_INVENTORY").is_some() {
            return "BOLT_INVENTORY".to_owned();
        }
        let named = self.inventoryfile.clone();
        let path = named.unwrap_or_else(|| self.project.inventory_file());
        path.display().to_string()
    }

    /// The targets that a command is for.
    ///
    /// # Errors
    /// What is wrong with the inventory, which name it does not know, or that there are none.
    pub(crate) async fn select(&self, targets: &Targets) -> anyhow::Result<Vec<Arc<Target>>> {
        let overrides = targets.overrides(None).await?;
        let (inventory, words) = (self.inventory().await?, &targets.targets);
        let chosen = self.choose_from(&inventory, words, &overrides).await?;
        if chosen.is_empty() {
            self.nothing_to_do(targets.allow_empty, &no_target(&inventory, words))?;
        }
        Ok(chosen)
    }

    /// Says why there is nothing to do.
    ///
    /// # Errors
    /// That a command which does nothing has not succeeded, unless it may be so.
    pub(crate) fn nothing_to_do(&self, allowed: bool, why: &str) -> Result<(), Failure> {
        if allowed {
            let message = format!("{why}: nothing was done");
            self.voice.say(Level::Warning, &message);
            return Ok(());
        }
        let message = format!(
            "{why}: nothing was done; --allow-empty makes a success of a command that has nothing to do"
        );
        Err(Failure::new("devgate/no-targets", message))
    }

    /// The targets that words choose from an inventory, perhaps none.
    ///
    /// # Errors
    /// Which word it does not know.
    pub(crate) async fn choose_from(
        &self,
        inventory: &Inventory,
        words: &[String],
        overrides: &Overrides,
    ) -> anyhow::Result<Vec<Arc<Target>>> {
        let targets = inventory.select(words, overrides).await?;
        let chosen: HashSet<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        for (name, problems) in inventory.faults() {
            if !chosen.contains(name) {
                self.tell_left_out(problems);
            }
        }
        for target in &targets {
            for warning in &target.warnings {
                self.voice
                    .say(Level::Warning, &format!("{target}: {warning}"));
            }
            if let (Listed::No, Some(file)) = (target.listed, &self.deviceconfig) {
                let file = file.display();
                let message = format!("Target device / certificate '{target}' not found in {file}");
                self.voice.say(Level::Warning, &message);
            }
        }
        if targets.iter().any(|target| target.listed == Listed::No) {
            self.tell_missing(inventory);
        }
        Ok(targets)
    }

    /// Says that a target cannot be used: nobody may wonder why it is not among the others.
    pub(crate) fn tell_left_out(&self, problems: &[Problem]) {
        for problem in problems {
            let message = format!("left out: {problem}");
            self.voice.say(Level::Warning, &message);
        }
    }

    /// Says that there is no inventory, where somebody seems to expect one.
    pub(crate) fn tell_missing(&self, inventory: &Inventory) {
        if let Some(message) = missing(inventory) {
            self.voice.say(Level::Warning, &message);
        }
    }

    /// How many targets are to be worked on at once.
    pub(crate) fn wanted(&self, asked: Option<NonZeroUsize>) -> NonZeroUsize {
        asked.or(self.project.concurrency).unwrap_or(CONCURRENCY)
    }

    /// How many targets are worked on at once: no more than files can be open for.
    pub(crate) fn concurrency(&self, asked: Option<NonZeroUsize>) -> usize {
        let wanted = self.wanted(asked).get();
        let files = budget::files();
        let affordable = (files.saturating_sub(OWN_FILES) / FILES).max(1);
        if asked.is_some_and(|asked| asked.get() > affordable) {
            let message = format!(
                "only {affordable} targets are worked on at once: no more than {files} files may be \
                 open (`ulimit -n`)"
            );
            self.voice.say(Level::Warning, &message);
        }
        wanted.min(affordable)
    }

    /// The tasks of the module path.
    pub(crate) fn catalogue(&self) -> Catalogue {
        self.project.catalogue()
    }
}

/// Why these words choose no target.
pub(crate) fn no_target(inventory: &Inventory, words: &[String]) -> String {
    match (missing(inventory), words) {
        (Some(missing), _) => missing,
        (None, []) => "no target is named".to_owned(),
        (None, words) => format!("`{}` chooses no target", words.join(",")),
    }
}

/// That there is no inventory, and how to name one.
pub(super) fn missing(inventory: &Inventory) -> Option<String> {
    let path = inventory.missing()?.display();
    Some(format!(
        "there is no inventory: {path} is not there (name one with -i FILE, or its folder with \
         --project DIR)"
    ))
}
