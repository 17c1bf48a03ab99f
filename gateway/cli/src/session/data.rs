//! `devgate session get` and `set`: data of a device, in the terms of its protocol.

use clap::Args;
use devgate_core::failure::{ErrorContext, Failure};
use devgate_engine::operations;
use devgate_engine::session::SessionHandle;
use devgate_front::exit_status::ExitStatus;
use devgate_front::options::GlobalOptions;
use devgate_front::printer::Printer;
use devgate_schemas::Value;
use devgate_transports::{DataRequest, Document, reading};
use serde_json::{Value as Json, json};

use crate::session::source::SessionSource;

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate session get -t dns1 /servers            # REST: a path\n  devgate session get \
                  -t ovs1 Bridge               # OVSDB: a table\n  devgate session get -t ups1 1.3.6.1.2.1.1        # \
                  SNMP: an OID\n  devgate session get -t r1 '<interfaces \
                  xmlns=\"urn:ietf:params:xml:ns:yang:ietf-interfaces\"/>'  # NETCONF: a filter\n\n`devgate transport \
                  show NAME` shows what a transport accepts. -t is not needed in a task, or in a program that \
                  `devgate session run` starts."
)]
pub struct Get {
    #[command(flatten)]
    source: SessionSource,
    /// What to get: a path, a filter, a table, an OID
    what: String,
}

#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  devgate session set -t dns1 /servers/localhost/zones - --method POST < zone.json\n  \
                  devgate session set -t dns1 /servers/localhost/zones/example.org. --method DELETE\n  devgate \
                  session set -t r1 - --method merge < config.xml\n  devgate session set -t r1 \
                  '<get-system-information/>' --method rpc\n  devgate session set -t ovs1 - --noop < \
                  operations.json\n\nA single - is the body. SNMP is read-only. Pass secrets on stdin: all users of \
                  this node can read arguments. In a task under --noop, the request is refused."
)]
pub struct Set {
    #[command(flatten)]
    source: SessionSource,
    /// What to change: a path, a table; omit it if the body contains it
    #[arg(required = true)]
    what: Option<String>,
    /// New value: JSON, or text such as XML; - reads it from stdin
    #[arg(allow_negative_numbers = true)]
    body: Option<String>,
    /// An HTTP method, a NETCONF default-operation or `rpc`, a JSON-RPC method (default: depends on the protocol)
    #[arg(long, value_name = "METHOD")]
    method: Option<String>,
    /// Send nothing: show what would be sent, without secrets of the target
    #[arg(long)]
    noop: bool,
}

impl Get {
    pub(super) async fn run(
        self,
        global: &GlobalOptions,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let Self { source, what } = self;
        let get = async |session: &mut SessionHandle<'_>| {
            let document = session.get(what.clone()).await?;
            print(json!({ "what": what }), document, printer);
            Ok(())
        };
        source.session(global, printer, get).await
    }
}

impl Set {
    pub(super) async fn run(
        self,
        global: &GlobalOptions,
        printer: &Printer,
    ) -> Result<ExitStatus, Failure> {
        let (what, body) = match (self.what.unwrap_or_default(), self.body) {
            (what, None) if what == "-" => (String::new(), Some(what)),
            both => both,
        };
        let body = match body.as_deref() {
            Some("-") => Some(stdin()?),
            Some(_) | None => body,
        };
        if what.is_empty() && body.is_none() {
            return Err(Failure::other(
                "specify what to set: WHAT, BODY or both (`devgate session set --help` has examples)",
            ));
        }
        let change = DataRequest {
            what,
            method: self.method,
            body: body.map(read),
        };
        let set = async |session: &mut SessionHandle<'_>| {
            let request = json!({ "what": change.what, "method": change.method });
            if self.noop {
                let body = change.body.as_ref();
                let body = body.map(|body| session.redacted(body.to_json()));
                print_noop(request, body, printer);
                return Ok(());
            }
            let document = session.set(change).await?;
            print(request, document, printer);
            Ok(())
        };
        self.source.session(global, printer, set).await
    }
}

/// Reads all of stdin. This does not wait for a user, because nobody types a body.
fn stdin() -> Result<String, Failure> {
    reading::text_of(std::io::stdin()).context("cannot read the body from stdin")
}

/// Parses a body: JSON if it is valid, else text. A JSON string is text with quotes.
fn read(body: String) -> Value {
    match serde_json::from_str(&body) {
        Ok(Json::String(_)) | Err(_) => Value::from(body),
        Ok(json) => Value::from(json),
    }
}

/// Prints what would be sent.
fn print_noop(mut request: Json, body: Option<Json>, printer: &Printer) {
    let words = ["method", "what"].map(|key| request[key].as_str().unwrap_or_default().to_owned());
    let line = format!("would send: {}", words.join(" ").trim());
    let text = match &body {
        None => String::new(),
        Some(Json::String(text)) => text.clone(),
        Some(json) => format!("{json:#}"),
    };
    request["noop"] = true.into();
    request["body"] = body.unwrap_or_default();
    printer.document(&request, || {
        format!("{line}\n{}", operations::with_newline(text))
    });
}

/// Prints the answer of a device: text unchanged, data as JSON; for programs, with the request.
fn print(mut request: Json, document: Document, printer: &Printer) {
    match document {
        Document::Text(text) => {
            request["text"] = text.as_str().into();
            printer.document(&request, || operations::with_newline(text));
        }
        Document::Data(data) => {
            let data = data.to_json();
            let human = operations::with_newline(format!("{data:#}"));
            request["data"] = data;
            printer.document(&request, || human);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_json_where_it_is_some_and_else_a_text() {
        for (body, expected) in [
            (r#"{"a": [1]}"#, Value::from(json!({"a": [1]}))),
            ("7", Value::Integer(7)),
            ("null", Value::Undef),
            ("<config/>", Value::from("<config/>")),
            (r#""a""#, Value::from(r#""a""#)),
            ("", Value::from("")),
        ] {
            assert_eq!(read(body.to_owned()), expected, "{body}");
        }
    }
}
