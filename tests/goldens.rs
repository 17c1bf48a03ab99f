//! Promised behaviour, word by word: the output and exit codes of command lines, the kinds of errors, the
//! format of stored files, and the protocol of a lent session.
//!
//! `goldens/command_lines` has transcripts. Each `$` is a shell command line, run in a copy of
//! `goldens/project` with a practice switch behind s1 and s2, and its output follows.
//! `DEVGATE_GOLDENS=write` records the current output: a change of these files changes what was promised,
//! and must be deliberate.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use fancy_regex::Regex;

use crate::folder::Project;
use crate::switches::Switch;

/// Patterns that vary between runs, and their replacements.
const VARIABLE_PARTS: [(&str, &str); 8] = [
    (
        r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        "UUID",
    ),
    (
        r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( ?(Z|[+-]\d\d:?\d\d))?",
        "DATE",
    ),
    (r"\b\d+ (try|tries)\b", "SOME tries"),
    (r"\d+(\.\d+)? (ms|s|sec|min|minutes?)\b", "TIME"),
    (r"\d+(\.\d{4,}(e-\d+)?|(\.\d+)?e-\d+)", "TIME"),
    (
        r#"("(?:elapsed_time|age|seconds|uptime_seconds)": ?)\d+(\.\d+)?"#,
        "${1}TIME",
    ),
    (r#"(?<="at":)\d{10}"#, "DATE"),
    (r"\b[0-9a-f]{16,64}\b", "HASH"),
];

fn goldens() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/goldens")
}

/// Compares a text with the golden file of this name, or writes the file.
fn assert_golden(name: &str, found: &str) {
    let path = goldens().join(name);
    if std::env::var_os("DEVGATE_GOLDENS").is_some_and(|mode| mode == "write") {
        fs::write(&path, found).expect("a golden can be written");
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    let differs = golden.lines().zip(found.lines()).position(|(a, b)| a != b);
    let at = differs.unwrap_or_else(|| golden.lines().count().min(found.lines().count()));
    let lines = [golden.as_str(), found].map(|text| text.lines().nth(at).unwrap_or("(the end)"));
    let same = lines[0].chars().zip(lines[1].chars());
    let same = same.take_while(|(a, b)| a == b).count();
    let output = lines.map(|line| {
        let around = line.chars().skip(same.saturating_sub(60)).take(160);
        around.collect::<String>()
    });
    assert!(
        golden == found,
        "{name}, line {}, from character {same} on, is not what was promised\n  kept:  {}\n  found: {}\n\
         if that is on purpose: DEVGATE_GOLDENS=write",
        at + 1,
        output[0],
        output[1]
    );
}

/// A copy of the project, with a switch.
struct Bench {
    project: Project,
    _switch: Switch,
    variable_parts: Vec<(Regex, String)>,
}

impl Bench {
    fn start() -> Self {
        let project = Project::new();
        let (switch, port) = Switch::start(&project);
        let folder = project.0.path().display().to_string();
        let origin = goldens().join("project");
        for path in files(&origin) {
            let text = fs::read_to_string(&path).expect("it is a text");
            let text = text
                .replace("{port}", &port.to_string())
                .replace("{project}", &folder);
            let name = path.strip_prefix(&origin).expect("it is in it");
            project.write(&name.to_string_lossy(), &text);
        }
        let own = [(format!(r"\b{port}\b"), "PORT".to_owned())];
        let variable_parts = VARIABLE_PARTS
            .map(|(pattern, replacement)| (pattern.to_owned(), replacement.to_owned()));
        let variable_parts = variable_parts
            .into_iter()
            .chain(own)
            .map(|(pattern, replacement)| {
                let pattern = Regex::new(&pattern).expect("a pattern of ours");
                (pattern, replacement)
            });
        Self {
            project,
            _switch: switch,
            variable_parts: variable_parts.collect(),
        }
    }

    /// Returns the output and the exit code of a shell command line.
    fn run(&self, line: &str) -> String {
        let folder = self.project.0.path();
        let binary = Path::new(env!("CARGO_BIN_EXE_devgate"));
        let bin = binary.parent().expect("it is in a folder").display();
        let path = std::env::var("PATH").unwrap_or_default();
        let output = self
            .project
            .command_under(&["sh", "-c", line], &[])
            .env("PATH", format!("{bin}:{path}"))
            .env("HOME", folder.join("home"))
            .env("XDG_STATE_HOME", folder.join("state"))
            .env("XDG_CACHE_HOME", folder.join("cache"))
            .env_remove("XDG_RUNTIME_DIR")
            .env("TZ", "UTC")
            .output()
            .expect("a shell starts");
        self.transcript(line, &output)
    }

    fn transcript(&self, line: &str, output: &Output) -> String {
        let mut text = format!("$ {line}\n");
        for (stream, name) in [(&output.stdout, None), (&output.stderr, Some("stderr"))] {
            if let Some(name) = name.filter(|_| !stream.is_empty()) {
                text += &format!("[{name}]\n");
            }
            let shown_text = self.constant(&String::from_utf8_lossy(stream));
            text += &shown_text;
            if !shown_text.is_empty() && !shown_text.ends_with('\n') {
                text += "[no line end]\n";
            }
        }
        text + &format!("[exit {}]\n\n", output.status.code().expect("it has ended"))
    }

    /// Replaces everything that varies in a text.
    fn constant(&self, text: &str) -> String {
        let folder = self.project.0.path().display().to_string();
        let mut text = text.replace(&folder, "PROJECT");
        for (pattern, replacement) in &self.variable_parts {
            text = pattern
                .replace_all(&text, replacement.as_str())
                .into_owned();
        }
        text
    }
}

/// Returns every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder can be read");
    let mut all: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .flat_map(|path| {
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect();
    all.sort();
    all
}

#[test]
fn command_lines_print_what_was_promised() {
    let mut seen = 0;
    for path in files(&goldens().join("command_lines")) {
        let golden = fs::read_to_string(&path).expect("it is a text");
        let bench = Bench::start();
        let lines = golden.lines().filter_map(|line| line.strip_prefix("$ "));
        let found: String = lines.map(|line| bench.run(line)).collect();
        seen += found.matches("\n[exit ").count();
        let name = path.file_name().expect("it has a name").to_string_lossy();
        assert_golden(&format!("command_lines/{name}"), &found);
    }
    assert!(seen > 40, "only {seen} lines were run");
}

#[test]
fn the_kinds_of_errors_are_those_that_were_promised() {
    let kind = Regex::new(r#""(devgate|bolt|puppetlabs)[a-z.]*/[a-z_-]{2,}""#);
    let kind = kind.expect("a pattern of ours");
    let sources = goldens().join("../../gateway");
    let mut kinds = BTreeSet::new();
    let is_source = |path: &PathBuf| path.extension().is_some_and(|end| end == "rs");
    for path in files(&sources).into_iter().filter(is_source) {
        let text = fs::read_to_string(&path).expect("it is a text");
        let found = kind.find_iter(&text).flatten();
        kinds.extend(found.map(|found| found.as_str().trim_matches('"').to_owned()));
    }
    let kinds: Vec<String> = kinds.into_iter().collect();
    assert_golden("kinds.txt", &(kinds.join("\n") + "\n"));
}
