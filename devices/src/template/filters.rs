//! The filters and tests that the language of families adds to Jinja's.
//!
//! | filter or test | result |
//! |---|---|
//! | `integer` | a number of a text; none of an empty text |
//! | `network` | a prefix without host bits, in one form: `10.1.2.3/16` is `10.1.0.0/16` |
//! | `address` | an address, with its length if it has one, in one form; host bits stay |
//! | `prefix(mask)` | `10.0.0.1/24` of `10.0.0.1` and `255.255.255.0` |
//! | `host`, `netmask` | the address and the mask of `10.0.0.1/24` |
//! | `bindings` | Facter's `bindings` of a list of addresses with lengths |
//! | `mac` | a MAC address as `aa:bb:cc:dd:ee:ff` |
//! | `interface` | an interface's name in full, by the family's table or by words: `Gi0/1` is `GigabitEthernet0/1` |
//! | `ranges` | a list of numbers in one form: `3,1-2` is `1-3` |
//! | `quoted` | a text in quotes, with a backslash before each quote and backslash; `quoted('$')`: before each `$`, too |
//! | `unquoted` | the text in such quotes; a text without quotes around it stays as it is |
//! | `seconds` | the seconds of a length of time: `1d02h03m`, `2 hours, 5 minutes`, `01:02:03` |
//! | `x is changed(y)` | whether x is given, and is not y: `{% if mtu is changed(is.mtu) %}` |
//! | `x is matching(pattern)` | whether a regular expression matches somewhere in a text |
//! | `fail(message)` | refuses the change, before anything is sent |

use devgate_schemas::Regexp;
use minijinja::{Environment, Error, ErrorKind, Value};

use super::names::{INTERFACE, NameForm, NameTable};
use super::network::{self, Prefix};
use super::{placeholder, quoting, uptime};

/// The message for a template that writes a missing value.
pub(super) const NO_VALUE: &str =
    "there is no value to write here; ask with `{% if … is not none %}` first";

/// The function that refuses a change.
pub(super) const FAIL: &str = "fail";

/// What [`FAIL`]'s message begins with, so that it is known as such. No family can write it.
pub(super) const REFUSAL: char = '\u{1}';

/// Adds the filters and tests.
pub(super) fn add(language: &mut Environment<'static>) {
    language.add_filter("integer", integer);
    language.add_filter("network", |text: &str| {
        filter_result(Prefix::parse(text)).map(|it| it.network().to_string())
    });
    language.add_filter("address", address);
    language.add_filter("prefix", |address: &str, mask: &str| {
        filter_result(Prefix::with_mask(address, mask)).map(|prefix| prefix.to_string())
    });
    language.add_filter("host", |text: &str| {
        filter_result(Prefix::parse(text)).map(|it| it.address.to_string())
    });
    language.add_filter("netmask", |text: &str| {
        filter_result(Prefix::parse(text)).map(|it| it.netmask().to_string())
    });
    language.add_filter("bindings", bindings);
    language.add_filter("mac", |text: &str| filter_result(network::mac(text)));
    language.add_filter(INTERFACE, |text: &str, words: Vec<String>| {
        interface(text, words)
    });
    language.add_filter("ranges", |text: &str| filter_result(network::ranges(text)));
    language.add_filter("quoted", quoted);
    language.add_filter("unquoted", quoting::unquoted);
    language.add_filter("seconds", |text: &str| filter_result(uptime::seconds(text)));
    language.add_test("changed", |value: &Value, other: &Value| {
        !value.is_none() && value != other
    });
    language.add_test("matching", |text: &str, pattern: &str| {
        let pattern = filter_result(Regexp::new(pattern).map_err(|error| error.to_string()))?;
        filter_result(pattern.is_match(text).map_err(|error| error.to_string()))
    });
    language.add_function(FAIL, |message: &str| -> Result<Value, Error> {
        Err(Error::new(
            ErrorKind::InvalidOperation,
            format!("{REFUSAL}{message}"),
        ))
    });
}

/// Adds the filter of a family's table of names.
pub(super) fn add_table(language: &mut Environment<'static>, table: NameTable) {
    if table.name == INTERFACE {
        language.add_filter(INTERFACE, move |text: &str, words: Option<Vec<String>>| {
            words.map_or_else(|| table.canonical(text), |words| interface(text, words))
        });
    } else {
        let name = table.name.clone();
        language.add_filter(name, move |text: &str| table.canonical(text));
    }
}

fn interface(text: &str, words: Vec<String>) -> String {
    let table = NameTable {
        name: INTERFACE.to_owned(),
        forms: words.into_iter().map(NameForm::Word).collect(),
    };
    table.canonical(text)
}

fn integer(text: &str) -> Result<Option<i64>, Error> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    filter_result(
        text.parse()
            .map(Some)
            .map_err(|_| format!("`{text}` is no whole number")),
    )
}

/// Secrets are still placeholders here.
fn quoted(value: &Value, also: Option<&str>) -> Result<String, Error> {
    if value.is_none() || value.is_undefined() {
        return Err(Error::new(ErrorKind::UndefinedError, NO_VALUE));
    }
    let text = value.as_str().ok_or_else(|| {
        let message = format!("`quoted` expects a text, got {}", value.kind());
        Error::new(ErrorKind::InvalidOperation, message)
    })?;
    let text = placeholder::escaped_for_quotes(text, also.unwrap_or_default());
    Ok(format!("\"{text}\""))
}

fn address(text: &str) -> Result<String, Error> {
    let prefix = filter_result(Prefix::parse(text))?;
    Ok(if text.contains('/') {
        prefix.to_string()
    } else {
        prefix.address.to_string()
    })
}

fn bindings(addresses: Vec<String>) -> Result<Vec<Value>, Error> {
    addresses
        .iter()
        .map(|text| {
            let prefix = filter_result(Prefix::parse(text))?;
            Ok(Value::from_pairs([
                ("address", prefix.address.to_string()),
                ("netmask", prefix.netmask().to_string()),
                ("network", prefix.network().address.to_string()),
            ]))
        })
        .collect()
}

fn filter_result<T>(result: Result<T, String>) -> Result<T, Error> {
    result.map_err(|message| Error::new(ErrorKind::InvalidOperation, message))
}
