//! A session with an NX-OS switch over NX-API.

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema, Value};
use serde_json::Value as Json;

use super::message::{CommandKind, MessageFormat, SEPARATOR, UnclearError};
use crate::Line;
use crate::command_list::{Ran, configured, failed};
use crate::error::Refused;
use crate::fact_rows::{self, FactRow};
use crate::http::{Http, HttpSettings, Repeat};
use crate::rpc::{post, protocol_error};
use crate::{
    CommandLine, Context, DataRequest, DataStore, Document, Error, ProtocolSession, Result,
    Transport, http,
};

const PROTOCOL: &str = "NX-API";
const PATH: &str = "/ins";
const STOP_ON_ERROR: &str = "stop-on-error";

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
    message: MessageFormat,
    rollback: String,
}

impl ProtocolSession for NxapiSession {
    const NAME: &'static str = "nxapi";

    fn schema() -> TransportSchema {
        TransportSchema::built_in(include_str!("schema.yaml")).on(&http::SCHEMA)
    }

    async fn open(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        Ok(Self {
            http: Http::new(HttpSettings::read(ctx, info)?, None)?,
            message: match info.text("message") {
                Some("ins_api") => MessageFormat::InsApi,
                _ => MessageFormat::JsonRpc,
            },
            rollback: info.text("rollback").unwrap_or(STOP_ON_ERROR).to_owned(),
        })
    }
}

impl NxapiSession {
    async fn run(
        &self,
        ctx: &Context<'_>,
        commands: &[Line],
        kind: CommandKind<'_>,
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
            Some(Err(UnclearError { code, message })) => Err(Error::Refused(Box::new(Refused {
                peer: self.http.peer().to_owned(),
                request: shown,
                status: format!("code {code}"),
                message,
                hint: if commands.len() > 1 {
                    "it does not say at which line it stopped: read the configuration back"
                        .to_owned()
                } else {
                    String::new()
                },
                details: None,
                busy: false,
            }))),
            None => Err(protocol_error(
                &self.http,
                PROTOCOL,
                "an answer to commands (is `feature nxapi` on?)",
            )),
        }
    }

    /// Refuses commands that the device would split or interpret in another way.
    fn check(&self, commands: &[Line]) -> Result<()> {
        commands.iter().try_for_each(Line::check)?;
        if self.message == MessageFormat::JsonRpc {
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

    async fn run_one(
        &self,
        ctx: &Context<'_>,
        command: &Line,
        kind: CommandKind<'_>,
        repeat: Repeat,
    ) -> Result<Json> {
        let ran = self
            .run(ctx, std::slice::from_ref(command), kind, repeat)
            .await?;
        if let Some(refused) = ran.refused {
            return Err(failed(self.http.peer(), Some(command), refused.message));
        }
        let output = ran.outputs.into_iter().next();
        output.ok_or_else(|| protocol_error(&self.http, PROTOCOL, "an output for each command"))
    }

    async fn text(&self, ctx: &Context<'_>, command: &Line, repeat: Repeat) -> Result<String> {
        match self
            .run_one(ctx, command, CommandKind::Text, repeat)
            .await?
        {
            Json::String(text) => Ok(text),
            Json::Null => Ok(String::new()),
            // The output of a command without output is an empty object.
            Json::Object(empty) if empty.is_empty() => Ok(String::new()),
            _ => Err(protocol_error(
                &self.http,
                PROTOCOL,
                "an output that is text",
            )),
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
        let kind = CommandKind::Configuration {
            rollback: &self.rollback,
        };
        let ran = self.run(ctx, &list, kind, Repeat::Never).await;
        configured(
            self.http.peer(),
            &list,
            lines,
            ran,
            self.rollback != STOP_ON_ERROR,
        )
    }

    async fn save(&self, ctx: &Context<'_>) -> Result<()> {
        let save = Line::new("copy running-config startup-config");
        let kind = CommandKind::Configuration {
            rollback: STOP_ON_ERROR,
        };
        self.run_one(ctx, &save, kind, Repeat::Never)
            .await
            .map(drop)
    }
}

#[async_trait]
impl DataStore for NxapiSession {
    async fn get(&self, ctx: &Context<'_>, what: &str) -> Result<Document> {
        let output = self
            .run_one(ctx, &Line::new(what), CommandKind::Data, Repeat::Allowed)
            .await?;
        Ok(Document::Data(Value::from(output)))
    }

    async fn set(&self, _: &Context<'_>, _: &DataRequest) -> Result<Document> {
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
        let result = self
            .run_one(ctx, &Line::new(command), CommandKind::Data, Repeat::Allowed)
            .await;
        if let Some(answer) = fact_rows::unless_refused(ctx, result, "of `show version`")? {
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
