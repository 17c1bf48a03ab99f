//! Compares a resource with its desired state, by value or as its provider decides.

use std::borrow::Cow;

use devgate_devices::{InSync, Provider};
use devgate_schemas::{
    Behaviour, Compare, Feature, HIDDEN_PROPERTY, Name, Resource, TypeSchema, Value,
};
use devgate_transports::Context;

use super::difference::Difference;
use super::rows::Strictness;

/// Both sides of the comparison of one resource.
pub(super) struct Sides<'a> {
    /// The resource's name.
    pub(super) name: &'a Name,
    /// The resource on the device, if it exists.
    pub(super) is: Option<&'a Resource>,
    /// The desired resource.
    pub(super) should: &'a Resource,
}

/// Returns the differences between the device and the desired state; none when in sync.
///
/// A provider with `custom_insync` decides about each desired property, and first about `ensure`. If the type has no
/// property, it decides about the hidden one.
///
/// # Errors
/// Fails when an `init_only` attribute would have to change, or as the provider fails.
pub(super) async fn compare(
    schema: &TypeSchema,
    provider: &mut dyn Provider,
    ctx: &Context<'_>,
    strict: &Strictness,
    sides: Sides<'_>,
) -> Result<Vec<Difference>, String> {
    let mut comparison = Comparison {
        schema,
        provider,
        ctx,
        sides: &sides,
    };
    if schema.is_asked_as_a_whole() {
        return match comparison.insync(HIDDEN_PROPERTY).await? {
            InSync::ByValue => Ok(sides.presence().into_iter().collect()),
            InSync::Yes => Ok(Vec::new()),
            InSync::No { why } => Ok(vec![Difference::EntireResource { why }]),
        };
    }
    let presence = comparison.presence().await?;
    let unknown = Resource::default();
    let is = match sides.is {
        Some(is) if sides.should.is_present() => is,
        // Without `ensure`, no resource is absent: its properties are just unknown.
        None if !schema.is_ensurable() => &unknown,
        _ => return Ok(presence.into_iter().collect()),
    };
    let mut differences = Vec::from_iter(presence);
    for (property, value) in sides.should.iter() {
        let Some(attribute) = schema.attributes().get(property) else {
            continue;
        };
        let current = is.get(property);
        match attribute.behaviour {
            Behaviour::Namevar | Behaviour::Parameter | Behaviour::ReadOnly => continue,
            Behaviour::InitOnly if sides.is.is_some() && current != Some(value) => {
                let text = |value: Option<&Value>| match value {
                    _ if attribute.sensitive => "[redacted]".to_owned(),
                    value => value.map(Value::interpolated).unwrap_or_default(),
                };
                strict.refuse(
                    ctx,
                    format!(
                        "Attempting to change `{property}` init_only attribute value from `{}` to `{}`",
                        text(current),
                        text(Some(value))
                    ),
                )?;
                continue;
            }
            Behaviour::InitOnly if sides.is.is_some() => continue,
            Behaviour::InitOnly | Behaviour::Property => {}
        }
        if property == "ensure" || attribute.compare == Compare::Never {
            continue;
        }
        let why = match comparison.insync(property).await? {
            InSync::Yes => continue,
            InSync::ByValue if current == Some(value) => continue,
            InSync::ByValue => None,
            InSync::No { why } => why,
        };
        differences.push(Difference::Property {
            name: property.to_owned(),
            is: current.cloned(),
            should: value.clone(),
            why,
        });
    }
    Ok(differences)
}

/// A comparison in which the provider may decide.
struct Comparison<'a, 'c> {
    schema: &'a TypeSchema,
    provider: &'a mut dyn Provider,
    ctx: &'a Context<'c>,
    sides: &'a Sides<'a>,
}

impl Comparison<'_, '_> {
    /// Returns the provider's verdict on a property, if it has one.
    async fn insync(&mut self, property: &str) -> Result<InSync, String> {
        if !self.schema.has(Feature::CustomInsync) {
            return Ok(InSync::ByValue);
        }
        let Sides { name, is, should } = self.sides;
        // An absent resource has only its name.
        let absent = || {
            let mut absent = Resource::from(name.namevars().clone());
            if self.schema.is_ensurable() {
                absent.set("ensure", Value::from("absent"));
            }
            absent
        };
        let is = is.map_or_else(|| Cow::Owned(absent()), Cow::Borrowed);
        let insync = self.provider.insync(self.ctx, name, property, &is, should);
        insync.await.map_err(|error| error.to_string())
    }

