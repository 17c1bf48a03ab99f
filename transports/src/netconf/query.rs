//! Queries as users write them: `running`, a subtree filter, `state /if:interfaces`.

use super::operation::{Datastore, Filter, Operation};
use super::xml::Element;
use super::xpath::Prefixed;
use crate::{Error, Result};

/// A user's query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Query {
    source: Source,
    filter: Words,
}

/// The queried data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Config(Datastore),
    /// Running configuration and state together.
    State,
}

/// The queried part of the data.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Words {
    All,
    Subtree(Vec<Element>),
    XPath {
        path: Prefixed,
        /// The prefixes that the query declares itself, with their namespaces.
        declared: Vec<(String, String)>,
    },
}

impl Query {
    /// Parses `[running|candidate|startup|state] [<filter/>|/xpath]`. An empty query means the whole running
    /// configuration. An XPath in a `<filter select="..."/>` can declare its own prefixes.
    ///
    /// # Errors
    /// Fails with [`Error::Unsupported`], which says what is expected.
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
            xml if xml.starts_with('<') => match xpath(xml) {
                Some((select, declared)) => Words::XPath {
                    path: prefixed(&select)?,
                    declared,
                },
                None => Words::Subtree(elements(xml, "filter")?),
            },
            path if path.starts_with('/') => Words::XPath {
                path: prefixed(path)?,
                declared: Vec::new(),
            },
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

    /// Returns the undeclared prefixes of its XPath, which are names of the device's YANG modules.
    pub(super) fn modules(&self) -> Vec<String> {
        let Words::XPath { path, declared } = &self.filter else {
            return Vec::new();
        };
        let mut names = path.prefixes.clone();
        names.retain(|name| declared.iter().all(|(prefix, _)| prefix != name));
        names
    }

    /// Returns the operation for this query, with the namespaces of the device's modules. Other prefixes
    /// are left to the device.
    pub(super) fn operation(&self, modules: Vec<(String, String)>) -> Operation {
        let filter = match &self.filter {
            Words::All => Filter::All,
            Words::Subtree(elements) => Filter::Subtree(elements.clone()),
            Words::XPath { path, declared } => Filter::XPath {
                namespaces: declared.iter().cloned().chain(modules).collect(),
                select: path.select.clone(),
            },
        };
        match self.source {
            Source::Config(source) => Operation::get_config(source, &filter),
            Source::State => Operation::get(&filter),
        }
    }
}

/// Adds missing prefixes to the names of an XPath.
///
/// # Errors
/// Fails with [`Error::Unsupported`] when a name needs a prefix, or when the text is not an XPath.
fn prefixed(path: &str) -> Result<Prefixed> {
    Prefixed::read(path).map_err(|problem| {
        Error::Unsupported(format!(
            "the XPath `{path}`: {problem}; names of data have a prefix, the name of their YANG module \
             (`/ietf-interfaces:interfaces/interface`); a child needs none where it is in the namespace \
             of its parent"
        ))
    })
}

/// Returns the XPath in a `filter` element (RFC 6241, 8.9.5), with the prefixes that it declares. Returns
/// `None` for any other text.
fn xpath(xml: &str) -> Option<(String, Vec<(String, String)>)> {
    let filter = Element::parse(xml).ok()?;
    let select = filter.attribute_value("select")?;
    let declared = filter.prefixes();
    let declared = declared.map(|(prefix, namespace)| (prefix.to_owned(), namespace.to_owned()));
    filter
        .is_base("filter")
        .then(|| (select.to_owned(), declared.collect()))
}

/// Returns advice for an XPath that a device refused. `unknown` is a prefix without a namespace, if any.
pub(super) fn about_prefixes(unknown: Option<&str>) -> String {
    match unknown {
        Some(prefix) => format!(
            "the prefix `{prefix}` is the name of no YANG module that the device lists: use the \
             module's whole name, or declare the prefix, in `<filter type=\"xpath\" \
             xmlns:{prefix}=\"...\" select=\"...\"/>`"
        ),
        // One of them is yuma123's netconfd.
        None => "some devices know only the prefix that the YANG module has in itself, declared in \
                 `<filter type=\"xpath\" xmlns:PREFIX=\"...\" select=\"...\"/>`; a subtree filter needs \
                 none"
            .to_owned(),
    }
}

/// Parses elements that a user wrote. A surrounding element `wrapper` or `data` is removed, so that data
/// that was read can be written back.
///
/// # Errors
/// Fails with [`Error::Unsupported`], which says what is wrong and where.
pub(super) fn elements(text: &str, wrapper: &str) -> Result<Vec<Element>> {
    // An XML declaration is dropped, because it must not be part of a message.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn written(what: &str) -> String {
        let query = Query::parse(what).expect("a query");
        let modules = query.modules().into_iter();
        let modules = modules.filter(|name| name == "ietf-interfaces");
        let modules = modules.map(|name| (name, "urn:if".to_owned())).collect();
        query.operation(modules).element.to_string()
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
    fn an_xpath_can_bring_its_prefixes_and_those_of_the_others_are_modules() {
        let what =
            "state <filter type='xpath' xmlns:i='urn:if' select=\"/i:a[ietf-system:b='o:c']\"/>";
        let query = Query::parse(what).expect("a query");
        assert_eq!(query.modules(), ["ietf-system"]);
        assert_eq!(
            written(what),
            "<get><filter type=\"xpath\" xmlns:i=\"urn:if\" \
             select=\"/i:a[ietf-system:b='o:c']\"/></get>"
        );
        let query = Query::parse("/a:b/a:c[self::d:e]").expect("a query");
        assert_eq!(query.modules(), ["a", "d"]);
        assert!(Query::parse("").expect("a query").modules().is_empty());
    }

    #[test]
    fn every_name_that_is_sent_has_a_prefix_that_is_declared() {
        assert_eq!(
            written("state /ietf-interfaces:interfaces/interface[name=\"eth0\"]"),
            "<get><filter type=\"xpath\" xmlns:ietf-interfaces=\"urn:if\" \
             select=\"/ietf-interfaces:interfaces/ietf-interfaces:interface[ietf-interfaces:name=\
             &quot;eth0&quot;]\"/></get>"
        );
        assert_eq!(
            written("<filter type='xpath' xmlns:i='urn:if' select='/i:interfaces/interface'/>"),
            "<get-config><source><running/></source><filter type=\"xpath\" xmlns:i=\"urn:if\" \
             select=\"/i:interfaces/i:interface\"/></get-config>"
        );
        for what in ["/interfaces/interface", "<filter select='//interface'/>"] {
            let error = Query::parse(what).expect_err("no namespace").to_string();
            assert!(error.contains("needs a prefix"), "{error}");
        }
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
