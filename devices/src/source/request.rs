//! Requests to a device whose answers have rows.

use devgate_schemas::{Hash, Value};
use devgate_transports::{self as transports, Context, DataRequest, DataStore, Document};

use super::answers::Answer;
use super::protocol_kind::ProtocolKind;
use crate::body::Body;
use crate::command_line::{exec, session};
use crate::file_node::{FileNode, Problems, WithLocation};
use crate::template::{Escape, Scope, Secrets, Template};
use crate::{Error, Result};

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// The output of a command.
    Text,
    /// JSON or XML.
    Data,
}

/// A request.
#[derive(Clone, Debug)]
pub(super) struct Request {
    /// The name of its answer, in a recording, too.
    pub(super) name: String,
    pub(super) format: Format,
    /// Whether a device may refuse it. It then has no rows.
    pub(super) is_optional: bool,
    /// Whether its subject was in another answer.
    pub(super) depends: bool,
    kind: RequestKind,
}

#[derive(Clone, Debug)]
enum RequestKind {
    Command,
    /// A query of a data store.
    Query(String),
    /// A request that carries the query in its body: an RPC, a POST.
    Rpc(Box<DataRequest>),
}

/// The template of a request.
#[derive(Debug)]
pub(super) struct RequestTemplate {
    /// The request as written, for people.
    pub(super) label: String,
    text: Text,
    kind: TemplateKind,
}

#[derive(Debug)]
enum TemplateKind {
    Command,
    Query,
    /// A command whose answer is data, because the protocol asks for it in that form.
    CommandAsData,
    /// An RPC of NETCONF.
    Rpc,
    /// A method and a body, to the path that the text is.
    Http {
        method: String,
        body: Option<Body>,
    },
}

/// A text that may depend on the values of an outer row.
#[derive(Debug)]
enum Text {
    Fixed(String),
    Template(Box<WithLocation<Template>>),
}

/// What a query of NETCONF begins with that is an RPC.
const RPC: &str = "rpc ";

/// What a command line shows data with, where a protocol asks for data by other means. It is in the names of answers
/// only.
const AS_DATA: &str = " | json";

impl RequestTemplate {
    /// Reads `command` or `ask`, over these names.
    pub(super) fn read(
        top: &FileNode<'_>,
        protocol_kind: ProtocolKind,
        names: &[&str],
        problems: &mut Problems,
    ) -> Option<Self> {
        let has_commands = protocol_kind.has_commands();
        let ask = match (top.get("command"), top.get("ask")) {
            (Some(command), None) if has_commands => {
                return Self::of_text(
                    &command,
                    TemplateKind::Command,
                    Escape::Name,
                    names,
                    problems,
                );
            }
            (Some(_), Some(ask)) if has_commands => {
                problems.push(ask.problem("`command` and `ask` exclude each other"));
                return None;
            }
            (_, Some(ask)) => ask,
            (_, None) => {
                let key = if has_commands { "command" } else { "ask" };
                top.required(key, problems);
                return None;
            }
        };
        match protocol_kind {
            ProtocolKind::Commands => {
                problems.push(ask.problem(
                    "this protocol has no data to ask for: expected `command`, with the filter that makes its output \
                     JSON, as in `show version | json`",
                ));
                None
            }
            ProtocolKind::CommandApi => Self::of_text(
                &ask,
                TemplateKind::CommandAsData,
                Escape::Name,
                names,
                problems,
            ),
            ProtocolKind::Rest if ask.node().as_mapping().is_some() => {
                Self::http(&ask, names, problems)
            }
            ProtocolKind::Rest => {
                Self::of_text(&ask, TemplateKind::Query, Escape::Path, names, problems)
            }
            ProtocolKind::Netconf => {
                let is_rpc = ask
                    .node()
                    .as_str()
                    .is_some_and(|text| text.trim_start().starts_with(RPC));
                let kind = if is_rpc {
                    TemplateKind::Rpc
                } else {
                    TemplateKind::Query
                };
                Self::of_text(&ask, kind, Escape::Xml, names, problems)
            }
            ProtocolKind::Panos => {
                Self::of_text(&ask, TemplateKind::Query, Escape::Name, names, problems)
            }
            ProtocolKind::Ovsdb | ProtocolKind::ReadOnly => {
                Self::of_text(&ask, TemplateKind::Query, Escape::None, names, problems)
            }
        }
    }

