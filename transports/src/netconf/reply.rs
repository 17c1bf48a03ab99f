//! Replies to requests (RFC 6241, 4.2).

use super::rpc_error::RpcError;
use super::xml::Element;

/// A device's reply to a request that it did not refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    element: Element,
    /// The device's warnings.
    pub warnings: Vec<RpcError>,
}

/// A message from a device.
#[derive(Debug)]
pub(super) enum Message {
    /// A reply, and the number of the request that it claims to answer.
    Reply {
        id: Option<String>,
        reply: Reply,
        errors: Vec<RpcError>,
    },
    /// An unsolicited notification (RFC 5277).
    Notification,
}

impl Message {
    /// Reads a message.
    ///
    /// # Errors
    /// Fails with a description of what the message is instead.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let element = Element::received(text).map_err(|error| error.to_string())?;
        if element.name() == "notification" {
            return Ok(Self::Notification);
        }
        if !element.is_base("rpc-reply") {
            return Err(format!("it is `{}`", element.name()));
        }
        let mut all = Vec::new();
        collect_errors(&element, &mut all);
        let (warnings, errors) = all.into_iter().partition(|error| error.warning);
        Ok(Self::Reply {
            id: element.attribute_value("message-id").map(str::to_owned),
            reply: Reply { element, warnings },
            errors,
        })
    }
}

/// Collects the errors of a reply. They are at the top level, but some devices nest them in the vendor's own
/// elements about a commit. Elements in `data` are data.
fn collect_errors(element: &Element, errors: &mut Vec<RpcError>) {
    for child in element.children() {
        if child.name() == "rpc-error" {
            errors.push(RpcError::read(child));
        } else if child.name() != "data" {
            collect_errors(child, errors);
        }
    }
}

impl Reply {
    /// Returns the requested data as an element `data`.
    pub fn data(&self) -> Option<Element> {
        let data = self.element.child("data")?.clone();
        Some(data.taken_from(&self.element))
    }

    /// Returns the whole reply.
    pub fn element(&self) -> &Element {
        &self.element
    }

    /// Returns whether the reply has any content: `ok`, or the result of an operation.
    pub(super) fn says_something(&self) -> bool {
        self.element.children().next().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(inner: &str) -> (Reply, Vec<RpcError>) {
        let text = format!(
            "<?xml version=\"1.0\"?>\n<x:rpc-reply x:y='z' message-id='7' \
             xmlns:x='urn:ietf:params:xml:ns:netconf:base:1.0'>{inner}</x:rpc-reply>"
        );
        match Message::read(&text).expect("a reply") {
            Message::Reply { id, reply, errors } => {
                assert_eq!(id.as_deref(), Some("7"));
                (reply, errors)
            }
            Message::Notification => panic!("it is a reply"),
        }
    }

    #[test]
    fn warnings_are_no_errors_and_errors_are_found_below_others() {
        let warning = "<x:rpc-error><x:error-severity>warning</x:error-severity></x:rpc-error>";
        let (reply, errors) = read(&format!("<!-- ok? --><results>{warning}<x:ok/></results>"));
        assert_eq!((reply.warnings.len(), errors.len()), (1, 0));
        assert!(reply.says_something());
        let error = "<x:rpc-error><x:error-tag>in-use</x:error-tag></x:rpc-error>";
        let (_, errors) = read(&format!("<a><b>{error}</b></a>"));
        assert_eq!(errors[0].tag, "in-use");
        let (_, errors) = read(&format!(
            "<a xmlns='urn:vendor'>{}</a>",
            error.replace("x:", "")
        ));
        assert_eq!(errors[0].tag, "in-use");
    }

    #[test]
    fn what_is_in_the_data_is_data() {
        let (reply, errors) =
            read("<x:data><rpc-error><error-tag>in-use</error-tag></rpc-error></x:data>");
        assert_eq!(errors, []);
        let data = reply.data().expect("data").to_string();
        assert!(
            data.contains("<rpc-error>") && data.contains("xmlns:x="),
            "{data}"
        );
    }

    #[test]
    fn what_is_no_reply_is_told_and_notifications_are_known() {
        let other = Message::read("<hello/>").expect_err("no reply");
        assert_eq!(other, "it is `hello`");
        let notification =
            "<notification xmlns='urn:ietf:params:xml:ns:netconf:notification:1.0'/>";
        assert!(matches!(
            Message::read(notification),
            Ok(Message::Notification)
        ));
        assert!(!read("  ").0.says_something());
    }
}
