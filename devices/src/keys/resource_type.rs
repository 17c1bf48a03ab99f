//! `types/TYPE.yaml`.

use super::forms::{CLI, NETCONF, OVSDB, PANOS, REST};
use super::table::Kind::{
    Any, Boolean, Expression, Items, List, Map, Object as In, OneOf, Pattern, Template, Text, Word,
};
use super::table::{Key, Object, key};

pub(super) static TYPE: Object = Object {
    name: "types/TYPE.yaml",
    desc: "A resource type: what can be managed, how it is read, and how it is changed.",
    keys: &[
        key("name", Text, "the type's name, which is that of its file").required(),
        key("desc", Text, "what it is, in a sentence").required(),
        key(
            "example",
            Map(&Any),
            "one resource, `TITLE: { attribute: value }`, for `devgate type show` and for messages",
        ),
        key(
            "features",
            List(&Text),
            "features of the Resource API beside those that every declared type has",
        ),
        key(
            "attributes",
            Map(&In(&ATTRIBUTE)),
            "its attributes, as the Resource API has them",
        )
        .required(),
        key(
            "title_patterns",
            List(&OneOf(&[Pattern, In(&TITLE_PATTERN)])),
            "how a title becomes namevars: regular expressions with named groups",
        ),
        key(
            "autorequire",
            Map(&Items(&Text)),
            "types and titles of resources that come first; `$name` is the value of an attribute",
        ),
        key(
            "autobefore",
            Map(&Items(&Text)),
            "resources that come afterwards",
        ),
        key(
            "autosubscribe",
            Map(&Items(&Text)),
            "resources that come first, and whose changes are passed on",
        ),
        key(
            "autonotify",
            Map(&Items(&Text)),
            "resources that come afterwards, and are told of changes",
        ),
        key(
            "title",
            Template,
            "the title of a row; needed with several namevars",
        ),
        key(
            "canonicalize",
            Map(&Expression),
            "the one form of an attribute's values",
        ),
        key(
            "singleton",
            Text,
            "the name of the only resource, which is always there; no namevar, no `ensure`, no `delete`",
        ),
        key(
            "collect",
            Items(&Text),
            "attributes with a list that the rows of one resource make together, an item or a list each",
        ),
        key(
            "otherwise",
            Map(&Any),
            "what a resource is for which there is no row; for types without `ensure`",
        ),
        key(
            "like",
            Text,
            "another type of the family: what this file does not say is as there",
        ),
        key(
            "when",
            Expression,
            "a condition over `facts`: the devices that have the type",
        ),
        key("cli", In(&CLI), "the form for command lines"),
        key(
            "rest",
            In(&REST),
            "the form for `rest`, `restconf` and `f5`",
        ),
        key("netconf", In(&NETCONF), "the form for `netconf`"),
        key("ovsdb", In(&OVSDB), "the form for `ovsdb`"),
        key("panos", In(&PANOS), "the form for `panos`"),
    ],
};

/// The keys of an attribute, and some more.
macro_rules! attributes {
    ($($more:expr),*) => {
        &[
    key(
        "type",
        Text,
        "Puppet's data type of its values: `Optional[Integer[1, 4094]]`",
    ),
    key("desc", Text, "what it is, in a sentence"),
    key("default", Any, "the value where none is given"),
    key(
        "behaviour",
        Word(&["namevar", "read_only", "init_only", "parameter"]),
        "`namevar`: part of the name; `read_only`: reported, never set; `init_only`: only when the resource is made; \
         `parameter`: never read",
    ),
    key("sensitive", Boolean, "whether it is a secret"),
    key(
        "compare",
        Word(&["never"]),
        "`never`: what the device shows is not compared with what is desired",
    ),
    key("docs", Text, "another word for `desc`"),
    key("behavior", Text, "another spelling of `behaviour`"),
            $($more),*
        ]
    };
}

/// The keys of a connection setting.
pub(super) const SETTING_KEYS: &[Key] = attributes!();

static ATTRIBUTE: Object = Object {
    name: "attribute",
    desc: "An attribute of a type.",
    keys: attributes!(
        key(
            "when",
            Expression,
            "a condition over `facts`: the devices that have it",
        ),
        key(
            "unset",
            Text,
            "the word for no value: it takes the value away"
        )
    ),
};

static TITLE_PATTERN: Object = Object {
    name: "title pattern",
    desc: "A form of titles.",
    keys: &[
        key(
            "pattern",
            Pattern,
            "the regular expression; its named groups are namevars",
        )
        .required(),
        key("desc", Text, "what such a title says"),
    ],
};
