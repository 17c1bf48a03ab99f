//! The first message of each side (RFC 6241, 8.1).

use super::capabilities::Capabilities;
use super::xml::{BASE, Element};

/// The supported protocol versions.
const OURS: [&str; 2] = [
    "urn:ietf:params:netconf:base:1.0",
    "urn:ietf:params:netconf:base:1.1",
];

/// A device's hello.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Hello {
    pub(super) capabilities: Capabilities,
    /// The device's number for the session.
    pub(super) session_id: Option<u32>,
}

/// Returns our hello.
pub(super) fn ours() -> Element {
    let capabilities = OURS.map(|uri| Element::new("capability").text(uri));
    Element::in_namespace(BASE, "hello").with([Element::new("capabilities").with(capabilities)])
}

impl Hello {
    /// Reads a device's hello.
    ///
    /// # Errors
    /// Fails with a description of what the message is instead.
    pub(super) fn read(message: &str) -> Result<Self, String> {
        // Some devices print text for people first.
        let start = message.find('<').unwrap_or(message.len());
        let (preamble, message) = message.split_at(start);
        let hello = Element::received(message).map_err(|error| {
            let preamble = preamble.trim().lines().last().unwrap_or_default();
            if preamble.is_empty() {
                format!("its first message is no well-formed XML: {error}")
            } else {
                format!("it says `{preamble}`")
            }
        })?;
        if !hello.is_base("hello") {
            return Err(format!("its first message is `{}`", hello.name()));
        }
        let capabilities: Vec<String> = hello
            .child("capabilities")
            .into_iter()
            .flat_map(Element::children)
            .map(uri)
            .collect();
        let session_id = hello.child("session-id").map(Element::content);
        Ok(Self {
            capabilities: Capabilities::new(capabilities),
            session_id: session_id.and_then(|id| id.parse().ok()),
        })
    }
}

/// Returns a capability's URI without the blanks at the device's line breaks. A URI contains none.
fn uri(capability: &Element) -> String {
    capability.content().split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netconf::framing::Framing;

    #[test]
    fn our_hello_offers_both_versions_and_no_session() {
        let hello = Hello::read(&ours().to_string()).expect("a hello");
        assert_eq!(hello.capabilities.framing(), Some(Framing::Chunked));
        assert_eq!(hello.session_id, None);
    }

    #[test]
    fn a_hello_is_read_with_prefixes_comments_and_words_before_it() {
        let text = "Welcome!\n<!-- user admin -->\n<nc:hello \
             xmlns:nc=\"urn:ietf:params:xml:ns:netconf:base:1.0\"><nc:capabilities>\
             <nc:capability>\n urn:ietf:params:netconf:base:1.0 \n</nc:capability>\
             </nc:capabilities><nc:session-id> 17 </nc:session-id></nc:hello>\n";
        let hello = Hello::read(text).expect("a hello");
        assert_eq!(hello.session_id, Some(17));
        assert_eq!(hello.capabilities.framing(), Some(Framing::EndOfMessage));
    }

    #[test]
    fn capabilities_may_be_broken_over_lines_and_a_session_may_have_no_number() {
        let text = "<?xml version='1.0' encoding='utf-8' standalone='yes'?>\n<hello xmlns = \
             'urn:ietf:params:xml:ns:netconf:base:1.0' ><session-id/><capabilities><capability>\n  \
             urn:if?module=ietf-interfaces\n  &amp;revision=2018-02-20</capability></capabilities>\
             </hello>";
        let hello = Hello::read(text).expect("a hello");
        assert_eq!(hello.session_id, None);
        let namespace = hello.capabilities.namespace_of("ietf-interfaces");
        assert_eq!(namespace, Some("urn:if"));
        let all: Vec<&str> = hello.capabilities.iter().collect();
        assert_eq!(all, ["urn:if?module=ietf-interfaces&revision=2018-02-20"]);
    }

    #[test]
    fn what_is_no_hello_is_told() {
        let error = |text| Hello::read(text).expect_err("no hello");
        assert_eq!(
            error("\r\nPermission denied.\r\n"),
            "it says `Permission denied.`"
        );
        assert!(error("<html><body>").contains("no well-formed XML"));
        assert_eq!(error("<rpc-reply/>"), "its first message is `rpc-reply`");
    }
}
