//! The definition of a declared type, and how resources are read from a device's answers.

use devgate_schemas::{
    Facts, Hash, InvalidResource, Name, Resource, ResourceProblem, TypeSchema, Value,
};
use indexmap::IndexMap;
use indexmap::map::Entry;

use super::form::Form;
use super::merged_rows::MergedRows;
use super::on_device::FACTS;
use super::on_device::{Condition, Rules, TypeOnDevice};
use super::rows;
use crate::file_node::WithLocation;
use crate::source::{Answers, Row, Source};
use crate::template::{Expression, Scope, Template};
use crate::{Error, ResourceFilter, Result};

/// The contents of a type's file.
#[derive(Debug)]
pub(super) struct Definition {
    pub(super) schema: TypeSchema,
    pub(super) rules: Rules,
    /// The name of the only resource, if there is exactly one.
    pub(super) singleton: Option<String>,
    /// Builds the title of a row, if the type has several namevars.
    pub(super) title: Option<WithLocation<Template>>,
    /// The canonical form of each attribute's values.
    pub(super) canonical: Vec<(String, WithLocation<Expression>)>,
    /// The attributes whose lists several rows make.
    pub(super) collect: Vec<String>,
    /// The attributes of a named resource for which there is no row.
    pub(super) otherwise: Option<Vec<(String, Value)>>,
    pub(super) get: Vec<GetSection>,
    pub(super) form: Form,
}

/// The attribute with the name of a singleton.
pub(super) const SINGLETON_NAMEVAR: &str = "name";

/// A source of rows, and how a row becomes a resource.
#[derive(Debug)]
pub(super) struct GetSection {
    pub(super) source: Source,
    /// The devices that have it.
    pub(super) when: Option<Condition>,
    /// Names for values that `resource` uses, each over those before it.
    pub(super) values: Vec<(String, WithLocation<Expression>)>,
    pub(super) resource: Vec<(String, WithLocation<Expression>)>,
}

impl GetSection {
    /// Whether a device with these facts has it.
    ///
    /// # Errors
    /// Fails when that cannot be evaluated.
    pub(super) fn exists(&self, facts: Option<&Facts>) -> Result<bool> {
        let when = self.when.as_ref();
        when.map_or(Ok(true), |when| when.holds(facts))
    }

    /// Whether it depends on facts.
    pub(super) fn uses_facts(&self) -> bool {
        let mut expressions = self.values.iter().chain(&self.resource);
        let is_fact = |name: &String| name == FACTS;
        self.when.is_some() || expressions.any(|(_, it)| it.value.names().iter().any(is_fact))
    }

    /// The name of the row's value that an expression is about, if any.
    pub(super) fn row_value(&self, expression: &Expression) -> String {
        let mut names = expression.names().into_iter();
        let Some(name) = names.find(|name| name != FACTS) else {
            return String::new();
        };
        let mut values = self.values.iter();
        match values.find(|(known, _)| *known == name) {
            Some((_, value)) => self.row_value(&value.value),
            None => name,
        }
    }

    /// An error in the value that a row gives for an attribute.
    fn row_error(&self, row: &Row, answers: &Answers, problem: ResourceProblem) -> Error {
        let mut expressions = self.resource.iter();
        let expression = expressions.find(|(name, _)| problem.attribute.as_deref() == Some(name));
        let named = expression.map(|(_, expression)| self.row_value(&expression.value));
        row.error(answers, &named.unwrap_or_default(), problem.message)
    }
}

impl Definition {
    /// The type on a device with these facts.
    pub(super) fn on_device<'a>(&'a self, facts: Option<&'a Facts>) -> TypeOnDevice<'a> {
        TypeOnDevice::new(&self.schema, &self.rules, facts)
    }

    /// Whether it depends on the device's facts.
    pub(super) fn uses_facts(&self) -> bool {
        let mut get = self.get.iter();
        self.rules.use_facts() || self.form.uses_facts() || get.any(GetSection::uses_facts)
    }

