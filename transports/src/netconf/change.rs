//! Changes to a device's configuration, and their outcomes.

use async_trait::async_trait;
use devgate_schemas::{Hash, Value};

use super::client::Client;
use super::operation::DefaultOperation;
use super::query::elements;
use super::xml::Element;
use crate::{Context, DataRequest, Error, Result};

/// A change to a device's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The content of `<config>`.
    pub config: Vec<Element>,
    /// The operation for parts that specify none themselves.
    pub default_operation: DefaultOperation,
}

/// The outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Whether it was committed as a whole, through a candidate configuration.
    pub committed: bool,
    /// Whether it was checked before it was confirmed.
    pub confirmed: bool,
    /// Whether a separate startup configuration was updated, too.
    pub saved: bool,
}

/// A check that must succeed before a change is confirmed.
#[async_trait]
pub trait Check: Send + Sync {
    /// Checks the device, on the session that made the change or in another way.
    ///
    /// # Errors
    /// Fails when the change must not be kept.
    async fn check(&self, ctx: &Context<'_>, client: &mut Client) -> Result<()>;
}

impl Change {
    /// Reads the change from a request: its body is XML, its method the default operation.
    ///
    /// # Errors
    /// Fails with [`Error::Unsupported`], which says what is expected.
    pub(super) fn requested(request: &DataRequest) -> Result<Self> {
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

/// Returns the XML of a request. It may also be in the place of a path.
///
/// # Errors
/// Fails with [`Error::Unsupported`], which says what was `expected`.
pub(super) fn xml<'r>(request: &'r DataRequest, is: &str, expected: &str) -> Result<&'r str> {
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
        let reported = [
            ("committed", committed),
            ("confirmed", confirmed),
            ("saved", saved),
        ];
        let reported = reported
            .into_iter()
            .map(|(key, value)| (key, Value::from(value)));
        Value::Hash(reported.collect::<Hash>())
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
        let request = |what: &str, method: Option<&str>, body: Option<&str>| DataRequest {
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
