//! A session with an NX-OS switch over NX-API.

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema, Value};
use serde_json::Value as Json;

use super::message::{Kind, Message, SEPARATOR, Unclear};
use crate::Line;
use crate::command_list::{Ran, configured, failed};
use crate::error::Refused;
use crate::fact_rows::{self, FactRow};
use crate::http::{Http, Repeat, Settings};
use crate::rpc::{post, strange};
use crate::{
    CommandLine, Context, DataStore, Document, Error, ProtocolSession, Request, Result, Transport,
    http,
};

const PROTOCOL: &str = "NX-API";
const PATH: &str = "/ins";
const STOP: &str = "stop-on-error";

/// The names differ between releases.
const VERSION: &[FactRow] = &[
    ("/nxos_ver_str", "os.release.full"),
    ("/sys_ver_str", "os.release.full"),
    ("/kickstart_ver_str", "os.release.full"),
    ("/host_name", "networking.hostname"),
    ("/chassis_id", "dmi.product.name"),
    ("/proc_board_id", "dmi.product.serial_number"),
];

/// A session with the command line of a switch over NX-API.
#[derive(Debug)]
pub struct NxapiSession {
    http: Http,
    message: Message,
    rollback: String,
}

impl ProtocolSession for NxapiSession {
    fn schema() -> TransportSchema {
        TransportSchema::built_in(include_str!("schema.yaml")).on(&http::SCHEMA)
    }

    async fn open(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        Ok(Self {
            http: Http::new(Settings::read(ctx, info)?, None)?,
            message: match info.text("message") {
                Some("ins_api") => Message::InsApi,
                _ => Message::JsonRpc,
            },
            rollback: info.text("rollback").unwrap_or(STOP).to_owned(),
        })
    }
}

impl NxapiSession {
    async fn run(
        &self,
        ctx: &Context<'_>,
        commands: &[Line],
        kind: Kind<'_>,
        repeat: Repeat,
    ) -> Result<Ran<Json>> {
        self.check(commands)?;
        let body = self.message.body(commands, kind);
        let media_type = self.message.media_type();
        let shown = match commands {
            [one] => format!("`{}`", one.shown()),
            more => format!("{} commands", more.len()),
        };
        let answer = post(&self.http, ctx, PROTOCOL, PATH, media_type, &body, repeat).await?;
        match self.message.read(answer, commands.len()) {
            Some(Ok(ran)) => Ok(ran),
            Some(Err(Unclear { code, said })) => Err(Error::Refused(Box::new(Refused {
                peer: self.http.peer().to_owned(),
                request: shown,
                status: format!("code {code}"),
                said,
                hint: if commands.len() > 1 {
                    "it does not say at which line it stopped: read the configuration back"
                        .to_owned()
                } else {
                    String::new()
                },
                details: None,
                busy: false,
            }))),
            None => Err(strange(
                &self.http,
                PROTOCOL,
                "an answer to commands (is `feature nxapi` on?)",
            )),
        }
    }

    /// Refuses commands that the device would split or interpret in another way.
    fn check(&self, commands: &[Line]) -> Result<()> {
        commands.iter().try_for_each(Line::check)?;
        if self.message == Message::JsonRpc {
            return Ok(());
        }
        match commands
            .iter()
            .find(|command| command.text().contains(SEPARATOR))
        {
            None => Ok(()),
            Some(command) => Err(Error::Unsupported(format!(
                "`{}` has `{SEPARATOR}`, which separates commands in `message: ins_api`: nothing was sent",
                command.shown()
            ))),
        }
    }

    async fn one(
        &self,
        ctx: &Context<'_>,
        command: &Line,
        kind: Kind<'_>,
        repeat: Repeat,
    ) -> Result<Json> {
        let ran = self
            .run(ctx, std::slice::from_ref(command), kind, repeat)
            .await?;
        if let Some(refused) = ran.refused {
            return Err(failed(self.http.peer(), Some(command), refused.said));
        }
        let output = ran.outputs.into_iter().next();
        output.ok_or_else(|| strange(&self.http, PROTOCOL, "an output for each command"))
    }

    async fn text(&self, ctx: &Context<'_>, command: &Line, repeat: Repeat) -> Result<String> {
        match self.one(ctx, command, Kind::Text, repeat).await? {
            Json::String(text) => Ok(text),
            Json::Null => Ok(String::new()),
            // The output of a command without output is an empty object.
            Json::Object(empty) if empty.is_empty() => Ok(String::new()),
            _ => Err(strange(&self.http, PROTOCOL, "an output that is text")),
        }
    }
}

#[async_trait]
impl CommandLine for NxapiSession {
    async fn exec(&self, ctx: &Context<'_>, command: &str) -> Result<String> {
        self.text(ctx, &Line::new(command), Repeat::Allowed).await
    }

    async fn exec_once(&self, ctx: &Context<'_>, command: &Line) -> Result<String> {
        self.text(ctx, command, Repeat::Never).await
    }

    async fn configure(&self, ctx: &Context<'_>, lines: &[Line]) -> Result<()> {
        let mut list = vec![Line::new("configure terminal")];
        list.extend(
            lines
                .iter()
                .filter(|line| !line.text().trim().is_empty())
                .cloned(),
        );
        let lines = 1..list.len();
        let kind = Kind::Configuration {
            rollback: &self.rollback,
        };
        let ran = self.run(ctx, &list, kind, Repeat::Never).await;
        configured(self.http.peer(), &list, lines, ran, self.rollback != STOP)
    }

    async fn save(&self, ctx: &Context<'_>) -> Result<()> {
        let save = Line::new("copy running-config startup-config");
        let kind = Kind::Configuration { rollback: STOP };
        self.one(ctx, &save, kind, Repeat::Never).await.map(drop)
    }
}

#[async_trait]
impl DataStore for NxapiSession {
    async fn get(&self, ctx: &Context<'_>, what: &str) -> Result<Document> {
        let output = self
            .one(ctx, &Line::new(what), Kind::Data, Repeat::Allowed)
            .await?;
        Ok(Document::Data(Value::from(output)))
    }

    async fn set(&self, _: &Context<'_>, _: &Request) -> Result<Document> {
        Err(Error::Unsupported(
            "nxapi changes nothing but by configuration: send lines of it instead".to_owned(),
        ))
    }
}

#[async_trait]
impl Transport for NxapiSession {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        self.exec(ctx, "show version").await.map(drop)
    }

    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let mut facts = Facts::new();
        let command = "show version";
        let asked = self
            .one(ctx, &Line::new(command), Kind::Data, Repeat::Allowed)
            .await;
        if let Some(answer) = fact_rows::unless_refused(ctx, asked, "of `show version`")? {
            fact_rows::set_facts(ctx, &mut facts, &answer, VERSION, command);
        }
        Ok(facts)
    }

    async fn close(self: Box<Self>, _: &Context<'_>) {}

    fn command_line(&self) -> Option<&dyn CommandLine> {
        Some(self)
    }

    fn data_store(&self) -> Option<&dyn DataStore> {
        Some(self)
    }
}
