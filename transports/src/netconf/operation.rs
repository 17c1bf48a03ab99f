//! The operations of NETCONF (RFC 6241, 7 and 8) as types, with the capabilities they need.

use std::time::Duration;

use super::capabilities::Capability;
use super::xml::Element;

/// A configuration datastore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datastore {
    /// The configuration that is in effect.
    Running,
    /// The configuration in which changes are collected until they are committed.
    Candidate,
    /// The configuration that the device loads when it starts.
    Startup,
}

/// The requested part of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// All data.
    All,
    /// The data below these elements (RFC 6241, 6).
    Subtree(Vec<Element>),
    /// The data that an expression selects, with the namespaces of its prefixes.
    XPath {
        /// The expression.
        select: String,
        /// Prefixes and their namespaces.
        namespaces: Vec<(String, String)>,
    },
}

/// The operation for configuration for which a change specifies none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultOperation {
    /// It is merged with the existing configuration.
    #[default]
    Merge,
    /// It replaces all existing configuration.
    Replace,
    /// None: only parts with an operation of their own have an effect.
    None,
}

/// Whether a change is validated as a whole. This needs [`Capability::Validate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestOption {
    /// It is validated first, and made only if it is valid.
    TestThenSet,
    /// It is not validated.
    Set,
    /// It is validated only, and not made.
    TestOnly,
}

/// The handling of a change of which the device refuses a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorOption {
    /// Parts before the error are kept.
    Stop,
    /// All parts without an error are made.
    Continue,
    /// Nothing is changed. This needs [`Capability::RollbackOnError`].
    Rollback,
}

/// A change of a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// The configuration to change.
    pub target: Datastore,
    /// The operation for parts that specify none themselves.
    pub default_operation: DefaultOperation,
    /// `None` leaves it to the device.
    pub test_option: Option<TestOption>,
    /// `None` leaves it to the device.
    pub error_option: Option<ErrorOption>,
    /// The content of `<config>`.
    pub config: &'a [Element],
}

/// The parameters of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// The timeout after which it is reverted unless confirmed. `None` commits, or confirms, permanently.
    pub confirmed: Option<Duration>,
    /// The name with which another session may confirm it.
    pub persist: Option<String>,
    /// The name of the commit to confirm.
    pub persist_id: Option<String>,
}

/// A request to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub(super) element: Element,
    /// Whether it may change the device. Then it is never sent twice.
    pub(super) changing: bool,
    pub(super) needs: Option<Capability>,
    /// Whether an answer without `ok` and without data is valid.
    pub(super) may_be_silent: bool,
}

impl Datastore {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Candidate => "candidate",
            Self::Startup => "startup",
        }
    }

    fn needs(self) -> Option<Capability> {
        match self {
            Self::Running => None,
            Self::Candidate => Some(Capability::Candidate),
            Self::Startup => Some(Capability::Startup),
        }
    }

    /// Returns an element such as `<target><running/></target>`.
    fn as_a(self, role: &str) -> Element {
        Element::new(role).with([Element::new(self.as_str())])
    }
}

impl Filter {
    fn needs(&self) -> Option<Capability> {
        matches!(self, Self::XPath { .. }).then_some(Capability::XPath)
    }

    fn element(&self) -> Option<Element> {
        let filter = Element::new("filter");
        match self {
            Self::All => None,
            Self::Subtree(elements) => {
                let elements = elements.iter().cloned();
                Some(filter.attribute("type", "subtree").with(elements))
            }
            Self::XPath { select, namespaces } => {
                let filter = filter.attribute("type", "xpath");
                let declared = namespaces
                    .iter()
                    .fold(filter, |filter, (prefix, namespace)| {
                        filter.attribute(&format!("xmlns:{prefix}"), namespace)
                    });
                Some(declared.attribute("select", select))
            }
        }
    }
}

impl DefaultOperation {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Replace => "replace",
            Self::None => "none",
        }
    }
}

impl TestOption {
    fn as_str(self) -> &'static str {
        match self {
            Self::TestThenSet => "test-then-set",
            Self::Set => "set",
            Self::TestOnly => "test-only",
        }
    }
}

impl ErrorOption {
    fn as_str(self) -> &'static str {
        match self {
            Self::Stop => "stop-on-error",
            Self::Continue => "continue-on-error",
            Self::Rollback => "rollback-on-error",
        }
    }
}

impl Operation {
    /// Creates any other operation. `changing` tells whether it may change the device.
    pub fn custom(element: Element, changing: bool) -> Self {
        Self {
            element,
            changing,
            needs: None,
            may_be_silent: false,
        }
    }

    /// Reads running configuration and state.
    pub fn get(filter: &Filter) -> Self {
        let element = Element::new("get").with(filter.element());
        Self::custom(element, false).needing(filter.needs())
    }

    /// Reads a configuration.
    pub fn get_config(source: Datastore, filter: &Filter) -> Self {
        let parts = [source.as_a("source")].into_iter().chain(filter.element());
        let element = Element::new("get-config").with(parts);
        Self::custom(element, false).needing(filter.needs().or_else(|| source.needs()))
    }

