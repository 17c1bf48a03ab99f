//! The outputs of commands: saved in files, compared with saved ones, checked with patterns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use devgate_core::atomic_file::{self, OWNER};
use devgate_core::columns;
use devgate_core::failure::{ErrorContext, Failure};
use devgate_devices::Family;
use devgate_transports::reading;
use serde_json::{Value as Json, json};
use similar::TextDiff;

use super::Show;
use super::parse::Parser;
use crate::operations::with_newline;

/// The name of the running configuration among outputs.
pub(super) const CONFIG: &str = "running-config";

/// How long the shortest difference is searched for. After that, a longer one is shown.
const SEARCH: Duration = Duration::from_millis(500);

/// The output of one command on one target, and what is done with it.
pub(super) struct Output<'a> {
    show: &'a Show,
    command: String,
    output: String,
    /// The family, if this is the running configuration.
    configured: Option<&'a Family>,
    parser: Option<&'a Parser<'a>>,
    /// The path of its file in a folder of outputs.
    file: PathBuf,
}

impl<'a> Output<'a> {
    /// Takes an output from `{command, output}`, an entry of the result. `configured` is the family if its configuration
    /// is among the outputs.
    pub(super) fn new(
        show: &'a Show,
        target: &str,
        configured: Option<&'a Family>,
        entry: &Json,
    ) -> Self {
        let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        let command = text("command");
        let configured = configured.filter(|family| family.config_text() == Some(&command));
        let name = configured.map_or_else(|| file_name(&command), |_| CONFIG.to_owned());
        Self {
            show,
            file: Path::new(&file_name(target)).join(format!("{name}.txt")),
            command,
            output: with_newline(text("output")),
            configured,
            parser: None,
        }
    }

    /// The same output, parsed.
    pub(super) fn parsed_with(self, parser: Option<&'a Parser<'a>>) -> Self {
        Self { parser, ..self }
    }

    /// Compares, saves, parses and checks the output. Adds what is found to the entry and to `failures`, and returns the
    /// text for people: the difference if it was compared, the file if it was saved, the rows if it was parsed, or else
    /// the output.
    pub(super) fn process(self, entry: &mut Json, failures: &mut Vec<Failure>) -> String {
        let mut lines = Vec::new();
        if let Some(folder) = &self.show.diff {
            match self.difference(&folder.join(&self.file)) {
                Ok(diff) if diff.is_empty() => {
                    entry["diff"] = json!(diff);
                    lines.push("no difference".to_owned());
                }
                Ok(diff) => {
                    let message = format!("the output of `{}` has changed", self.command);
                    failures.push(Failure::new("devgate/output-changed", message));
                    entry["diff"] = json!(diff);
                    lines.push(diff);
                }
                Err(failure) => failures.push(failure),
            }
        }
        if let Some(folder) = &self.show.save {
            match self.save(folder) {
                Ok(path) => {
                    entry["saved"] = json!(path);
                    lines.push(format!("saved in {path}"));
                }
                Err(failure) => failures.push(failure),
            }
        }
        if let Some(parser) = self.parser {
            entry["template"] = json!(parser.name());
            match parser.parse(&self.command, &self.output) {
                Ok(table) => {
                    let rows = table.to_json();
                    let objects = rows.iter().filter_map(Json::as_object);
                    let cells = columns::cells(table.names, objects);
                    lines.push(match rows.is_empty() {
                        true => "no rows".to_owned(),
                        false => columns::fitted(&cells),
                    });
                    entry["rows"] = json!(rows);
                }
                Err(failure) => failures.push(failure),
            }
        }
        if lines.is_empty() {
            lines.push(self.output.clone());
        }
        let mut unmatched = Vec::new();
        for pattern in &self.show.expect {
            let source = pattern.source();
            let why = match pattern.is_match(&self.output) {
                Ok(true) => continue,
                Ok(false) => "does not match".to_owned(),
                Err(error) => format!("cannot be compared ({error}) with"),
            };
            let message = format!("the output of `{}` {why} `{source}`", self.command);
            failures.push(Failure::new("devgate/output-unexpected", message));
            unmatched.push(source);
        }
        if !self.show.expect.is_empty() {
            entry["unmatched"] = json!(unmatched);
        }
        let lines: String = lines.into_iter().map(with_newline).collect();
        format!("> {}\n{lines}", self.command)
    }

    /// Returns the differences from the saved output, in the unified format; an empty text if there are none. Of the
    /// configuration, only the lines that count are compared.
    fn difference(&self, saved: &Path) -> Result<String, Failure> {
        let name = saved.display().to_string();
        let old = reading::text(saved).map_err(|error| {
            let message = match error.kind() {
                io::ErrorKind::NotFound => format!(
                    "no output of `{}` was saved as {name}: save one with --save",
                    self.command
                ),
                _ => format!("cannot read {name}: {error}"),
            };
            Failure::new("devgate/no-saved-output", message)
        })?;
        let counted = |text: &str| self.configured.map(|family| family.lines_that_count(text));
        let old = counted(&old).unwrap_or(old);
        let new = counted(&self.output).map_or(Cow::Borrowed(&*self.output), Cow::Owned);
        let mut config = TextDiff::configure();
        let diff = config.timeout(SEARCH).diff_lines(&*old, &*new);
        let mut unified = diff.unified_diff();
        Ok(unified.header(&name, &self.command).to_string())
    }

