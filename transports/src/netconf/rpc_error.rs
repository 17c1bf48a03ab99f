//! A device's errors and warnings (RFC 6241, 4.3).

use devgate_schemas::{Hash, Value};

use super::xml::Element;
use crate::error::Refused;

/// An error or a warning of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RpcError {
    /// The layer: `transport`, `rpc`, `protocol` or `application`.
    pub kind: String,
    /// The RFC's name of the error: `access-denied` (appendix A).
    pub tag: String,
    /// Whether it is only a warning.
    pub warning: bool,
    /// The device's or the data model's own name of the error.
    pub app_tag: Option<String>,
    /// The part of the data that it is about, as an XPath.
    pub path: Option<String>,
    /// The message for people.
    pub message: Option<String>,
    /// Further information by name: `bad-element`, `session-id`.
    pub info: Vec<(String, String)>,
}

impl RpcError {
    pub(super) fn read(element: &Element) -> Self {
        let text = |name: &str| {
            let text = element.child(name).map(Element::content);
            text.filter(|text| !text.is_empty())
        };
        let more = element.child("error-info");
        // Some servers put their message there.
        let words = more.filter(|more| more.children().next().is_none());
        let words = words
            .map(Element::content)
            .filter(|words| !words.is_empty());
        let info = more.into_iter().flat_map(Element::children);
        Self {
            kind: text("error-type").unwrap_or_default(),
            tag: text("error-tag").unwrap_or_default(),
            warning: text("error-severity").as_deref() == Some("warning"),
            app_tag: text("error-app-tag"),
            path: text("error-path"),
            message: text("error-message").or(words),
            info: info
                .map(|part| (part.name().to_owned(), part.content()))
                .collect(),
        }
    }

    /// Returns its text for people: the message or the tag, and the part of the data that it is about.
    pub fn summary(&self) -> String {
        let mut text = self.message.clone().unwrap_or_else(|| self.tag.clone());
        let bad = ["bad-element", "bad-attribute", "bad-namespace"];
        for (name, value) in &self.info {
            if bad.contains(&name.as_str()) && !value.is_empty() {
                text.push_str(&format!(", {} `{value}`", name.replacen('-', " ", 1)));
            }
        }
        if let Some(path) = &self.path {
            text.push_str(&format!(", at {path}"));
        }
        text
    }

    /// Returns further information by name.
    pub fn info(&self, name: &str) -> Option<&str> {
        let (_, value) = self.info.iter().find(|(own, _)| own == name)?;
        Some(value)
    }

    fn to_value(&self) -> Value {
        let mut hash = Hash::new();
        let severity = if self.warning { "warning" } else { "error" };
        hash.insert("type", Value::from(self.kind.as_str()));
        hash.insert("tag", Value::from(self.tag.as_str()));
        hash.insert("severity", Value::from(severity));
        let optional = [
            ("app_tag", &self.app_tag),
            ("path", &self.path),
            ("message", &self.message),
        ];
        for (name, text) in optional {
            if let Some(text) = text {
                hash.insert(name, Value::from(text.as_str()));
            }
        }
        if !self.info.is_empty() {
            let info = self.info.iter();
            let info = info.map(|(name, value)| (name.as_str(), Value::from(value.as_str())));
            hash.insert("info", Value::Hash(info.collect()));
        }
        Value::Hash(hash)
    }
}

/// Returns the device's refusal of a request. The first of the `errors` decides.
pub(super) fn refused(peer: &str, user: &str, request: &str, errors: &[RpcError]) -> Refused {
    let mut first = errors.first().cloned().unwrap_or_default();
    let is_in_words =
        matches!(first.tag.as_str(), "" | "operation-failed") && first.message.is_some();
    if request == "lock" && is_in_words {
        // Junos reports uncommitted changes of others only in the message.
        "lock-denied".clone_into(&mut first.tag);
    }
    if first.tag.is_empty() {
        // RFC 6241 requires a tag.
        "operation-failed".clone_into(&mut first.tag);
    }
    let message: Vec<String> = errors.iter().map(RpcError::summary).collect();
    Refused {
        peer: peer.to_owned(),
        request: request.to_owned(),
        message: message.join("; "),
        hint: hint(&first, user),
        busy: matches!(first.tag.as_str(), "lock-denied" | "in-use"),
        details: Some(Value::Array(
            errors.iter().map(RpcError::to_value).collect(),
        )),
        status: first.tag,
    }
}