    /// Changes a configuration.
    pub fn edit_config(edit: &Edit<'_>) -> Self {
        let Edit {
            target,
            default_operation,
            test_option,
            error_option,
            config,
        } = edit;
        let option = |name: &str, value: &str| Element::new(name).text(value);
        let mut parts = vec![
            target.as_a("target"),
            option("default-operation", default_operation.as_str()),
        ];
        parts.extend(test_option.map(|test| option("test-option", test.as_str())));
        parts.extend(error_option.map(|error| option("error-option", error.as_str())));
        parts.push(Element::new("config").with(config.iter().cloned()));
        let needs = match target {
            Datastore::Running => Capability::WritableRunning,
            Datastore::Candidate => Capability::Candidate,
            Datastore::Startup => Capability::Startup,
        };
        // A candidate has no effect until it is committed.
        let changing = *target != Datastore::Candidate;
        Self::custom(Element::new("edit-config").with(parts), changing).needing(Some(needs))
    }

    /// Replaces one configuration with another.
    pub fn copy_config(source: Datastore, target: Datastore) -> Self {
        let parts = [target.as_a("target"), source.as_a("source")];
        let needs = target.needs().or_else(|| source.needs());
        Self::custom(Element::new("copy-config").with(parts), true).needing(needs)
    }

    /// Locks a configuration against changes by others, until it is unlocked or the session ends.
    pub fn lock(target: Datastore) -> Self {
        let element = Element::new("lock").with([target.as_a("target")]);
        Self::custom(element, false).needing(target.needs())
    }

    /// Releases a lock.
    pub fn unlock(target: Datastore) -> Self {
        let element = Element::new("unlock").with([target.as_a("target")]);
        Self::custom(element, false).needing(target.needs())
    }

    /// Validates a configuration.
    pub fn validate(source: Datastore) -> Self {
        let element = Element::new("validate").with([source.as_a("source")]);
        Self::custom(element, false).needing(Some(Capability::Validate))
    }

    /// Commits the candidate.
    pub fn commit(commit: &Commit) -> Self {
        let Commit {
            confirmed,
            persist,
            persist_id,
        } = commit;
        let mut parts = Vec::new();
        if let Some(limit) = confirmed {
            parts.push(Element::new("confirmed"));
            let seconds = limit.as_secs().max(1).to_string();
            parts.push(Element::new("confirm-timeout").text(&seconds));
        }
        let named = [("persist", persist), ("persist-id", persist_id)];
        for (name, id) in named {
            parts.extend(id.as_ref().map(|id| Element::new(name).text(id)));
        }
        let needs = if persist.is_some() || persist_id.is_some() {
            Capability::ConfirmedCommit11
        } else if confirmed.is_some() {
            Capability::ConfirmedCommit
        } else {
            Capability::Candidate
        };
        Self::custom(Element::new("commit").with(parts), true).needing(Some(needs))
    }

    /// Reverts a commit that is not confirmed yet.
    pub fn cancel_commit() -> Self {
        let element = Element::new("cancel-commit");
        Self::custom(element, true).needing(Some(Capability::ConfirmedCommit11))
    }

    /// Resets the candidate to the running configuration.
    pub fn discard_changes() -> Self {
        let element = Element::new("discard-changes");
        Self::custom(element, false).needing(Some(Capability::Candidate))
    }

    /// Ends the session.
    pub(super) fn close_session() -> Self {
        Self::custom(Element::new("close-session"), false)
    }

    /// Returns its name in the RFC.
    pub fn name(&self) -> &str {
        self.element.name()
    }

    /// Accepts any answer, for vendors' RPCs: Junos answers some with an empty `rpc-reply`, and some with text only.
    pub(super) fn answered_by_anything(mut self) -> Self {
        self.may_be_silent = true;
        self
    }

    fn needing(mut self, needs: Option<Capability>) -> Self {
        self.needs = needs;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_written_as_the_rfc_shows_them() {
        let users = Element::in_namespace("urn:x", "users");
        let edit = Operation::edit_config(&Edit {
            target: Datastore::Running,
            default_operation: DefaultOperation::None,
            test_option: Some(TestOption::TestThenSet),
            error_option: Some(ErrorOption::Rollback),
            config: std::slice::from_ref(&users),
        });
        assert_eq!(
            edit.element.to_string(),
            "<edit-config><target><running/></target><default-operation>none</default-operation>\
             <test-option>test-then-set</test-option><error-option>rollback-on-error</error-option><config><users xmlns=\"urn:x\"/></config>\
             </edit-config>"
        );
        assert!(edit.changing);
        assert_eq!(edit.needs, Some(Capability::WritableRunning));

        let confirmed = Operation::commit(&Commit {
            confirmed: Some(Duration::from_secs(60)),
            persist: Some("a<b".into()),
            ..Commit::default()
        });
        assert_eq!(
            confirmed.element.to_string(),
            "<commit><confirmed/><confirm-timeout>60</confirm-timeout><persist>a&lt;b</persist></commit>"
        );
        assert_eq!(confirmed.needs, Some(Capability::ConfirmedCommit11));

        let get = Operation::get(&Filter::XPath {
            select: "/x:users[x:name='a']".into(),
            namespaces: vec![("x".into(), "urn:x".into())],
        });
        assert_eq!(
            get.element.to_string(),
            "<get><filter type=\"xpath\" xmlns:x=\"urn:x\" select=\"/x:users[x:name='a']\"/></get>"
        );
        assert!(!get.changing);
        let get = Operation::get_config(Datastore::Running, &Filter::Subtree(vec![users]));
        assert_eq!(
            get.element.to_string(),
            "<get-config><source><running/></source><filter type=\"subtree\"><users \
             xmlns=\"urn:x\"/></filter></get-config>"
        );
    }
}
