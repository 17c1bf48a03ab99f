//! Tests of commits: all lines take effect or none, whatever fails, and the error says which.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use devgate_schemas::{Level, Sensitive};
use tokio::io::DuplexStream;

use super::super::dialect::Dialect;
use super::super::fake::{Fake, FakeEcho, FakeStep, TestBench, write};
use super::super::{Cli, Confirmation, SecondLogin};
use crate::error::{ConfigurationProblem, LinesEffect};
use crate::{Context, Error, Line};

const EXEC: &str = "me@r1> ";
const CONFIG: &str = "me@r1# ";

const DIFF: &str = "\r\n[edit system]\r\n+  host-name r2;\r\n";

fn dialect(commit: serde_json::Value) -> Dialect {
    serde_json::from_value(serde_json::json!({
        "prompt": { "exec": r"[\w.-]+@[\w.-]+> ?", "config": r"[\w.-]+@[\w.-]+# ?" },
        "enter_config": "configure exclusive",
        "leave_config": "exit configuration-mode",
        "failure": ["^error: ", "^syntax error", "^% "],
        "commit": commit,
    }))
    .expect("a dialect")
}

pub(super) fn junos() -> Dialect {
    dialect(serde_json::json!({
        "diff": "show | compare",
        "check": "commit check",
        "commit": "commit",
        "confirmed": "commit confirmed {minutes}",
        "confirm": "commit",
        "discard": "rollback 0",
        "reason": "show configuration failed",
    }))
}

/// Returns what a device shows above its prompt in configuration mode.
pub(super) fn edit(text: &str) -> FakeStep {
    write(&format!("{text}\r\n[edit]\r\n"))
}

/// Returns a router with a candidate configuration, whose changes show after the first look.
pub(super) fn router() -> Fake {
    Fake::new(EXEC)
        .on(
            "configure exclusive",
            &[
                FakeStep::Prompt(CONFIG),
                edit("Entering configuration mode\r\n"),
            ],
        )
        .on(
            "exit configuration-mode",
            &[
                write("Exiting configuration mode\r\n\r\n"),
                FakeStep::Prompt(EXEC),
            ],
        )
        .on("show | compare", &[edit("")])
        .then("show | compare", &[edit(DIFF)])
        .on("set system host-name r2", &[edit("")])
        .on("set system login password canary", &[edit("")])
        .on("commit check", &[edit("configuration check succeeds\r\n")])
        .on("commit", &[edit("commit complete\r\n")])
        .on(
            "commit confirmed 1",
            &[edit(
                "commit confirmed will be automatically rolled back in 1 minutes\r\n",
            )],
        )
        .on("rollback 0", &[edit("load complete\r\n")])
        .on("show version", &[write("22\r\n")])
}

const LINES: [&str; 2] = [
    "set system host-name r2",
    "set system login password canary",
];

fn lines() -> Vec<Line> {
    let secret = Sensitive::new("canary".to_owned());
    LINES
        .iter()
        .map(|line| Line::with_secrets(*line, vec![secret.clone()]))
        .collect()
}

/// A second login that succeeds, fails, or hangs.
struct Login {
    outcome: Option<bool>,
    count: AtomicUsize,
}

#[async_trait]
impl SecondLogin for Login {
    async fn log_in(&self, _: &Context<'_>) -> crate::Result<()> {
        self.count.fetch_add(1, Ordering::Relaxed);
        match self.outcome {
            Some(true) => Ok(()),
            Some(false) => Err(Error::Lost {
                peer: "192.0.2.1:22".to_owned(),
                why: "no route".to_owned(),
            }),
            None => std::future::pending().await,
        }
    }
}

/// What became of a change: its result, the typed lines after the login, whether the session can be used, and the
/// number of second logins.
pub(super) struct Outcome {
    pub(super) result: crate::Result<()>,
    pub(super) typed: Vec<String>,
    pub(super) is_usable: bool,
    logins: usize,
    pub(super) warnings: Vec<String>,
}

async fn session(bench: &TestBench, fake: Fake, dialect: Dialect) -> Cli<DuplexStream> {
    bench
        .open(fake.start(), dialect, None)
        .await
        .expect("a session")
}

