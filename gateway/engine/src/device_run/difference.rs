//! Differences between a device and the desired state, and their messages in Puppet's words.

use devgate_schemas::{EventStatus, ResourceEvent, Value};

use super::words::shown;

/// A difference from the desired state.
#[derive(Clone, Debug)]
pub(super) enum Difference {
    /// The resource does not exist.
    Missing,
    /// The resource exists and should not.
    Unwanted,
    /// The provider reports that the resource as a whole is out of sync.
    Whole {
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
    const WHOLE: &str = "Custom insync logic determined that this resource is out of sync";

    /// Returns the differences that are left after a change. That a resource as a whole was out of sync says nothing
    /// about the state of the device now.
    pub(super) fn still_open(mut left: Vec<Self>) -> Vec<Self> {
        left.retain(|difference| !matches!(difference, Self::Whole { .. }));
        left
    }

    /// Describes the difference for people.
    pub(super) fn open(&self) -> String {
        match self {
            Self::Missing => "it is absent, should be present".to_owned(),
            Self::Unwanted => "it is present, should be absent".to_owned(),
            Self::Whole { why } => why.as_deref().unwrap_or(Self::WHOLE).to_owned(),
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

    /// Describes the difference that was not changed (noop). Puppet does not use the provider's words here.
    pub(super) fn told(&self) -> String {
        let (is, should) = match self {
            Self::Missing => ("'absent'".to_owned(), "'present'".to_owned()),
            Self::Unwanted => ("'present'".to_owned(), "'absent'".to_owned()),
            Self::Whole { .. } => return format!("{} (noop)", self.open()),
            Self::Property { is, should, .. } => {
                (shown(is.as_ref().unwrap_or(&Value::Undef)), shown(should))
            }
        };
        format!("current_value {is}, should be {should} (noop)")
    }

    /// Describes the change.
    pub(super) fn settled(&self) -> String {
        match self {
            Self::Missing => "defined 'ensure' as 'present'".to_owned(),
            Self::Unwanted => "undefined 'ensure' from 'present'".to_owned(),
            Self::Whole { .. } => self.open(),
            Self::Property { why: Some(why), .. } => why.clone(),
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

    /// Describes the difference that was not changed, for people, with its property.
    pub(super) fn told_whole(&self) -> String {
        match (self, self.property()) {
            (Self::Property { why: Some(_), .. }, _) => format!("{} (noop)", self.open()),
            (_, Some(property)) => format!("{property}: {}", self.told()),
            (_, None) => self.told(),
        }
    }

    /// Describes the change for people.
    pub(super) fn settled_whole(&self) -> String {
        match self {
            Self::Missing => "created".to_owned(),
            Self::Unwanted => "removed".to_owned(),
            Self::Property { why: Some(_), .. } => self.open(),
            Self::Whole { .. } | Self::Property { .. } => self.settled(),
        }
    }

    /// Returns the property, or `None` for the resource as a whole.
    pub(super) fn property(&self) -> Option<&str> {
        match self {
            Self::Missing | Self::Unwanted => Some("ensure"),
            Self::Whole { .. } => None,
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
            Self::Whole { .. } => (None, None),
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
                (&*difference.settled(), &*difference.told()),
                (settled, told)
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
            [difference.settled(), difference.settled_whole()],
            ["the line card rounds it", "mtu: the line card rounds it"]
        );
        assert_eq!(
            [difference.told(), difference.told_whole()],
            [
                "current_value 1500, should be 9000 (noop)",
                "mtu: the line card rounds it (noop)"
            ]
        );
    }
}
