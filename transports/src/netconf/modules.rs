//! The namespaces of a device's YANG modules by name, for the prefixes in an XPath.
//!
//! A hello lists only YANG 1 modules (RFC 7950, 5.6.4). The device's YANG library lists all of them. It is
//! queried for the required modules only: `module-set`s in RFC 8525, `modules-state` in the earlier
//! RFC 7895.

use super::capabilities::{Capabilities, Library};
use super::operation::{Filter, Operation};
use super::session::NetconfSession;
use super::xml::Element;
use crate::{Context, Error, Result};

const LIBRARY: &str = "urn:ietf:params:xml:ns:yang:ietf-yang-library";

/// Returns those of these modules that the device knows, with their namespaces.
///
/// # Errors
/// Fails when the device does not answer. A library that the device refuses to show counts as empty.
pub(super) async fn namespaces(
    ctx: &Context<'_>,
    session: &NetconfSession,
    names: &[String],
) -> Result<Vec<(String, String)>> {
    let (mut known, missing, library) = {
        let client = session.hold(ctx).await?;
        let (known, missing) = greeted(client.capabilities(), names);
        (known, missing, client.capabilities().library())
    };
    if let (Some(library), false) = (library, missing.is_empty()) {
        match session.perform(ctx, &question(library, &missing)).await {
            Ok(reply) => {
                let data = reply.data();
                known.extend(data.iter().flat_map(|data| answer(data, &missing)));
            }
            Err(Error::Refused(refused)) => {
                ctx.info(format!("its YANG library is not known: {refused}"));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(known)
}

/// Splits module names into those that the hello lists, with their namespaces, and the others.
fn greeted(device: &Capabilities, names: &[String]) -> (Vec<(String, String)>, Vec<String>) {
    let (mut known, mut missing) = (Vec::new(), Vec::new());
    for name in names {
        match device.namespace_of(name) {
            Some(namespace) => known.push((name.clone(), namespace.to_owned())),
            None => missing.push(name.clone()),
        }
    }
    (known, missing)
}

/// Returns the operation that queries the library for these modules only.
fn question(library: Library, names: &[String]) -> Operation {
    let modules = names.iter().map(|name| {
        let name = Element::new("name").text(name);
        Element::new("module").with([name, Element::new("namespace")])
    });
    let filter = match library {
        Library::ModulesState => Element::in_namespace(LIBRARY, "modules-state").with(modules),
        Library::YangLibrary => Element::in_namespace(LIBRARY, "yang-library")
            .with([Element::new("module-set").with(modules)]),
    };
    Operation::get(&Filter::Subtree(vec![filter]))
}

/// Returns the modules with these names from the library's answer, which may contain others.
fn answer(data: &Element, names: &[String]) -> Vec<(String, String)> {
    let lists = data.children().flat_map(|library| {
        let sets = library.children().filter(|set| set.name() == "module-set");
        std::iter::once(library).chain(sets)
    });
    let modules = lists.flat_map(Element::children);
    let mut found: Vec<(String, String)> = Vec::new();
    for module in modules.filter(|module| module.name() == "module") {
        let text = |name: &str| module.child(name).map(Element::content);
        if let (Some(name), Some(namespace)) = (text("name"), text("namespace"))
            && names.contains(&name)
            && found.iter().all(|(known, _)| *known != name)
        {
            found.push((name, namespace));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn only_what_the_hello_does_not_tell_is_asked_for() {
        let device = Capabilities::new(vec![
            "urn:sys?revision=2014-08-06&module=ietf-system".to_owned(),
            "urn:ietf:params:netconf:capability:yang-library:1.1?revision=2019-01-04".to_owned(),
        ]);
        let (known, missing) = greeted(&device, &names(&["ietf-system", "ietf-interfaces"]));
        assert_eq!(known, [("ietf-system".to_owned(), "urn:sys".to_owned())]);
        let library = device.library().expect("it has one");
        let asked = question(library, &missing).element.to_string();
        let module = "<module><name>ietf-interfaces</name><namespace/></module>";
        assert_eq!(
            asked,
            format!(
                "<get><filter type=\"subtree\"><yang-library xmlns=\"{LIBRARY}\"><module-set>\
                 {module}</module-set></yang-library></filter></get>"
            )
        );
        let asked = question(Library::ModulesState, &missing)
            .element
            .to_string();
        assert!(
            asked.contains(&format!(">{module}</modules-state>")),
            "{asked}"
        );
    }

    #[test]
    fn both_forms_of_the_library_are_read_and_strangers_in_them_passed_over() {
        for (open, close) in [
            ("<modules-state>", "</modules-state>"),
            (
                "<yang-library><module-set><name>all</name>",
                "</module-set></yang-library>",
            ),
        ] {
            let text = format!(
                "<data xmlns='{LIBRARY}'>{open}<module><namespace>urn:b</namespace><name>b</name>\
                 </module><module><name> a </name><revision/><namespace>\n urn:a</namespace>\
                 </module>{close}</data>"
            );
            let data = Element::parse(&text).expect("well-formed");
            let found = answer(&data, &names(&["a", "c"]));
            assert_eq!(found, [("a".to_owned(), "urn:a".to_owned())], "{open}");
        }
    }
}
