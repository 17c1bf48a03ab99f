//! What a kind of resource consists of.

use indexmap::IndexMap;

use super::relation::{AutoRelation, Related};
use crate::{Attribute, Behaviour, Hash, Regexp, Resource};

/// What a provider is asked about when its type has nothing to be compared, but wants to be asked
/// (Resource API, "Using `custom_insync` in a resource without properties").
pub const HIDDEN_PROPERTY: &str = "rsapi_custom_insync_trigger";

/// What a kind of resource consists of (Resource API, "Resource definition").
#[derive(Clone, Debug)]
pub struct TypeSchema {
    pub(super) name: String,
    pub(super) desc: String,
    pub(super) attributes: IndexMap<String, Attribute>,
    pub(super) features: Vec<Feature>,
    pub(super) title_patterns: Vec<Regexp>,
    pub(super) namevars: Vec<String>,
    pub(super) relations: Vec<AutoRelation>,
    pub(super) example: Option<Example>,
}

/// A resource to begin with: a title, and attributes as a manifest has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Its title.
    pub title: String,
    /// What is said of it.
    pub attributes: Hash,
    /// Attributes that must be given, and of which nobody knows a value.
    pub open: Vec<String>,
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

impl TypeSchema {
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

    /// Whether the provider decides of a resource as a whole, because its type has no property that it
    /// could be asked about: then it is asked about the [`HIDDEN_PROPERTY`].
    pub fn is_asked_as_a_whole(&self) -> bool {
        let mut attributes = self.attributes.values();
        let has_property = attributes.any(|attribute| attribute.behaviour == Behaviour::Property);
        self.has(Feature::CustomInsync) && !has_property
    }

    /// The namevars of a resource, in the schema's order.
    pub fn namevars_of(&self, resource: &Resource) -> Hash {
        self.namevars
            .iter()
            .filter_map(|namevar| Some((namevar.as_str(), resource.get(namevar)?)))
            .filter(|(_, value)| !value.is_undef())
            .map(|(namevar, value)| (namevar, value.clone()))
            .collect()
    }

    /// The relations that a resource of this type has by itself. Whether the others exist, nobody has
    /// asked.
    pub fn related<'s>(&'s self, resource: &'s Resource) -> impl Iterator<Item = Related<'s>> {
        self.relations.iter().flat_map(move |relation| {
            let titles = relation.titles.iter();
            titles
                .flat_map(move |source| source.titles(resource))
                .map(move |title| Related {
                    kind: relation.kind,
                    type_name: &relation.type_name,
                    title,
                })
        })
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

    pub(super) fn named(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|feature| feature.name() == word)
    }
}
