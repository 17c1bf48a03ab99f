//! The modules of all crates, and the imports between their files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::Visit;

/// Every crate of the workspace: its folder, and the name that other crates import.
const CRATES: &[(&str, &str)] = &[
    ("schemas", "devgate_schemas"),
    ("transports", "devgate_transports"),
    ("devices", "devgate_devices"),
    ("gateway/core", "devgate_core"),
    ("gateway/engine", "devgate_engine"),
    ("gateway/practice", "devgate_practice"),
    ("gateway/front", "devgate_front"),
    ("gateway/cli", "devgate_cli"),
    ("gateway/pxp", "devgate_pxp"),
    ("gateway", "devgate"),
];

/// Arrows: the importing file, the imported files, and the imported names.
pub(super) type Arrows = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// A module of a crate.
pub(super) struct Module {
    parent: Option<usize>,
    /// The path of the file from the project's root.
    pub(super) file: String,
    pub(super) lines: usize,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    /// The imports of the module: each name and its path.
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// All paths in the module, including those of imports.
    paths: Vec<Vec<String>>,
}

/// All modules of all crates.
pub(super) struct ModuleGraph {
    pub(super) modules: Vec<Module>,
    /// The root module of each crate, by the crate's name.
    roots: BTreeMap<String, usize>,
}

impl ModuleGraph {
    pub(super) fn read() -> Self {
        let mut graph = Self {
            modules: Vec::new(),
            roots: BTreeMap::new(),
        };
        for (folder, name) in CRATES {
            let source = root().join(folder).join("src");
            let top = ["lib.rs", "main.rs"]
                .map(|file| source.join(file))
                .into_iter()
                .find(|file| file.exists())
                .expect("a crate has a root");
            let module = graph.read_file(None, &top, &source);
            graph.roots.insert((*name).to_owned(), module);
        }
        graph
    }

    fn read_file(&mut self, parent: Option<usize>, file: &Path, folder: &Path) -> usize {
        let text = fs::read_to_string(file).expect("a module's file can be read");
        let parsed = syn::parse_file(&text).expect("the compiler reads it");
        let name = file.strip_prefix(root()).expect("it lies in the project");
        let module = self.add(parent, name.display().to_string(), lines(&text));
        self.fill(module, parsed.items, folder);
        module
    }

    fn add(&mut self, parent: Option<usize>, file: String, lines: usize) -> usize {
        self.modules.push(Module {
            parent,
            file,
            lines,
            children: BTreeMap::new(),
            items: BTreeSet::new(),
            imports: BTreeMap::new(),
            globs: Vec::new(),
            paths: Vec::new(),
        });
        self.modules.len() - 1
    }

    /// Reads the items of a module; `folder` contains the files of its children.
    fn fill(&mut self, module: usize, items: Vec<syn::Item>, folder: &Path) {
        for item in items {
            match item {
                syn::Item::Mod(child) if is_for_tests(&child.attrs) => {}
                syn::Item::Mod(child) => self.fill_child(module, child, folder),
                syn::Item::Use(import) => self.import(module, &mut Vec::new(), import.tree),
                item => {
                    self.modules[module].items.extend(defined(&item));
                    let mut seen = PathCollector(Vec::new());
                    seen.visit_item(&item);
                    self.modules[module].paths.append(&mut seen.0);
                }
            }
        }
    }

    fn fill_child(&mut self, module: usize, child: syn::ItemMod, folder: &Path) {
        let name = child.ident.to_string();
        let below = folder.join(&name);
        let number = if let Some((_, items)) = child.content {
            let file = self.modules[module].file.clone();
            let lines = self.modules[module].lines;
            let inner = self.add(Some(module), file, lines);
            self.fill(inner, items, &below);
            inner
        } else {
            let file = [folder.join(format!("{name}.rs")), below.join("mod.rs")]
                .into_iter()
                .find(|file| file.exists())
                .expect("a module has a file");
            self.read_file(Some(module), &file, &below)
        };
        self.modules[module].children.insert(name, number);
    }