    /// Returns the difference if the resource would have to be created or removed.
    async fn presence(&mut self) -> Result<Option<Difference>, String> {
        let presence = self.sides.presence();
        let presence = presence.filter(|_| self.schema.is_ensurable());
        if self.sides.should.get("ensure").is_none() {
            return Ok(presence);
        }
        let presence_value = |is_there| Value::from(if is_there { "present" } else { "absent" });
        Ok(match self.insync("ensure").await? {
            InSync::Yes => None,
            InSync::No { why } if why.is_some() || presence.is_none() => {
                Some(Difference::Property {
                    name: "ensure".to_owned(),
                    is: Some(presence_value(self.sides.is.is_some())),
                    should: presence_value(self.sides.should.is_present()),
                    why,
                })
            }
            InSync::No { .. } | InSync::ByValue => presence,
        })
    }
}

impl Sides<'_> {
    /// Returns the difference if only one side exists.
    fn presence(&self) -> Option<Difference> {
        match (self.is.is_some(), self.should.is_present()) {
            (false, true) => Some(Difference::Missing),
            (true, false) => Some(Difference::Unwanted),
            (true, true) | (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;
    use devgate_devices::{Changes, ResourceFilter, Result};
    use devgate_schemas::{NullSink, yaml};
    use devgate_transports::RetryBudget;

    use super::super::rows::Strict;
    use super::*;

    /// A provider that always gives the same verdict, and records the calls.
    struct FixedVerdict {
        verdict: InSync,
        comparison: Vec<String>,
    }

    #[async_trait]
    impl Provider for FixedVerdict {
        async fn get(&mut self, _: &Context<'_>, _: ResourceFilter<'_>) -> Result<Vec<Resource>> {
            Ok(Vec::new())
        }

        async fn set(&mut self, _: &Context<'_>, _: Changes) -> Result<()> {
            Ok(())
        }

        async fn insync(
            &mut self,
            _: &Context<'_>,
            _: &Name,
            property: &str,
            is: &Resource,
            should: &Resource,
        ) -> Result<InSync> {
            let (is, should) = (is.inspect(), should.inspect());
            self.comparison.push(format!("{property} {is} {should}"));
            Ok(self.verdict.clone())
        }
    }

    fn resource(text: &str) -> Resource {
        match yaml::parse(text).expect("YAML").to_value() {
            Value::Hash(hash) => hash.into(),
            _ => panic!("a hash"),
        }
    }

    /// Returns the properties that the provider was asked about, and the differences.
    fn compared(
        definition: &str,
        verdict: InSync,
        is: Option<&str>,
        should: &str,
    ) -> (Vec<String>, Vec<String>) {
        let definition = yaml::parse(definition).expect("YAML").to_value();
        let schema = TypeSchema::register(&definition).expect("a type");
        let mut provider = FixedVerdict {
            verdict,
            comparison: Vec::new(),
        };
        let (is, should) = (is.map(resource), resource(should));
        let name = Name::new("a", schema.namevars_of(&should));
        let sides = Sides {
            name: &name,
            is: is.as_ref(),
            should: &should,
        };
        let retry_budget = RetryBudget::new();
        let ctx = Context::new("device", &NullSink, &retry_budget);
        let strict = Strictness::new(Strict::Error);
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let runtime = runtime.expect("a runtime can be made");
        let differences = runtime.block_on(compare(&schema, &mut provider, &ctx, &strict, sides));
        let differences = differences.expect("it can be compared");
        let differences = differences
            .iter()
            .map(Difference::change_message_for_people)
            .collect();
        (provider.comparison, differences)
    }

    const PORT: &str = "{name: port, features: [custom_insync], attributes: {name: {type: String, behaviour: namevar}, \
                        ensure: {type: 'Optional[Enum[present, absent]]'}, mtu: {type: 'Optional[Integer]'}, \
                        mode: {type: 'Optional[String]', behaviour: init_only}, \
                        force: {type: 'Optional[Boolean]', behaviour: parameter}, \
                        seen: {type: 'Optional[String]', behaviour: read_only}}}";

    const JOB: &str = "{name: job, features: [custom_insync], attributes: {name: {type: String, behaviour: namevar}, \
                       force: {type: Boolean, behaviour: parameter, default: false}}}";

    #[test]
    fn insync_is_called_for_each_desired_property_and_nothing_else() {
        let is = "{name: a, ensure: present, mtu: 1, mode: x, seen: y}";
        let should = "{name: a, ensure: present, mtu: 2, mode: x, force: true}";
        let (comparison, differences) = compared(PORT, InSync::Yes, Some(is), should);
        let properties: Vec<&str> = comparison
            .iter()
            .filter_map(|one| one.split(' ').next())
            .collect();
        assert_eq!(properties, ["ensure", "mtu"]);
        assert_eq!(differences, [""; 0]);
        let (comparison, _) = compared(PORT, InSync::Yes, Some(is), "{name: a}");
        assert_eq!(comparison, [""; 0]);
    }

    #[test]
    fn undecided_properties_are_compared_by_value() {
        let (is, should) = ("{name: a, mtu: 1}", "{name: a, mtu: 2}");
        let of = |verdict| compared(PORT, verdict, Some(is), should).1;
        assert_eq!(of(InSync::ByValue), ["mtu changed 1 to 2"]);
        assert_eq!(of(InSync::No { why: None }), ["mtu changed 1 to 2"]);
        let why = Some("too small".to_owned());
        assert_eq!(of(InSync::No { why }), ["mtu: too small"]);
        let (_, differences) = compared(PORT, InSync::ByValue, Some(should), should);
        assert_eq!(differences, [""; 0]);
    }

    #[test]
    fn a_provider_may_decide_that_an_absent_resource_is_in_sync() {
        let should = "{name: a, ensure: present, mtu: 2}";
        let (comparison, differences) = compared(PORT, InSync::Yes, None, should);
        assert_eq!(
            comparison,
            [concat!(
                r#"ensure {:name=>"a", :ensure=>"absent"} "#,
                r#"{:name=>"a", :ensure=>"present", :mtu=>2}"#
            )]
        );
        assert_eq!(differences, [""; 0]);
        let (_, differences) = compared(PORT, InSync::ByValue, None, should);
        assert_eq!(differences, ["created"]);
    }

    #[test]
    fn without_ensure_only_the_properties_of_what_is_not_shown_are_missing() {
        let rule = "{name: rule, attributes: {name: {type: String, behaviour: namevar}, \
                     order: {type: 'Optional[Integer]'}, \
                     kind: {type: 'Optional[String]', behaviour: init_only}}}";
        let of = |should| compared(rule, InSync::ByValue, None, should).1;
        let defined = ["defined 'order' as 2", "defined 'kind' as 'x'"];
        assert_eq!(of("{name: a, order: 2, kind: x}"), defined);
        assert_eq!(of("{name: a}"), [""; 0]);
    }

    #[test]
    fn for_a_type_without_properties_insync_is_called_for_the_hidden_one() {
        let (is, should) = ("{name: a}", "{name: a, force: true}");
        let of = |verdict| compared(JOB, verdict, Some(is), should);
        let (comparison, differences) = of(InSync::No { why: None });
        let properties = r#"rsapi_custom_insync_trigger {:name=>"a"} {:name=>"a", :force=>true}"#;
        assert_eq!(comparison, [properties]);
        assert_eq!(
            differences,
            ["Custom insync logic determined that this resource is out of sync"]
        );
        let why = Some("due".to_owned());
        assert_eq!(of(InSync::No { why }).1, ["due"]);
        assert_eq!(of(InSync::Yes).1, [""; 0]);
        assert_eq!(of(InSync::ByValue).1, [""; 0]);
    }

    #[test]
    fn without_custom_insync_it_is_not_called() {
        let port = PORT.replace("features: [custom_insync], ", "");
        let no = InSync::No { why: None };
        let (comparison, differences) =
            compared(&port, no, Some("{name: a, mtu: 1}"), "{name: a, mtu: 1}");
        assert_eq!((comparison, differences), (Vec::new(), Vec::new()));
    }
}
