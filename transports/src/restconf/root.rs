//! The root of a RESTCONF server's resources (RFC 8040, 3.1 and 3.3).

use crate::xml::Element;

/// The resource for discovering the root.
pub(super) const HOST_META: &str = "/.well-known/host-meta";

/// The default root if the server names none. RFC 8040 uses it in all of its examples.
pub(super) const DEFAULT_ROOT: &str = "/restconf";

/// Returns the path of the root resource from an XRD document, without a trailing slash.
pub(super) fn root_in(xrd: &str) -> Option<String> {
    let document = Element::read(xrd)?;
    let link = document
        .all("Link")
        .find(|link| link.attribute("rel") == Some("restconf"))?;
    let href = link.attribute("href")?.trim();
    // A complete URL is allowed as well. Its host is ignored.
    let path = match href.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |slash| &rest[slash..]),
        None => href,
    };
    Some(normalized(path))
}

/// Normalizes a root: with a leading slash, without a trailing one.
pub(super) fn normalized(path: &str) -> String {
    match path.trim_matches('/') {
        "" => String::new(),
        path => format!("/{path}"),
    }
}

/// Returns the path for `what`: a data resource, one of the root's other resources, or any path of the server.
///
/// Data resources have a module name (RFC 8040, 3.5.3) and the root's own have none, so this is unambiguous.
pub(super) fn path_of(root: &str, what: &str) -> String {
    if what.starts_with('/') {
        return what.to_owned();
    }
    let first = what.split(['/', '?']).next().unwrap_or_default();
    if ["data", "operations", "yang-library-version", "ds"].contains(&first) {
        format!("{root}/{what}")
    } else if what.is_empty() || what.starts_with('?') {
        format!("{root}/data{what}")
    } else {
        format!("{root}/data/{what}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_is_the_link_of_the_relation_restconf() {
        let xrd = |link: &str| {
            format!("<XRD xmlns='http://docs.oasis-open.org/ns/xri/xrd-1.0'>{link}</XRD>")
        };
        for (link, expected) in [
            ("<Link rel='restconf' href='/restconf'/>", Some("/restconf")),
            (
                "<Link rel='lrdd' href='/x'/><Link rel=\"restconf\" href=\"/api/\"/>",
                Some("/api"),
            ),
            (
                "<Link rel='restconf' href='https://r1.example/rc'></Link>",
                Some("/rc"),
            ),
            ("<Link rel='restconf' href='/'/>", Some("")),
            ("<Link rel='lrdd' href='/x'/>", None),
        ] {
            assert_eq!(root_in(&xrd(link)).as_deref(), expected, "{link}");
        }
        assert_eq!(root_in("<html>"), None);
    }

    #[test]
    fn data_needs_no_prefix() {
        for (what, expected) in [
            ("", "/rc/data"),
            ("?depth=1", "/rc/data?depth=1"),
            ("a:b/c=1", "/rc/data/a:b/c=1"),
            ("data/a:b", "/rc/data/a:b"),
            ("operations/a:do", "/rc/operations/a:do"),
            ("yang-library-version", "/rc/yang-library-version"),
            ("/.well-known/host-meta", "/.well-known/host-meta"),
        ] {
            assert_eq!(path_of("/rc", what), expected);
        }
    }
}
