//! Metaparameters: the attributes that resources of every type may have.

use devgate_schemas::{Hash, Level, ResourceProblem, Value};

use super::catalog::{Audit, Meta, Ref, Relation, SourceLocation};

/// Removes the metaparameters from the attributes of a resource. Returns those that concern the resource itself, and
/// its relations to others. References are texts: `Type[title]`. Problems are recorded.
pub(super) fn take(
    attributes: &mut Hash,
    subject: &Ref,
    location: &SourceLocation,
    problems: &mut Vec<ResourceProblem>,
) -> (Meta, Vec<Relation>) {
    let mut meta = Meta::default();
    let mut relations = Vec::new();
    let mut refuse = |metaparameter: &str, message: String| {
        problems.push(ResourceProblem::of(metaparameter, message));
    };
    for (metaparameter, is_first, notifies) in [
        ("before", true, false),
        ("notify", true, true),
        ("require", false, false),
        ("subscribe", false, true),
    ] {
        for other in taken(attributes, metaparameter, "`Type[title]`", &mut refuse) {
            let Some(other) = Ref::parse(&other) else {
                let found = format!("expects `Type[title]` or a list of these, found `{other}`");
                refuse(metaparameter, format!("`{metaparameter}` {found}"));
                continue;
            };
            let (from, to) = if is_first {
                (subject.clone(), other)
            } else {
                (other, subject.clone())
            };
            relations.push(Relation {
                from,
                to,
                notifies,
                location: location.clone(),
            });
        }
    }
    match attributes.remove("noop") {
        None | Some(Value::Undef) => {}
        Some(Value::Boolean(noop)) => meta.noop = Some(noop),
        Some(_) => refuse("noop", "`noop` expects true or false".to_owned()),
    }
    for tag in taken(attributes, "tag", "a text", &mut refuse) {
        if is_tag(&tag) {
            meta.tags.insert(tag.to_lowercase());
        } else {
            let message =
                format!("`tag` expects letters, digits and any of `_ : . -`, found `{tag}`");
            refuse("tag", message);
        }
    }
    meta.aliases = taken(attributes, "alias", "a title", &mut refuse);
    let audited = taken(attributes, "audit", "`all`, an attribute", &mut refuse);
    meta.audit = match audited.as_slice() {
        [] => Audit::Nothing,
        [all] if all == "all" => Audit::All,
        _ => Audit::Only(audited),
    };
    match attributes.remove("loglevel") {
        None | Some(Value::Undef) => {}
        Some(value) => match value.as_str().and_then(level) {
            Some(level) => meta.loglevel = Some(level),
            None => refuse(
                "loglevel",
                "`loglevel` expects debug, info, notice, warning, err, alert, emerg, crit or verbose"
                    .to_owned(),
            ),
        },
    }
    for (refused, instead) in [
        (
            "schedule",
            "a device has no schedules: run devgate from cron or a timer",
        ),
        (
            "stage",
            "there are no stages: say the order with `require` or `before`",
        ),
    ] {
        if attributes.remove(refused).is_some() {
            refuse(refused, format!("`{refused}` is not known here: {instead}"));
        }
    }
    (meta, relations)
}

/// Returns a probable mistake: a number as a tag. On many devices, a VLAN's number is called `tag`.
pub(super) fn warnings(attributes: &Hash, subject: &Ref) -> Vec<ResourceProblem> {
    let Some(Value::Integer(number)) = attributes.get("tag") else {
        return Vec::new();
    };
    let message = format!(
        "`tag: {number}` is a word for --tags and changes nothing on the device; `devgate type show {}` \
         tells the attributes that it has",
        subject.type_name
    );
    vec![ResourceProblem::of("tag", message)]
}

/// Whether a text may be a tag (Puppet's language, "Tags").
pub(super) fn is_tag(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphanumeric() || first == '_')
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "_:.-".contains(c))
}

/// Takes the texts of a metaparameter, which may be one text or a list.
fn taken(
    attributes: &mut Hash,
    metaparameter: &str,
    expected: &str,
    refuse: &mut impl FnMut(&str, String),
) -> Vec<String> {
    let items = match attributes.remove(metaparameter) {
        None | Some(Value::Undef) => Vec::new(),
        Some(Value::Array(items)) => items,
        Some(item) => vec![item],
    };
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        match item {
            Value::String(text) => texts.push(text),
            Value::Integer(number) => texts.push(number.to_string()),
            _ => refuse(
                metaparameter,
                format!("`{metaparameter}` expects {expected} or a list of these"),
            ),
        }
    }
    texts
}

