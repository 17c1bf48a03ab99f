//! Arbitrary RPCs besides NETCONF's own: `<get-schema>` (RFC 6022), RPCs of YANG modules, and vendors'
//! RPCs such as `<get-system-information/>` or `<command>`.

use super::change::xml;
use super::operation::Operation;
use super::reply::Reply;
use super::xml::Element;
use crate::{DataRequest, Document, Error, Result};

/// The method of a request for an RPC, in place of a default operation.
pub(super) const METHOD: &str = "rpc";

/// Returns the RPC of a request. It is assumed to change the device, because its effect is unknown here.
///
/// An element without a namespace is in NETCONF's namespace, as vendors write their RPCs.
///
/// # Errors
/// Fails with [`Error::Unsupported`], which says what is expected.
pub(super) fn requested(request: &DataRequest) -> Result<Operation> {
    let text = xml(request, "RPC", "one element, such as `<get-schema>`")?;
    let unfit = |problem: &str| {
        Error::Unsupported(format!(
            "the XML of an RPC is not as it should be: {problem}"
        ))
    };
    let mut element = Element::parse(text).map_err(|error| unfit(&error.to_string()))?;
    if element.is_base("rpc") {
        let mut inside = element.into_children().into_iter();
        element = match (inside.next(), inside.next()) {
            (Some(only), None) => only,
            _ => return Err(unfit("an `rpc` holds one element")),
        };
    }
    Ok(Operation::custom(element, true).answered_by_anything())
}

/// Returns the device's answer: the elements in its `rpc-reply`, or its text.
pub(super) fn answer(reply: &Reply) -> Document {
    let elements = reply.element().clone().into_children();
    Document::Text(if elements.is_empty() {
        reply.element().content()
    } else {
        elements.iter().map(Element::to_pretty).collect()
    })
}

#[cfg(test)]
mod tests {
    use devgate_schemas::Value;

    use super::*;
    use crate::netconf::reply::Message;
    use crate::netconf::xml::BASE;

    fn asked(text: &str) -> Result<String> {
        let request = DataRequest {
            body: Some(Value::from(text)),
            ..DataRequest::default()
        };
        requested(&request).map(|operation| operation.element.to_string())
    }

    #[test]
    fn an_rpc_is_sent_as_it_is_written_with_or_without_its_wrapper() {
        for text in [
            "<command format=\"text\">show version</command>",
            "<?xml version='1.0'?>\n<rpc><command format='text'>show version</command></rpc>",
        ] {
            let sent = asked(text).expect("an RPC");
            assert_eq!(sent, "<command format=\"text\">show version</command>");
        }
        let schema = "<get-schema xmlns=\"urn:m\"><identifier>a</identifier></get-schema>";
        assert_eq!(asked(schema).expect("an RPC"), schema);
        for (text, expected) in [
            ("<a/><b/>", "more than one outermost element"),
            ("<rpc><a/><b/></rpc>", "an `rpc` holds one element"),
            ("show version", "outside of its elements"),
        ] {
            let error = asked(text).expect_err("no RPC").to_string();
            assert!(error.contains(expected), "{error}");
        }
        let nothing = requested(&DataRequest::default()).expect_err("no RPC");
        assert!(nothing.to_string().contains("expected one element"));
    }

    #[test]
    fn what_a_device_answers_is_told_whatever_its_form() {
        for (inside, expected) in [
            ("<ok/>", "<ok/>\n"),
            ("\n", ""),
            ("\n{\"a\": [1]}\n", "{\"a\": [1]}"),
            (
                "<j:output xmlns='urn:o'>x &lt; y</j:output>",
                "<j:output xmlns=\"urn:o\" xmlns:j=\"urn:j\">x &lt; y</j:output>\n",
            ),
        ] {
            let text =
                format!("<b:rpc-reply xmlns:b='{BASE}' xmlns:j='urn:j'>{inside}</b:rpc-reply>");
            let Ok(Message::Reply { reply, .. }) = Message::read(&text) else {
                panic!("it is a reply")
            };
            let Document::Text(reported) = answer(&reply) else {
                panic!("it is a text")
            };
            let base = format!(" xmlns:b=\"{BASE}\"");
            let j = if inside == "<ok/>" {
                " xmlns:j=\"urn:j\""
            } else {
                ""
            };
            assert_eq!(reported.replace(&base, "").replace(j, ""), expected);
        }
    }
}
