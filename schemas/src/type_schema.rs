//! Type schemas: what a kind of resource consists of, and the checks of resources against it.

use std::fmt;

use indexmap::IndexMap;

use crate::attribute::{ruby_class, shown};
use crate::problem::Problems;
use crate::{Attribute, Behaviour, Hash, Name, Regexp, Resource, Value, suggest};

/// What a kind of resource consists of (Resource API, "Resource definition").
#[derive(Clone, Debug)]
pub struct TypeSchema {
    name: String,
    desc: String,
    attributes: IndexMap<String, Attribute>,
    features: Vec<Feature>,
    title_patterns: Vec<Regexp>,
    namevars: Vec<String>,
}

/// What a type's provider can do beyond `get` and `set` (Resource API, "Provider features").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// It brings values into one standard form.
    Canonicalize,
    /// It decides by itself whether a property is in sync.
    CustomInsync,
    /// It manages devices, not the host.
    RemoteResource,
    /// `get` takes the names that are wanted.
    SimpleGetFilter,
    /// `set` is also called under noop.
    SupportsNoop,
}

/// Everything that is wrong with a desired resource, in one sentence each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidResource(Vec<String>);

/// Attribute names that Puppet keeps for itself.
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

impl TypeSchema {
    /// Reads a type's definition: `{name, desc, attributes, features, title_patterns}`.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the Resource API gem's words where it has them.
    pub fn register(definition: &Value) -> Result<Self, Problems> {
        let mut problems = Problems::default();
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
        let attributes = Self::attributes_of(name, definition, &mut problems);
        let namevars: Vec<String> = attributes
            .iter()
            .filter(|(_, attribute)| attribute.behaviour == Behaviour::Namevar)
            .map(|(name, _)| name.clone())
            .collect();
        if namevars.is_empty() && !attributes.is_empty() {
            let message = format!("`{name}` has no attribute with `behaviour: namevar`");
            problems.add(&["attributes"], message);
        }
        let features = Self::features_of(definition, &mut problems);
        let title_patterns = Self::title_patterns_of(definition, &namevars, &mut problems);
        problems.or(|| Self {
            name: name.to_owned(),
            desc: desc.trim().to_owned(),
            attributes,
            features,
            title_patterns,
            namevars,
        })
    }

