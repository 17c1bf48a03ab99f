//! A session with a database server.

use std::sync::Arc;

use async_trait::async_trait;
use devgate_schemas::{ConnectionInfo, Facts, TransportSchema, Value};
use serde_json::{Value as Json, json};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout, timeout_at};

use super::database::{ColumnType, DatabaseSchema};
use super::query::Query;
use super::rpc::{End, Rpc, Unanswered};
use super::settings::Settings;
use super::stream;
use super::transact::outcome;
use crate::DataStore;
use crate::error::{Interrupted, Interruption, PartialOutput, Phase, Refused};
use crate::{Context, Error, ProtocolSession, Result, Transport, tls};

/// A session with one database of a server. It handles one request at a time.
#[derive(Debug)]
pub struct OvsdbSession {
    pub(super) settings: Settings,
    /// `None` after the connection was lost or abandoned, until the next operation opens it again.
    open: Mutex<Option<Open>>,
}

/// An open connection to the server.
#[derive(Debug)]
struct Open {
    rpc: Rpc,
    schema: Option<Arc<DatabaseSchema>>,
}

/// A request, and whether it may be sent again if the connection was lost before the answer.
struct Asked<'a> {
    method: &'a str,
    params: Json,
    /// Whether it may change the database. Then a lost answer leaves the outcome unknown.
    changing: bool,
}

impl ProtocolSession for OvsdbSession {
    const NAME: &'static str = "ovsdb";

    fn schema() -> TransportSchema {
        TransportSchema::built_in(include_str!("schema.yaml")).on(&tls::SCHEMA)
    }

    async fn open(ctx: &Context<'_>, info: &ConnectionInfo) -> Result<Self> {
        let settings = Settings::read(ctx, info)?;
        let session = Self {
            settings,
            open: Mutex::new(None),
        };
        let open = session.reach(ctx).await?;
        *session.open.lock().await = Some(open);
        Ok(session)
    }
}

impl OvsdbSession {
    /// Returns the database's tables, columns and types. The schema is requested once.
    ///
    /// # Errors
    /// Fails when the server does not provide it.
    pub async fn schema(&self, ctx: &Context<'_>) -> Result<Arc<DatabaseSchema>> {
        let mut open = self.open.lock().await;
        let known = open.as_ref().and_then(|open| open.schema.as_ref());
        if let Some(schema) = known {
            return Ok(Arc::clone(schema));
        }
        let asked = Asked::reading("get_schema", json!([self.settings.database]));
        let answer = self.ask(ctx, &mut open, asked).await?;
        let schema = DatabaseSchema::read(&answer)
            .ok_or_else(|| self.broken("the answer to `get_schema` is no database schema"))?;
        let schema = Arc::new(schema);
        if let Some(open) = open.as_mut() {
            open.schema = Some(Arc::clone(&schema));
        }
        Ok(schema)
    }

    /// Executes operations that may change the database, all of them or none. They are sent once.
    ///
    /// Each is an `<operation>` of RFC 7047, 5.2. The results are in the same order.
    ///
    /// # Errors
    /// Fails with [`Error::Refused`], which names the failed operation. After [`Error::Interrupted`], it is
    /// unknown whether the operations took effect.
    pub async fn transact(&self, ctx: &Context<'_>, operations: &[Json]) -> Result<Vec<Json>> {
        let database = self.settings.database.clone();
        self.transact_in(ctx, &database, operations, true).await
    }

    pub(super) async fn rows(&self, ctx: &Context<'_>, query: &Query<'_>) -> Result<Vec<Json>> {
        let mut columns: Vec<&str> = vec!["_uuid"];
        columns.extend(query.columns.keys().map(String::as_str));
        let select = json!({
            "op": "select",
            "table": query.table,
            "where": query.conditions,
            "columns": columns,
        });
        let database = &self.settings.database;
        let mut results = self.transact_in(ctx, database, &[select], false).await?;
        let Some(Json::Array(rows)) = results.first_mut().map(|result| result["rows"].take())
        else {
            return Err(self.broken("the answer to `select` has no rows"));
        };
        let rows = rows.into_iter().map(|row| self.plain(query, row));
        rows.collect()
    }

    fn plain(&self, query: &Query<'_>, row: Json) -> Result<Json> {
        let Json::Object(mut row) = row else {
            return Err(self.broken("a row is no JSON object"));
        };
        for (name, value) in &mut row {
            let column = query.columns.get(name).unwrap_or(&ColumnType::ROW);
            *value = column.to_plain(value).ok_or_else(|| {
                let table = query.table;
                self.broken(&format!(
                    "the column `{name}` of `{table}` holds what it cannot hold"
                ))
            })?;
        }
        Ok(row.into())
    }

