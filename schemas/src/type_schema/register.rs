//! Parses a type's definition, and reports everything that is wrong with it.

use indexmap::IndexMap;

use super::relation;
use super::schema::{Feature, HIDDEN_PROPERTY, TypeSchema};
use crate::attribute::{ruby_class, shown};
use crate::problem::DefinitionProblems;
use crate::{Attribute, Behaviour, Hash, Regexp, Value, suggest};

/// Attribute names that Puppet reserves.
const FORBIDDEN: [&str; 15] = [
    "title",
    "provider",
    "alias",
    "audit",
    "before",
    "consume",
    "export",
    "loglevel",
    "noop",
    "notify",
    "require",
    "schedule",
    "stage",
    "subscribe",
    "tag",
];

/// For which program a definition was written.
#[derive(Clone, Copy)]
enum Author {
    /// For devgate: unknown keys are mistakes.
    Ours,
    /// For Puppet: unknown keys may mean something to other programs.
    Foreign,
}

impl TypeSchema {
    /// Parses a type's definition: `{name, desc, attributes, features, title_patterns, autorequire, …}`,
    /// and devgate's extension `example`: `{TITLE: {attribute: value}}`.
    ///
    /// # Errors
    /// Fails with everything that is wrong with the definition, in the Resource API gem's wording where the
    /// gem has one.
    pub fn register(definition: &Value) -> Result<Self, DefinitionProblems> {
        Self::read(definition, Author::Ours, &mut Vec::new())
    }

    /// Parses a type's definition that was written for Puppet, and returns the gem's warnings about it.
    /// Like the gem, it accepts attribute options that the specification does not have: providers may read
    /// them.
    ///
    /// # Errors
    /// Fails as [`register`](Self::register) does, except for unknown features and options and for missing
    /// title patterns.
    pub fn register_foreign(definition: &Value) -> Result<(Self, Vec<String>), DefinitionProblems> {
        let mut warnings = Vec::new();
        let schema = Self::read(definition, Author::Foreign, &mut warnings)?;
        Ok((schema, warnings))
    }

    fn read(
        definition: &Value,
        author: Author,
        warnings: &mut Vec<String>,
    ) -> Result<Self, DefinitionProblems> {
        let mut problems = DefinitionProblems::default();
        let Value::Hash(definition) = definition else {
            let class = ruby_class(definition);
            problems.add(
                &[],
                format!("a type definition must be a Hash, not `{class}`"),
            );
            return Err(problems);
        };
        let name = definition
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if name.is_empty() {
            problems.add(&["name"], "a type definition must have a name");
        }
        let desc = match (definition.get("desc"), definition.get("docs")) {
            (Some(_), Some(_)) => {
                let message = format!("`{name}` has both `desc` and `docs`, prefer using `desc`");
                problems.add(&["docs"], message);
                ""
            }
            (desc, docs) => desc.or(docs).and_then(Value::as_str).unwrap_or_default(),
        };
        let undocumented =
            |what: &str| format!("`{what}` has no documentation, add it using a `desc` key");
        if desc.is_empty() {
            warnings.push(undocumented(name));
        }
        let attributes = Self::attributes_of(name, definition, author, &mut problems);
        let bare = attributes.iter().filter(|(_, one)| one.desc.is_empty());
        warnings.extend(bare.map(|(attribute, _)| undocumented(&format!("{name}.{attribute}"))));
        let namevars: Vec<String> = attributes
            .iter()
            .filter(|(_, attribute)| attribute.behaviour == Behaviour::Namevar)
            .map(|(name, _)| name.clone())
            .collect();
        if namevars.is_empty() && !attributes.is_empty() {
            let message = format!("`{name}` has no attribute with `behaviour: namevar`");
            problems.add(&["attributes"], message);
        }
        let (features, unknown) = Self::features_of(definition, &mut problems);
        match author {
            _ if unknown.is_empty() => {}
            Author::Ours => {
                for word in &unknown {
                    let hint = suggest(word, Feature::ALL.map(Feature::name));
                    problems.add(&["features"], format!("unknown feature `{word}`{hint}"));
                }
            }
            Author::Foreign => {
                let unknown = Value::Array(unknown.into_iter().map(Value::String).collect());
                warnings.push(format!("Unknown feature detected: {}", unknown.inspect()));
            }
        }
        let title_patterns = Self::title_patterns_of(definition, author, &namevars, &mut problems);
        let relations = relation::read(definition, &attributes, &mut problems);
        let mut schema = problems.or(|| Self {
            name: name.to_owned(),
            desc: desc.trim().to_owned(),
            attributes,
            features,
            title_patterns,
            namevars,
            relations,
            example: None,
        })?;
        if let Author::Ours = author {
            schema.read_example(definition)?;
        }
        Ok(schema)
    }