    fn attributes_of(
        name: &str,
        definition: &Hash,
        problems: &mut Problems,
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
            if key == "rsapi_custom_insync_trigger" {
                let message = "`rsapi_custom_insync_trigger` cannot be specified as an attribute; it \
                               is reserved for propertyless types with the custom_insync feature";
                problems.add(&["attributes", &key], message);
            }
            let attribute = Attribute::register(name, "attributes", &key, attribute, problems);
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

    fn features_of(definition: &Hash, problems: &mut Problems) -> Vec<Feature> {
        let mut features = Vec::new();
        match definition.get("features") {
            None => {}
            Some(Value::Array(words)) => {
                for word in words {
                    match word.as_str().and_then(Feature::named) {
                        Some(feature) => features.push(feature),
                        None => {
                            let word = shown(word);
                            let hint = suggest(&word, Feature::ALL.map(Feature::name));
                            let message = format!("unknown feature `{word}`{hint}");
                            problems.add(&["features"], message);
                        }
                    }
                }
            }
            Some(other) => {
                let class = ruby_class(other);
                problems.add(
                    &["features"],
                    format!("`:features` must be an array, not `{class}`"),
                );
            }
        }
        features
    }

    fn title_patterns_of(
        definition: &Hash,
        namevars: &[String],
        problems: &mut Problems,
    ) -> Vec<Regexp> {
        const PATH: [&str; 1] = ["title_patterns"];
        let mut patterns = Vec::new();
        match definition.get("title_patterns") {
            None if namevars.len() > 1 => problems.add(
                &PATH,
                "a type with several namevars needs `title_patterns` that take a title apart",
            ),
            None => {}
            Some(Value::Array(items)) => {
                for item in items {
                    // The document has `{pattern, desc}`; a bare text serves where no words are needed.
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

    /// The type's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the type manages.
    pub fn desc(&self) -> &str {
        &self.desc
    }

    /// The attributes, in the schema's order.
    pub fn attributes(&self) -> &IndexMap<String, Attribute> {
        &self.attributes
    }

    /// The names of the attributes that identify a resource.
    pub fn namevars(&self) -> &[String] {
        &self.namevars
    }

    /// The features that the type's provider has.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// The patterns that take a title apart.
    pub fn title_patterns(&self) -> &[Regexp] {
        &self.title_patterns
    }

    /// Whether the type's provider has a feature.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(&feature)
    }

    /// Whether resources of this type can be present or absent.
    pub fn is_ensurable(&self) -> bool {
        self.attributes.contains_key("ensure")
    }

    /// The namevars that a title stands for.
    ///
    /// # Errors
    /// That no pattern takes the title apart.
    pub fn parse_title(&self, title: &str) -> Result<Hash, InvalidResource> {
        if self.title_patterns.is_empty() {
            return Ok(self
                .namevars
                .iter()
                .take(1)
                .map(|name| (name.as_str(), title.into()))
                .collect());
        }
        for pattern in &self.title_patterns {
            let captures = pattern
                .captures(title)
                .map_err(|error| InvalidResource(vec![format!("title `{title}`: {error}")]))?;
            if let Some(captures) = captures {
                return Ok(captures
                    .names()
                    .filter_map(|namevar| Some((namevar, captures.name(namevar)?)))
                    .map(|(namevar, text)| (namevar, self.typed(namevar, text)))
                    .collect());
            }
        }
        let patterns: Vec<String> = self
            .title_patterns
            .iter()
            .map(|pattern| format!("/{}/", pattern.source()))
            .collect();
        Err(InvalidResource(vec![format!(
            "no set of title patterns matched the title \"{title}\"; expected {}",
            patterns.join(" or ")
        )]))
    }

    /// A namevar's text as the type that it must have: a number where only a number fits.
    fn typed(&self, namevar: &str, text: &str) -> Value {
        let value = Value::from(text);
        let fits = |value: &Value| {
            self.attributes
                .get(namevar)
                .is_none_or(|attribute| attribute.check(value).is_ok())
        };
        match text.parse::<i64>().map(Value::from) {
            Ok(number) if !fits(&value) && fits(&number) => number,
            _ => value,
        }
    }

    /// Makes a desired resource of what somebody wrote: defaults, namevars from the title, secrets
    /// wrapped, everything checked.
    ///
    /// # Errors
    /// Every unknown, wrong, read-only and missing attribute. Secrets are not quoted.
    pub fn desire(&self, title: &str, given: Hash) -> Result<(Name, Resource), InvalidResource> {
        let mut wrong = Vec::new();
        let mut resource = Resource::new();
        match self.parse_title(title) {
            Ok(namevars) => {
                for (namevar, value) in namevars {
                    resource.set(&namevar.to_string(), value);
                }
            }
            // Without a title to take apart, the namevars may still all be given.
            Err(_)
                if self
                    .namevars
                    .iter()
                    .all(|namevar| given.get(namevar).is_some()) => {}
            Err(InvalidResource(problems)) => wrong.extend(problems),
        }
        for (key, value) in given {
            let key = key.to_string();
            match self.attributes.get(&key) {
                None => wrong.push(self.unknown(&key)),
                // Puppet drops an attribute that is set to undef.
                Some(_) if value.is_undef() => {}
                Some(attribute) if attribute.behaviour == Behaviour::ReadOnly => {
                    let shown = if attribute.sensitive {
                        "a secret".into()
                    } else {
                        shown(&value)
                    };
                    let message =
                        format!("Attempting to set `{key}` read_only attribute value to `{shown}`");
                    wrong.push(message);
                }
                Some(attribute) => {
                    let value = if attribute.sensitive {
                        value.into_sensitive()
                    } else {
                        value
                    };
                    resource.set(&key, value);
                }
            }
        }
        for (key, attribute) in &self.attributes {
            match (resource.get(key), &attribute.default) {
                (None, Some(default)) if attribute.behaviour != Behaviour::ReadOnly => {
                    resource.set(key, default.clone());
                }
                (Some(value), _) => {
                    if let Err(violation) = attribute.check(value) {
                        wrong.push(format!("`{key}` {violation}"));
                    }
                }
                (None, _) => {}
            }
        }
        self.check_mandatory(&resource, &mut wrong);
        if wrong.is_empty() {
            Ok((Name::new(title, self.namevars_of(&resource)), resource))
        } else {
            Err(InvalidResource(wrong))
        }
    }

    fn check_mandatory(&self, resource: &Resource, wrong: &mut Vec<String>) {
        let missing: Vec<&str> = self
            .attributes
            .iter()
            .filter(|(key, attribute)| {
                let needed = match attribute.behaviour {
                    Behaviour::Namevar | Behaviour::ReadOnly => false,
                    Behaviour::Parameter | Behaviour::InitOnly => true,
                    Behaviour::Property => resource.is_present() && key.as_str() != "ensure",
                };
                needed && attribute.is_mandatory() && resource.get(key).is_none()
            })
            .map(|(key, _)| key.as_str())
            .collect();
        if !missing.is_empty() {
            wrong.push(format!(
                "The following mandatory attributes were not provided:\n    *  {}",
                missing.join(", \n    *  ")
            ));
        }
    }

    fn unknown(&self, key: &str) -> String {
        let hint = suggest(key, self.attributes.keys().map(String::as_str));
        format!("`{}` has no attribute `{key}`{hint}", self.name)
    }

    /// Checks a row that a provider's `get` returned, and names it.
    ///
    /// # Errors
    /// A missing namevar, an unknown attribute, a value of another type, a title that stands for
    /// other namevars; in the gem's words.
    pub fn check_row(&self, row: &Resource) -> Result<Name, InvalidResource> {
        let name = &self.name;
        for namevar in &self.namevars {
            if row.get(namevar).is_none_or(Value::is_undef) {
                return Err(InvalidResource(vec![format!(
                    "`{name}.get` did not return a value for the `{namevar}` namevar attribute"
                )]));
            }
        }
        let mut unknown = Vec::new();
        let mut mismatches = Vec::new();
        for (key, value) in row.iter() {
            match self.attributes.get(key) {
                None if key == "title" => {}
                None => unknown.push(format!("    * {key}")),
                Some(attribute) => {
                    if let Err(violation) = attribute.check(value) {
                        mismatches.push(if attribute.sensitive {
                            format!("    * {key}: << redacted value >> {violation}")
                        } else {
                            format!("    * {key}: {} ({violation})", shown(value))
                        });
                    }
                }
            }
        }
        let namevars = self.namevars_of(row);
        let title = self.title_of(row)?;
        if unknown.is_empty() && mismatches.is_empty() {
            return Ok(Name::new(title, namevars));
        }
        let mut message = format!(
            "Provider returned data that does not match the Type Schema for `{name}[{title}]`"
        );
        for (heading, lines) in [
            ("Unknown attribute", unknown),
            ("Value type mismatch", mismatches),
        ] {
            if !lines.is_empty() {
                message.push_str(&format!("\n {heading}:\n{}", lines.join("\n")));
            }
        }
        Err(InvalidResource(vec![message]))
    }

    /// Checks the rows that a provider's `get` returned, their secrets wrapped from then on.
    ///
    /// # Errors
    /// What is wrong with the first wrong row.
    pub fn check_rows(&self, rows: &mut [Resource]) -> Result<(), InvalidResource> {
        for row in rows {
            for (name, value) in row.iter_mut() {
                if self
                    .attributes
                    .get(name)
                    .is_some_and(|attribute| attribute.sensitive)
                {
                    *value = std::mem::replace(value, Value::Undef).into_sensitive();
                }
            }
            self.check_row(row)?;
        }
        Ok(())
    }

    /// The title of a row: its own with several namevars, else the namevar's value.
    fn title_of(&self, row: &Resource) -> Result<String, InvalidResource> {
        if let [namevar] = self.namevars.as_slice() {
            return Ok(row.get(namevar).map(shown).unwrap_or_default());
        }
        let name = &self.name;
        let Some(title) = row.get("title").and_then(Value::as_str) else {
            return Err(InvalidResource(vec![format!(
                "{name}#get has not provided a title attribute."
            )]));
        };
        let named = self.parse_title(title)?;
        let differing: Vec<&str> = named
            .iter()
            .filter_map(|(key, value)| Some((key.as_str()?, value)))
            .filter(|(namevar, value)| row.get(namevar) != Some(*value))
            .map(|(namevar, _)| namevar)
            .collect();
        if differing.is_empty() {
            return Ok(title.to_owned());
        }
        Err(InvalidResource(vec![format!(
            "{name}[{title}]#get has provided a title attribute which does not match all namevars.\n\
             Namevars which do not match: {}",
            differing.join(", ")
        )]))
    }

    /// The namevars of a resource, in the schema's order.
    pub fn namevars_of(&self, resource: &Resource) -> Hash {
        self.namevars
            .iter()
            .filter_map(|namevar| Some((namevar.as_str(), resource.get(namevar)?.clone())))
            .collect()
    }
}

impl Feature {
    /// Every feature.
    pub const ALL: [Self; 5] = [
        Self::Canonicalize,
        Self::CustomInsync,
        Self::RemoteResource,
        Self::SimpleGetFilter,
        Self::SupportsNoop,
    ];

    /// The feature's name in a definition.
    pub fn name(self) -> &'static str {
        match self {
            Self::Canonicalize => "canonicalize",
            Self::CustomInsync => "custom_insync",
            Self::RemoteResource => "remote_resource",
            Self::SimpleGetFilter => "simple_get_filter",
            Self::SupportsNoop => "supports_noop",
        }
    }

    fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|feature| feature.name() == word)
    }
}

impl InvalidResource {
    /// What is wrong, a sentence each.
    pub fn problems(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Display for InvalidResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("\n"))
    }
}