    /// Executes operations in any database. Those that only read may be sent again.
    pub(super) async fn transact_in(
        &self,
        ctx: &Context<'_>,
        database: &str,
        operations: &[Json],
        changing: bool,
    ) -> Result<Vec<Json>> {
        let mut params = vec![Json::from(database)];
        params.extend_from_slice(operations);
        let asked = Asked {
            method: "transact",
            params: params.into(),
            changing,
        };
        let mut open = self.open.lock().await;
        let Json::Array(results) = self.ask(ctx, &mut open, asked).await? else {
            return Err(self.broken("the answer to `transact` is no list"));
        };
        outcome(&self.settings.peer(), database, operations, results).map_err(Error::Refused)
    }

    /// Sends a request, and reopens the connection where that can help and is safe.
    async fn ask(
        &self,
        ctx: &Context<'_>,
        open: &mut Option<Open>,
        asked: Asked<'_>,
    ) -> Result<Json> {
        let what = format!("ask {} for `{}`", self.settings.peer(), asked.method);
        let mut attempts = ctx.retry_budget().attempts(ctx, what);
        let mut again = false;
        loop {
            let ready = self.ready(ctx, open).await?;
            let started = Instant::now();
            let call = ready.rpc.call(asked.method, asked.params.clone());
            let error = match timeout(self.settings.command_timeout, call).await {
                Ok(Ok(Ok(result))) => return Ok(result),
                Ok(Ok(Err(error))) => return Err(self.refused(asked.method, error)),
                Ok(Err(Unanswered::NotSent(end))) => self.ended(asked.method, end, false),
                Ok(Err(Unanswered::Sent(end))) => self.ended(asked.method, end, asked.changing),
                Err(_) => {
                    let why = Interruption::TooLong(self.settings.command_timeout);
                    self.interrupted(asked.method, why, asked.changing)
                }
            };
            // A late answer must not be taken for that of another request.
            *open = None;
            if again {
                // Only the first try may have spent its time with work.
                attempts.deduct(started.elapsed());
            }
            again = true;
            attempts.pause(error).await?;
        }
    }

