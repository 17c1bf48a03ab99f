//! Finds every violation of a type by a value's inferred type, in the order of Puppet's describer.

use super::mismatch::{Quoting, Reason, Step, Violation};
use super::model::{Member, Range, Text, Type};
use super::pattern::Pattern;

/// Returns all violations; none if the types cannot be distinguished.
pub(super) fn violations(expected: &Type, actual: &Type, quoting: Quoting) -> Vec<Violation> {
    Describer {
        path: Vec::new(),
        quoting,
    }
    .describe(expected, actual)
}

struct Describer {
    path: Vec<Step>,
    quoting: Quoting,
}

impl Describer {
    fn violation(&self, reason: Reason) -> Violation {
        Violation {
            path: self.path.clone(),
            reason,
            quoting: self.quoting,
        }
    }

    fn one(&self, reason: Reason) -> Vec<Violation> {
        vec![self.violation(reason)]
    }

    fn wrong_type(&self, original: &Type, actual: &Type) -> Vec<Violation> {
        let (expected, actual) = (original.normalize(), actual.normalize());
        self.one(Reason::Type { expected, actual })
    }

    fn no_match(&self, original: &Type, actual: &Type) -> Vec<Violation> {
        let (expected, actual) = (original.normalize(), actual.normalize());
        self.one(Reason::Match { expected, actual })
    }

    fn wrong_size(&self, expected: Range, actual: Range) -> Vec<Violation> {
        self.one(Reason::Size { expected, actual })
    }

    /// Returns the violations one step deeper.
    fn at(&mut self, step: Step, expected: &Type, actual: &Type) -> Vec<Violation> {
        self.path.push(step);
        let found = self.describe(expected, actual);
        self.path.pop();
        found
    }

    fn describe(&mut self, expected: &Type, actual: &Type) -> Vec<Violation> {
        if let Some(name) = expected.references().next() {
            return self.one(Reason::Unresolved(name.to_owned()));
        }
        if let Type::Hidden(inner) = actual
            && !expected.speaks_of_secrets()
        {
            let quoting = std::mem::replace(&mut self.quoting, Quoting::Forbidden);
            let found = self.describe(expected, inner);
            self.quoting = quoting;
            return found;
        }
        self.normal(&expected.normalize(), expected, actual)
    }

    /// Describes a type in normal form; `original` is the form that messages show.
    fn normal(&mut self, expected: &Type, original: &Type, actual: &Type) -> Vec<Violation> {
        match expected {
            Type::Variant(types) => self.variant(types, original, actual),
            Type::Struct(members) => self.members(members, original, actual),
            Type::Hash(key, value, size) => self.hash((key, value), *size, original, actual),
            Type::Tuple(types, _) => self.tuple(expected, types, original, actual),
            Type::Array(element, size) => self.array(element, *size, original, actual),
            Type::Optional(inner) => match inner {
                Some(inner) if *actual != Type::Undef => {
                    let original = if matches!(original, Type::Alias(_)) {
                        original
                    } else {
                        expected
                    };
                    self.normal(inner, original, actual)
                }
                _ => Vec::new(),
            },
            Type::Pattern(patterns) => match runaway(patterns, actual) {
                Some(pattern) => self.one(Reason::Runaway(pattern.clone())),
                None => self.no_match(original, actual),
            },
            Type::Enum(_) => self.no_match(original, actual),
            Type::Alias(alias) => self.normal(&alias.definition().normalize(), expected, actual),
            _ if expected.covers(actual) => Vec::new(),
            _ => self.wrong_type(original, actual),
        }
    }

    fn variant(&mut self, types: &[Type], original: &Type, actual: &Type) -> Vec<Violation> {
        let undef = matches!(original, Type::Optional(_)).then_some(&Type::Undef);
        let mut count = 0;
        let mut found = Vec::new();
        for (index, one) in undef.into_iter().chain(types).enumerate() {
            let violations = self.at(Step::Variant(index), one, actual);
            if violations.is_empty() {
                return Vec::new();
            }
            count += 1;
            found.extend(violations);
        }
        let mut merged = merge(found, count);
        if let [only] = merged.as_mut_slice() {
            if only.path.len() > self.path.len() {
                only.path.remove(self.path.len());
            }
            if matches!(original, Type::Alias(_)) {
                return self.wrong_type(original, actual);
            }
        }
        merged
    }

