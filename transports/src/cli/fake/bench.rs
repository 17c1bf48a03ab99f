//! The surroundings of a test, and the usual dialect.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use devgate_schemas::{Event, EventSink, Level};
use tokio::io::DuplexStream;
use tokio::time::Instant;

use super::super::dialect::Dialect;
use super::super::{Cli, CliLogin, CliSettings, Credentials};
use super::Fake;
use crate::Line;
use crate::{Context, Result, RetryBudget};

/// The surroundings of a test: the clock, the event sink, the limits.
#[derive(Default)]
pub(crate) struct TestBench {
    events: Mutex<Vec<Event>>,
    retry_budget: RetryBudget,
}

impl EventSink for TestBench {
    fn emit(&self, event: Event) {
        self.events.lock().expect("no poison").push(event);
    }
}

impl TestBench {
    /// Creates a bench with a retry budget of this many seconds.
    pub(crate) fn with_limit(seconds: u64) -> Self {
        Self {
            retry_budget: RetryBudget::at_most(Duration::from_secs(seconds)),
            ..Self::default()
        }
    }

    pub(crate) fn ctx(&self) -> Context<'_> {
        Context::new("r1", self, &self.retry_budget)
    }

    /// Returns the messages at `notice`.
    pub(crate) fn notices(&self) -> Vec<String> {
        self.messages(Level::Notice)
    }

    /// Returns the messages at a level.
    pub(crate) fn messages(&self, level: Level) -> Vec<String> {
        let events = self.events.lock().expect("no poison");
        let messages = events.iter().filter(|event| event.level == level);
        messages.map(|event| event.message.clone()).collect()
    }

    pub(crate) async fn open(
        &self,
        stream: DuplexStream,
        dialect: Dialect,
        enable_password: Option<&Line>,
    ) -> Result<Cli<DuplexStream>> {
        let settings = Self::settings(dialect);
        let credentials = Credentials {
            user: "me".to_owned(),
            login: None,
            enable_password: enable_password.cloned(),
        };
        let deadline = Instant::now() + settings.timeout;
        Cli::open(&self.ctx(), stream, settings, deadline, &credentials).await
    }

    /// Opens a session with a device that asks for a login itself.
    pub(crate) async fn log_in(
        &self,
        stream: DuplexStream,
        password: &Line,
    ) -> Result<Cli<DuplexStream>> {
        let settings = Self::settings(test_dialect());
        let credentials = Credentials {
            user: "me".to_owned(),
            login: Some(CliLogin {
                password: Some(password.clone()),
                setting: "password",
            }),
            enable_password: None,
        };
        let deadline = Instant::now() + settings.timeout;
        Cli::open(&self.ctx(), stream, settings, deadline, &credentials).await
    }

    fn settings(dialect: Dialect) -> CliSettings {
        CliSettings {
            peer: "192.0.2.1:22".to_owned(),
            dialect: Arc::new(dialect),
            timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(30),
            command_timeout: Duration::from_secs(600),
        }
    }

    /// Opens a session with a device of the usual dialect.
    pub(crate) async fn session(&self, fake: Fake) -> Cli<DuplexStream> {
        self.open(fake.start(), test_dialect(), None)
            .await
            .expect("a session")
    }

    /// Returns the output of a command on a device of the usual dialect.
    pub(crate) async fn output(&self, fake: Fake, command: &str) -> String {
        let mut cli = self.session(fake).await;
        cli.run(&self.ctx(), &Line::new(command))
            .await
            .expect("an output")
    }
}

/// Returns a dialect as a family defines it.
pub(crate) fn test_dialect() -> Dialect {
    serde_json::from_value(serde_json::json!({
        "prompt": {
            "exec": r"[\w.-]+[>#] ?",
            "config": r"[\w.-]+\(config[^)]*\)# ?",
            "privileged": r"[\w.-]+# ?",
        },
        "on_open": ["terminal length 0"],
        "pager": [{ "pattern": "--More--", "answer": " " }],
        "enable": {},
        "enter_config": "configure terminal",
        "leave_config": "end",
        "save": {
            "command": "copy running-config startup-config",
            "confirm": [{ "pattern": r"Destination filename \[[^\]]*\]\?", "answer": "" }],
        },
        "confirm": [{ "command": "^reload", "pattern": r"Proceed with reload\? \[confirm\]$", "answer": "" }],
        "text": [r"^banner \S+ (\^C|\S)"],
        "failure": ["^% "],
        "unsolicited": [r"^\*\w{3} +\d+ [\d:.]+: %\w+-\d-\w+:"],
    }))
    .expect("a dialect")
}
