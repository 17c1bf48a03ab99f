//! What is asked for in words: `running`, a subtree filter, `state /if:interfaces`.

use super::capabilities::Capabilities;
use super::operation::{Datastore, Filter, Operation};
use super::xml::Element;
use crate::{Error, Result};

/// What a user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    source: Source,
    filter: Words,
}

/// Where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Config(Datastore),
    /// Running configuration and state together.
    State,
}

/// Which part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Words {
    All,
    Subtree(Vec<Element>),
    XPath(String),
}

impl Query {
    /// Reads `[running|candidate|startup|state] [<filter/>|/xpath]`; nothing means all that is
    /// configured and runs.
    ///
    /// # Errors
    /// [`Error::Unsupported`], saying what it should be.
    pub(super) fn parse(what: &str) -> Result<Self> {
        let what = what.trim();
        let end = what.find(char::is_whitespace).unwrap_or(what.len());
        let (word, rest) = what.split_at(end);
        let (source, filter) = match word {
            "running" => (Source::Config(Datastore::Running), rest),
            "candidate" => (Source::Config(Datastore::Candidate), rest),
            "startup" => (Source::Config(Datastore::Startup), rest),
            "state" => (Source::State, rest),
            _ => (Source::Config(Datastore::Running), what),
        };
        let filter = match filter.trim() {
            "" => Words::All,
            xml if xml.starts_with('<') => Words::Subtree(elements(xml, "filter")?),
            path if path.starts_with('/') => Words::XPath(path.to_owned()),
            other => {
                return Err(Error::Unsupported(format!(
                    "`{other}` names no data: expected a subtree filter (`<interfaces xmlns=\"...\"/>`) \
                     or an XPath (`/if:interfaces`), or nothing for all of it, behind `running` \
                     (which may be left out), `candidate`, `startup` or `state`"
                )));
            }
        };
        Ok(Self { source, filter })
    }

    /// The operation that asks a device for it.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a prefix that is no module of the device.
    pub(super) fn operation(&self, device: &Capabilities) -> Result<Operation> {
        let filter = match &self.filter {
            Words::All => Filter::All,
            Words::Subtree(elements) => Filter::Subtree(elements.clone()),
            Words::XPath(select) => Filter::XPath {
                namespaces: namespaces(select, device),
                select: select.clone(),
            },
        };
        Ok(match self.source {
            Source::Config(source) => Operation::get_config(source, &filter),
            Source::State => Operation::get(&filter),
        })
    }
}

/// Elements that a user wrote; one of the name `wrapper` or `data` around them is taken off, so that
/// what was read can be written.
///
/// # Errors
/// [`Error::Unsupported`], saying what is wrong with them and where.
pub(super) fn elements(text: &str, wrapper: &str) -> Result<Vec<Element>> {
    // A declaration is no part of what goes into a message.
    let mut elements = Element::parse_all(text).map_err(|error| {
        Error::Unsupported(format!(
            "the XML for `{wrapper}` is not as it should be: {error}"
        ))
    })?;
    let is_wrapper = |element: &Element| element.is_base(wrapper) || element.is_base("data");
    if elements.len() == 1 && is_wrapper(&elements[0]) {
        elements = elements.remove(0).into_children();
    }
    Ok(elements)
}

/// The prefixes in an XPath that are names of the device's YANG modules, with their namespaces. What
/// else has a prefix is left to the device.
fn namespaces(path: &str, device: &Capabilities) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut quoted = None;
    let mut word = String::new();
    let mut characters = path.chars().peekable();
    while let Some(character) = characters.next() {
        match (quoted, character) {
            (Some(quote), _) => {
                if character == quote {
                    quoted = None;
                }
            }
            (None, '"' | '\'') => {
                quoted = Some(character);
                word.clear();
            }
            // `::` is behind an axis.
            (None, ':') if characters.peek() == Some(&':') => {
                characters.next();
                word.clear();
            }
            (None, ':') => {
                let is_new = found.iter().all(|(prefix, _)| *prefix != word);
                if let Some(namespace) = device.namespace_of(&word).filter(|_| is_new) {
                    found.push((word.clone(), namespace.to_owned()));
                }
                word.clear();
            }
            (None, character) if character.is_alphanumeric() || "_-.".contains(character) => {
                word.push(character);
            }
            (None, _) => word.clear(),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(what: &str) -> String {
        let device = Capabilities::new(vec![
            "urn:if?module=ietf-interfaces&revision=2018-02-20".to_owned(),
        ]);
        let operation = Query::parse(what).and_then(|query| query.operation(&device));
        operation.expect("a query").element.to_string()
    }

    #[test]
    fn words_say_which_data_and_which_part_of_it() {
        let running = "<get-config><source><running/></source></get-config>";
        assert_eq!(written(""), running);
        assert_eq!(written(" running "), running);
        assert_eq!(written("state"), "<get/>");
        assert_eq!(
            written("startup <filter><a xmlns='urn:a'/></filter>"),
            "<get-config><source><startup/></source><filter type=\"subtree\"><a xmlns=\"urn:a\" \
             xmlns:nc=\"urn:ietf:params:xml:ns:netconf:base:1.0\"/></filter></get-config>"
        );
        assert_eq!(
            written("state /ietf-interfaces:interfaces[child::ietf-interfaces:name='x:y']/o:z"),
            "<get><filter type=\"xpath\" xmlns:ietf-interfaces=\"urn:if\" \
             select=\"/ietf-interfaces:interfaces[child::ietf-interfaces:name='x:y']/o:z\"/></get>"
        );
    }

    #[test]
    fn other_words_are_told_what_they_should_be() {
        let error = Query::parse("interfaces")
            .expect_err("no filter")
            .to_string();
        assert!(error.contains("`interfaces` names no data"), "{error}");
        let error = Query::parse("<a>").expect_err("no XML").to_string();
        assert!(
            error.contains("ends inside of an element (line 1)"),
            "{error}"
        );
    }
}