    fn array(
        &mut self,
        element: &Type,
        size: Option<Range>,
        original: &Type,
        actual: &Type,
    ) -> Vec<Violation> {
        let expected = size.unwrap_or(Range::SIZES);
        match actual {
            Type::Tuple(types, _) => {
                let actual_size = Range::of_size(types.len());
                if !expected.covers(actual_size) {
                    return self.wrong_size(expected, actual_size);
                }
                let mut found = Vec::new();
                for (index, one) in types.iter().enumerate() {
                    if !element.covers(one) {
                        found.extend(self.at(Step::Index(index), element, one));
                    }
                }
                found
            }
            Type::Array(others, actual_size) => {
                let actual_size = actual_size.unwrap_or(Range::SIZES);
                if expected.covers(actual_size) {
                    self.wrong_type(original, &Type::Array(others.clone(), None))
                } else {
                    self.wrong_size(expected, actual_size)
                }
            }
            _ => self.wrong_type(original, actual),
        }
    }

    fn hash(
        &mut self,
        (key, value): (&Type, &Type),
        size: Option<Range>,
        original: &Type,
        actual: &Type,
    ) -> Vec<Violation> {
        let expected = size.unwrap_or(Range::SIZES);
        match actual {
            Type::Struct(members) => {
                let actual_size = Range::of_size(members.len());
                if !expected.covers(actual_size) {
                    return self.wrong_size(expected, actual_size);
                }
                let mut found = Vec::new();
                for member in members {
                    let name = Type::String(Text::Exactly(member.name.clone()));
                    if !key.covers(&name) {
                        found.extend(self.at(
                            Step::Key(member.name.clone(), self.quoting),
                            key,
                            &name,
                        ));
                    }
                    if !value.covers(&member.value) {
                        let step = Step::Entry(member.name.clone(), self.quoting);
                        found.extend(self.at(step, value, &member.value));
                    }
                }
                found
            }
            Type::Hash(keys, values, actual_size) => {
                let actual_size = actual_size.unwrap_or(Range::SIZES);
                if expected.covers(actual_size) {
                    self.wrong_type(original, &Type::Hash(keys.clone(), values.clone(), None))
                } else {
                    self.wrong_size(expected, actual_size)
                }
            }
            _ => self.wrong_type(original, actual),
        }
    }

    fn members(&mut self, members: &[Member], original: &Type, actual: &Type) -> Vec<Violation> {
        match actual {
            Type::Struct(others) => {
                let mut rest: Vec<&Member> = others.iter().collect();
                let mut found = Vec::new();
                for member in members {
                    let Some(at) = rest.iter().position(|other| other.name == member.name) else {
                        if !member.is_optional() {
                            let missing = Reason::MissingKey(member.name.clone());
                            found.push(self.violation(missing));
                        }
                        continue;
                    };
                    let other = rest.remove(at);
                    if !member.value.covers(&other.value) {
                        let step = Step::Member(member.name.clone());
                        found.extend(self.at(step, &member.value, &other.value));
                    }
                }
                for other in rest {
                    found.push(self.violation(Reason::UnrecognisedKey(other.name.clone())));
                }
                found
            }
            Type::Hash(keys, values, size) => {
                let required = members
                    .iter()
                    .filter(|member| !member.is_optional())
                    .count();
                let expected = Range {
                    from: required as i128,
                    to: members.len() as i128,
                };
                let actual_size = size.unwrap_or(Range::SIZES);
                if expected.covers(actual_size) {
                    self.wrong_type(original, &Type::Hash(keys.clone(), values.clone(), None))
                } else {
                    self.wrong_size(expected, actual_size)
                }
            }
            _ => self.wrong_type(original, actual),
        }
    }