    fn attributes_of(
        name: &str,
        definition: &Hash,
        author: Author,
        problems: &mut DefinitionProblems,
    ) -> IndexMap<String, Attribute> {
        let mut attributes = IndexMap::new();
        let defined = match definition.get("attributes") {
            Some(Value::Hash(defined)) => defined,
            None => {
                problems.add(&[], format!("`{name}` must have `attributes`"));
                return attributes;
            }
            Some(other) => {
                let class = ruby_class(other);
                let message = format!("`{name}.attributes` must be a hash, not `{class}`");
                problems.add(&["attributes"], message);
                return attributes;
            }
        };
        for (key, attribute) in defined.iter() {
            let key = key.to_string();
            if FORBIDDEN.contains(&key.as_str()) {
                let message = format!("must not define an attribute called `:{key}`");
                problems.add(&["attributes", &key], message);
            }
            if key == HIDDEN_PROPERTY {
                let message = format!(
                    "`{HIDDEN_PROPERTY}` cannot be specified as an attribute; it is reserved for \
                     propertyless types with the custom_insync feature"
                );
                problems.add(&["attributes", &key], message);
            }
            let read = match author {
                Author::Ours => Attribute::register,
                Author::Foreign => Attribute::read,
            };
            let attribute = read(name, "attributes", &key, attribute, problems);
            let Some(attribute) = attribute else { continue };
            if key == "ensure" && !is_ensure(&attribute) {
                let message = format!(
                    "`{name}.ensure` must be an `Enum[present, absent]`, not `{}`",
                    attribute.data_type
                );
                problems.add(&["attributes", "ensure", "type"], message);
            }
            attributes.insert(key, attribute);
        }
        attributes
    }

    /// Returns the known features and the unknown words.
    fn features_of(
        definition: &Hash,
        problems: &mut DefinitionProblems,
    ) -> (Vec<Feature>, Vec<String>) {
        let words: &[Value] = match definition.get("features") {
            None => &[],
            Some(Value::Array(words)) => words,
            Some(other) => {
                let class = ruby_class(other);
                let message = format!("`:features` must be an array, not `{class}`");
                problems.add(&["features"], message);
                &[]
            }
        };
        let mut features = Vec::new();
        let mut unknown = Vec::new();
        for word in words {
            match word.as_str().and_then(Feature::named) {
                Some(feature) => features.push(feature),
                None => unknown.push(shown(word)),
            }
        }
        (features, unknown)
    }

    fn title_patterns_of(
        definition: &Hash,
        author: Author,
        namevars: &[String],
        problems: &mut DefinitionProblems,
    ) -> Vec<Regexp> {
        const PATH: [&str; 1] = ["title_patterns"];
        let mut patterns = Vec::new();
        match definition.get("title_patterns") {
            None => match author {
                Author::Ours if namevars.len() > 1 => problems.add(
                    &PATH,
                    "a type with several namevars needs `title_patterns` that take a title apart",
                ),
                // The title is the first namevar, however many there are.
                Author::Ours | Author::Foreign => {}
            },
            Some(Value::Array(items)) => {
                for item in items {
                    // The specification has `{pattern, desc}`. A bare text is accepted where no description
                    // is needed.
                    let pattern = item
                        .as_hash()
                        .and_then(|item| item.get("pattern"))
                        .unwrap_or(item);
                    let Some(source) = pattern.as_str() else {
                        problems.add(&PATH, "a title pattern is a text, or `{pattern, desc}`");
                        continue;
                    };
                    match Regexp::new(source) {
                        Err(error) => problems.add(&PATH, format!("`{source}`: {error}")),
                        Ok(pattern) => {
                            for capture in pattern.names() {
                                if !namevars.iter().any(|namevar| namevar == capture) {
                                    let message = format!(
                                        "`{source}` captures `{capture}`, which is not a namevar"
                                    );
                                    problems.add(&PATH, message);
                                }
                            }
                            patterns.push(pattern);
                        }
                    }
                }
            }
            Some(other) => {
                let class = ruby_class(other);
                let message = format!("`:title_patterns` must be an array, not `{class}`");
                problems.add(&PATH, message);
            }
        }
        patterns
    }
}

/// Whether the gem accepts the attribute as `ensure`: the type is `Enum[present, absent]` or an Optional of
/// it.
fn is_ensure(attribute: &Attribute) -> bool {
    let canonical = attribute.data_type.to_string();
    [
        "Enum['absent', 'present']",
        "Optional[Enum['absent', 'present']]",
    ]
    .contains(&canonical.as_str())
}
