//! Names in the current project, read from its files only.

use std::cell::OnceCell;
use std::path::PathBuf;

use devgate_core::events;
use devgate_engine::inventory::{default_file, names_in};
use devgate_engine::project::Project;
use devgate_engine::registry::Registry;
use devgate_transports::{Environment, reading};

/// The names of one project, looked up on demand.
pub(super) struct Names {
    project: Option<Project>,
    inventoryfile: Option<PathBuf>,
    deviceconfig: Option<PathBuf>,
    registry: OnceCell<Option<Registry>>,
}

impl Names {
    /// The names of the project of the command line that the user is typing.
    pub(super) fn from_command_line() -> Self {
        let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
        let words: Vec<String> = words
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        let path = |names: &[&str]| option(&words, names).map(PathBuf::from);
        let current = std::env::current_dir().unwrap_or_default();
        let environment = std::env::var_os("BOLT_PROJECT").map(PathBuf::from);
        let mut project = Project::find(path(&["--project"]), environment, &current).ok();
        if let (Some(project), Some(folders)) =
            (&mut project, option(&words, &["--modulepath", "-m"]))
        {
            project.modulepath = std::env::split_paths(folders).collect();
        }
        Self {
            project,
            inventoryfile: path(&["--inventoryfile", "-i"]),
            deviceconfig: path(&["--deviceconfig"]),
            registry: OnceCell::new(),
        }
    }

    /// Groups, targets and aliases.
    pub(super) fn targets(&self) -> Vec<String> {
        let read = |path: PathBuf| path.is_file().then(|| reading::text(&path).ok())?;
        let text = match (&self.inventoryfile, std::env::var("BOLT_INVENTORY")) {
            (Some(path), _) => read(path.clone()),
            (None, Ok(text)) => Some(text),
            (None, Err(_)) => self
                .project
                .as_ref()
                .and_then(|project| read(project.inventory_file())),
        };
        let mut names = names_in(&text.unwrap_or_default());
        let devices = self
            .deviceconfig
            .clone()
            .or_else(|| default_file(&Environment::of_process()));
        if let Some(text) = devices.and_then(read) {
            let devices = devgate_schemas::device_conf::parse(&text, "device.conf");
            names.extend(devices.into_iter().flatten().map(|device| device.name));
        }
        names
    }

    pub(super) fn tasks(&self) -> Vec<String> {
        let project = self.project.as_ref();
        project.map_or_else(Vec::new, |project| project.catalogue().names())
    }

    pub(super) fn transports(&self) -> Vec<String> {
        self.registry_names(Registry::transport_names)
    }

    pub(super) fn families(&self) -> Vec<String> {
        self.registry_names(Registry::family_names)
    }

    pub(super) fn types(&self) -> Vec<String> {
        self.registry_names(Registry::type_names)
    }

    fn registry_names(&self, names: impl Fn(&Registry) -> Vec<String>) -> Vec<String> {
        let registry = self.registry.get_or_init(|| {
            let modulepath = self.project.as_ref()?.modulepath.as_slice();
            Registry::load(modulepath, None, &events::silence()).ok()
        });
        registry.as_ref().map(names).unwrap_or_default()
    }
}

/// The value of an option in a command line, under one of its names.
fn option<'w>(words: &'w [String], names: &[&str]) -> Option<&'w str> {
    let mut found = None;
    for (at, word) in words.iter().enumerate() {
        for name in names {
            if word == name {
                found = words.get(at + 1).map(String::as_str);
            } else if let Some(joined) = word.strip_prefix(name) {
                found = joined.strip_prefix('=').or(found);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_found_in_both_its_forms() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (line, expected) in [
            ("devgate --project /srv verify -t", Some("/srv")),
            ("devgate verify --project=/srv -t", Some("/srv")),
            ("devgate verify --project", None),
            ("devgate verify --projects=x", None),
        ] {
            assert_eq!(option(&words(line), &["--project"]), expected, "{line}");
        }
    }
}