pub(super) async fn change_with(
    fake: Fake,
    dialect: Dialect,
    login: Option<bool>,
    limit: u64,
) -> Outcome {
    let bench = TestBench::default();
    let received = fake.received();
    let mut cli = session(&bench, fake, dialect).await;
    let login = Login {
        outcome: login,
        count: AtomicUsize::new(0),
    };
    let confirmation = (limit > 0).then(|| Confirmation {
        limit: Duration::from_secs(limit),
        login: &login,
    });
    let ctx = bench.ctx();
    let result = cli.commit(&ctx, &lines(), confirmation).await;
    let is_usable = cli.is_usable();
    if is_usable {
        let output = cli.run(&ctx, &"show version".into()).await;
        assert_eq!(output.unwrap_or_else(|e| panic!("{e}: {result:?}")), "22\n");
    }
    let mut typed = received.lock().expect("no poison").clone();
    typed.retain(|line| line != "show version");
    if let Err(error) = &result {
        let text = format!("{error} {error:?}");
        assert!(!text.contains("canary"), "{text}");
    }
    Outcome {
        result,
        typed,
        is_usable,
        logins: login.count.into_inner(),
        warnings: bench.messages(Level::Warning),
    }
}

pub(super) async fn change(fake: Fake) -> Outcome {
    change_with(fake, junos(), Some(true), 60).await
}

fn problem(outcome: &Outcome) -> (&ConfigurationProblem, String) {
    match &outcome.result {
        Err(Error::Configuration(problem)) => (problem, problem.to_string()),
        other => panic!("another outcome: {other:?}"),
    }
}

const ENTER: &str = "configure exclusive";
const COMPARE: &str = "show | compare";
pub(super) const LEAVE: &str = "exit configuration-mode";

#[tokio::test(start_paused = true)]
async fn lines_are_checked_committed_and_confirmed_after_a_second_login() {
    let outcome = change(router()).await;
    outcome.result.expect("confirmed");
    assert_eq!(
        outcome.typed,
        [
            ENTER,
            COMPARE,
            LINES[0],
            LINES[1],
            COMPARE,
            "commit check",
            "commit confirmed 1",
            "commit",
            LEAVE,
        ]
    );
    assert_eq!((outcome.is_usable, outcome.logins), (true, 1));
}

