//! The templates of the lines of a change: one as a whole, or the short form `lines`, which is compiled into a
//! template for each difference.

use devgate_schemas::{Attribute, TypeSchema, Value};
use devgate_transports::Dialect;

use super::crud::ReferencedNames;
use super::line_patterns;
use crate::commit_check::check_lines;
use crate::file_node::{FileNode, Problems, WithLocation};
use crate::template::{Escape, Scope, Template};
use crate::{Error, Result};

/// Templates whose outputs follow each other.
#[derive(Debug)]
pub(super) struct LineTemplates {
    /// There is at least one.
    templates: Vec<WithLocation<Template>>,
}

/// The names of the attribute's value, and of an item of it, in the short form.
pub(super) const VALUE: &str = "value";
pub(super) const ITEM: &str = "item";

/// What an item of the short form makes of its attribute: one of these.
const KINDS: [&str; 4] = ["line", "set", "flag", "each"];

/// An item of the short form.
struct Item<'a, 'f> {
    top: &'a FileNode<'f>,
    name: &'a str,
    attribute: &'a Attribute,
    /// The text of its kind.
    text: &'a FileNode<'f>,
    /// The condition of all its lines.
    when: String,
}

/// A template of the short form before it is compiled.
struct Draft<'f> {
    /// The text in the family's file.
    text: FileNode<'f>,
    /// What the text begins with, and what replaces that.
    replaced: (String, String),
    /// Whether only the words before the value are typed.
    is_cut: bool,
    /// The blocks around the text.
    blocks: [String; 2],
    /// A name that its text may use beside those of every template.
    also: &'static [&'static str],
}

/// The short form: each item types the lines of one attribute, where it differs.
struct ShortForm<'a> {
    schema: &'a TypeSchema,
    names: &'a [&'a str],
    /// The word that makes a line the opposite, and a blank.
    no: String,
    /// The indentation of the lines.
    indent: &'static str,
    templates: Vec<WithLocation<Template>>,
}

/// The word before a line that makes it the opposite.
pub(super) fn negation(dialect: Option<&Dialect>) -> &str {
    dialect.map_or("no", Dialect::negation)
}

impl LineTemplates {
    /// Reads a template of lines.
    pub(super) fn read(
        file_node: &FileNode<'_>,
        names: &[&str],
        problems: &mut Problems,
    ) -> Option<Self> {
        check_lines(file_node, problems);
        let source = file_node.text(problems)?;
        let template = file_node.escaping_template(source, names, Escape::Line, problems)?;
        Some(Self {
            templates: vec![template],
        })
    }

    /// Reads the short form: the items of `lines`, in the mode that the line `mode` enters.
    pub(super) fn read_short(
        lines: &FileNode<'_>,
        mode: Option<&FileNode<'_>>,
        schema: &TypeSchema,
        dialect: Option<&Dialect>,
        names: &[&str],
        problems: &mut Problems,
    ) -> Option<Self> {
        let before = problems.len();
        let mut short = ShortForm {
            schema,
            names,
            no: format!("{} ", negation(dialect)),
            indent: if mode.is_some() { " " } else { "" },
            templates: Vec::new(),
        };
        if let Some(mode) = mode {
            short
                .templates
                .extend(Self::read(mode, names, problems)?.templates);
        }
        for item in lines.items() {
            short.item(&item, problems);
        }
        if lines.items().is_empty() {
            problems.push(lines.problem("expected at least one item"));
        }
        let templates = short.templates;
        (problems.len() == before).then_some(Self { templates })
    }

    /// Renders the templates.
    ///
    /// # Errors
    /// Fails as [`Template::render`] does, with the place in the family's file.
    pub(super) fn render(&self, schema: &TypeSchema, scope: &Scope) -> Result<String> {
        let mut all = String::new();
        for template in &self.templates {
            let text = template.value.render(scope);
            let text = text.map_err(|error| template.failure(schema, error))?;
            if !all.is_empty() && !all.ends_with('\n') {
                all.push('\n');
            }
            all.push_str(&text);
        }
        Ok(all)
    }

