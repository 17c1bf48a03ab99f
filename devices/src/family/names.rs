//! The `names` of a family's file: the one form of what its devices write in several ways.

use super::folder::{FILE, Folder};
use crate::file_node::{FileNode, Problems};
use crate::template::{INTERFACE, Language, NameForm, NameTable, is_filter};

/// The language of a family: a filter for each of its tables; `None` if it has none.
pub(super) fn language(top: &FileNode<'_>, problems: &mut Problems) -> Option<Language> {
    let names = top.get("names")?;
    let mut tables = Vec::new();
    for (name, file_node) in names.pairs(problems) {
        if name != INTERFACE && is_filter(name) {
            let message = format!("there is a filter `{name}` already: expected another name");
            problems.push(file_node.problem(message));
        }
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let message = format!("`{name}` is the name of a filter: expected letters and `_`");
            problems.push(file_node.problem(message));
        }
        let mut forms = Vec::new();
        for item in file_node.items() {
            if item.node().as_mapping().is_none() {
                forms.extend(
                    item.text(problems)
                        .map(|word| NameForm::Word(word.to_owned())),
                );
                continue;
            }
            for (pattern, form) in item.pairs(problems) {
                let Some(text) = form.node().as_scalar() else {
                    problems.push(form.problem(form.node().mismatch("a text")));
                    continue;
                };
                match NameForm::pattern(pattern, &text.interpolated()) {
                    Ok(form) => forms.push(form),
                    Err(error) => problems.push(form.problem(error.to_string())),
                }
            }
        }
        let name = name.to_owned();
        tables.push(NameTable { name, forms });
    }
    Some(Language::with_names(tables))
}

/// The language of another family, from which a family without tables takes its types.
pub(super) fn language_of(folder: &Folder) -> Language {
    let file = folder.yaml(FILE).ok();
    let language = file.and_then(|file| language(&file.top(), &mut Problems::new()));
    language.unwrap_or_default()
}