/// Returns the level for a word of Puppet's. Levels above an error become errors.
fn level(word: &str) -> Option<Level> {
    Some(match word {
        "debug" => Level::Debug,
        "info" | "verbose" => Level::Info,
        "notice" => Level::Notice,
        "warning" => Level::Warning,
        "err" | "alert" | "emerg" | "crit" => Level::Err,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use devgate_schemas::yaml;

    use super::*;

    fn read(text: &str) -> Result<(Meta, Vec<Relation>, Hash), Vec<String>> {
        let Value::Hash(mut attributes) = yaml::parse(text).expect("it is YAML").to_value() else {
            panic!("expected a mapping: {text}");
        };
        let location = SourceLocation {
            file: Arc::from("site.yaml"),
            line: 1,
            column: 1,
        };
        let (vlan, mut problems) = (Ref::new("vlan", "10"), Vec::new());
        let (meta, relations) = take(&mut attributes, &vlan, &location, &mut problems);
        if problems.is_empty() {
            Ok((meta, relations, attributes))
        } else {
            Err(problems
                .into_iter()
                .map(|problem| problem.message)
                .collect())
        }
    }

    #[test]
    fn relations_go_from_what_comes_first_to_what_comes_after_it() {
        let text = "{before: 'A[b]', notify: ['A[n]'], require: ['A[r]', 'A[q]'], subscribe: 'A[s]', id: 1}";
        let (_, relations, rest) = read(text).expect("they are relations");
        let shown: Vec<String> = relations
            .iter()
            .map(|one| {
                format!(
                    "{} {} {}",
                    one.from,
                    if one.notifies { "~>" } else { "->" },
                    one.to
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Vlan[10] -> A[b]",
                "Vlan[10] ~> A[n]",
                "A[r] -> Vlan[10]",
                "A[q] -> Vlan[10]",
                "A[s] ~> Vlan[10]",
            ]
        );
        assert_eq!(rest.len(), 1, "what is no metaparameter stays");
    }

    #[test]
    fn metaparameters_of_the_resource_itself_are_read() {
        let text =
            "{noop: true, tag: [Edge, a::b], alias: [ten, 11], audit: [id], loglevel: verbose}";
        let (meta, _, _) = read(text).expect("they are metaparameters");
        assert_eq!(meta.noop, Some(true));
        assert!(meta.tags.iter().eq(["a::b", "edge"]), "{meta:?}");
        assert_eq!(meta.aliases, ["ten", "11"]);
        assert_eq!(meta.audit, Audit::Only(vec!["id".to_owned()]));
        assert_eq!(meta.loglevel, Some(Level::Info));
    }

    #[test]
    fn a_number_as_a_tag_gets_a_warning() {
        let warnings = |tag: Value| {
            let attributes = [("tag", tag)].into_iter().collect();
            let warnings = warnings(&attributes, &Ref::new("vlan", "10")).into_iter();
            warnings.map(|doubt| doubt.message).collect::<Vec<_>>()
        };
        assert_eq!(warnings(Value::from("30")), [""; 0]);
        let [doubt] = warnings(Value::Integer(30)).try_into().expect("one doubt");
        assert!(
            doubt.starts_with("`tag: 30` is a word for --tags"),
            "{doubt}"
        );
    }

    #[test]
    fn all_problems_are_reported_at_once() {
        let problems = read("{require: [swp1, {}], noop: maybe, tag: a b, loglevel: loud, schedule: night, stage: pre}")
            .expect_err("all of it is wrong");
        for (found, expected) in problems.iter().zip([
            "`require` expects `Type[title]` or a list of these",
            "`require` expects `Type[title]` or a list of these, found `swp1`",
            "`noop` expects true or false",
            "`tag` expects letters, digits",
            "`loglevel` expects debug",
            "`schedule` is not known here: a device has no schedules",
            "`stage` is not known here: there are no stages",
        ]) {
            assert!(found.starts_with(expected), "{found:?}: {expected:?}");
        }
        assert_eq!(problems.len(), 7, "{problems:?}");
    }
}
