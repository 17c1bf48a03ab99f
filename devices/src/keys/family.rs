//! `family.yaml`.

use super::dialect::DIALECT;
use super::resource_type::SETTING_KEYS;
use super::source::FACTS;
use super::table::Kind::{Any, Expression, Items, List, Map, Object as In, Pattern, Text};
use super::table::{Object, key};

pub(super) static FAMILY: Object = Object {
    name: "family.yaml",
    desc: "A kind of device: how it is reached, its command line and its facts.",
    keys: &[
        key(
            "name",
            Text,
            "the family's name, which is that of its folder and of its transport",
        )
        .required(),
        key("desc", Text, "what kind of device it is, in a sentence").required(),
        key(
            "protocol",
            Text,
            "how it is reached; `devgate transport list` lists the protocols",
        )
        .required(),
        key(
            "types_of",
            Text,
            "another family, beside this one or built in, whose types this one has, too",
        ),
        key(
            "connection_info",
            Map(&In(&SETTING)),
            "connection settings: other defaults for those of the protocol, and further ones, which tasks see in `_target`",
        ),
        key(
            "groups",
            List(&In(&GROUP)),
            "settings that exclude each other or belong together",
        ),
        key(
            "names",
            Map(&Items(&Any)),
            "tables of names, each a filter: words in full, of which devices write a beginning, and `{ PATTERN: FORM }`",
        ),
        key(
            "dialect",
            In(&DIALECT),
            "what the protocol must know of the command line; only for protocols that have one",
        ),
        key("facts", Items(&In(&FACTS)), "where facts come from"),
        key(
            "checkpoint",
            In(&CHECKPOINT),
            "how a run that failed leaves the device as it found it (`--rollback on-error`)",
        ),
        key(
            "textfsm_platform",
            Text,
            "the name that collections of TextFSM templates have for its devices, such as `cisco_ios`",
        ),
        key(
            "rest",
            In(&REST),
            "what HTTP devices must be sent beside the changes",
        ),
    ],
};

static SETTING: Object = Object {
    name: "setting",
    desc: "A connection setting. Of a setting of the protocol, only `default`, `desc` and a narrower `type` can be given.",
    keys: SETTING_KEYS,
};

static GROUP: Object = Object {
    name: "group",
    desc: "A rule over several settings; each group has one.",
    keys: &[
        key(
            "exactly_one_of",
            List(&Text),
            "one of these settings must be given, and no other",
        ),
        key(
            "at_most_one_of",
            List(&Text),
            "one of these settings may be given, and no other",
        ),
        key(
            "all_or_none_of",
            List(&Text),
            "these settings must be given together",
        ),
    ],
};

static CHECKPOINT: Object = Object {
    name: "checkpoint",
    desc: "How to show the configuration, and how to take a line away.",
    keys: &[
        key(
            "show",
            Text,
            "the command that shows the running configuration; by default `config_text` of the dialect",
        ),
        key(
            "ignore",
            Items(&Pattern),
            "lines of it that are no configuration",
        ),
        key("undo", Expression, "the line that takes `LINE` away").required(),
    ],
};

static REST: Object = Object {
    name: "rest settings",
    desc: "A request after all changes of a run, for devices that must be told to save or to commit.",
    keys: &[key("after", In(&AFTER), "the request").required()],
};

static AFTER: Object = Object {
    name: "after",
    desc: "A request after all changes.",
    keys: &[
        key("method", Text, "the method").required(),
        key("path", Text, "the path").required(),
        key("body", Any, "the body: JSON whose leaves are expressions"),
    ],
};