    fn of_text(
        file_node: &FileNode<'_>,
        kind: TemplateKind,
        escape: Escape,
        names: &[&str],
        problems: &mut Problems,
    ) -> Option<Self> {
        let source = file_node.text(problems)?.trim();
        let text = Text::read(source, file_node, escape, names, problems)?;
        let suffix = match kind {
            TemplateKind::CommandAsData => AS_DATA,
            _ => "",
        };
        Some(Self {
            label: format!("{source}{suffix}"),
            text,
            kind,
        })
    }

    /// Reads `{ method, path, body }`.
    fn http(ask: &FileNode<'_>, names: &[&str], problems: &mut Problems) -> Option<Self> {
        ask.only(&["method", "path", "body"], problems);
        let method = ask.optional("method", |method| method.text(problems));
        let path = ask.required("path", problems);
        let path = path.and_then(|path| Some((path.text(problems)?.trim(), path)));
        let text = path
            .as_ref()
            .and_then(|(source, path)| Text::read(source, path, Escape::Path, names, problems));
        let body = ask.optional("body", |body| Body::read(body, names, problems));
        let method = method?.unwrap_or("POST").to_owned();
        Some(Self {
            label: format!("{method} {}", path?.0),
            text: text?,
            kind: TemplateKind::Http {
                method,
                body: body?,
            },
        })
    }

    /// Whether it is the same for all rows, and `label` the name of its answer.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self.text, Text::Fixed(_)) && !matches!(self.kind, TemplateKind::Http { .. })
    }

    /// The request for an outer row.
    ///
    /// # Errors
    /// Fails when a value is missing, or does not belong in the request.
    pub(super) fn request(&self, outer: &Hash, format: Format) -> Result<Request> {
        let scope = Scope::of_row(outer);
        let text = self.text.render(&scope)?;
        let (name, kind) = match &self.kind {
            TemplateKind::Command => (text, RequestKind::Command),
            TemplateKind::Query => (text.clone(), RequestKind::Query(text)),
            TemplateKind::CommandAsData => (format!("{text}{AS_DATA}"), RequestKind::Query(text)),
            TemplateKind::Rpc => {
                let rpc = text.strip_prefix(RPC).unwrap_or(&text).trim();
                let request = DataRequest {
                    method: Some(RPC.trim().to_owned()),
                    body: Some(Value::from(rpc)),
                    ..DataRequest::default()
                };
                (text, RequestKind::Rpc(Box::new(request)))
            }
            TemplateKind::Http { method, body } => {
                let value = |body: &Body| body.value(&scope, &Secrets::default());
                let body = body.as_ref().map(value).transpose()?.flatten();
                let shown = body.as_ref().map(Value::to_json);
                let shown = shown.map_or_else(String::new, |body| format!(" {body}"));
                let name = format!("{method} {text}{shown}");
                let request = DataRequest {
                    what: text,
                    method: Some(method.clone()),
                    body,
                };
                (name, RequestKind::Rpc(Box::new(request)))
            }
        };
        Ok(Request {
            name,
            format,
            is_optional: false,
            depends: false,
            kind,
        })
    }
}

impl Text {
    /// Only a text with braces is compiled: that takes time.
    fn read(
        source: &str,
        file_node: &FileNode<'_>,
        escape: Escape,
        names: &[&str],
        problems: &mut Problems,
    ) -> Option<Self> {
        if ["{{", "{%", "{#"]
            .iter()
            .all(|opening| !source.contains(opening))
        {
            return Some(Self::Fixed(source.to_owned()));
        }
        let template = file_node.escaping_template(source, names, escape, problems);
        template.map(|template| Self::Template(Box::new(template)))
    }

    fn render(&self, scope: &Scope) -> Result<String> {
        match self {
            Self::Fixed(text) => Ok(text.clone()),
            Self::Template(template) => {
                let text = template.value.render(scope);
                let text = text.map_err(|error| Error::Data(template.problem(&error)))?;
                Ok(text.trim().to_owned())
            }
        }
    }
}

impl Request {
    /// Whether it is a command.
    pub(super) fn is_command(&self) -> bool {
        matches!(self.kind, RequestKind::Command)
    }