    /// An error in what they make.
    pub(super) fn error(&self, message: String) -> Error {
        Error::Data(self.templates[0].location.problem(message))
    }
}

impl ReferencedNames for LineTemplates {
    fn names(&self) -> Vec<String> {
        let templates = self.templates.iter();
        templates.flat_map(ReferencedNames::names).collect()
    }
}

impl ShortForm<'_> {
    fn item(&mut self, top: &FileNode<'_>, problems: &mut Problems) {
        let keys = ["attribute", "when", "map", "clear", "remove"];
        let keys = [&keys[..], &KINDS, &line_patterns::KEYS].concat();
        top.only(&keys, problems);
        let Some(named) = top.required("attribute", problems) else {
            return;
        };
        let Some(name) = named.text(problems) else {
            return;
        };
        if !named.is_attribute(self.schema, name, problems) {
            return;
        }
        let given = KINDS
            .into_iter()
            .filter_map(|kind| Some((kind, top.get(kind)?)));
        let given: Vec<(&str, FileNode<'_>)> = given.collect();
        let [(kind, text)] = &given[..] else {
            problems.push(top.problem("expected exactly one of `line`, `set`, `flag` and `each`"));
            return;
        };
        let of_values = ["line", "set"];
        let owners = [
            ("clear", &of_values[..]),
            ("map", &of_values),
            ("remove", &["each"]),
        ];
        for (key, owners) in owners {
            if let Some(file_node) = top.get(key).filter(|_| !owners.contains(kind)) {
                let owners = owners.join("` or `");
                problems.push(file_node.problem(format!("`{key}` belongs to `{owners}`")));
            }
        }
        let mut when = "true".to_owned();
        if let Some(file_node) = top.get("when") {
            // Compiled here for its own location; the templates contain it again.
            if file_node.expression(self.names, problems).is_none() {
                return;
            }
            let source = file_node.node().as_scalar().map(Value::interpolated);
            when = format!("({})", source.unwrap_or_default());
        }
        let item = Item {
            top,
            name,
            attribute: &self.schema.attributes()[name],
            text,
            when,
        };
        match *kind {
            "line" | "set" => self.set(&item, *kind == "line", problems),
            "flag" => self.flag(&item, problems),
            _ => self.each(&item, problems),
        }
    }

    /// A line for a value, and one that takes it away, which `is_own` makes of its own words.
    fn set(&mut self, item: &Item<'_, '_>, is_own: bool, problems: &mut Problems) {
        let Item { name, when, .. } = item;
        let map = item.top.get("map");
        let value = map.map_or_else(|| (*name).to_owned(), |map| item.mapped(&map, problems));
        let differs = format!("{name} is changed(is.{name}) and {name} not in ['', []]");
        let set = format!("{{% if {when} and {differs} %}}{{% set {VALUE} = {value} %}}");
        self.add(
            Draft::new(item.text, set, "{% endif %}", &[VALUE]),
            problems,
        );
        let differs = format!("{name} in ['', []] and is.{name} not in [none, '', []]");
        let open = format!("{{% if {when} and {differs} %}}");
        if let Some(text) = item.top.get("clear") {
            self.add(Draft::new(&text, open, "{% endif %}", &[]), problems);
        } else if is_own {
            let mut draft = Draft::new(item.text, open, "{% endif %}", &[VALUE]);
            draft.is_cut = true;
            draft.replaced = (String::new(), self.no.clone());
            self.add(draft, problems);
        }
    }

    /// A line for true, and its opposite for false.
    fn flag(&mut self, item: &Item<'_, '_>, problems: &mut Problems) {
        let Item {
            name, text, when, ..
        } = item;
        if item.attribute.check(&Value::Boolean(true)).is_err() {
            problems.push(text.problem(format!("`{name}` is not Boolean: expected `set`")));
        }
        let is_negative = text
            .node()
            .as_str()
            .is_some_and(|text| text.starts_with(&self.no));
        let (begin, yes, no) = match is_negative {
            true => (&*self.no, &*self.no, ""),
            false => ("", "", &*self.no),
        };
        let flag = format!("{{% if {when} and {name} is changed(is.{name}) %}}");
        let mut draft = Draft::new(text, flag, "{% endif %}", &[]);
        let either = format!("{{{{ '{yes}' if {name} else '{no}' }}}}");
        draft.replaced = (begin.to_owned(), either);
        self.add(draft, problems);
    }

    /// A line for each item that is missing, after those for items that are not wanted.
    fn each(&mut self, item: &Item<'_, '_>, problems: &mut Problems) {
        let Item {
            name, text, when, ..
        } = item;
        if item.attribute.check(&Value::Array(Vec::new())).is_err() {
            problems.push(text.problem(format!("`{name}` is no list: expected `set`")));
        }
        let only_in = |one: &str, other: &str| {
            let differs = format!("{ITEM} not in ({other} or [])");
            format!("{{% for {ITEM} in {one} or [] if {when} and {differs} %}}")
        };
        let is = format!("is.{name}");
        let remove = item.top.get("remove");
        let mut draft = Draft::new(
            remove.as_ref().unwrap_or(text),
            only_in(&is, name),
            "{% endfor %}",
            &[ITEM],
        );
        if remove.is_none() {
            draft.replaced = (String::new(), self.no.clone());
        }
        let before = problems.len();
        self.add(draft, problems);
        // The same text has the same problems.
        if remove.is_none() && problems.len() > before {
            return;
        }
        let draft = Draft::new(text, only_in(name, &is), "{% endfor %}", &[ITEM]);
        self.add(draft, problems);
    }

    /// Compiles a template. Its lines have the numbers that they have in the text.
    fn add(&mut self, draft: Draft<'_>, problems: &mut Problems) {
        let Draft {
            text,
            replaced: (begin, replacement),
            is_cut,
            blocks: [open, close],
            also,
        } = draft;
        check_lines(&text, problems);
        let names = [self.names, also].concat();
        let Some(source) = text.text(problems) else {
            return;
        };
        // Compiled alone first, because the blocks around it bring names of their own.
        if text.template(&names, problems).is_none() {
            return;
        }
        let source = match source.find("{{").filter(|_| is_cut) {
            Some(at) => source[..at].trim_end(),
            None => source.trim_end(),
        };
        let source = source.strip_prefix(&begin).unwrap_or(source);
        let source = source.replace('\n', &format!("\n{}", self.indent));
        let source = format!("{open}{}{replacement}{source}\n{close}", self.indent);
        let names = [self.names, &[VALUE, ITEM]].concat();
        let compiled = text.escaping_template(&source, &names, Escape::Line, problems);
        self.templates.extend(compiled);
    }
}

impl<'f> Draft<'f> {
    fn new(text: &FileNode<'f>, open: String, close: &str, also: &'static [&'static str]) -> Self {
        Self {
            text: text.clone(),
            replaced: (String::new(), String::new()),
            is_cut: false,
            blocks: [open, close.to_owned()],
            also,
        }
    }
}

impl Item<'_, '_> {
    /// The expression of what `map` makes of the attribute. A value that it lacks is written as it is.
    fn mapped(&self, map: &FileNode<'_>, problems: &mut Problems) -> String {
        let name = self.name;
        let mut pairs = serde_json::Map::new();
        for (key, file_node) in map.pairs(problems) {
            if let Err(mismatch) = self.attribute.check(&Value::from(key)) {
                let message = format!("`{key}` is no value of `{name}`, which {mismatch}");
                problems.push(file_node.problem(message));
            }
            match file_node.node().as_scalar() {
                Some(value) => {
                    pairs.insert(key.to_owned(), value.interpolated().into());
                }
                None => problems.push(file_node.problem(file_node.node().mismatch("a text"))),
            }
        }
        let pairs = serde_json::Value::Object(pairs);
        format!("{pairs}[{name}] if {name} in {pairs} else {name}")
    }
}
