//! `cases/CASE/case.yaml`.

use super::table::Kind::{Any, Boolean, List, Map, Object as In, Text};
use super::table::{Object, key};

pub(super) static CASE: Object = Object {
    name: "cases/CASE/case.yaml",
    desc: "A test case. Beside it are the recorded outputs, one file for each command, and the expected result: \
           `facts.json`, `resources.json`, `session.json`, `lines.txt` or `error.txt`.",
    keys: &[
        key("desc", Text, "what the case shows, in a sentence").required(),
        key(
            "type",
            Text,
            "the type that it tests; without it, the case tests the facts",
        ),
        key(
            "facts",
            Map(&Any),
            "the facts of the device; without them it has all that the type knows",
        ),
        key(
            "changes",
            List(&In(&CHANGE)),
            "changes whose lines are tested; without it, the case tests what is read",
        ),
        key(
            "session",
            In(&SESSION),
            "what `devgate record` writes: the case tests the facts and all types",
        ),
        key(
            "partial",
            Boolean,
            "whether the expected result is a part: facts, resources (by their namevars), attributes and lines that it \
             does not have do not count",
        ),
    ],
};

static CHANGE: Object = Object {
    name: "change",
    desc: "A change of one resource.",
    keys: &[
        key("title", Text, "its title").required(),
        key(
            "is",
            Map(&Any),
            "its present state; without it, it is absent",
        ),
        key(
            "should",
            Map(&Any),
            "the desired state; without it, it is removed",
        ),
    ],
};

static SESSION: Object = Object {
    name: "session",
    desc: "A recorded session.",
    keys: &[
        key("family", Text, "the device's family"),
        key("greeting", Text, "the text above the first prompt"),
        key("prompt", Text, "the prompt, with trailing blanks").required(),
        key("ssh_version", Text, "the version line of the SSH server"),
        key(
            "unknown_command",
            Text,
            "a command that the device does not know",
        ),
        key("unknown", Text, "what the device answers to it"),
    ],
};