    fn tuple(
        &mut self,
        expected: &Type,
        types: &[Type],
        original: &Type,
        actual: &Type,
    ) -> Vec<Violation> {
        if expected == actual || (types.is_empty() && matches!(actual, Type::Array(..))) {
            return Vec::new();
        }
        let sizes = expected.tuple_size();
        match actual {
            Type::Tuple(others, _) => {
                let actual_size = actual.tuple_size();
                if !sizes.covers(actual_size) {
                    return self.wrong_size(sizes, actual_size);
                }
                let mut found = Vec::new();
                for (index, one) in others.iter().enumerate() {
                    let index = index.min(types.len().saturating_sub(1));
                    if let Some(expected) = types.get(index) {
                        found.extend(self.at(Step::Index(index), expected, one));
                    }
                }
                found
            }
            Type::Array(element, size) => {
                let actual_size = size.unwrap_or(Range::SIZES);
                if !sizes.covers(actual_size) {
                    return self.wrong_size(sizes, actual_size);
                }
                let mut found = Vec::new();
                for (index, expected) in types.iter().enumerate() {
                    found.extend(self.at(Step::Index(index), expected, element));
                }
                found
            }
            _ => self.wrong_type(original, actual),
        }
    }
}

/// Returns the pattern that was given up on the text, if any.
fn runaway<'p>(patterns: &'p [Pattern], actual: &Type) -> Option<&'p Pattern> {
    let Type::String(Text::Exactly(text)) = actual else {
        return None;
    };
    patterns
        .iter()
        .find(|pattern| pattern.regexp().is_match(text).is_err())
}

/// Whether two violations are at the same place, regardless of variant alternatives on the path.
fn same_place(one: &Violation, other: &Violation) -> bool {
    let steps = |violation: &'_ Violation| -> Vec<Step> {
        let steps = violation
            .path
            .iter()
            .filter(|step| !matches!(step, Step::Variant(_)));
        steps.cloned().collect()
    };
    let (one, other) = (steps(one), steps(other));
    one.len() == other.len()
        && one
            .iter()
            .zip(&other)
            .all(|(one, other)| one.is_same_as(other))
}

/// Merges the violations of all alternatives into one, if they fail at the same place in the same way.
fn merge(violations: Vec<Violation>, alternatives: usize) -> Vec<Violation> {
    let is_size = |one: &Violation| matches!(one.reason, Reason::Size { .. });
    let is_type =
        |one: &Violation| matches!(one.reason, Reason::Type { .. } | Reason::Match { .. });
    for is_kind in [is_size, is_type] {
        let same: Vec<&Violation> = violations.iter().filter(|one| is_kind(one)).collect();
        if same.len() == alternatives && same.iter().all(|one| same_place(one, same[0])) {
            return same
                .into_iter()
                .cloned()
                .reduce(merge_two)
                .into_iter()
                .collect();
        }
    }
    violations
}

/// Merges two violations. Puppet normalizes the first one, which may join more types.
fn merge_two(one: Violation, other: Violation) -> Violation {
    let both = |expected: Type, more: Type| Type::variant(vec![expected, more]).normalize();
    let reason = match (one.reason, other.reason) {
        (Reason::Size { expected, actual }, Reason::Size { expected: more, .. }) => Reason::Size {
            expected: expected.hull(more),
            actual,
        },
        (
            Reason::Type { expected, actual },
            Reason::Type { expected: more, .. } | Reason::Match { expected: more, .. },
        ) => Reason::Type {
            expected: both(expected, more),
            actual: actual.normalize(),
        },
        (
            Reason::Match { expected, actual },
            Reason::Type { expected: more, .. } | Reason::Match { expected: more, .. },
        ) => Reason::Match {
            expected: both(expected, more),
            actual: actual.normalize(),
        },
        (reason, _) => reason,
    };
    Violation { reason, ..one }
}