    /// Sends the request. Every read of a device goes through here.
    ///
    /// # Errors
    /// Fails with errors of the session, and when the answer has another form.
    pub(super) async fn send(&self, ctx: &Context<'_>) -> Result<Answer> {
        match self.try_send(ctx).await {
            Err(Error::Transport(error)) if self.may_be_refused(&error) => {
                ctx.info(format!("`{}` has no answer: {error}", self.name));
                Ok(Answer::Nothing)
            }
            other => other,
        }
    }

    async fn try_send(&self, ctx: &Context<'_>) -> Result<Answer> {
        self.answer(self.ask(ctx).await?)
    }

    /// Sends the request, and returns the answer as it comes.
    ///
    /// # Errors
    /// Fails with errors of the session.
    pub(super) async fn ask(&self, ctx: &Context<'_>) -> Result<Document> {
        match &self.kind {
            RequestKind::Command => {
                let output = exec(ctx, session(ctx)?, &self.name).await?;
                Ok(Document::Text(output))
            }
            RequestKind::Query(query) => {
                ctx.debug(format!("asks for `{query}`"));
                Ok(store(ctx)?.get(ctx, query).await?)
            }
            RequestKind::Rpc(request) => {
                ctx.debug(format!("asks for `{}`", self.name));
                Ok(store(ctx)?.set(ctx, request).await?)
            }
        }
    }

    /// Whether an error is a refusal that means that there are no rows.
    fn may_be_refused(&self, error: &transports::Error) -> bool {
        match error {
            transports::Error::CommandFailed { .. } => self.is_optional,
            // It may have been removed since it was listed.
            transports::Error::Refused(refused) => {
                self.is_optional && !refused.busy || self.depends && refused.is_absence()
            }
            _ => false,
        }
    }

    /// The answer in a recording; `None` if it is not there.
    ///
    /// # Errors
    /// Fails when the text has another form.
    pub(super) fn recorded(&self, text: Option<&str>) -> Result<Answer> {
        match (text, self.format) {
            (None, _) if self.is_optional => Ok(Answer::Nothing),
            (text, Format::Text) => Ok(Answer::Output(text.unwrap_or_default().to_owned())),
            (text, Format::Data) => match text.map(str::trim) {
                None | Some("") => Ok(Answer::Nothing),
                Some(text) => self.answer(Document::Text(text.to_owned())),
            },
        }
    }

    /// What the answer says.
    ///
    /// # Errors
    /// Fails when it has another form.
    pub(super) fn answer(&self, document: Document) -> Result<Answer> {
        let document = match (document, self.format) {
            (Document::Text(text), Format::Text) => return Ok(Answer::Output(text)),
            (Document::Text(text), Format::Data) if self.name.starts_with(RPC) => {
                Document::Text(in_reply(text))
            }
            (document, _) => document,
        };
        let data = document.into_data().ok_or_else(|| Error::Answer {
            query: self.name.clone(),
            row: None,
            message: "it is neither JSON nor XML".to_owned(),
        })?;
        Ok(Answer::Document(data))
    }
}

fn store<'a>(ctx: &Context<'a>) -> Result<&'a dyn DataStore> {
    ctx.data_store()
        .ok_or_else(|| Error::Unsupported("the open session has no data to ask for".to_owned()))
}

/// The elements of an RPC's answer within `rpc-reply`, which they may lack.
fn in_reply(text: String) -> String {
    let mut rest = text.trim_start();
    if rest.starts_with("<?") {
        rest = rest
            .split_once("?>")
            .map_or("", |(_, rest)| rest)
            .trim_start();
    }
    let name = rest
        .split([' ', '\t', '\r', '\n', '>', '/'])
        .next()
        .unwrap_or_default();
    if !name.starts_with('<') || name.ends_with("rpc-reply") {
        return text;
    }
    format!("<rpc-reply>{rest}</rpc-reply>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_elements_of_an_answer_are_in_a_reply_whether_it_is_there_or_not() {
        let element = "<system-information><host-name>r1</host-name></system-information>";
        let reply = format!("<rpc-reply>{element}</rpc-reply>");
        for text in [
            element.to_owned(),
            format!("<?xml version='1.0'?>\n{element}"),
            reply.clone(),
        ] {
            assert_eq!(in_reply(text), reply);
        }
        let prefixed = "<nc:rpc-reply xmlns:nc='urn:nc'><a/></nc:rpc-reply>";
        assert_eq!(in_reply(prefixed.to_owned()), prefixed);
        assert_eq!(in_reply("{}".to_owned()), "{}");
    }
}
