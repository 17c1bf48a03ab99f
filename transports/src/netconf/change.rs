//! A change to a device's configuration, and what becomes of it.

use async_trait::async_trait;
use devgate_schemas::{Hash, Value};

use super::client::Client;
use super::operation::DefaultOperation;
use super::query::elements;
use super::xml::Element;
use crate::{Context, Error, Request, Result};

/// A change to a device's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// What goes into `<config>`.
    pub config: Vec<Element>,
    /// What becomes of the parts that say nothing themselves.
    pub default_operation: DefaultOperation,
}

/// What became of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Whether it went by a candidate configuration, as a whole.
    pub committed: bool,
    /// Whether it was tried out before it was confirmed.
    pub confirmed: bool,
    /// Whether what the device starts with was changed too, separately.
    pub saved: bool,
}

/// What must hold behind a change so that it is confirmed.
#[async_trait]
pub trait Check: Send + Sync {
    /// Tries the device out, on the session that made the change or otherwise.
    ///
    /// # Errors
    /// Why the change must not stand.
    async fn check(&self, ctx: &Context<'_>, client: &mut Client) -> Result<()>;
}

impl Change {
    /// What a request asks for: its body is XML, its method the default operation.
    ///
    /// # Errors
    /// [`Error::Unsupported`], saying what it should be.
    pub(super) fn requested(request: &Request) -> Result<Self> {
        let default_operation = match request.method.as_deref() {
            None | Some("merge") => DefaultOperation::Merge,
            Some("replace") => DefaultOperation::Replace,
            Some("none") => DefaultOperation::None,
            Some(other) => {
                return Err(Error::Unsupported(format!(
                    "`{other}` is no default operation: expected merge, replace or none; or `rpc`, \
                     which sends the XML as an RPC of its own"
                )));
            }
        };
        let expected = "the elements for `<config>`, each with its namespace";
        let config = elements(xml(request, "change", expected)?, "config")?;
        if config.is_empty() {
            return Err(Error::Unsupported(
                "the XML for `config` holds no element: there is nothing to change".to_owned(),
            ));
        }
        Ok(Self {
            config,
            default_operation,
        })
    }
}

/// The XML of a request, which may stand where other protocols have a path.
///
/// # Errors
/// [`Error::Unsupported`], saying what was `expected`.
pub(super) fn xml<'r>(request: &'r Request, is: &str, expected: &str) -> Result<&'r str> {
    let body = match &request.body {
        Some(Value::Sensitive(secret)) => secret.reveal().as_str(),
        body => body.as_ref().and_then(Value::as_str),
    };
    match (request.what.trim(), body) {
        ("", Some(body)) => Ok(body),
        (what, None) if what.starts_with('<') => Ok(what),
        ("", None) => Err(Error::Unsupported(format!(
            "a NETCONF {is} is XML: expected {expected}"
        ))),
        _ => Err(Error::Unsupported(format!(
            "a NETCONF {is} is all in its XML: give that as the body, and nothing besides it"
        ))),
    }
}

impl Changed {
    pub(super) fn to_value(self) -> Value {
        let Self {
            committed,
            confirmed,
            saved,
        } = self;
        let told = [
            ("committed", committed),
            ("confirmed", confirmed),
            ("saved", saved),
        ];
        let told = told
            .into_iter()
            .map(|(key, value)| (key, Value::from(value)));
        Value::Hash(told.collect::<Hash>())
    }
}

impl Changed {
    pub(super) fn by_commit(confirmed: bool) -> Self {
        Self {
            committed: true,
            confirmed,
            saved: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_say_no_change_are_refused_before_anything_is_sent() {
        let request = |what: &str, method: Option<&str>, body: Option<&str>| Request {
            what: what.to_owned(),
            method: method.map(str::to_owned),
            body: body.map(Value::from),
        };
        let xml = Some("<a xmlns='urn:a'/>");
        for (request, expected) in [
            (request("/a", None, xml), "all in its XML"),
            (request("", Some("patch"), xml), "merge, replace or none"),
            (request("", None, None), "is XML"),
            (request("", None, Some("<config/>")), "no element"),
            (request("", None, Some("<a>")), "ends inside"),
            (request("", None, Some("<!DOCTYPE a><a/>")), "DOCTYPE"),
        ] {
            let error = Change::requested(&request)
                .expect_err("no change")
                .to_string();
            assert!(error.contains(expected), "{error}");
        }
        let wrapped = request(
            "",
            Some("none"),
            Some("<config><a xmlns='urn:a'/></config>"),
        );
        let change = Change::requested(&wrapped).expect("a change");
        assert_eq!(change.default_operation, DefaultOperation::None);
        assert_eq!(change.config[0].name(), "a");
        let change = Change::requested(&request("<b xmlns='urn:b'/>", None, None));
        assert_eq!(change.expect("a change").config[0].name(), "b");
    }
}
