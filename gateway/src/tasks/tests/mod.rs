//! Tasks in modules made for each test: found, chosen, and truly run.

mod choose;
mod find;
mod run;

use std::fs;
use std::path::{Path, PathBuf};

use devgate_schemas::{Hash, Value};
use serde_json::Value as Json;
use tempfile::TempDir;

use super::*;

/// A module path of one directory.
struct Modules(TempDir);

impl Modules {
    /// Files by `module/path`, with their contents.
    fn with(files: &[(&str, &str)]) -> Self {
        let modules = Self(tempfile::tempdir().expect("a directory"));
        for (name, content) in files {
            modules.write(name, content);
        }
        modules
    }

    fn write(&self, name: &str, content: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, content).expect("a file");
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn catalogue(&self) -> Catalogue {
        Catalogue::new(vec![self.path().to_owned()], None)
    }

    fn find(&self, name: &str) -> Task {
        self.catalogue().find(name).expect("a task")
    }

    /// The kind and text of the error that a name gives.
    fn refusal(&self, name: &str) -> (&'static str, String) {
        let error = self.catalogue().find(name).expect_err("no task");
        (error.kind(), error.to_string())
    }
}

fn hash(json: Json) -> Hash {
    match Value::from(json) {
        Value::Hash(hash) => hash,
        other => panic!("expected an object, got {other:?}"),
    }
}

fn paths(names: &[&str]) -> Vec<PathBuf> {
    names.iter().map(PathBuf::from).collect()
}
