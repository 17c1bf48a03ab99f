//! `devgate type import`: makes skeletons of resource types of a table of attributes.

use std::path::{Path, PathBuf};

use clap::Args;
use devgate_core::failure::{ErrorContext, Failure};
use devgate_devices::TypeTable;
use devgate_front::command_context::CommandContext;
use devgate_front::exit_status::ExitStatus;
use devgate_front::printer::Printer;
use devgate_schemas::{suggest, yaml};
use serde_json::{Map, Value as Json, json};

use super::table::records;
use crate::complete;
use crate::family::{declared::declared, new::write};
use crate::resource;

/// Make skeletons of resource types of a table of attributes
///
/// The table is a file or - for stdin: JSON or YAML with a list of types, `{name, desc, attributes: {NAME: {type,
/// behaviour, default, desc}}}`, or CSV with a line for each attribute under the headings `name`, `type`, and perhaps
/// `desc`, `behaviour`, `default`, and `resource`, which is the name of the type (without it, that of the file). A type
/// without a namevar and without `ensure` becomes a singleton: it has one resource, `settings`. Each type becomes
/// types/TYPE.yaml in the family's folder: valid, with commands and lines to be replaced by those of the device. Nothing
/// that exists is changed.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate type import acme_vlan.csv --family acme\n  devgate type import types.json --family \
                  acme --type acme_vlan,acme_interface"
)]
pub struct Import {
    /// The file with the table, or - for stdin
    table: PathBuf,
    /// The family that gets the types
    #[arg(long, value_name = "NAME", add = complete::families())]
    family: String,
    /// Only these types
    #[arg(long = "type", value_name = "NAMES", value_delimiter = ',')]
    types: Vec<String>,
}

impl Import {
    pub(super) async fn run(
        self,
        context: &CommandContext,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        context.read_schema(&self.family).await?;
        let family = declared(context, &self.family)?;
        let Some(folder) = family.folder() else {
            let name = family.name();
            return Err(Failure::other(format!(
                "family `{name}` is built in, so it gets no types: `devgate family new` makes one of your own"
            )));
        };
        let shown = self.table.display();
        let text = resource::read(&self.table)?;
        let mut tables = tables(&self.table, &text).with_context(|| shown.to_string())?;
        for name in &self.types {
            if !tables.iter().any(|table| table.name == *name) {
                let hint = suggest(name, tables.iter().map(|table| table.name.as_str()));
                return Err(Failure::other(format!(
                    "{shown} has no type `{name}`{hint}"
                )));
            }
        }
        tables.retain(|table| self.types.is_empty() || self.types.contains(&table.name));
        if tables.is_empty() {
            return Err(Failure::other(format!("{shown} has no attributes")));
        }
        // All are tried before the first is written.
        let mut files = Vec::new();
        for table in &tables {
            let name = &table.name;
            let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if !name.starts_with(|c: char| c.is_ascii_lowercase()) || !name.chars().all(is_word) {
                return Err(Failure::other(format!(
                    "{shown}: `{name}` is no name of a type: expected small letters, digits and `_`, such as acme_vlan; \
                     the heading `resource` names a type, and otherwise the file's name does"
                )));
            }
            let text = family.type_skeleton(table);
            let text = text.with_context(|| format!("{shown}: type `{name}`"))?;
            let path = folder.join("types").join(format!("{name}.yaml"));
            if path.exists() {
                return Err(Failure::other(format!(
                    "{} exists already, and nothing was written: leave it out with --type, or remove it",
                    path.display()
                )));
            }
            files.push((path, text));
        }
        let mut written = Vec::new();
        for (path, text) in &files {
            write(path, text)?;
            written.push(path.display().to_string());
        }
        printer.document(
            &json!({ "family": family.name(), "files": written }),
            || {
                let files: String = written.iter().map(|file| format!("{file}\n")).collect();
                format!(
                    "{files}\nNext step: devgate family lint {}  # what is left open\n",
                    family.name()
                )
            },
        );
        Ok(ExitStatus::Success)
    }
}

