//! Collections of templates: a folder whose `index` says which templates parse which command of which platform.
//!
//! Specification: `clitable` of Google's implementation. `sh[[ow]]` in the index stands for each abbreviation of `show`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use devgate_schemas::{did_you_mean, suggest};
use devgate_transports::reading;

use super::regexp::Regexp;
use super::table::{Table, TemplateFile, location, unreadable};
use crate::error::Location;
use crate::{Error, Result};

/// A folder of templates.
#[derive(Debug)]
pub struct TemplateCollection {
    folder: PathBuf,
    index: PathBuf,
    entries: Vec<Entry>,
}

/// A line of the index.
#[derive(Debug)]
struct Entry {
    line: usize,
    /// The names of templates. The tables of all are joined.
    templates: String,
    platform: String,
    command: String,
}

/// The templates of one command of one platform. They are compiled on first use.
#[derive(Debug)]
pub struct CommandTemplates {
    names: String,
    files: Vec<TemplateFile>,
    /// Where the index names them.
    location: Location,
}

impl CommandTemplates {
    /// The names of their files, with `:` between them.
    pub fn names(&self) -> &str {
        &self.names
    }

    /// Parses an output of the command.
    ///
    /// # Errors
    /// Fails with all that is wrong with a template or with the output.
    pub fn parse(&self, command: &str, output: &str) -> Result<Table> {
        let mut table: Option<Table> = None;
        for file in &self.files {
            let further = file.parse(command, output)?;
            match &mut table {
                None => table = Some(further),
                Some(table) => table.extend(further).map_err(|message| {
                    let message = format!("{}: {message}", self.names);
                    Error::Data(self.location.problem(message))
                })?,
            }
        }
        Ok(table.unwrap_or_default())
    }
}

impl TemplateCollection {
    /// Reads the index of a collection.
    ///
    /// # Errors
    /// Fails when the index cannot be read, or has no column `Template`.
    pub fn read(folder: &Path) -> Result<Self> {
        let index = folder.join("index");
        let text = reading::text(&index).map_err(|cause| unreadable(&index, cause))?;
        let mut lines = (1..).zip(text.lines());
        let cells = |line: &str| {
            let cells = line.split(',').map(|cell| cell.trim().to_owned());
            cells.collect::<Vec<_>>()
        };
        let header = lines.by_ref().find_map(|(line, text)| {
            let text = text.split('#').next().unwrap_or_default().trim();
            (!text.is_empty()).then(|| (line, cells(text)))
        });
        let (line, header) = header.unwrap_or((1, Vec::new()));
        let column = |name| header.iter().position(|cell| cell == name);
        let Some(template) = column("Template") else {
            let message = "the header of the index has no column `Template`";
            return Err(Error::Data(location(&index, line).problem(message)));
        };
        let (platform, command) = (column("Platform"), column("Command"));
        let mut entries = Vec::new();
        for (line, text) in lines.filter(|(_, text)| !text.starts_with('#')) {
            let cells = cells(text);
            if cells.len() != header.len() {
                continue;
            }
            let cell =
                |column: Option<usize>| column.map_or_else(String::new, |at| cells[at].clone());
            entries.push(Entry {
                line,
                templates: cell(Some(template)),
                platform: cell(platform),
                command: cell(command),
            });
        }
        Ok(Self {
            folder: folder.to_owned(),
            index,
            entries,
        })
    }

    /// The file that says which templates parse which command.
    pub fn index(&self) -> &Path {
        &self.index
    }

    /// Parses the output of a command.
    ///
    /// # Errors
    /// Fails when there is no template for the command, and with all that is wrong with a template or with the output.
    pub fn parse(&self, platform: &str, command: &str, output: &str) -> Result<Table> {
        self.templates(platform, command)?.parse(command, output)
    }

    /// Reads the templates of a command.
    ///
    /// # Errors
    /// Fails with [`Error::Unsupported`] when there is none, and when a template cannot be read.
    pub fn templates(&self, platform: &str, command: &str) -> Result<CommandTemplates> {
        let entry = self.entry(platform, command)?;
        let names = entry.templates.split(':');
        let files = names.map(|name| TemplateFile::read(&self.folder.join(name)));
        Ok(CommandTemplates {
            names: entry.templates.clone(),
            files: files.collect::<Result<_>>()?,
            location: location(&self.index, entry.line),
        })
    }

    /// The first line of the index that names this command of this platform.
    fn entry(&self, platform: &str, command: &str) -> Result<&Entry> {
        let mut platforms: HashMap<&str, bool> = HashMap::new();
        let mut commands = Vec::new();
        for entry in &self.entries {
            let is_platform = match platforms.get(entry.platform.as_str()) {
                Some(known) => *known,
                None => {
                    let found = self.is_match(entry, &entry.platform, platform)?;
                    platforms.insert(&entry.platform, found);
                    found
                }
            };
            if !is_platform {
                continue;
            }
            if self.is_match(entry, &abbreviated(&entry.command), command)? {
                return Ok(entry);
            }
            commands.push(entry.command.replace("[[", "").replace("]]", ""));
        }
        let index = self.index.display();
        Err(Error::Unsupported(if commands.is_empty() {
            let hint = suggest(platform, platforms.into_keys());
            format!("{index} has no templates for platform `{platform}`{hint}")
        } else {
            let hint = did_you_mean(command, commands.iter().map(String::as_str));
            format!("{index} has no template for `{command}` of platform `{platform}`{hint}")
        }))
    }