    /// The resources in the answers, in order. Rows of several sources are merged, and the later source wins;
    /// rows of one source can only complete each other.
    pub(super) fn resources(
        &self,
        answers: &Answers,
        which: ResourceFilter<'_>,
        facts: Option<&Facts>,
    ) -> Result<Vec<Resource>> {
        let kind = self.on_device(facts);
        if !kind.exists()? {
            return Ok(Vec::new());
        }
        // By title, which stands for the namevars: a table may have a hundred thousand routes.
        let mut found: IndexMap<String, MergedRows> = IndexMap::new();
        if let Some(name) = &self.singleton {
            found.insert(name.clone(), MergedRows::new(0, Self::named(name)));
        }
        for (source, get) in self.get.iter().enumerate() {
            if !get.exists(facts)? {
                continue;
            }
            let namevars = self.namevar_expressions(get);
            for row in get
                .source
                .rows(answers, &|row| self.may_match(&namevars, row, which))?
            {
                let mut resource = rows::resource(self, &kind, get, &row, answers)?;
                if let Some(name) = &self.singleton {
                    resource.set(SINGLETON_NAMEVAR, Value::from(name.as_str()));
                }
                if let Some(problem) = self
                    .canonicalize(&mut resource, |_| true)
                    .into_iter()
                    .next()
                {
                    return Err(get.row_error(&row, answers, problem));
                }
                let mut row = resource;
                if let Some(title) = &self.title {
                    let scope = Scope::of_resource(&self.schema, &row);
                    let text = title.value.render(&scope);
                    let text = text.map_err(|error| Error::Data(title.problem(&error)))?;
                    row.set("title", Value::String(text));
                }
                let refused = |error: InvalidResource| Error::Row(error.to_string());
                let name = self.schema.check_row(&row).map_err(refused)?;
                match found.entry(name.title().to_owned()) {
                    Entry::Occupied(mut found) => found.get_mut().add(self, source, row),
                    Entry::Vacant(vacant) => {
                        vacant.insert(MergedRows::new(source, row));
                    }
                }
            }
        }
        let found = found.into_values().flat_map(MergedRows::all);
        let mut found: Vec<Resource> = found.collect();
        if let ResourceFilter::Named(names) = which {
            for name in names {
                if !found.iter().any(|row| name.names(row)) {
                    found.extend(self.without_row(name)?);
                }
            }
        }
        Ok(found)
    }

    /// The resource of a name for which there is no row; `None` if it is absent.
    pub(super) fn without_row(&self, name: &Name) -> Result<Option<Resource>> {
        let Some(otherwise) = &self.otherwise else {
            return Ok(None);
        };
        let mut resource = Resource::from(name.namevars().clone());
        for (attribute, value) in otherwise {
            resource.set(attribute, value.clone());
        }
        if self.title.is_some() {
            resource.set("title", Value::from(name.title()));
        }
        let problems = self.canonicalize(&mut resource, |_| true);
        match problems.into_iter().next() {
            Some(problem) => Err(Error::Row(problem.message)),
            None => Ok(Some(resource)),
        }
    }

    /// A singleton of which the device says nothing.
    fn named(name: &str) -> Resource {
        let mut resource = Resource::new();
        resource.set(SINGLETON_NAMEVAR, Value::from(name));
        resource
    }

    /// The expressions of a source's namevars, and the names that each references.
    pub(super) fn namevar_expressions<'g>(
        &self,
        get: &'g GetSection,
    ) -> Vec<(&'g str, &'g Expression, Vec<String>)> {
        let namevars = self.schema.namevars();
        let expression_of = |(attribute, expression): &'g (String, WithLocation<Expression>)| {
            let is_namevar = namevars
                .iter()
                .any(|namevar| *namevar == attribute.as_str());
            let expression = &expression.value;
            is_namevar.then(|| (attribute.as_str(), expression, expression.names()))
        };
        get.resource.iter().filter_map(expression_of).collect()
    }

    /// Whether an outer row can lead to one of the requested resources, judged by the namevars that its values
    /// determine. Other rows are not queried further.
    pub(super) fn may_match(
        &self,
        namevars: &[(&str, &Expression, Vec<String>)],
        row: &Hash,
        which: ResourceFilter<'_>,
    ) -> bool {
        let ResourceFilter::Named(names) = which else {
            return true;
        };
        let mut known = Resource::new();
        for (namevar, expression, references) in namevars {
            if references.iter().all(|name| row.get(name).is_some())
                && let Ok(value) = expression.evaluate(&Scope::of_row(row))
                && let Ok(Some(value)) = rows::typed(&self.schema.attributes()[*namevar], value)
            {
                known.set(namevar, value);
            }
        }
        if !self.canonicalize(&mut known, |_| true).is_empty() {
            return true;
        }
        names.iter().any(|name| {
            known
                .iter()
                .all(|(namevar, value)| name.namevars().get(namevar) == Some(value))
        })
    }

    /// Canonicalizes the values of a resource with the selected expressions, and returns those that have no
    /// canonical form.
    pub(super) fn canonicalize(
        &self,
        resource: &mut Resource,
        is_selected: impl Fn(&Expression) -> bool,
    ) -> Vec<ResourceProblem> {
        let mut problems = Vec::new();
        for (name, expression) in &self.canonical {
            if !is_selected(&expression.value) {
                continue;
            }
            // A value that cannot be written stays unchanged and is refused later: no filter may hide it.
            match resource.get(name) {
                None | Some(Value::Undef) => continue,
                Some(value) if self.form.medium(name).unwritable_character(value).is_some() => {
                    continue;
                }
                Some(value) if self.rules.is_unset(name, value) => continue,
                Some(_) => {}
            }
            let scope = Scope::of_resource(&self.schema, resource);
            match expression.value.evaluate(&scope) {
                Ok(value) => resource.set(name, value),
                Err(error) => {
                    let message = format!("`{name}`: {}", error.message);
                    problems.push(ResourceProblem::of(name, message));
                }
            }
        }
        problems
    }
}