/// The types in a table.
fn tables(path: &Path, text: &str) -> Result<Vec<TypeTable>, Failure> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let begins = text.trim_start().chars().next();
    let is_csv = match &*extension {
        "csv" | "tsv" => true,
        "json" | "yaml" | "yml" => false,
        _ => !matches!(begins, Some('[' | '{' | '-')),
    };
    if is_csv {
        return of_rows(records(text)?, &stem);
    }
    let node = yaml::parse(text).map_err(|error| Failure::other(error.to_string()))?;
    let json = node.to_value().to_json();
    let items = match json {
        Json::Array(items) => items,
        one @ Json::Object(_) => vec![one],
        _ => return Err(Failure::other("expected a list of types, or of attributes")),
    };
    if items.iter().any(|item| item.get("attributes").is_none()) {
        let rows = items.into_iter().map(|item| match item {
            Json::Object(row) => Ok(row),
            other => Err(Failure::other(format!(
                "expected an attribute, found {other}"
            ))),
        });
        return of_rows(rows.collect::<Result<_, _>>()?, &stem);
    }
    items.iter().map(of_type).collect()
}

/// A type with its attributes.
fn of_type(item: &Json) -> Result<TypeTable, Failure> {
    let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let Json::Object(attributes) = &item["attributes"] else {
        return Err(Failure::other(
            "`attributes` is a mapping of names to definitions",
        ));
    };
    Ok(TypeTable {
        name: text("name"),
        desc: text("desc").trim().to_owned(),
        attributes: attributes.clone().into_iter().collect(),
    })
}

/// The types of lines with an attribute each.
fn of_rows(rows: Vec<Map<String, Json>>, stem: &str) -> Result<Vec<TypeTable>, Failure> {
    let mut tables: Vec<TypeTable> = Vec::new();
    for (number, mut row) in (1..).zip(rows) {
        let mut word = |key: &str| match row.remove(key) {
            Some(Json::String(text)) => text.trim().to_owned(),
            _ => String::new(),
        };
        let (resource, name) = (word("resource"), word("name"));
        let resource = if resource.is_empty() { stem } else { &resource };
        if name.is_empty() || row.get("type").is_none_or(|it| *it == "") {
            let message = format!("attribute {number}: expected `name` and `type`");
            return Err(Failure::other(message));
        }
        row.retain(|key, value| {
            let keys = ["type", "desc", "behaviour", "default", "sensitive"];
            keys.contains(&key.as_str()) && *value != "" && !value.is_null()
        });
        if tables.last().is_none_or(|table| table.name != resource) {
            tables.push(TypeTable {
                name: resource.to_owned(),
                ..TypeTable::default()
            });
        }
        if let Some(table) = tables.last_mut() {
            if table.attributes.iter().any(|(known, _)| *known == name) {
                let message = format!("attribute {number}: `{}` has a second `{name}`", table.name);
                return Err(Failure::other(message));
            }
            table.attributes.push((name, Json::Object(row)));
        }
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_in_each_of_its_forms() {
        let csv = "resource,name,type,desc,behaviour\na_vlan,id,Integer,\"Its number, from 1.\",namevar\n\
                   a_vlan,name,Optional[String],,\na_port,name,String,,namevar\n";
        let found = tables(Path::new("x.csv"), csv).expect("it is read");
        assert_eq!(found.len(), 2);
        let id =
            json!({ "type": "Integer", "desc": "Its number, from 1.", "behaviour": "namevar" });
        assert_eq!(found[0].attributes[0], ("id".to_owned(), id));
        let yaml =
            "- { name: id, type: Integer, behaviour: namevar }\n- { name: mtu, type: Integer }\n";
        let found = tables(Path::new("acme_port.yaml"), yaml).expect("it is read");
        assert_eq!(
            (found[0].name.as_str(), found[0].attributes.len()),
            ("acme_port", 2)
        );
        let whole = r#"[{"name": "a", "attributes": {"name": {"type": "String", "behaviour": "namevar"}}}]"#;
        let found = tables(Path::new("-"), whole).expect("it is read");
        assert_eq!(found[0].name, "a");
        let twice = tables(Path::new("x.csv"), "name,type\nid,A\nid,B\n").expect_err("twice");
        assert_eq!(twice.msg, "attribute 2: `x` has a second `id`");
        let wrong = tables(Path::new("x.csv"), "name,type\nid,\n").expect_err("no type");
        assert_eq!(wrong.msg, "attribute 1: expected `name` and `type`");
    }
}