    fn import(&mut self, module: usize, before: &mut Vec<String>, tree: syn::UseTree) {
        let here = &mut self.modules[module];
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(module, before, *path.tree);
                before.pop();
            }
            syn::UseTree::Group(group) => {
                for tree in group.items {
                    self.import(module, before, tree);
                }
            }
            syn::UseTree::Glob(_) => here.globs.push(before.clone()),
            syn::UseTree::Name(name) if name.ident == "self" => {
                let known = before.last().cloned().unwrap_or_default();
                here.imports.insert(known, before.clone());
            }
            syn::UseTree::Name(name) => {
                let path = joined(before, &name.ident);
                here.imports.insert(name.ident.to_string(), path.clone());
                here.paths.push(path);
            }
            syn::UseTree::Rename(name) => {
                let path = joined(before, &name.ident);
                here.imports.insert(name.rename.to_string(), path.clone());
                here.paths.push(path);
            }
        }
    }

    /// Returns the file that defines the item of a path, and the item's name. Returns `None` for items of
    /// other crates, and for a path that names a module.
    fn resolve(&self, module: usize, path: &[String], depth: usize) -> Option<(usize, String)> {
        let (first, rest) = path.split_first()?;
        if depth > 16 {
            return None;
        }
        match first.as_str() {
            "crate" => self.resolve_in(self.top(module), rest, depth),
            "self" => self.resolve_in(module, rest, depth),
            "super" => self.resolve_in(self.modules[module].parent?, rest, depth),
            name => match self.resolve_in(module, path, depth) {
                Some(found) => Some(found),
                None => self.resolve_in(*self.roots.get(name)?, rest, depth),
            },
        }
    }

    fn resolve_in(&self, module: usize, path: &[String], depth: usize) -> Option<(usize, String)> {
        let (first, rest) = path.split_first()?;
        let here = &self.modules[module];
        if first == "super" {
            return self.resolve_in(here.parent?, rest, depth);
        }
        if here.items.contains(first) {
            return Some((module, first.clone()));
        }
        if let Some(child) = here.children.get(first) {
            return self.resolve_in(*child, rest, depth);
        }
        if let Some(import) = here.imports.get(first) {
            // `use x::y`, where this import itself introduces `x`, would lead back here.
            let full: Vec<String> = import.iter().chain(rest).cloned().collect();
            return (full != path)
                .then(|| self.resolve(module, &full, depth + 1))
                .flatten();
        }
        here.globs.iter().find_map(|glob| {
            let full: Vec<String> = glob.iter().chain(path).cloned().collect();
            (glob.first() != path.first())
                .then(|| self.resolve(module, &full, depth + 1))
                .flatten()
        })
    }

    fn top(&self, mut module: usize) -> usize {
        while let Some(parent) = self.modules[module].parent {
            module = parent;
        }
        module
    }

    /// Returns the arrows between the files.
    pub(super) fn arrows(&self) -> Arrows {
        let mut arrows: Arrows = BTreeMap::new();
        for (number, module) in self.modules.iter().enumerate() {
            for path in &module.paths {
                let Some((target, name)) = self.resolve(number, path, 0) else {
                    continue;
                };
                let target = &self.modules[target].file;
                if *target != module.file {
                    let to = arrows.entry(module.file.clone()).or_default();
                    to.entry(target.clone()).or_default().insert(name);
                }
            }
        }
        arrows
    }

    /// Returns the room of a file: the folder of its crate and its top module.
    pub(super) fn room(&self, file: &str) -> String {
        let (folder, module) = file.split_once("/src/").expect("sources lie in src");
        let module = module.split(['/', '.']).next().unwrap_or_default();
        format!("{folder}/{module}")
    }
}

/// Collects the paths in an item, including those in macros.
struct PathCollector(Vec<Vec<String>>);

impl<'ast> Visit<'ast> for PathCollector {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.push(
            path.segments
                .iter()
                .map(|part| part.ident.to_string())
                .collect(),
        );
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        syn::visit::visit_macro(self, call);
        self.tokens(&call.tokens.to_string());
    }
}

impl PathCollector {
    fn tokens(&mut self, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut path: Vec<String> = Vec::new();
        let mut joins = false;
        for word in words {
            let is_name = word.chars().all(|c| c.is_alphanumeric() || c == '_');
            if word == "::" {
                joins = true;
            } else if is_name && joins {
                path.push(word.to_owned());
                joins = false;
            } else {
                self.0.push(std::mem::take(&mut path));
                joins = false;
                if is_name {
                    path.push(word.to_owned());
                }
            }
        }
        self.0.push(path);
    }
}

/// Returns the name that an item defines in its module.
fn defined(item: &syn::Item) -> Option<String> {
    let name = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::TraitAlias(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Returns the number of lines of a source before its tests.
fn lines(text: &str) -> usize {
    text.lines()
        .take_while(|line| !line.starts_with("mod tests {"))
        .count()
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|path| path.is_ident("test"))
    })
}

fn joined(before: &[String], last: &syn::Ident) -> Vec<String> {
    before.iter().cloned().chain([last.to_string()]).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .expect("the project has a root")
}
