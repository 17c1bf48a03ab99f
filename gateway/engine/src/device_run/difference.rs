//! Differences between a device and the desired state, and their messages in Puppet's words.

use devgate_schemas::{EventStatus, ResourceEvent, Value};

use super::format::format_value;

/// A difference from the desired state.
#[derive(Clone, Debug)]
pub(super) enum Difference {
    /// The resource does not exist.
    Missing,
    /// The resource exists and should not.
    Unwanted,
    /// The provider reports that the resource as a whole is out of sync.
    EntireResource {
        /// The difference in the provider's own words.
        why: Option<String>,
    },
    /// A property has another value.
    Property {
        name: String,
        is: Option<Value>,
        should: Value,
        /// The difference in the provider's own words.
        why: Option<String>,
    },
}

impl Difference {
    /// The message for a resource as a whole, unless the provider has a better one.
    const CUSTOM_INSYNC_MESSAGE: &str =
        "Custom insync logic determined that this resource is out of sync";

    /// Returns the differences that are left after a change. That a resource as a whole was out of sync says nothing
    /// about the state of the device now.
    pub(super) fn remaining(mut differences: Vec<Self>) -> Vec<Self> {
        differences.retain(|difference| !matches!(difference, Self::EntireResource { .. }));
        differences
    }

    /// Describes the difference for people.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Missing => "it is absent, should be present".to_owned(),
            Self::Unwanted => "it is present, should be absent".to_owned(),
            Self::EntireResource { why } => why
                .as_deref()
                .unwrap_or(Self::CUSTOM_INSYNC_MESSAGE)
                .to_owned(),
            Self::Property {
                why: Some(why),
                name,
                ..
            } => format!("{name}: {why}"),
            Self::Property {
                name, is, should, ..
            } => {
                let is = is.as_ref().map_or_else(|| "unset".to_owned(), format_value);
                format!("{name} is {is}, should be {}", format_value(should))
            }
        }
    }

    /// Describes the difference that was not changed (noop). Puppet does not use the provider's words here.
    pub(super) fn noop_message(&self) -> String {
        let (is, should) = match self {
            Self::Missing => ("'absent'".to_owned(), "'present'".to_owned()),
            Self::Unwanted => ("'present'".to_owned(), "'absent'".to_owned()),
            Self::EntireResource { .. } => return format!("{} (noop)", self.describe()),
            Self::Property { is, should, .. } => (
                format_value(is.as_ref().unwrap_or(&Value::Undef)),
                format_value(should),
            ),
        };
        format!("current_value {is}, should be {should} (noop)")
    }

    /// Describes the change.
    pub(super) fn change_message(&self) -> String {
        match self {
            Self::Missing => "defined 'ensure' as 'present'".to_owned(),
            Self::Unwanted => "undefined 'ensure' from 'present'".to_owned(),
            Self::EntireResource { .. } => self.describe(),
            Self::Property { why: Some(why), .. } => why.clone(),
            Self::Property {
                name,
                is: None,
                should,
                ..
            } => {
                format!("defined '{name}' as {}", format_value(should))
            }
            Self::Property {
                name,
                is: Some(is),
                should,
                ..
            } => {
                format!(
                    "{name} changed {} to {}",
                    format_value(is),
                    format_value(should)
                )
            }
        }
    }

    /// Describes the difference that was not changed, for people, with its property.
    pub(super) fn noop_message_for_people(&self) -> String {
        match (self, self.property()) {
            (Self::Property { why: Some(_), .. }, _) => format!("{} (noop)", self.describe()),
            (_, Some(property)) => format!("{property}: {}", self.noop_message()),
            (_, None) => self.noop_message(),
        }
    }

    /// Describes the change for people.
    pub(super) fn change_message_for_people(&self) -> String {
        match self {
            Self::Missing => "created".to_owned(),
            Self::Unwanted => "removed".to_owned(),
            Self::Property { why: Some(_), .. } => self.describe(),
            Self::EntireResource { .. } | Self::Property { .. } => self.change_message(),
        }
    }

    /// Returns the property, or `None` for the resource as a whole.
    pub(super) fn property(&self) -> Option<&str> {
        match self {
            Self::Missing | Self::Unwanted => Some("ensure"),
            Self::EntireResource { .. } => None,
            Self::Property { name, .. } => Some(name),
        }
    }

    /// Creates the event for the report.
    pub(super) fn event(
        &self,
        status: EventStatus,
        message: String,
        time: String,
    ) -> ResourceEvent {
        let (previous, desired) = match self {
            Self::Missing => (Some("absent".into()), Some("present".into())),
            Self::Unwanted => (Some("present".into()), Some("absent".into())),
            Self::EntireResource { .. } => (None, None),
            Self::Property { is, should, .. } => (is.clone(), Some(should.clone())),
        };
        ResourceEvent {
            property: self.property().map(str::to_owned),
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
    fn differences_have_puppets_messages() {
        let secret = |text: &str| Value::from(text).into_sensitive();
        let property = |is: Option<Value>, should: Value| Difference::Property {
            name: "n".to_owned(),
            is,
            should,
            why: None,
        };
        for (difference, change_message, noop_message) in [
            (
                property(Some("a".into()), "b".into()),
                "n changed 'a' to 'b'",
                "current_value 'a', should be 'b' (noop)",
            ),
            (
                property(None, 5.into()),
                "defined 'n' as 5",
                "current_value undef, should be 5 (noop)",
            ),
            (
                property(Some(secret("x")), secret("y")),
                "n changed [redacted] to [redacted]",
                "current_value [redacted], should be [redacted] (noop)",
            ),
            (
                Difference::Missing,
                "defined 'ensure' as 'present'",
                "current_value 'absent', should be 'present' (noop)",
            ),
            (
                Difference::Unwanted,
                "undefined 'ensure' from 'present'",
                "current_value 'present', should be 'absent' (noop)",
            ),
        ] {
            assert_eq!(
                (&*difference.change_message(), &*difference.noop_message()),
                (change_message, noop_message)
            );
        }
    }

    #[test]
    fn a_providers_own_words_stand_alone_in_reports_and_behind_the_property_for_people() {
        let difference = Difference::Property {
            name: "mtu".to_owned(),
            is: Some(1500.into()),
            should: 9000.into(),
            why: Some("the line card rounds it".to_owned()),
        };
        assert_eq!(
            [
                difference.change_message(),
                difference.change_message_for_people()
            ],
            ["the line card rounds it", "mtu: the line card rounds it"]
        );
        assert_eq!(
            [
                difference.noop_message(),
                difference.noop_message_for_people()
            ],
            [
                "current_value 1500, should be 9000 (noop)",
                "mtu: the line card rounds it (noop)"
            ]
        );
    }
}
