//! Types that are like another one.

use devgate_schemas::suggest;

use super::folder::Folder;
use crate::Result;
use crate::file_node::{Problems, YamlFile};

/// The key of a type's file that names another type, from which it takes what it does not say itself.
const LIKE: &str = "like";

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
