//! What differs between a device and the desired state, and how that is said: in Puppet's words.

use devgate_devices::{InSync, Provider};
use devgate_schemas::{
    Behaviour, Compare, EventStatus, Feature, Name, Resource, ResourceEvent, TypeSchema, Value,
};
use devgate_transports::Context;

use super::rows::Strict;
use super::words::{ruby, shown};

/// What is held against what, for one resource.
pub(super) struct Sides<'a> {
    /// The resource's name.
    pub(super) name: &'a Name,
    /// What the device holds; nothing where it is not there.
    pub(super) is: Option<&'a Resource>,
    /// What it should hold.
    pub(super) should: &'a Resource,
}

/// One thing that is not as desired.
#[derive(Debug)]
pub(super) enum Difference {
    /// The resource is not there.
    Missing,
    /// The resource is there and should not be.
    Unwanted,
    /// A property has another value.
    Property {
        name: String,
        is: Option<Value>,
        should: Value,
        /// What differs in the provider's own words.
        why: Option<String>,
    },
}

/// What differs between the device and the desired state; nothing when in sync.
///
/// # Errors
/// That an `init_only` attribute would have to change, or what the provider failed with.
pub(super) async fn compare(
    schema: &TypeSchema,
    provider: &mut dyn Provider,
    ctx: &Context<'_>,
    strict: Strict,
    sides: Sides<'_>,
) -> Result<Vec<Difference>, String> {
    let Sides { name, is, should } = sides;
    let Some(is) = is else {
        return Ok(should
            .is_present()
            .then_some(Difference::Missing)
            .into_iter()
            .collect());
    };
    if !should.is_present() {
        return Ok(vec![Difference::Unwanted]);
    }
    let mut wanted = Vec::new();
    for (property, value) in should.iter() {
        let Some(attribute) = schema.attributes().get(property) else {
            continue;
        };
        let held = is.get(property);
        match attribute.behaviour {
            Behaviour::Namevar | Behaviour::Parameter | Behaviour::ReadOnly => continue,
            Behaviour::InitOnly if held != Some(value) => {
                let text = |value: Option<&Value>| match value {
                    _ if attribute.sensitive => "[redacted]".to_owned(),
                    Some(Value::String(text)) => text.clone(),
                    Some(value) => ruby(value),
                    None => String::new(),
                };
                strict.refuse(
                    ctx,
                    format!(
                        "Attempting to change `{property}` init_only attribute value from `{}` to `{}`",
                        text(held),
                        text(Some(value))
                    ),
                )?;
                continue;
            }
            Behaviour::InitOnly => continue,
            Behaviour::Property => {}
        }
        if property == "ensure" || attribute.compare == Compare::Never {
            continue;
        }
        let verdict = if schema.has(Feature::CustomInsync) {
            provider.insync(ctx, name, property, is, should).await
        } else {
            Ok(InSync::ByValue)
        };
        let why = match verdict.map_err(|error| error.to_string())? {
            InSync::Yes => continue,
            InSync::ByValue if held == Some(value) => continue,
            InSync::ByValue => None,
            InSync::No { why } => why,
        };
        wanted.push(Difference::Property {
            name: property.to_owned(),
            is: held.cloned(),
            should: value.clone(),
            why,
        });
    }
    Ok(wanted)
}

impl Difference {
    /// What differs, as a person would say it.
    pub(super) fn open(&self) -> String {
        match self {
            Self::Missing => "it is absent, should be present".to_owned(),
            Self::Unwanted => "it is present, should be absent".to_owned(),
            Self::Property {
                why: Some(why),
                name,
                ..
            } => format!("{name}: {why}"),
            Self::Property {
                name, is, should, ..
            } => {
                let is = is.as_ref().map_or_else(|| "unset".to_owned(), shown);
                format!("{name} is {is}, should be {}", shown(should))
            }
        }
    }

    /// What was found, and that nothing was done about it.
    pub(super) fn told(&self) -> String {
        let is = match self {
            Self::Missing => "'absent'".to_owned(),
            Self::Unwanted => "'present'".to_owned(),
            Self::Property { is, .. } => is.as_ref().map_or_else(String::new, shown),
        };
        let should = match self {
            Self::Missing => "'present'".to_owned(),
            Self::Unwanted => "'absent'".to_owned(),
            Self::Property { why: Some(why), .. } => return format!("{why} (noop)"),
            Self::Property { should, .. } => shown(should),
        };
        format!("current_value {is}, should be {should} (noop)")
    }

    /// What was done about it.
    pub(super) fn settled(&self) -> String {
        match self {
            Self::Missing => "created".to_owned(),
            Self::Unwanted => "removed".to_owned(),
            Self::Property {
                why: Some(why),
                name,
                ..
            } => format!("{name}: {why}"),
            Self::Property {
                name,
                is: None,
                should,
                ..
            } => {
                format!("defined '{name}' as {}", shown(should))
            }
            Self::Property {
                name,
                is: Some(is),
                should,
                ..
            } => {
                format!("{name} changed {} to {}", shown(is), shown(should))
            }
        }
    }

    /// The property that it is about.
    pub(super) fn property(&self) -> &str {
        match self {
            Self::Missing | Self::Unwanted => "ensure",
            Self::Property { name, .. } => name,
        }
    }

    /// What became of it, for the report.
    pub(super) fn event(
        &self,
        status: EventStatus,
        message: String,
        time: String,
    ) -> ResourceEvent {
        let (previous, desired) = match self {
            Self::Missing => (Some("absent".into()), Some("present".into())),
            Self::Unwanted => (Some("present".into()), Some("absent".into())),
            Self::Property { is, should, .. } => (is.clone(), Some(should.clone())),
        };
        ResourceEvent {
            property: Some(self.property().to_owned()),
            previous,
            desired,
            message,
            status,
            time,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_said_as_puppet_says_them() {
        let secret = |text: &str| Value::from(text).into_sensitive();
        let property = |is: Option<Value>, should: Value| Difference::Property {
            name: "n".to_owned(),
            is,
            should,
            why: None,
        };
        for (difference, settled, told) in [
            (
                property(Some("a".into()), "b".into()),
                "n changed 'a' to 'b'",
                "current_value 'a', should be 'b' (noop)",
            ),
            (
                property(None, 5.into()),
                "defined 'n' as 5",
                "current_value , should be 5 (noop)",
            ),
            (
                property(Some(secret("x")), secret("y")),
                "n changed [redacted] to [redacted]",
                "current_value [redacted], should be [redacted] (noop)",
            ),
            (
                Difference::Missing,
                "created",
                "current_value 'absent', should be 'present' (noop)",
            ),
        ] {
            assert_eq!(
                (&*difference.settled(), &*difference.told()),
                (settled, told)
            );
        }
    }
}
