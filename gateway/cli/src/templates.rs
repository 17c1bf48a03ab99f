//! Finding a collection of TextFSM templates: a folder with an `index`, as the Python package `ntc_templates` has one.

use std::fs;
use std::path::{Path, PathBuf};

use devgate_core::failure::Failure;
use devgate_devices::TemplateCollection;
use devgate_front::command_context::CommandContext;

/// The folders of Python in which packages are.
const PACKAGES: [&str; 2] = ["site-packages", "dist-packages"];

/// Finds the collection: that of the option, of `NTC_TEMPLATES_DIR`, of the project, or an installed one. Returns the
/// folders where an installed one was looked for, too. Python is not started.
///
/// # Errors
/// The folder that one of the first three names has no index, or an invalid one.
pub(crate) fn find(
    option: Option<&Path>,
    context: &CommandContext,
) -> Result<(Option<TemplateCollection>, Vec<PathBuf>), Failure> {
    let environment = &context.environment;
    let project = context.workspace.project();
    let named = option.map(Path::to_owned);
    let named = named.or_else(|| Some(environment.path(environment.text("NTC_TEMPLATES_DIR")?)));
    if let Some(folder) = named.or_else(|| project.textfsm_templates.clone()) {
        let collection = TemplateCollection::read(&with_index(&folder))?;
        return Ok((Some(collection), Vec::new()));
    }
    let variables = ["VIRTUAL_ENV", "CONDA_PREFIX"];
    let environments = variables.map(|name| environment.text(name).map(PathBuf::from));
    let mut prefixes: Vec<PathBuf> = environments.into_iter().flatten().collect();
    prefixes.push(project.root.join(".venv"));
    prefixes.extend(environment.home().map(|home| home.join(".local")));
    prefixes.extend(["/usr/local", "/usr"].map(PathBuf::from));
    let installed = prefixes.iter().flat_map(|prefix| packages(prefix));
    let mut folders = installed.map(|packages| packages.join("ntc_templates/templates"));
    let found = folders.find(|folder| folder.join("index").is_file());
    let collection = found.map(|folder| TemplateCollection::read(&folder));
    let searched = prefixes.iter().map(|prefix| prefix.join("lib/python3*"));
    Ok((collection.transpose()?, searched.collect()))
}

/// Returns the folder with the index: the named one, or the one in which a clone of ntc-templates has it.
pub(crate) fn with_index(folder: &Path) -> PathBuf {
    let inner = ["", "templates", "ntc_templates/templates"].map(|inner| folder.join(inner));
    let found = inner
        .into_iter()
        .find(|folder| folder.join("index").is_file());
    found.unwrap_or_else(|| folder.to_owned())
}

/// The folders of packages of each Python 3 below a prefix, those of the newest first.
fn packages(prefix: &Path) -> Vec<PathBuf> {
    let lib = prefix.join("lib");
    let names = fs::read_dir(&lib).into_iter().flatten().flatten();
    let versions = names.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let minor = name.strip_prefix("python3")?.trim_start_matches('.');
        Some((minor.parse().unwrap_or(0), name))
    });
    let mut versions: Vec<(u32, String)> = versions.collect();
    versions.sort_by(|one, other| other.cmp(one));
    let folders = versions
        .iter()
        .flat_map(|(_, name)| PACKAGES.map(|of| lib.join(name).join(of)));
    folders.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_python_comes_first_and_a_clone_is_a_collection() {
        let folder = tempfile::tempdir().expect("a folder");
        for name in ["python3", "python3.9", "python3.12", "python2.7", "other"] {
            fs::create_dir_all(folder.path().join("lib").join(name)).expect("made");
        }
        let found = packages(folder.path());
        let names = found
            .iter()
            .map(|path| path.strip_prefix(folder.path()).expect("inside"));
        let names: Vec<&Path> = names.step_by(2).collect();
        let expected = ["3.12", "3.9", "3"].map(|it| format!("lib/python{it}/site-packages"));
        assert_eq!(names, expected.iter().map(Path::new).collect::<Vec<_>>());
        let inner = folder.path().join("ntc_templates/templates");
        assert_eq!(with_index(folder.path()), folder.path());
        fs::create_dir_all(&inner).expect("made");
        fs::write(inner.join("index"), "Template\n").expect("written");
        for named in [folder.path(), &folder.path().join("ntc_templates"), &inner] {
            assert_eq!(with_index(named), inner);
        }
    }
}