/// Returns an explanation of an error, and advice.
fn hint(error: &RpcError, user: &str) -> String {
    match error.tag.as_str() {
        "access-denied" => format!("the device's access rules do not allow this to `{user}`"),
        "lock-denied" => match error.info("session-id") {
            // Session 0 is not a NETCONF session (RFC 6241, 7.5).
            None | Some("0" | "") => {
                "somebody else is configuring the device, or left changes that are not committed"
                    .to_owned()
            }
            Some(session) => format!("session {session} of the device holds the lock"),
        },
        "unknown-namespace" | "unknown-element" => {
            "the device's data models do not have this there; is its namespace (`xmlns`) right?"
                .to_owned()
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DENIED: &str = "<n:rpc-error xmlns:n='urn:ietf:params:xml:ns:netconf:base:1.0'>\
        <n:error-type>protocol</n:error-type><n:error-tag>lock-denied</n:error-tag>\
        <n:error-severity>error</n:error-severity><n:error-path>/nc:rpc/nc:lock</n:error-path>\
        <n:error-message xml:lang='en'> Lock failed </n:error-message>\
        <n:error-info><n:session-id>454</n:session-id></n:error-info></n:rpc-error>";

    #[test]
    fn an_error_is_told_to_people_and_kept_for_programs() {
        let error = RpcError::read(&Element::parse(DENIED).expect("well-formed"));
        let refused = refused("192.0.2.1:830", "admin", "lock", &[error]);
        assert!(refused.busy);
        assert_eq!(
            refused.to_string(),
            "192.0.2.1:830 refuses `lock` (lock-denied): Lock failed, at /nc:rpc/nc:lock; session \
             454 of the device holds the lock"
        );
        assert_eq!(
            refused.details.expect("details").to_json(),
            serde_json::json!([{
                "type": "protocol", "tag": "lock-denied", "severity": "error",
                "path": "/nc:rpc/nc:lock", "message": "Lock failed", "info": {"session-id": "454"},
            }])
        );
    }

    #[test]
    fn a_lock_that_is_refused_in_words_alone_is_held_by_somebody() {
        let text = "<rpc-error><error-message>configuration database modified</error-message>\
            </rpc-error>";
        let error = RpcError::read(&Element::parse(text).expect("well-formed"));
        let locked = refused("r1:830", "admin", "lock", std::slice::from_ref(&error));
        assert!(
            locked.busy && locked.hint.contains("not committed"),
            "{locked}"
        );
        let refused = refused("r1:830", "admin", "commit", &[error]);
        assert_eq!(refused.status, "operation-failed");
        assert!(!refused.busy);
    }

    #[test]
    fn a_lock_that_is_refused_without_a_word_is_waited_for_by_nobody() {
        let text = "<rpc-error><error-tag>operation-failed</error-tag><error-info/></rpc-error>";
        let error = RpcError::read(&Element::parse(text).expect("well-formed"));
        let locked = refused("r1:830", "admin", "lock", &[error]);
        assert!(!locked.busy && locked.hint.is_empty(), "{locked}");
    }

    #[test]
    fn words_in_the_place_of_more_are_told() {
        let text = "<rpc-error><error-tag>operation-failed</error-tag><error-info>Invalid \
            expression</error-info></rpc-error>";
        let error = RpcError::read(&Element::parse(text).expect("well-formed"));
        assert_eq!(error.summary(), "Invalid expression");
    }

    #[test]
    fn an_error_that_says_little_is_told_by_its_tag() {
        let text = "<rpc-error><error-tag>unknown-element</error-tag><error-info><bad-element>\
            speed</bad-element></error-info></rpc-error>";
        let error = RpcError::read(&Element::parse(text).expect("well-formed"));
        assert_eq!(error.summary(), "unknown-element, bad element `speed`");
        let refused = refused("r1:830", "admin", "edit-config", &[error]);
        assert!(refused.hint.contains("namespace") && !refused.busy);
    }
}
