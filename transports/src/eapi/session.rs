//! A session with an EOS switch over eAPI.

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema, Value};
use serde_json::Value as Json;

use super::call::{self, Format};
use crate::Line;
use crate::cli::commit::session_name;
use crate::command_list::{Ran, RefusedCommand, configured, failed};
use crate::error::Refused;
use crate::fact_rows::{self, FactRow};
use crate::http::{Http, HttpSettings, Repeat};
use crate::info::secret;
use crate::rpc::{post, protocol_error};
use crate::{
    CommandLine, Context, DataRequest, DataStore, Document, Error, ProtocolSession, Result,
    Transport, http,
};

const PROTOCOL: &str = "eAPI";
const PATH: &str = "/command-api";
const JSON: &str = "application/json";

const VERSION: &[FactRow] = &[
    ("/version", "os.release.full"),
    ("/architecture", "os.architecture"),
    ("/modelName", "dmi.product.name"),
    ("/serialNumber", "dmi.product.serial_number"),
    ("/systemMacAddress", "networking.mac"),
    ("/uptime", "system_uptime.seconds"),
];
const HOSTNAME: &[FactRow] = &[
    ("/hostname", "networking.hostname"),
    ("/fqdn", "networking.fqdn"),
];

/// A session with the command line of a switch over eAPI.
///
/// Each request is a new command line: it begins unprivileged, and runs `enable` first.
#[derive(Debug)]
pub struct EapiSession {
    http: Http,
    enable: bool,
    enable_password: Option<Line>,
}

impl ProtocolSession for EapiSession {
    const NAME: &'static str = "eapi";

    fn schema() -> TransportSchema {
        TransportSchema::built_in(include_str!("schema.yaml")).on(&http::SCHEMA)
    }

    async fn open(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        Ok(Self {
            http: Http::new(HttpSettings::read(ctx, info)?, None)?,
            enable: info.boolean("enable") != Some(false),
            enable_password: secret(info, "enable_password").map(Line::secret),
        })
    }
}

impl EapiSession {
    /// Runs commands, after `enable` if requested. The index of a refused one refers to `commands`.
    async fn run(
        &self,
        ctx: &Context<'_>,
        commands: &[Line],
        format: Format,
        repeat: Repeat,
    ) -> Result<Ran<Json>> {
        commands.iter().try_for_each(Line::check)?;
        let enable = self.enable.then(|| Line::new("enable"));
        let before = usize::from(self.enable);
        let list: Vec<Line> = enable.into_iter().chain(commands.iter().cloned()).collect();
        let (body, indices) = call::body(&list, self.enable_password.as_ref(), format);
        let answer = post(&self.http, ctx, PROTOCOL, PATH, JSON, &body, repeat).await?;
        let mut ran = match call::read(answer, format) {
            None => {
                return Err(protocol_error(
                    &self.http,
                    PROTOCOL,
                    "an answer to `runCmds`",
                ));
            }
            Some(Err(error)) => {
                return Err(Error::Refused(Box::new(Refused {
                    peer: self.http.peer().to_owned(),
                    request: "runCmds".to_owned(),
                    status: format!("error {}", error.code),
                    message: error.message,
                    hint: String::new(),
                    details: Some(error.whole),
                    busy: false,
                })));
            }
            Some(Ok(ran)) => ran,
        };
        if let Some(refused) = &mut ran.refused {
            refused.at = indices.get(refused.at).copied().unwrap_or(list.len());
            if refused.at < before {
                let problem = format!(
                    "{}; check `enable_password`, or do without it (`enable: false`)",
                    refused.message
                );
                return Err(Error::Enable {
                    peer: self.http.peer().to_owned(),
                    command: "enable".to_owned(),
                    problem,
                });
            }
            refused.at -= before;
        }
        ran.outputs.drain(..before.min(ran.outputs.len()));
        Ok(ran)
    }

    /// Runs lines between the commands that enter and leave configuration mode. Returns them with the outcome.
    async fn configure_within(
        &self,
        ctx: &Context<'_>,
        enter: &Line,
        lines: &[Line],
        leave: &str,
    ) -> (Vec<Line>, Result<Ran<Json>>) {
        let list = [std::slice::from_ref(enter), lines, &[Line::new(leave)]].concat();
        // The errors contain the reason for a refused line only with structured output.
        let ran = self.run(ctx, &list, Format::Json, Repeat::Never).await;
        (list, ran)
    }

