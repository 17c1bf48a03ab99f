//! RESTCONF errors (RFC 8040, 3.9 and 7): `ietf-restconf:errors`, as JSON or XML.

use serde_json::Value as Json;

use crate::xml::Element;

/// The errors in an answer, for people.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Errors {
    /// The `error-tag` of the first error (RFC 8040, 7).
    pub(super) tag: String,
    /// The messages, one on each line, with the paths that they concern.
    pub(super) message: String,
}

impl Errors {
    /// Reads an answer's errors. Returns `None` if it has none that can be read.
    pub(super) fn read(body: &str) -> Option<Self> {
        match serde_json::from_str(body) {
            Ok(json) => Self::read_json(&json),
            Err(_) => Self::read_xml(body),
        }
    }

    /// Reads errors from JSON. Some servers omit the module's name, or make a single error an object.
    fn read_json(json: &Json) -> Option<Self> {
        let errors = json
            .get("ietf-restconf:errors")
            .or_else(|| json.get("errors"))?;
        let errors = errors.get("error")?;
        let errors = errors
            .as_array()
            .map_or_else(|| std::slice::from_ref(errors), Vec::as_slice);
        let text = |error: &Json, name: &str| match &error[name] {
            Json::String(text) => text.clone(),
            _ => String::new(),
        };
        Self::of(errors.iter().map(|error| {
            ["error-tag", "error-message", "error-path", "error-app-tag"]
                .map(|name| text(error, name))
        }))
    }

    fn read_xml(body: &str) -> Option<Self> {
        let errors = Element::read(body).filter(|root| root.name == "errors")?;
        let text =
            |error: &Element, name: &str| error.text_at_path(name).unwrap_or_default().to_owned();
        let errors: Vec<_> = errors
            .all("error")
            .map(|error| {
                ["error-tag", "error-message", "error-path", "error-app-tag"]
                    .map(|name| text(error, name))
            })
            .collect();
        Self::of(errors)
    }

    fn of(errors: impl IntoIterator<Item = [String; 4]>) -> Option<Self> {
        let mut read = Self::default();
        let mut messages = Vec::new();
        for [tag, message, path, app_tag] in errors {
            let mut text = [message, app_tag, tag.clone()]
                .into_iter()
                .find(|text| !text.is_empty())
                .unwrap_or_default();
            if !path.is_empty() {
                text = format!("{text} (at {path})");
            }
            messages.push(text);
            if read.tag.is_empty() {
                read.tag = tag;
            }
        }
        read.message = messages.join("\n");
        (!messages.is_empty()).then_some(read)
    }

    /// Returns whether the target is only busy or locked (RFC 8040, 7; RFC 6241, appendix A).
    pub(super) fn busy(&self) -> bool {
        ["in-use", "lock-denied", "resource-denied"].contains(&self.tag.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_in_every_form() {
        for body in [
            r#"{"ietf-restconf:errors": {"error": [{"error-type": "application",
                "error-tag": "data-exists", "error-path": "/a:b", "error-message": "is there"}]}}"#,
            r#"{"errors": {"error": {"error-tag": "data-exists", "error-path": "/a:b",
                "error-message": "is there"}}}"#,
            "<errors xmlns='urn:ietf:params:xml:ns:yang:ietf-restconf'><error>\
             <error-type>application</error-type><error-tag>data-exists</error-tag>\
             <error-path xmlns:a='urn:a'>/a:b</error-path><error-message>is there</error-message>\
             </error></errors>",
        ] {
            let errors = Errors::read(body).expect("it has errors");
            assert_eq!(errors.tag, "data-exists");
            assert_eq!(errors.message, "is there (at /a:b)");
            assert!(!errors.busy());
        }
    }

    #[test]
    fn an_error_without_a_message_shows_its_tag() {
        let body = r#"{"ietf-restconf:errors": {"error": [{"error-tag": "lock-denied"}]}}"#;
        let errors = Errors::read(body).expect("it has errors");
        assert_eq!(
            (errors.message.as_str(), errors.busy()),
            ("lock-denied", true)
        );
    }

    #[test]
    fn what_has_no_errors_has_none() {
        for body in [
            "",
            "Not Found",
            "{}",
            "<html/>",
            r#"{"errors": {"error": []}}"#,
        ] {
            assert_eq!(Errors::read(body), None, "{body}");
        }
    }
}