    /// Returns the open connection, and reopens it if it was lost.
    async fn ready<'o>(
        &self,
        ctx: &Context<'_>,
        open: &'o mut Option<Open>,
    ) -> Result<&'o mut Open> {
        open.take_if(|open| !open.rpc.is_open());
        match open {
            Some(_) => {}
            None => *open = Some(self.reach(ctx).await?),
        }
        Ok(open.as_mut().expect("it was opened just now"))
    }

    async fn reach(&self, ctx: &Context<'_>) -> Result<Open> {
        let what = format!("open a session with {}", self.settings.peer());
        let persisting = ctx.retry_budget().retry(ctx, what, || self.reach_once(ctx));
        persisting.await
    }

    /// Connects, and checks that the server has the database.
    async fn reach_once(&self, ctx: &Context<'_>) -> Result<Open> {
        let deadline = Instant::now() + self.settings.timeout;
        let mut rpc = Rpc::start(
            stream::connect(ctx, &self.settings, deadline).await?,
            self.settings.peer(),
            self.settings.answer_limit,
        );
        let peer = self.settings.peer();
        let answer = match timeout_at(deadline, rpc.call("list_dbs", json!([]))).await {
            Ok(Ok(answer)) => answer.map_err(|error| self.refused("list_dbs", error))?,
            Ok(Err(Unanswered::NotSent(end) | Unanswered::Sent(end))) => {
                return Err(match end {
                    _ if self.settings.finds_tls(ctx).await => {
                        let problem = "the server uses TLS: set `protocol: ssl`";
                        self.nonsense(Phase::Hello, problem.to_owned())
                    }
                    End::Lost => Error::Closed {
                        peer,
                        phase: Phase::Hello,
                        message: String::new(),
                    },
                    End::Tls(problem) => Error::Tls(Box::new(problem)),
                    End::Nonsense(problem) => self.nonsense(Phase::Hello, problem),
                });
            }
            Err(_) => {
                return Err(Error::TimedOut {
                    peer,
                    phase: Phase::Hello,
                    limit: self.settings.timeout,
                    hint: ": is it a database server, and is `protocol` the one of this port?"
                        .to_owned(),
                });
            }
        };
        let databases = self.databases_in(answer)?;
        let database = &self.settings.database;
        if !databases.contains(database) {
            return Err(Error::Setting {
                setting: "database",
                problem: format!(
                    "{peer} has no database `{database}`, but {}",
                    databases.join(", ")
                ),
            });
        }
        ctx.debug(format!("a session with {peer} is open"));
        Ok(Open { rpc, schema: None })
    }

    fn databases_in(&self, answer: Json) -> Result<Vec<String>> {
        serde_json::from_value(answer)
            .map_err(|_| self.broken("the answer to `list_dbs` is no list of names"))
    }

    /// Returns the error for a request that the server refuses as a whole (RFC 7047, 3.1, `<error>`).
    fn refused(&self, method: &str, error: Json) -> Error {
        let (status, message) = match &error {
            Json::String(status) => (status.as_str(), ""),
            error => (
                error["error"].as_str().unwrap_or("error"),
                error["details"].as_str().unwrap_or_default(),
            ),
        };
        Error::Refused(Box::new(Refused {
            peer: self.settings.peer(),
            request: method.to_owned(),
            status: status.to_owned(),
            message: message.to_owned(),
            hint: String::new(),
            details: Some(error.into()),
            busy: false,
        }))
    }

    fn ended(&self, method: &str, end: End, changing: bool) -> Error {
        match end {
            // The unknown outcome of a change matters more than how the connection ended.
            End::Tls(problem) if !changing => Error::Tls(Box::new(problem)),
            End::Nonsense(problem) if !changing => self.nonsense(Phase::Request, problem),
            End::Lost | End::Tls(_) | End::Nonsense(_) => {
                self.interrupted(method, Interruption::Lost, changing)
            }
        }
    }

    fn interrupted(&self, method: &str, why: Interruption, changing: bool) -> Error {
        Error::Interrupted(Box::new(Interrupted {
            peer: self.settings.peer(),
            operation: format!("`{method}`"),
            changing,
            why,
            partial: PartialOutput::default(),
        }))
    }

    fn broken(&self, problem: &str) -> Error {
        self.nonsense(Phase::Request, problem.to_owned())
    }

    fn nonsense(&self, phase: Phase, problem: String) -> Error {
        Error::Protocol {
            peer: self.settings.peer(),
            protocol: "OVSDB",
            phase,
            problem,
        }
    }
}

impl<'a> Asked<'a> {
    fn reading(method: &'a str, params: Json) -> Self {
        Self {
            method,
            params,
            changing: false,
        }
    }
}

#[async_trait]
impl Transport for OvsdbSession {
    fn leaves_credentials_open(&self) -> Option<&'static str> {
        Some("it checks no credentials, except those of TLS")
    }

    /// Sets up a monitor without updates. The server accepts it only if the database is available, whereas
    /// an `echo` only shows that the server runs.
    async fn verify(&self, ctx: &Context<'_>) -> Result<()> {
        let schema = self.schema(ctx).await?;
        let Some(table) = schema.tables.keys().next() else {
            return Ok(());
        };
        let nothing = json!({
            "initial": false, "insert": false, "delete": false, "modify": false,
        });
        let tables = json!({ table.as_str(): { "columns": [], "select": nothing } });
        let params = json!([self.settings.database, "verify", tables]);
        let mut open = self.open.lock().await;
        self.ask(ctx, &mut open, Asked::reading("monitor", params))
            .await?;
        let cancel = Asked::reading("monitor_cancel", json!(["verify"]));
        match self.ask(ctx, &mut open, cancel).await {
            // The monitor ends with the connection on which it was set up.
            Err(Error::Refused(_)) => Ok(()),
            other => other.map(drop),
        }
    }

    async fn facts(&self, ctx: &Context<'_>) -> Result<Facts> {
        let schema = self.schema(ctx).await?;
        let mut open = self.open.lock().await;
        let answer = self
            .ask(ctx, &mut open, Asked::reading("list_dbs", json!([])))
            .await?;
        let databases = self.databases_in(answer)?;
        let mut facts = Facts::new();
        let databases = databases.into_iter().map(Value::from).collect();
        facts.set("ovsdb.databases", Value::Array(databases));
        facts.set("ovsdb.version", Value::from(schema.version.as_str()));
        Ok(facts)
    }

    async fn close(self: Box<Self>, _ctx: &Context<'_>) {}

    fn data_store(&self) -> Option<&dyn DataStore> {
        Some(self)
    }
}