    /// Whether a text matches a cell of the index. An empty cell matches all.
    fn is_match(&self, entry: &Entry, cell: &str, text: &str) -> Result<bool> {
        let invalid = |message: String| {
            Error::Data(location(&self.index, entry.line).problem(format!("`{cell}`: {message}")))
        };
        let regexp = Regexp::new(cell).map_err(invalid)?;
        Ok(regexp.captures(text).map_err(invalid)?.is_some())
    }
}

/// A regular expression for a command: `sh[[ow]]` becomes `sh(o(w)?)?`.
fn abbreviated(command: &str) -> String {
    let mut text = String::new();
    let mut rest = command;
    while let Some((before, after)) = rest.split_once("[[") {
        let Some((word, after)) = after.split_once("]]").filter(|(word, _)| !word.is_empty())
        else {
            break;
        };
        text.push_str(before);
        word.chars().for_each(|c| text.extend(['(', c]));
        text.push_str(&")?".repeat(word.chars().count()));
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use std::fs;

    use devgate_schemas::Value;
    use serde_json::json;

    use super::*;

    const INDEX: &str = "# A comment, with a comma.\n\nTemplate, Hostname, Platform, Command # to the end\n\
        # sh_x.textfsm, .*, acme_os, sh[[ow]] x\n\
        ports.textfsm:mtu.textfsm, .*, acme_(os|nx), sh[[ow]] po[[rts]]( det[[ail]])?\n\
        ports.textfsm, .*, acme_os, show port\n\
        mtu.textfsm:count.textfsm, .*, acme_os, show mtu\n\
        broken.textfsm, .*, broken, show (\n";

    fn collection() -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for (name, text) in [
            ("index", INDEX),
            (
                "ports.textfsm",
                "Value Key PORT (\\S+)\nValue STATE (\\w+)\n\nStart\n  ^port ${PORT} ${STATE} -> Record\n\nEOF\n",
            ),
            (
                "mtu.textfsm",
                "Value PORT (\\S+)\nValue STATE (\\w+)\nValue MTU (\\d+)\n\nStart\n  ^mtu ${PORT} ${MTU} -> Record\n  ^bad -> Error \"no port\"\n\nEOF\n",
            ),
            (
                "count.textfsm",
                "Value COUNT (\\d+)\n\nStart\n  ^count ${COUNT} -> Record\n\nEOF\n",
            ),
        ] {
            fs::write(folder.path().join(name), text).expect("a file");
        }
        folder
    }

    fn parse(platform: &str, command: &str, output: &str) -> Result<serde_json::Value> {
        let folder = collection();
        let table = TemplateCollection::read(folder.path())?.parse(platform, command, output)?;
        let rows = table.rows.into_iter();
        Ok(rows.map(|row| Value::Hash(row).to_json()).collect())
    }

    #[test]
    fn the_rows_of_several_templates_are_joined_by_their_keys() {
        let output = "mtu b 9000\nport a up\nport b down\nmtu c 1500\n";
        let expected = json!([
            {"PORT": "a", "STATE": "up", "MTU": ""}, {"PORT": "b", "STATE": "down", "MTU": "9000"},
        ]);
        for (platform, command) in [
            ("acme_os", "sh po"),
            ("acme_nx", "show ports det"),
            ("acme_os_2", "sho port status"),
        ] {
            let rows = parse(platform, command, output).expect("parses");
            assert_eq!(rows, expected, "{platform}: {command}");
        }
        let rows = parse("acme_os", "show mtu", "mtu a 1\ncount 7\nmtu b 2\n").expect("parses");
        assert_eq!(
            rows,
            json!([
                {"PORT": "a", "STATE": "", "MTU": "1", "COUNT": "7"},
                {"PORT": "b", "STATE": "", "MTU": "2", "COUNT": ""},
            ])
        );
    }

    #[test]
    fn errors_name_the_collection_and_what_is_near() {
        for (platform, command, expected) in [
            (
                "acme_oss_",
                "show prots",
                "/index has no template for `show prots` of platform `acme_oss_`",
            ),
            ("acme_os", "show mtus_", "did you mean"),
            (
                "acme-os",
                "show ports",
                "/index has no templates for platform `acme-os`",
            ),
            ("broken", "show x", "/index:8:1: `show (`: missing )"),
        ] {
            match parse(platform, command, "") {
                Err(error) => assert!(error.to_string().contains(expected), "{error}"),
                // An expression matches a beginning, as in Google's implementation.
                Ok(_) => assert_eq!(command, "show mtus_"),
            }
        }
        let error = parse("acme_os", "show mtu", "\nbad").expect_err("refused");
        assert_eq!(
            error.to_string(),
            "output of `show mtu`, line 2, column 1: no port"
        );
    }

    #[test]
    fn abbreviations_are_expanded() {
        assert_eq!(abbreviated("sh[[ow]] ip r[[o]]"), "sh(o(w)?)? ip r(o)?");
        assert_eq!(abbreviated("a[[b"), "a[[b");
    }
}