impl std::error::Error for InvalidResource {}

/// The gem takes `Enum[present, absent]`, and an Optional of it, for `ensure`.
fn is_ensure(attribute: &Attribute) -> bool {
    let canonical = attribute.data_type.to_string();
    [
        "Enum['absent', 'present']",
        "Optional[Enum['absent', 'present']]",
    ]
    .contains(&canonical.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml;

    const ROUTE: &str = r"
name: route
desc: A route.
features: [remote_resource]
attributes:
  ensure: { type: 'Enum[present, absent]', default: present }
  prefix: { type: 'Pattern[/\A[0-9.]+\/\d+\z/]', behaviour: namevar }
  table: { type: Integer, behaviour: namevar }
  metric: { type: 'Optional[Integer[1, 255]]' }
  key: { type: 'Optional[String[8]]', sensitive: true }
  seen: { type: 'Optional[String]', behaviour: read_only }
  owner: { type: String }
title_patterns: ['\A(?<prefix>\S+) table (?<table>\d+)\z']
";

    fn schema() -> TypeSchema {
        TypeSchema::register(&yaml::parse(ROUTE).expect("YAML").to_value()).expect("a schema")
    }

    fn given(text: &str) -> Hash {
        match yaml::parse(text).expect("YAML").to_value() {
            Value::Hash(hash) => hash,
            _ => Hash::new(),
        }
    }

    #[test]
    fn a_title_gives_the_namevars_with_their_types() {
        let (name, resource) = schema()
            .desire("10.0.0.0/8 table 7", given("{owner: me, key: canary-x}"))
            .expect("it fits");
        assert_eq!(name.title(), "10.0.0.0/8 table 7");
        assert_eq!(resource.get("table"), Some(&Value::Integer(7)));
        assert_eq!(resource.get("ensure"), Some(&Value::from("present")));
        assert!(matches!(resource.get("key"), Some(Value::Sensitive(_))));
    }

    #[test]
    fn everything_wrong_with_a_desired_resource_is_told_and_no_secret_quoted() {
        let wrong = schema()
            .desire(
                "10.0.0.0 table 7",
                given("{metrik: 1, metric: 300, seen: x, key: canary}"),
            )
            .expect_err("it is wrong");
        assert_eq!(
            wrong.problems(),
            [
                "`route` has no attribute `metrik`; did you mean `metric`?",
                "Attempting to set `seen` read_only attribute value to `x`",
                "`prefix` expects a match for Pattern[/\\A[0-9.]+\\/\\d+\\z/], got '10.0.0.0'",
                "`metric` expects a value of type Undef or Integer[1, 255], got Integer[300, 300]",
                "`key` expects a value of type Undef or String[8], got String",
                "The following mandatory attributes were not provided:\n    *  owner",
            ]
        );
        let wrong = schema()
            .desire("nonsense", Hash::new())
            .expect_err("no pattern takes it");
        assert!(
            wrong
                .to_string()
                .starts_with("no set of title patterns matched the title")
        );
    }

    #[test]
    fn an_absent_resource_needs_no_properties() {
        schema()
            .desire("10.0.0.0/8 table 7", given("{ensure: absent}"))
            .expect("it fits");
    }

    #[test]
    fn a_row_is_checked_and_named() {
        let row = |text| Resource::from(given(text));
        let name = schema()
            .check_row(&row(
                "{title: 1.0.0.0/8 table 2, prefix: 1.0.0.0/8, table: 2, owner: me}",
            ))
            .expect("it fits");
        assert_eq!(name.title(), "1.0.0.0/8 table 2");
        let wrong = |text| {
            schema()
                .check_row(&row(text))
                .expect_err("it is wrong")
                .to_string()
        };
        assert_eq!(
            wrong("{prefix: 1.0.0.0/8}"),
            "`route.get` did not return a value for the `table` namevar attribute"
        );
        assert_eq!(
            wrong("{prefix: 1.0.0.0/8, table: 2}"),
            "route#get has not provided a title attribute."
        );
        assert!(
            wrong("{title: 1.0.0.0/8 table 3, prefix: 1.0.0.0/8, table: 2}")
                .ends_with("Namevars which do not match: table")
        );
        assert_eq!(
            wrong("{title: 1.0.0.0/8 table 2, prefix: 1.0.0.0/8, table: 2, x: 1, metric: no}"),
            "Provider returned data that does not match the Type Schema for `route[1.0.0.0/8 table \
             2]`\n Unknown attribute:\n    * x\n Value type mismatch:\n    * metric: false (expects \
             a value of type Undef or Integer, got Boolean)"
        );
    }

    #[test]
    fn a_wrong_definition_is_refused_with_every_problem() {
        let problems = TypeSchema::register(
            &yaml::parse(
                "name: x\nfeatures: [remote_resorce]\nattributes:\n  title: {type: String}\n  \
                 ensure: {type: String}\n  a: {type: String, behaviour: namevar}\n  \
                 b: {type: String, behaviour: namevar}\n",
            )
            .expect("YAML")
            .to_value(),
        )
        .expect_err("it is wrong");
        let problems: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
        assert_eq!(
            problems,
            [
                "must not define an attribute called `:title`",
                "`x.ensure` must be an `Enum[present, absent]`, not `String`",
                "unknown feature `remote_resorce`; did you mean `remote_resource`?",
                "a type with several namevars needs `title_patterns` that take a title apart",
            ]
        );
    }
}