#[tokio::test(start_paused = true)]
async fn it_does_not_matter_how_a_device_echoes() {
    for echo in [FakeEcho::Blind, FakeEcho::Never, FakeEcho::Redrawn] {
        let outcome = change(router().echo(echo)).await;
        outcome.result.expect("confirmed");
        assert!(outcome.is_usable, "{echo:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_time_to_confirm_it_is_committed_at_once() {
    let outcome = change_with(router(), junos(), Some(true), 0).await;
    outcome.result.expect("committed");
    assert_eq!(outcome.typed[5..], ["commit check", "commit", LEAVE]);
    assert_eq!(outcome.logins, 0);
}

#[tokio::test(start_paused = true)]
async fn a_commit_may_leave_configuration_mode() {
    let exec = FakeStep::Prompt(EXEC);
    let fake = Fake::new(EXEC)
        .on("commit timer 00:01:00", std::slice::from_ref(&exec))
        .on("abort", &[exec])
        .on("show version", &[write("22\r\n")]);
    let fake = LINES.iter().fold(fake, |fake, line| fake.on(line, &[]));
    let mut dialect = dialect(serde_json::json!({
        "commit": "commit",
        "confirmed": "commit timer {time}",
        "confirm": "configure session commit",
        "discard": "abort",
    }));
    dialect.enter_config = Some("configure session".to_owned());
    let fake = fake
        .on("configure session", &[FakeStep::Prompt(CONFIG)])
        .on("configure session commit", &[]);
    let outcome = change_with(fake, dialect, Some(true), 60).await;
    outcome.result.expect("confirmed");
    assert_eq!(
        outcome.typed[3..],
        ["commit timer 00:01:00", "configure session commit"]
    );
    assert!(outcome.is_usable);
}

#[tokio::test(start_paused = true)]
async fn each_change_has_a_configuration_session_of_its_own() {
    let mut dialect = junos();
    dialect.enter_config = Some("configure session {session}".to_owned());
    let outcome = change_with(router(), dialect, Some(true), 60).await;
    let (_, text) = problem(&outcome);
    let name = outcome.typed[0].strip_prefix("configure session devgate-");
    assert!(
        name.is_some_and(|name| name.len() == 8),
        "{:?}",
        outcome.typed
    );
    assert!(text.contains("the configuration is unchanged"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_locked_configuration_is_unchanged() {
    let locked = [write("error: configuration database locked by: joe\r\n")];
    let outcome = change(router().on(ENTER, &locked)).await;
    let (problem, text) = problem(&outcome);
    assert_eq!((problem.sent, problem.nothing_changed()), (0, true));
    assert!(text.contains("locked by: joe"), "{text}");
    assert!(text.contains("none of 2 lines was sent"), "{text}");
    assert_eq!(outcome.typed, [ENTER]);
    assert!(outcome.is_usable);
}

#[tokio::test(start_paused = true)]
async fn somebody_elses_changes_are_neither_committed_nor_discarded() {
    let outcome = change(router().on(COMPARE, &[edit(DIFF)])).await;
    let (problem, text) = problem(&outcome);
    assert!(problem.nothing_changed());
    assert!(
        text.contains("`show | compare` shows `[edit system] / +  host-name r2;`"),
        "{text}"
    );
    assert!(
        text.contains("commit or discard them on the device"),
        "{text}"
    );
    assert_eq!(outcome.typed, [ENTER, COMPARE, LEAVE]);
    assert!(outcome.is_usable);
}

#[tokio::test(start_paused = true)]
async fn after_a_refused_line_all_lines_are_discarded() {
    let refused = [edit("             ^\r\nsyntax error.\r\n")];
    let outcome = change(router().on(LINES[1], &refused)).await;
    let (problem, text) = problem(&outcome);
    let line = problem.refused.first().expect("a line");
    assert_eq!(
        (line.number, &problem.effect),
        (2, &LinesEffect::NotCommitted)
    );
    assert!(text.contains("refuses line 2 of 2"), "{text}");
    assert!(
        text.ends_with("nothing was committed: the configuration is unchanged"),
        "{text}"
    );
    assert_eq!(
        outcome.typed,
        [ENTER, COMPARE, LINES[0], LINES[1], "rollback 0", LEAVE]
    );
    assert!(outcome.is_usable);
}

#[tokio::test(start_paused = true)]
async fn lines_that_cannot_be_discarded_are_told_unless_they_end_with_the_session() {
    let fake = || {
        let refused = [edit("error: no\r\n")];
        let fake = router().on(LINES[1], &refused);
        fake.on("rollback 0", &refused)
            .on("configure", &[FakeStep::Prompt(CONFIG), edit("")])
    };
    let outcome = change(fake()).await;
    assert_eq!(problem(&outcome).0.effect, LinesEffect::NotCommitted);
    assert!(!outcome.is_usable);
    assert_eq!(outcome.typed.last().map(String::as_str), Some("rollback 0"));
    assert_eq!(outcome.warnings.len(), 1);
    let mut shared = junos();
    shared.enter_config = Some("configure".to_owned());
    let outcome = change_with(fake(), shared, Some(true), 60).await;
    let (problem, text) = problem(&outcome);
    assert!(problem.nothing_changed());
    assert!(
        text.contains("the candidate may still hold the lines: discard them there (`rollback 0`)"),
        "{text}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_is_lost_before_the_commit_leaves_nothing_in_effect() {
    let close = [FakeStep::Close];
    for command in [ENTER, LINES[0], LINES[1], "commit check"] {
        let outcome = change(router().on(command, &close)).await;
        let (problem, text) = problem(&outcome);
        assert!(problem.nothing_changed(), "{command}: {text}");
        assert!(text.contains("closed the connection during"), "{text}");
        assert!(!outcome.is_usable);
    }
}

#[tokio::test(start_paused = true)]
async fn lines_that_change_nothing_are_not_committed() {
    let outcome = change(router().on(COMPARE, &[edit("")])).await;
    outcome.result.expect("nothing to do");
    assert_eq!(outcome.typed[5..], ["rollback 0", LEAVE]);
}

#[tokio::test(start_paused = true)]
async fn a_failed_check_or_commit_has_its_reason_and_all_of_its_lines() {
    let failed = [edit(
        "[edit interfaces swp1]\r\n  'unit 0'\r\n    canary is no unit\r\nerror: configuration check-out failed\r\n",
    )];
    for command in ["commit check", "commit confirmed 1"] {
        let fake = router().on(command, &failed).on(
            "show configuration failed",
            &[write("!! SEMANTIC ERRORS\r\n'unit 0' needs a family\r\n")],
        );
        let outcome = change(fake).await;
        let (problem, text) = problem(&outcome);
        assert!(problem.is_refused_as_a_whole(), "{text}");
        let expected = [
            "[edit interfaces swp1] / 'unit 0' / ",
            "error: configuration check-out failed",
        ];
        assert!(expected.iter().all(|part| text.contains(part)), "{text}");
        let asks = command != "commit check";
        assert_eq!(text.contains("'unit 0' needs a family"), asks, "{text}");
        assert!(text.ends_with("nothing was committed: the configuration is unchanged"));
        let end = outcome.typed.len() - 2;
        assert_eq!(outcome.typed[end..], ["rollback 0", LEAVE]);
        assert!(outcome.is_usable && outcome.logins == 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_commit_without_an_answer_is_in_doubt() {
    for step in [FakeStep::Close, FakeStep::Hang] {
        let fake = router().on("commit", std::slice::from_ref(&step));
        let outcome = change_with(fake, junos(), Some(true), 0).await;
        let (problem, text) = problem(&outcome);
        assert_eq!(problem.effect, LinesEffect::InDoubt);
        assert!(!problem.nothing_changed() && !outcome.is_usable);
        assert!(text.contains("either all 2 lines did, or none"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_preview_shows_the_changes_without_secrets_and_discards_them() {
    let bench = TestBench::default();
    let diff =
        "\r\n[edit system]\r\n+  host-name r2;\r\n+  login canary;\r\n+  password \"$9$abc\";\r\n";
    let fake = router()
        .on(COMPARE, &[edit("")])
        .then(COMPARE, &[edit(diff)]);
    let received = fake.received();
    let mut cli = session(&bench, fake, junos()).await;
    let changes = cli.preview(&bench.ctx(), &lines()).await.expect("a diff");
    let changes = changes.expect("the device tells it");
    assert!(
        changes.starts_with("[edit system]\n+  host-name r2;\n+  login ")
            && !changes.contains("canary")
            && !changes.contains("$9$abc")
            && !changes.contains("[edit]"),
        "{changes}"
    );
    assert_eq!(
        received.lock().expect("no poison")[..],
        [
            ENTER,
            COMPARE,
            LINES[0],
            LINES[1],
            COMPARE,
            "rollback 0",
            LEAVE
        ]
    );
    assert!(cli.is_usable());
    let fake = router().on(LINES[0], &[edit("syntax error.\r\n")]);
    let mut cli = session(&bench, fake, junos()).await;
    let error = cli
        .preview(&bench.ctx(), &lines())
        .await
        .expect_err("refused");
    assert!(error.to_string().contains("refuses line 1 of 2"), "{error}");
    assert!(cli.is_usable());
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_is_permanent_needs_no_save() {
    let bench = TestBench::default();
    let mut cli = session(&bench, router(), junos()).await;
    cli.save(&bench.ctx()).await.expect("nothing to do");
    let mut volatile = junos();
    volatile.commit.as_mut().expect("it has one").saves = false;
    let mut cli = session(&bench, router(), volatile).await;
    let error = cli.save(&bench.ctx()).await.expect_err("no command");
    assert!(matches!(error, Error::Unsupported(_)));
}
