//! `types/TYPE.yaml`.

use super::Kind::{
    Any, Boolean, Expression, Items, List, Map, Object as In, OneOf, Pattern, Template, Text, Word,
};
use super::source::GET;
use super::{Key, Object, key};

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

static CLI: Object = Object {
    name: "cli",
    desc: "Lines of configuration. `create` or `lines` is missing only in types that only read.",
    keys: &[
        key(
            "get",
            Items(&In(&GET)),
            "where resources come from; of several sources the later one wins",
        )
        .required(),
        key(
            "create",
            Template,
            "the lines that make a resource, and change it unless there is `update`",
        ),
        key("update", Template, "the lines that change a resource"),
        key(
            "delete",
            Template,
            "the lines that remove a resource; needed with `ensure`",
        ),
        key(
            "texts",
            Items(&Text),
            "attributes that may have several lines; the dialect's `text` says how they are typed",
        ),
        key(
            "mode",
            Template,
            "the line that enters the mode in which `lines` are typed",
        ),
        key(
            "lines",
            Items(&In(&LINE)),
            "instead of `create`: the lines of one attribute each, typed where it differs",
        ),
    ],
};

static LINE: Object = Object {
    name: "line",
    desc: "The lines of one attribute: exactly one of `line`, `set`, `flag` and `each`.",
    keys: &[
        key("attribute", Text, "the attribute").required(),
        key(
            "line",
            Template,
            "the line that sets `value`, which is also the line that is read; `negate` and its words take the value away",
        ),
        key("read", Text, "the line that is read, if it differs"),
        key(
            "default",
            Expression,
            "the value where the line is not shown",
        ),
        key("set", Template, "the line that sets `value`"),
        key(
            "clear",
            Template,
            "with `set`: the line that takes a value away, for an empty one",
        ),
        key(
            "map",
            Map(&Text),
            "with `set`: the device's words for values; others are written as they are",
        ),
        key(
            "flag",
            Template,
            "the line for true; `no` and the line for false, or without it if the line begins with `no`",
        ),
        key("each", Template, "the line for each `item` that is missing"),
        key(
            "remove",
            Template,
            "with `each`: the line for each `item` that is not wanted; by default `no` and the line",
        ),
        key("when", Expression, "the condition of these lines"),
    ],
};

static REST: Object = Object {
    name: "rest",
    desc: "HTTP requests.",
    keys: &[
        key(
            "get",
            Items(&In(&GET)),
            "where resources come from; of several sources the later one wins",
        )
        .required(),
        key(
            "create",
            In(&REQUEST),
            "the request that makes a resource, and changes it unless there is `update`",
        ),
        key(
            "update",
            In(&REQUEST),
            "the request that changes a resource",
        ),
        key(
            "delete",
            In(&REQUEST),
            "the request that removes a resource; needed with `ensure`",
        ),
        key(
            "join",
            Text,
            "a list of the body: requests that differ in it alone are sent as one",
        ),
    ],
};

static REQUEST: Object = Object {
    name: "request",
    desc: "An HTTP request.",
    keys: &[
        key(
            "method",
            Text,
            "the method: `POST`, `PUT`, `PATCH`, `DELETE`",
        )
        .required(),
        key("path", Template, "the path; every value in it is escaped").required(),
        key(
            "body",
            Any,
            "the body: JSON whose leaves are expressions; a key whose value is none is left out; `{ each: LIST, item: … }` is a list",
        ),
    ],
};

static NETCONF: Object = Object {
    name: "netconf",
    desc: "XML for the configuration; the prefix `nc` is declared.",
    keys: &[
        key(
            "get",
            Items(&In(&GET)),
            "where resources come from; of several sources the later one wins",
        )
        .required(),
        key(
            "create",
            Template,
            "the elements that make a resource, and change it unless there is `update`",
        ),
        key("update", Template, "the elements that change a resource"),
        key(
            "delete",
            Template,
            "the elements that remove a resource; needed with `ensure`",
        ),
    ],
};

static OVSDB: Object = Object {
    name: "ovsdb",
    desc: "Operations of a transaction.",
    keys: &[
        key(
            "get",
            Items(&In(&GET)),
            "where resources come from; of several sources the later one wins",
        )
        .required(),
        key(
            "create",
            Items(&In(&OPERATION)),
            "the operations that make a resource, and change it unless there is `update`",
        ),
        key(
            "update",
            Items(&In(&OPERATION)),
            "the operations that change a resource",
        ),
        key(
            "delete",
            Items(&In(&OPERATION)),
            "the operations that remove a resource; needed with `ensure`",
        ),
    ],
};

static OPERATION: Object = Object {
    name: "operation",
    desc: "An operation on a table: exactly one of `insert`, `update`, `mutate` and `delete`, which name the table.",
    keys: &[
        key("insert", Text, "the table into which a row is inserted"),
        key(
            "update",
            Text,
            "the table whose rows of `where` are changed",
        ),
        key(
            "mutate",
            Text,
            "the table whose rows of `where` get or lose members of sets",
        ),
        key(
            "delete",
            Text,
            "the table whose rows of `where` are removed",
        ),
        key(
            "where",
            Map(&Any),
            "the columns that the rows have; leaves are expressions",
        ),
        key(
            "row",
            Map(&Any),
            "the columns to write; leaves are expressions",
        ),
        key("add", Map(&Any), "what sets get"),
        key("remove", Map(&Any), "what sets lose"),
        key(
            "as",
            Text,
            "the name of the inserted row, for later operations",
        ),
        key("when", Expression, "the condition of this operation"),
    ],
};

static PANOS: Object = Object {
    name: "panos",
    desc: "Changes of the candidate configuration.",
    keys: &[
        key(
            "get",
            Items(&In(&GET)),
            "where resources come from; of several sources the later one wins",
        )
        .required(),
        key(
            "create",
            In(&CANDIDATE_CHANGE),
            "the change that makes a resource, and changes it unless there is `update`",
        ),
        key(
            "update",
            In(&CANDIDATE_CHANGE),
            "the change that changes a resource",
        ),
        key(
            "delete",
            In(&CANDIDATE_CHANGE),
            "the change that removes a resource; needed with `ensure`",
        ),
    ],
};

static CANDIDATE_CHANGE: Object = Object {
    name: "candidate change",
    desc: "A change of the candidate configuration.",
    keys: &[
        key("method", Text, "the method: `set`, `edit` or `delete`"),
        key(
            "xpath",
            Template,
            "the XPath of the node; every value in it is escaped",
        )
        .required(),
        key("element", Template, "the elements, except for `delete`"),
    ],
};
