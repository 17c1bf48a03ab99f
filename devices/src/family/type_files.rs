//! The files of a family's types.

use devgate_schemas::suggest;

use super::{Folder, if_valid};
use crate::declared::DeclaredType;
use crate::file_node::{Problems, YamlFile};
use crate::source::FamilyProtocol;
use crate::template::Language;
use crate::{ResourceType, Result};

/// The key of a type's file that names another type, from which it takes what it does not say itself.
const LIKE: &str = "like";

/// The types in `types/`, one per file.
pub(super) fn types(
    folder: &Folder,
    language: Language,
    protocol: Option<&FamilyProtocol>,
    problems: &mut Problems,
) -> Result<Vec<DeclaredType>> {
    let mut types: Vec<DeclaredType> = Vec::new();
    for name in folder.names("types")? {
        let Some(stem) = name.strip_suffix(".yaml") else {
            continue;
        };
        let path = format!("types/{name}");
        let Some(mut file) = if_valid(folder.yaml(&path), problems)? else {
            continue;
        };
        if !add_like(&mut file, folder, problems)? {
            continue;
        }
        let file = file.speaking(language);
        let top = file.top();
        let read = |path: &str| folder.read(path);
        let Some(kind) = DeclaredType::read(&top, protocol, &read, problems) else {
            continue;
        };
        if kind.schema().name() != stem {
            let message = format!("the type of `{name}` must be named `{stem}`, as its file");
            problems.push(top.nearest(&["name".to_owned()]).problem(message));
        }
        types.push(kind);
    }
    Ok(types)
}

/// Adds to a type's file what it takes from another type, named by its `like`. Returns whether that is possible; a problem
/// with the other file is reported for that file.
pub(super) fn add_like(
    file: &mut YamlFile,
    folder: &Folder,
    problems: &mut Problems,
) -> Result<bool> {
    let Some(like) = file
        .top()
        .get(LIKE)
        .map(|like| (like.text(problems), like.location()))
    else {
        return Ok(true);
    };
    let (Some(name), location) = like else {
        return Ok(false);
    };
    let name = format!("{name}.yaml");
    let names = folder.names("types")?;
    if !names.contains(&name) {
        let hint = suggest(&name, names.iter().map(String::as_str));
        problems.push(location.problem(format!("there is no file `{name}` beside this one{hint}")));
        return Ok(false);
    }
    let Ok(other) = folder.yaml(&format!("types/{name}")) else {
        return Ok(false);
    };
    if other.top().get(LIKE).is_some() {
        let message = format!("`{name}` is itself `{LIKE}` another type: expected that one");
        problems.push(location.problem(message));
        return Ok(false);
    }
    file.add_missing(&other);
    Ok(true)
}