    /// Runs one command.
    async fn run_one(
        &self,
        ctx: &Context<'_>,
        command: &Line,
        format: Format,
        repeat: Repeat,
    ) -> Result<Json> {
        let ran = self
            .run(ctx, std::slice::from_ref(command), format, repeat)
            .await?;
        if let Some(RefusedCommand { message, .. }) = ran.refused {
            return Err(failed(self.http.peer(), Some(command), message));
        }
        let output = ran.outputs.into_iter().next();
        output.ok_or_else(|| protocol_error(&self.http, PROTOCOL, "an output for each command"))
    }

    async fn text(&self, ctx: &Context<'_>, command: &Line, repeat: Repeat) -> Result<String> {
        match self.run_one(ctx, command, Format::Text, repeat).await? {
            Json::String(text) => Ok(text),
            _ => Err(protocol_error(
                &self.http,
                PROTOCOL,
                "an output that is text",
            )),
        }
    }
}

/// Truncates `uptime` to whole seconds, as Facter has it. EOS reports a fraction.
fn whole_seconds(answer: &mut Json) {
    if let Some(uptime) = answer.get_mut("uptime")
        && let Some(seconds) = uptime.as_f64()
    {
        *uptime = Json::from(seconds as u64);
    }
}

#[async_trait]
impl CommandLine for EapiSession {
    async fn exec(&self, ctx: &Context<'_>, command: &str) -> Result<String> {
        self.text(ctx, &Line::new(command), Repeat::Allowed).await
    }

    async fn exec_once(&self, ctx: &Context<'_>, command: &Line) -> Result<String> {
        self.text(ctx, command, Repeat::Never).await
    }

    /// The lines are committed as a whole, in a configuration session. On a release without those, each takes effect by
    /// itself.
    async fn configure(&self, ctx: &Context<'_>, lines: &[Line]) -> Result<()> {
        let lines = lines.iter().filter(|line| !line.text().trim().is_empty());
        let lines: Vec<Line> = lines.cloned().collect();
        let enter = Line::new(format!("configure session {}", session_name()));
        let (mut list, mut ran) = self.configure_within(ctx, &enter, &lines, "commit").await;
        let refused = ran.as_ref().ok().and_then(|ran| ran.refused.as_ref());
        let refused = refused.map(|refused| refused.at);
        if refused == Some(0) {
            ctx.notice(format!(
                "{} has no configuration sessions: each line takes effect by itself",
                self.http.peer()
            ));
            let enter = Line::new("configure");
            (list, ran) = self.configure_within(ctx, &enter, &lines, "end").await;
        } else if refused.is_some() {
            let abort = [enter, Line::new("abort")];
            let aborted = self.run(ctx, &abort, Format::Json, Repeat::Never).await;
            if let Err(error) = aborted {
                ctx.warning(error.to_string());
            }
        }
        let range = 1..list.len() - 1;
        configured(self.http.peer(), &list, range, ran, refused != Some(0))
    }

    async fn save(&self, ctx: &Context<'_>) -> Result<()> {
        self.exec_once(ctx, &Line::new("write memory"))
            .await
            .map(drop)
    }
}

#[async_trait]
impl DataStore for EapiSession {
    async fn get(&self, ctx: &Context<'_>, what: &str) -> Result<Document> {
        let output = self
            .run_one(ctx, &Line::new(what), Format::Json, Repeat::Allowed)
            .await?;
        Ok(Document::Data(Value::from(output)))
    }

    async fn set(&self, _: &Context<'_>, _: &DataRequest) -> Result<Document> {
        Err(Error::Unsupported(
            "eapi changes nothing but by configuration: send lines of it instead".to_owned(),
        ))
    }
}

#[async_trait]
impl Transport for EapiSession {
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        let commands = if self.enable {
            Vec::new()
        } else {
            vec![Line::new("show version")]
        };
        let ran = self
            .run(ctx, &commands, Format::Json, Repeat::Allowed)
            .await?;
        match ran.refused {
            None => Ok(()),
            Some(refused) => Err(failed(self.http.peer(), commands.first(), refused.message)),
        }
    }

    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let mut facts = Facts::new();
        for (command, rows) in [("show version", VERSION), ("show hostname", HOSTNAME)] {
            let result = self
                .run_one(ctx, &Line::new(command), Format::Json, Repeat::Allowed)
                .await;
            let answer = fact_rows::unless_refused(ctx, result, &format!("of `{command}`"))?;
            if let Some(mut answer) = answer {
                whole_seconds(&mut answer);
                fact_rows::set_facts(ctx, &mut facts, &answer, rows, command);
            }
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
