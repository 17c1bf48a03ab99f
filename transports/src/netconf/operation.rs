//! The operations of NETCONF (RFC 6241, 7 and 8), typed: what may be asked, and what it needs.

use std::time::Duration;

use super::capabilities::Capability;
use super::xml::Element;

/// A configuration datastore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datastore {
    /// What the device does now.
    Running,
    /// Where changes are collected until they are committed.
    Candidate,
    /// What the device starts with.
    Startup,
}

/// Which part of the data is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Filter {
    /// All of it.
    All,
    /// What lies below these elements (RFC 6241, 6).
    Subtree(Vec<Element>),
    /// What an expression selects, with the namespaces of its prefixes.
    XPath {
        /// The expression.
        select: String,
        /// Prefixes and their namespaces.
        namespaces: Vec<(String, String)>,
    },
}

/// What happens to configuration for which a change says nothing itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DefaultOperation {
    /// It is joined with what is there.
    #[default]
    Merge,
    /// It takes the place of all that is there.
    Replace,
    /// Nothing, but for the parts that have an operation of their own.
    None,
}

/// Whether a change is checked as a whole; it needs [`Capability::Validate`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestOption {
    /// First, and only then it is made.
    TestThenSet,
    /// Not at all.
    Set,
    /// It is checked, and never made.
    TestOnly,
}

/// What happens to a change of which the device refuses a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorOption {
    /// What was made before it stands.
    Stop,
    /// All that the device does not refuse is made.
    Continue,
    /// Nothing is made; it needs [`Capability::RollbackOnError`].
    Rollback,
}

/// A change of a configuration.
#[derive(Clone, Copy, Debug)]
pub struct Edit<'a> {
    /// Which configuration.
    pub target: Datastore,
    /// What becomes of the parts that say nothing themselves.
    pub default_operation: DefaultOperation,
    /// `None` leaves it to the device.
    pub test_option: Option<TestOption>,
    /// `None` leaves it to the device.
    pub error_option: Option<ErrorOption>,
    /// What goes into `<config>`.
    pub config: &'a [Element],
}

/// How a commit is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// After how long without a confirmation it is taken back; `None` makes, or confirms, for good.
    pub confirmed: Option<Duration>,
    /// The name under which another session may confirm it.
    pub persist: Option<String>,
    /// The name of the commit that is confirmed.
    pub persist_id: Option<String>,
}

/// A request to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    pub(super) element: Element,
    /// Whether it may change the device: it is never sent twice then.
    pub(super) changing: bool,
    pub(super) needs: Option<Capability>,
    /// Whether an answer may do without `ok` and without data.
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

    /// `<target><running/></target>`.
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
    /// Any other operation: one that only reads, or one that may change the device.
    pub fn custom(element: Element, changing: bool) -> Self {
        Self {
            element,
            changing,
            needs: None,
            may_be_silent: false,
        }
    }

    /// Running configuration and state.
    pub fn get(filter: &Filter) -> Self {
        let element = Element::new("get").with(filter.element());
        Self::custom(element, false).needing(filter.needs())
    }

    /// Configuration.
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

    /// Puts one configuration in the place of another.
    pub fn copy_config(source: Datastore, target: Datastore) -> Self {
        let parts = [target.as_a("target"), source.as_a("source")];
        let needs = target.needs().or_else(|| source.needs());
        Self::custom(Element::new("copy-config").with(parts), true).needing(needs)
    }

    /// Keeps everybody else from changing a configuration, until it is unlocked or the session ends.
    pub fn lock(target: Datastore) -> Self {
        let element = Element::new("lock").with([target.as_a("target")]);
        Self::custom(element, false).needing(target.needs())
    }

    /// Gives a lock back.
    pub fn unlock(target: Datastore) -> Self {
        let element = Element::new("unlock").with([target.as_a("target")]);
        Self::custom(element, false).needing(target.needs())
    }

    /// Checks a configuration.
    pub fn validate(source: Datastore) -> Self {
        let element = Element::new("validate").with([source.as_a("source")]);
        Self::custom(element, false).needing(Some(Capability::Validate))
    }

    /// Puts the candidate into effect.
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

    /// Takes a commit back that is not confirmed yet.
    pub fn cancel_commit() -> Self {
        let element = Element::new("cancel-commit");
        Self::custom(element, true).needing(Some(Capability::ConfirmedCommit11))
    }

    /// Makes the candidate what runs, again.
    pub fn discard_changes() -> Self {
        let element = Element::new("discard-changes");
        Self::custom(element, false).needing(Some(Capability::Candidate))
    }

    /// Ends the session.
    pub(super) fn close_session() -> Self {
        Self::custom(Element::new("close-session"), false)
    }

    /// How the RFC names it.
    pub fn name(&self) -> &str {
        self.element.name()
    }

    /// For RPCs of vendors: Junos answers some with an empty `rpc-reply`, and some with text alone.
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
        let users = Element::within("urn:x", "users");
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
