//! The schema of a resource type.

use indexmap::IndexMap;

use super::relation::{AutoRelation, Related};
use crate::{Attribute, Behaviour, Hash, Regexp, Resource};

/// The property that a provider is asked about when its type has no property, but has a custom comparison
/// (Resource API, "Using `custom_insync` in a resource without properties").
pub const HIDDEN_PROPERTY: &str = "rsapi_custom_insync_trigger";

/// The schema of a resource type (Resource API, "Resource definition").
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

/// A sample resource: a title and attributes as in a manifest.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The title.
    pub title: String,
    /// The attributes.
    pub attributes: Hash,
    /// Mandatory attributes for which no sample value can be derived.
    pub open: Vec<String>,
}

/// A feature of a type's provider beyond `get` and `set` (Resource API, "Provider features").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// The provider converts values into a canonical form.
    Canonicalize,
    /// The provider itself decides whether a property is in sync.
    CustomInsync,
    /// The provider manages devices, not the local host.
    RemoteResource,
    /// `get` accepts the names of the wanted resources.
    SimpleGetFilter,
    /// `set` is also called in noop mode.
    SupportsNoop,
}

impl TypeSchema {
    /// Returns the type's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the type's description.
    pub fn desc(&self) -> &str {
        &self.desc
    }

    /// Returns the attributes in the schema's order.
    pub fn attributes(&self) -> &IndexMap<String, Attribute> {
        &self.attributes
    }

    /// Returns the names of the attributes that identify a resource.
    pub fn namevars(&self) -> &[String] {
        &self.namevars
    }

    /// Returns the features of the type's provider.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Returns the patterns that parse a title.
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

    /// Whether the provider compares resources as a whole, because the type has no property. The provider
    /// is then asked about the [`HIDDEN_PROPERTY`].
    pub fn is_asked_as_a_whole(&self) -> bool {
        let mut attributes = self.attributes.values();
        let has_property = attributes.any(|attribute| attribute.behaviour == Behaviour::Property);
        self.has(Feature::CustomInsync) && !has_property
    }

    /// Returns the namevars of a resource in the schema's order.
    pub fn namevars_of(&self, resource: &Resource) -> Hash {
        self.namevars
            .iter()
            .filter_map(|namevar| Some((namevar.as_str(), resource.get(namevar)?)))
            .filter(|(_, value)| !value.is_undef())
            .map(|(namevar, value)| (namevar, value.clone()))
            .collect()
    }

    /// Returns the automatic relations of a resource of this type. They may refer to resources that do not
    /// exist.
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

    /// Returns the feature's name in a definition.
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