    /// Saves the output, readable for this user alone, and returns the path of its file.
    fn save(&self, folder: &Path) -> Result<String, Failure> {
        let path = folder.join(&self.file);
        let saved = make(atomic_file::folder(&path))
            .and_then(|()| atomic_file::replace(&path, self.output.as_bytes(), OWNER));
        let name = path.display().to_string();
        saved.map_err(|error| {
            let message = format!("cannot save the output as {name}: {error}");
            Failure::new("devgate/output-not-saved", message)
        })?;
        Ok(name)
    }
}

/// Creates the folder for outputs, which only this user may read.
pub(super) fn make_folder(folder: &Path) -> Result<(), Failure> {
    make(folder).with_context(|| format!("cannot make {}", folder.display()))
}

/// Checks that a folder of saved outputs exists.
pub(super) fn check_folder(folder: &Path) -> Result<(), Failure> {
    let listed = fs::read_dir(folder).map(drop);
    listed.with_context(|| format!("cannot read the saved outputs in {}", folder.display()))
}

/// Checks that no two of these different names become the same file name.
pub(super) fn check_names<'n>(names: impl Iterator<Item = &'n str>) -> Result<(), Failure> {
    let mut files: HashMap<String, &str> = HashMap::new();
    for name in names.map(str::trim) {
        if let Some(other) = files.insert(file_name(name), name).filter(|it| *it != name) {
            return Err(Failure::other(format!(
                "`{other}` and `{name}` would have the same file name, {}: run them one after the other, with different \
                 folders",
                file_name(name)
            )));
        }
    }
    Ok(())
}

fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Turns the name of a target, or a command, into a file name, which leads to no other folder.
fn file_name(name: &str) -> String {
    let mut file: String = name
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '.' => c,
            _ => '_',
        })
        .collect();
    if file.starts_with('.') {
        file.replace_range(..1, "_");
    }
    file
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use devgate_schemas::Regexp;

    use super::*;

    fn process(show: &Show, target: &str, output: &str) -> (Json, Vec<String>, String) {
        let mut entry = json!({ "command": "show ip route", "output": output });
        let mut failures = Vec::new();
        let text = Output::new(show, target, None, &entry).process(&mut entry, &mut failures);
        let messages = failures.into_iter().map(|failure| failure.msg);
        (entry, messages.collect(), text)
    }

    #[test]
    fn a_file_name_leads_to_no_other_folder() {
        for (name, file) in [
            ("r1.example.com", "r1.example.com"),
            ("show ip route 10.0.0.0/8", "show_ip_route_10.0.0.0_8"),
            ("../../etc/passwd", "_._.._etc_passwd"),
            ("..", "_."),
            (".", "_"),
            ("ssh://u@r1:22", "ssh___u_r1_22"),
            ("show x | include \"a\0\"", "show_x___include__a__"),
        ] {
            assert_eq!(file_name(name), file);
        }
        assert!(check_names(["a b", "a c", "a b"].into_iter()).is_ok());
        let refused = check_names(["a/b", "a_b"].into_iter()).expect_err("the same name");
        assert!(
            refused.msg.starts_with("`a/b` and `a_b` would"),
            "{refused}"
        );
    }

    #[test]
    fn an_output_is_saved_for_its_owner_and_compared_with_the_saved_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let saved = folder.path().join("out");
        let save = Show {
            save: Some(saved.clone()),
            ..Show::default()
        };
        let diff = Show {
            diff: Some(saved.clone()),
            ..Show::default()
        };
        let (entry, failures, _) = process(&diff, "../r1", "a\n");
        assert!(entry["diff"].is_null() && failures[0].contains("save one with --save"));
        let (entry, failures, text) = process(&save, "../r1", "a\nb");
        let file = saved.join("_._r1/show_ip_route.txt");
        assert_eq!(entry["saved"], json!(file.display().to_string()));
        assert_eq!(failures, [""; 0]);
        assert_eq!(
            text,
            format!("> show ip route\nsaved in {}\n", file.display())
        );
        assert_eq!(fs::read_to_string(&file).expect("it was saved"), "a\nb\n");
        for (path, mode) in [(&*saved, 0o700), (&*file, 0o600)] {
            let metadata = fs::metadata(path).expect("it exists");
            assert_eq!(metadata.permissions().mode() & 0o777, mode);
        }
        let (entry, failures, text) = process(&diff, "../r1", "a\nb\n");
        assert_eq!((&entry["diff"], failures.len()), (&json!(""), 0));
        assert_eq!(text, "> show ip route\nno difference\n");
        let (entry, failures, text) = process(&diff, "../r1", "a\nc\n");
        assert_eq!(failures, ["the output of `show ip route` has changed"]);
        let expected = format!(
            "--- {}\n+++ show ip route\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
            file.display()
        );
        assert_eq!(entry["diff"], json!(expected));
        assert_eq!(text, format!("> show ip route\n{expected}"));
    }

    #[test]
    fn every_output_must_match_every_expected_pattern() {
        let expect = |source| Regexp::new(source).expect("a pattern");
        let show = Show {
            expect: vec![expect("^b$"), expect("^c")],
            ..Show::default()
        };
        let (entry, failures, text) = process(&show, "r1", "a\nb\n");
        assert_eq!(
            failures,
            ["the output of `show ip route` does not match `^c`"]
        );
        assert_eq!(entry["unmatched"], json!(["^c"]));
        assert_eq!(text, "> show ip route\na\nb\n");
    }
}
