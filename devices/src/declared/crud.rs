//! How a resource is created, updated and deleted, and the scope of a change.

use devgate_schemas::{Attribute, Behaviour, Name, Resource, TypeSchema};
use devgate_transports::Context;

use super::on_device::FACTS;
use super::on_device::TypeOnDevice;
use crate::file_node::{FileNode, Problems, WithLocation};
use crate::template::{Medium, Scope, Secrets, Template};
use crate::{Change, Error, Result};

/// How a resource is created, updated and deleted, in a form's own way.
#[derive(Debug)]
pub(super) struct Crud<T> {
    /// `None` if a resource cannot be made, or only be read.
    create: Option<T>,
    /// `None` if `create` also updates.
    update: Option<T>,
    /// `None` if a resource cannot be removed.
    delete: Option<T>,
}

/// Something that contains expressions and templates.
pub(super) trait ReferencedNames {
    /// The names that they reference.
    fn names(&self) -> Vec<String>;
}

/// The kind of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChangeKind {
    Create,
    Update,
    Delete,
}

/// The values of a change for expressions and templates, and its secrets, which they do not see.
pub(super) struct ChangeScope {
    pub(super) scope: Scope,
    pub(super) secrets: Secrets,
}

/// The names that expressions and templates of a change see.
pub(super) fn change_names(schema: &TypeSchema) -> Vec<&str> {
    let attributes = schema.attributes().keys().map(String::as_str);
    attributes.chain(["is", "should", FACTS]).collect()
}

impl<T> Crud<T> {
    /// Reads `create`, `update` and `delete`, each over the names of a change.
    pub(super) fn read(
        top: &FileNode<'_>,
        schema: &TypeSchema,
        problems: &mut Problems,
        mut read: impl FnMut(&FileNode<'_>, &[&str], &mut Problems) -> Option<T>,
    ) -> Option<Self> {
        let names = change_names(schema);
        let create = top.optional("create", |file_node| read(file_node, &names, problems));
        Self::with_create(create, top, schema, problems, read)
    }

    /// Reads `update` and `delete` beside a `create` that has been read: `Some(None)` if there is none.
    pub(super) fn with_create(
        create: Option<Option<T>>,
        top: &FileNode<'_>,
        schema: &TypeSchema,
        problems: &mut Problems,
        mut read: impl FnMut(&FileNode<'_>, &[&str], &mut Problems) -> Option<T>,
    ) -> Option<Self> {
        let names = change_names(schema);
        let mut section = |key| top.optional(key, |file_node| read(file_node, &names, problems));
        let (update, delete) = (section("update"), section("delete"));
        if matches!(create, Some(None)) {
            let can_be_set = |(name, attribute): &(&String, &Attribute)| {
                let behaviour = attribute.behaviour;
                name.as_str() != "ensure"
                    && !matches!(behaviour, Behaviour::ReadOnly | Behaviour::Namevar)
            };
            if let Some((name, _)) = schema.attributes().iter().find(can_be_set) {
                problems.push(top.problem(format!(
                    "missing key `create`: `{name}` can be set; expected `behaviour: read_only` \
                     for each attribute of a type that only reads"
                )));
            }
            if let Some(update) = top.get("update") {
                problems.push(update.problem("there is no `create`: expected both, or neither"));
            }
        }
        if schema.is_ensurable() && top.get("delete").is_none() {
            problems.push(top.problem("missing key `delete`: the type has `ensure`"));
        }
        Some(Self {
            create: create?,
            update: update?,
            delete: delete?,
        })
    }

    /// The definition of an update, or of a new resource.
    fn written(&self, kind: ChangeKind) -> Option<&T> {
        let update = self.update.as_ref().filter(|_| kind == ChangeKind::Update);
        update.or(self.create.as_ref())
    }

    /// The definition for a change.
    ///
    /// # Errors
    /// Fails when the resource cannot be removed.
    pub(super) fn for_change(&self, schema: &TypeSchema, change: &Change) -> Result<&T> {
        match ChangeKind::of(change) {
            kind @ (ChangeKind::Create | ChangeKind::Update) => self
                .written(kind)
                .ok_or_else(|| Error::Unsupported(format!("`{}` can only be read", schema.name()))),
            ChangeKind::Delete => self.delete.as_ref().ok_or_else(|| {
                Error::Unsupported(format!(
                    "`{}` cannot be removed, only changed",
                    schema.name()
                ))
            }),
        }
    }
}

impl<T: ReferencedNames> Crud<T> {
    /// Whether a definition uses the device's facts.
    pub(super) fn uses_facts(&self) -> bool {
        let all = [&self.create, &self.update, &self.delete];
        let mut names = all.into_iter().flatten().flat_map(T::names);
        names.any(|name| name == FACTS)
    }

    /// Whether an update is independent of the current state: it references only desired values.
    pub(super) fn is_stateless(&self, schema: &TypeSchema, should: &Resource) -> bool {
        let names = self.written(ChangeKind::Update).map(T::names);
        names.is_some_and(|names| {
            names.iter().all(|name| {
                let is_desired = should.get(name).is_some_and(|value| !value.is_undef());
                name != "is" && (is_desired || !schema.attributes().contains_key(name))
            })
        })
    }
}

impl ReferencedNames for WithLocation<Template> {
    fn names(&self) -> Vec<String> {
        self.value.names()
    }
}

impl ChangeScope {
    /// The scope of a change; `medium` says how each attribute is written.
    ///
    /// # Errors
    /// Fails when the device does not have what is desired, or when a desired value holds a character that cannot
    /// be written there.
    pub(super) fn of(
        kind: &TypeOnDevice<'_>,
        name: &Name,
        change: &Change,
        medium: impl Fn(&str) -> Medium,
    ) -> Result<Self> {
        let is = change.is.resource().filter(|is| is.is_present());
        let should = change.should.as_ref().filter(|should| should.is_present());
        let named: Resource;
        let (is, should) = match (is, should) {
            // A resource that is removed without being read has only its name.
            (None, None) => {
                named = Resource::from(name.namevars().clone());
                (Some(&named), None)
            }
            other => other,
        };
        if let Some(should) = should {
            kind.require(should)?;
        }
        let is = is.map(|is| kind.without_words(is, false));
        let should = should.map(|should| kind.without_words(should, true));
        let mut secrets = Secrets::default();
        let scope = Scope::of_change(
            kind,
            is.as_deref(),
            should.as_deref(),
            &medium,
            &mut secrets,
        );
        let scope = scope.map_err(|(attribute, character)| Error::Unwritable {
            title: format!("{}[{name}]", kind.name()),
            medium: medium(&attribute).name(),
            attribute,
            character,
        })?;
        let scope = scope.with_facts(kind.facts);
        Ok(Self { scope, secrets })
    }
}

impl ChangeKind {
    pub(super) fn of(change: &Change) -> Self {
        match (&change.should, change.is.resource()) {
            (None, _) => Self::Delete,
            (Some(should), _) if !should.is_present() => Self::Delete,
            (Some(_), Some(is)) if is.is_present() => Self::Update,
            (Some(_), _) => Self::Create,
        }
    }

    /// Reports that it was done.
    pub(super) fn report(self, ctx: &Context<'_>, title: &str) {
        match self {
            Self::Create => ctx.created(title),
            Self::Update => ctx.updated(title),
            Self::Delete => ctx.deleted(title),
        }
    }
}
