//! What differs between a device and the desired state, and how that is said.

use devgate_devices::{InSync, Provider};
use devgate_schemas::{Attribute, Behaviour, Compare, Feature, Name, Resource, TypeSchema, Value};
use devgate_transports::Context;

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
pub(super) enum Difference {
    /// The resource is not there.
    Missing,
    /// The resource is there and should not be.
    Unwanted,
    /// A property has another value, both as a message shows them.
    Property {
        name: String,
        is: String,
        should: String,
    },
    /// A property differs in the provider's own words.
    Custom { name: String, why: String },
}

/// What differs between the device and the desired state; nothing when in sync.
///
/// # Errors
/// That an `init_only` attribute would have to change, or what the provider failed with.
pub(super) async fn compare(
    schema: &TypeSchema,
    provider: &mut dyn Provider,
    ctx: &Context<'_>,
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
                return Err(format!(
                    "Attempting to change `{property}` init_only attribute value from {} to {}",
                    shown(attribute, held),
                    shown(attribute, Some(value))
                ));
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
        match verdict.map_err(|error| error.to_string())? {
            InSync::Yes => {}
            InSync::ByValue if held == Some(value) => {}
            InSync::No { why: Some(why) } => {
                wanted.push(Difference::Custom {
                    name: property.to_owned(),
                    why,
                });
            }
            InSync::ByValue | InSync::No { why: None } => wanted.push(Difference::Property {
                name: property.to_owned(),
                is: shown(attribute, held),
                should: shown(attribute, Some(value)),
            }),
        }
    }
    Ok(wanted)
}

/// A value as a message shows it; a secret as Puppet shows it.
fn shown(attribute: &Attribute, value: Option<&Value>) -> String {
    match value {
        _ if attribute.sensitive => "[redacted]".to_owned(),
        None => "unset".to_owned(),
        Some(value) => value.to_json().to_string(),
    }
}

impl Difference {
    /// The difference as it stands, in Puppet's manner.
    pub(super) fn open(&self) -> String {
        match self {
            Self::Missing => "is absent, should be present".to_owned(),
            Self::Unwanted => "is present, should be absent".to_owned(),
            Self::Property { name, is, should } => format!("{name} is {is}, should be {should}"),
            Self::Custom { name, why } => format!("{name}: {why}"),
        }
    }

    /// What was done about it.
    pub(super) fn settled(&self) -> String {
        match self {
            Self::Missing => "created".to_owned(),
            Self::Unwanted => "removed".to_owned(),
            Self::Property { name, is, should } => format!("{name} changed {is} to {should}"),
            Self::Custom { name, why } => format!("{name}: {why}"),
        }
    }
}
