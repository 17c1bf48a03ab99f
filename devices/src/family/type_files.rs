//! The files of a family's types.

use super::folder::{Folder, if_valid};
use super::like::add_like;
use crate::declared::DeclaredType;
use crate::file_node::Problems;
use crate::source::FamilyProtocol;
use crate::template::Language;
use crate::{ResourceType, Result};

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
