//! `facts`: what targets tell of themselves.

use std::num::NonZeroU32;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Action, Operation, Setting, Value, Whom};
use crate::cli::facts::Age;
use crate::pxp::serve::schema::{closed, count, flag, one_of, text, whole};

#[derive(Deserialize)]
pub(super) struct Facts {
    #[serde(flatten)]
    whom: Whom,
    cached: Option<NonZeroU32>,
    #[serde(default)]
    stale_ok: bool,
}

impl Action for Facts {
    const NAME: &str = "facts";
    const ABOUT: &str = "Collects the facts of targets";
    const ITEMS: &str = "facts";

    fn input() -> Json {
        json!({
            "cached": count(
                "Ask no target whose facts were collected within so many seconds", 1,
            ),
            "stale_ok": flag("Where a target is down, give its last facts, and say so"),
        })
    }

    fn value() -> Value {
        Value::Open(
            "The facts, under Facter's names and the family's own; `_error` where it failed",
        )
    }

    fn item() -> Json {
        let because = closed(
            "Why the target could not be asked, where its last facts stand in",
            &["kind", "msg"],
            json!({
                "kind": text("What kind of failure it is"),
                "msg": text("What happened"),
                "details": {"type": "object", "description": "More, for programs"},
            }),
        );
        json!({
            "collected": closed(
                "When the facts were collected, where `cached` or `stale_ok` is asked for",
                &["at", "age", "from"],
                json!({
                    "at": text("When (RFC 3339)"),
                    "age": whole("How long ago, in seconds", 0),
                    "from": one_of("From whom they come now", &["device", "cache"]),
                    "because": because,
                }),
            ),
        })
    }

    fn operation(self, setting: &Setting) -> anyhow::Result<(Whom, Operation)> {
        let seconds = self.cached.map(|seconds| seconds.get().into());
        let age = Age {
            cached: seconds.map(Duration::from_secs),
            stale_ok: self.stale_ok,
        };
        Ok((self.whom, Operation::Facts(age.of(setting)?)))
    }
}
