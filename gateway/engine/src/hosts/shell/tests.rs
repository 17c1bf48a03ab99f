//! Tests of a shell that accepts commands and never answers.

use std::time::Duration;

use devgate_core::events::Events;
use devgate_schemas::Level;
use tokio::time::Instant;

use super::*;
use crate::hosts::settings::RunAs;

#[tokio::test(start_paused = true)]
async fn a_shell_that_never_answers_is_given_up_once_and_earlier_with_a_time_limit() {
    // It reads everything and writes nothing.
    let command = ["sh", "-c", "exec cat >/dev/null"].map(str::to_owned);
    let events = Events::new(Level::Debug, 0, None);
    for (task_limit, expected) in [(None, 30), (Some(60), 30), (Some(10), 10), (Some(1), 5)] {
        let settings = TaskHostSettings {
            run_as: Some(RunAs {
                user: "somebody".to_owned(),
                command: Some(command.to_vec()),
                sudo: String::new(),
                password: None,
            }),
            ..TaskHostSettings::default()
        };
        let host_context = HostContext::new("h", &*events, Duration::from_secs(2));
        let shell = Shell::for_local_user(Arc::new(host_context), settings).expect("a host");
        let begun = Instant::now();
        let prepared = shell.prepare(task_limit.map(Duration::from_secs)).await;
        let why = prepared.expect_err("no answer").msg;
        assert_eq!(begun.elapsed().as_secs(), expected, "{why}");
        let within = format!("gave no answer within {expected}s");
        assert!(why.contains(&within) && why.contains("`run-as`"), "{why}");
    }
}
