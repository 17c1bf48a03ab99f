//! The files of a family's types.

use super::folder::{Folder, if_valid};
use super::like::add_like;
use crate::declared::DeclaredType;
use crate::file_node::Problems;
use crate::source::FamilyProtocol;
use crate::template::Language;
use crate::{ResourceType, Result};

/// The types of a family: its own, and those that it takes from another one.
pub(super) fn all_types(
    folder: &Folder,
    own: Option<Language>,
    protocol: Option<&FamilyProtocol>,
    problems: &mut Problems,
) -> Result<Vec<DeclaredType>> {
    let mut all = Vec::new();
    for (number, folder) in folder.of_types().into_iter().enumerate() {
        let others = || (number > 0).then(|| super::names::language_of(&folder));
        let language = own.or_else(others).unwrap_or_default();
        all.extend(types(&folder, language, protocol, problems)?);
    }
    Ok(all)
}

/// The types in `types/`, one per file.
fn types(
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
